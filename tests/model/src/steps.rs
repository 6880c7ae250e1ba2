//! The steps that can be taken in a state.

use crate::{
    rules::{Deployment, Rules},
    state::{FRESHNESS, Fact, Fill, Look, Observer, Request, Seen, State, Teller, WRITERS_OWN, Writing},
};

/// A step, by its name.
pub(crate) enum Step {
    To(&'static str, State),
    /// A request was answered with what was before the change.
    Stale(&'static str),
}

/// The state before anything happened.
pub(crate) fn first(deployment: Deployment) -> State {
    let known = deployment != Deployment::LateStart;
    State {
        writing: Writing::NotBegun,
        wait: 0,
        waited: 0,
        read_early: None,
        visible: false,
        overtaken: false,
        restarted: false,
        taken: None,
        repeated: Teller::Idle,
        event: Teller::Idle,
        told: false,
        observer: Observer {
            announced: known,
            remembers: known,
            last_look: None,
            look: None,
            entry: None,
            fill: None,
            request: None,
            passed: false,
            before_restart: false,
            looked_after_commit: false,
        },
    }
}

/// Every step that can be taken.
pub(crate) fn steps(state: &State, rules: &Rules, deployment: Deployment) -> Vec<Step> {
    let mut steps = vec![Step::To("the clock ticks", tick(*state, rules))];
    let mut add = |name, next: Option<State>| steps.extend(next.filter(|next| next != state).map(|next| Step::To(name, next)));
    for (name, next) in written(state, rules, deployment).into_iter().chain(told_by_others(state, rules)) {
        add(name, next);
    }
    for (name, next) in looked(state, rules, deployment).into_iter().chain(remembered(state, rules)) {
        add(name, next);
    }
    add("the database restarts", (!state.restarted && !state.visible).then(|| restarted(*state)));
    let is_taken = deployment == Deployment::Successor && state.taken.is_none();
    add("the lock's file is removed, and the writer takes the right", is_taken.then_some(State { taken: Some(0), ..*state }));
    add("a request arrives", (state.told && state.observer.request.is_none()).then(|| asked(*state)));
    if is_answered_stale(state, rules) {
        steps.push(Step::Stale("the request is answered from memory"));
    }
    steps
}

fn tick(mut state: State, rules: &Rules) -> State {
    let observer = &mut state.observer;
    let grown = |age: u8| (age + 1).min(FRESHNESS);
    observer.last_look = observer.last_look.map(grown);
    if let Some(look) = &mut observer.look {
        look.age = grown(look.age);
    }
    state.taken = state.taken.map(grown);
    let counts = if rules.wait_from_commit { state.writing >= Writing::Returned } else { state.writing >= Writing::Open };
    if counts && state.writing < Writing::Told {
        state.waited = grown(state.waited);
    }
    for teller in [&mut state.repeated, &mut state.event] {
        if let Teller::Waiting(left) = teller {
            *left = left.saturating_sub(1);
        }
    }
    state
}

/// What the writer does.
fn written(state: &State, rules: &Rules, deployment: Deployment) -> Vec<(&'static str, Option<State>)> {
    let to = |writing| State { writing, ..*state };
    let is_own = matches!(deployment, Deployment::SameProcess | Deployment::LockHolder);
    // On SQLite nobody else remembers.
    let is_sole = match deployment {
        Deployment::LockHolder => true,
        Deployment::Successor => state.taken.is_some_and(|ticks| ticks >= FRESHNESS || !rules.successors_wait),
        _ => false,
    };
    let in_database = if !is_sole && state.observer.announced { FRESHNESS } else { 0 };
    let freshness = match in_database {
        0 => 0,
        _ if !rules.writers_wait => 0,
        all if rules.largest_freshness => all,
        _ => WRITERS_OWN,
    };
    match state.writing {
        Writing::NotBegun => vec![("the writer begins", Some(State { read_early: Some(freshness), ..to(Writing::Open) }))],
        Writing::Open => vec![
            ("COMMIT takes effect", Some(State { visible: true, ..to(Writing::Committed) })),
            ("an unrelated change with a higher number commits", Some(State { overtaken: true, ..*state })),
        ],
        Writing::Committed => {
            vec![("COMMIT comes back", Some(to(Writing::Returned))), ("the writer dies", Some(to(Writing::Dead)))]
        }
        Writing::Returned => {
            let has_looked = !is_own || !rules.own_look || state.observer.looked_after_commit;
            let freshness = if rules.freshness_read_after_commit { freshness } else { state.read_early.unwrap_or(freshness) };
            vec![
                ("the writer reads the freshness", has_looked.then(|| State { wait: freshness, ..to(Writing::Waiting) })),
                ("the writer dies", Some(to(Writing::Dead))),
            ]
        }
        Writing::Waiting => {
            let is_over = state.waited >= state.wait;
            vec![("the writer tells", is_over.then(|| State { told: true, wait: 0, ..to(Writing::Told) }))]
        }
        Writing::Told | Writing::Dead => Vec::new(),
    }
}

/// What is told by a repeated request and by an event.
fn told_by_others(state: &State, rules: &Rules) -> Vec<(&'static str, Option<State>)> {
    let announced = if state.observer.announced { FRESHNESS } else { 0 };
    let next = |teller, waits: bool| match teller {
        Teller::Idle => state.visible.then_some((Teller::Waiting(if waits { announced } else { 0 }), false)),
        Teller::Waiting(0) => Some((Teller::Done, true)),
        Teller::Waiting(_) | Teller::Done => None,
    };
    let repeated = next(state.repeated, rules.repeated_requests_wait);
    let event = next(state.event, rules.events_wait);
    vec![
        (
            "a repeated request finds it so already",
            repeated.map(|(repeated, told)| State { repeated, told: state.told || told, ..*state }),
        ),
        ("an event is sent", event.map(|(event, told)| State { event, told: state.told || told, ..*state })),
    ]
}

/// What the observer's looks do.
fn looked(state: &State, rules: &Rules, deployment: Deployment) -> Vec<(&'static str, Option<State>)> {
    let with = |observer| Some(State { observer, ..*state });
    let own = state.observer;
    let Some(look) = own.look else {
        let begun = Look {
            age: 0,
            seen: None,
            after_commit: state.writing >= Writing::Returned,
            after_request: own.request.is_some(),
            by_right: state.taken.is_none(),
        };
        let announced = with(Observer { announced: true, ..own });
        return vec![
            ("a look begins", with(Observer { look: Some(begun), ..own })),
            ("the observer announces its freshness", announced),
        ];
    };
    if look.seen.is_none() {
        let is_own = matches!(deployment, Deployment::SameProcess | Deployment::LockHolder);
        let skips = is_own && !rules.own_changes_are_seen;
        // By numbers alone, what was overtaken or numbered anew lies behind the cursor.
        let hidden = own.passed || skips || (own.before_restart && state.restarted);
        let seen = Seen {
            change: state.visible && !hidden,
            passes: state.visible || (!rules.looks_by_visibility && state.overtaken),
            restarted: own.before_restart && state.restarted,
            announced: own.announced,
        };
        let failed =
            Observer { look: None, last_look: if rules.failed_looks_count_as_none { None } else { Some(look.age) }, ..own };
        return vec![
            ("the database answers the look", with(Observer { look: Some(Look { seen: Some(seen), ..look }), ..own })),
            ("the look fails", with(failed)),
        ];
    }
    vec![("the look comes back", with(applied(own, look, rules)))]
}

fn applied(own: Observer, look: Look, rules: &Rules) -> Observer {
    let Some(seen) = look.seen else { return own };
    if !look.by_right {
        return Observer { look: None, last_look: None, entry: None, fill: None, remembers: false, ..own };
    }
    let forgets = seen.change || (seen.restarted && rules.incarnation_is_compared);
    let serves = look.after_request || !rules.looks_serve_earlier_requests_only;
    Observer {
        look: None,
        last_look: Some(if rules.age_from_begin { look.age } else { 0 }),
        entry: own.entry.filter(|_| !forgets),
        fill: own.fill.map(|fill| Fill { named: fill.named || forgets, ..fill }),
        request: own.request.map(|request| Request { has_own_look: request.has_own_look || serves }),
        passed: own.passed || seen.passes,
        before_restart: own.before_restart && !(seen.restarted && rules.incarnation_is_compared),
        remembers: own.remembers || seen.announced,
        looked_after_commit: own.looked_after_commit || look.after_commit,
        ..own
    }
}

/// What the observer reads and keeps.
fn remembered(state: &State, rules: &Rules) -> Vec<(&'static str, Option<State>)> {
    let own = state.observer;
    let with = |observer| Some(State { observer, ..*state });
    let may_remember = own.remembers || !rules.announced_before_use;
    match own.fill {
        None if may_remember => vec![("a read begins", with(Observer { fill: Some(Fill { read: None, named: false }), ..own }))],
        None => Vec::new(),
        Some(fill) => match fill.read {
            None => {
                let read = Some(if state.visible { Fact::New } else { Fact::Old });
                vec![("the database answers the read", with(Observer { fill: Some(Fill { read, ..fill }), ..own }))]
            }
            read => {
                let is_kept = !fill.named || !rules.named_reads_are_discarded;
                vec![("the read comes back", with(Observer { fill: None, entry: if is_kept { read } else { own.entry }, ..own }))]
            }
        },
    }
}

fn restarted(mut state: State) -> State {
    state.restarted = true;
    state.observer.before_restart = true;
    state
}

fn asked(mut state: State) -> State {
    state.observer.request = Some(Request { has_own_look: false });
    if let Some(look) = &mut state.observer.look {
        look.after_request = false;
    }
    state
}

/// Whether the request may be answered from memory now, and would be wrong.
fn is_answered_stale(state: &State, rules: &Rules) -> bool {
    let own = &state.observer;
    let Some(request) = own.request else { return false };
    let may_remember = own.remembers || !rules.announced_before_use;
    let is_fresh = request.has_own_look || own.last_look.is_some_and(|age| age < FRESHNESS);
    may_remember && is_fresh && own.entry == Some(Fact::Old)
}
