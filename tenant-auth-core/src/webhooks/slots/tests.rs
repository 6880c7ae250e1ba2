use super::*;
use crate::{id::Id, ports::OsEntropy, time::Timestamp};

fn endpoint(is_failing: bool) -> DueEndpoint {
    DueEndpoint { id: Id::generate(Timestamp::from_millis(0), &OsEntropy), is_failing, due: None }
}

/// It answers so many times in a row, each time so quickly.
fn answer(slots: &mut Slots, endpoint: &DueEndpoint, times: usize, took: Duration) {
    (0..times).for_each(|_| slots.learn(&endpoint.id, true, took));
}

/// Enough for everything.
const MANY: usize = MOST_OF_A_LANE * ANSWERS_OF_ONE_MORE;

#[test]
fn an_endpoint_earns_its_slots_by_answering_quickly_and_loses_them_by_not() {
    let (mut slots, endpoint) = (Slots::default(), endpoint(false));
    assert_eq!(slots.free_slots().of(&endpoint), LANES_OF_ONE);
    slots.learn(&endpoint.id, true, AHEAD);
    assert_eq!(slots.free_slots().of(&endpoint), LANES_OF_A_QUICK_ONE);
    slots.learn(&endpoint.id, true, QUICK * 2);
    assert_eq!(slots.free_slots().of(&endpoint), LANES_OF_ONE);
    slots.learn(&endpoint.id, true, Duration::ZERO);
    slots.learn(&endpoint.id, false, Duration::ZERO);
    assert_eq!(slots.free_slots().of(&endpoint), LANES_OF_ONE);
}

#[test]
fn the_quicker_it_answers_the_more_an_endpoint_is_given_at_once() {
    let (mut slots, endpoint) = (Slots::default(), endpoint(false));
    answer(&mut slots, &endpoint, MANY, Duration::ZERO);
    let given = |slots: &mut Slots, took| {
        slots.learn(&endpoint.id, true, took);
        slots.free_slots().of(&endpoint)
    };
    assert_eq!(given(&mut slots, AHEAD / 2), 2 * LANES_OF_A_QUICK_ONE);
    assert_eq!(given(&mut slots, Duration::ZERO), MOST_OF_A_LANE * LANES_OF_A_QUICK_ONE);
    assert_eq!(given(&mut slots, QUICK), LANES_OF_A_QUICK_ONE);
}

#[test]
fn it_earns_what_is_given_ahead_answer_by_answer_and_anew_once_it_has_slowed() {
    let (mut slots, endpoint) = (Slots::default(), endpoint(false));
    let given = |slots: &Slots| slots.free_slots().of(&endpoint);
    answer(&mut slots, &endpoint, 2 * ANSWERS_OF_ONE_MORE - 1, Duration::ZERO);
    assert_eq!(given(&slots), LANES_OF_A_QUICK_ONE);
    answer(&mut slots, &endpoint, 1, Duration::ZERO);
    assert_eq!(given(&slots), 2 * LANES_OF_A_QUICK_ONE);
    for loses in [
        |slots: &mut Slots, id: &WebhookId| slots.has_slowed(id),
        |slots: &mut Slots, id: &WebhookId| slots.learn(id, false, QUICK),
    ] {
        answer(&mut slots, &endpoint, MANY, Duration::ZERO);
        assert_eq!(given(&slots), MOST_OF_A_LANE * LANES_OF_A_QUICK_ONE);
        loses(&mut slots, &endpoint.id);
        answer(&mut slots, &endpoint, 1, Duration::ZERO);
        assert_eq!(given(&slots), LANES_OF_A_QUICK_ONE);
    }
}

#[test]
fn what_stands_in_line_takes_no_lane_of_another() {
    let mut slots = Slots::default();
    let endpoints: Vec<_> = (0..2 * LANES / LANES_OF_A_QUICK_ONE).map(|_| endpoint(false)).collect();
    for endpoint in &endpoints {
        answer(&mut slots, endpoint, MANY, Duration::ZERO);
    }
    let mut free = slots.free_slots();
    let served = endpoints.iter().filter(|endpoint| {
        let share = free.of(endpoint);
        free.promise(endpoint, share);
        share == MOST_OF_A_LANE * LANES_OF_A_QUICK_ONE && free.of(endpoint) == 0
    });
    assert_eq!(served.count(), LANES / LANES_OF_A_QUICK_ONE);
    assert!(free.are_none());
}

#[test]
fn where_lanes_are_short_nothing_is_given_ahead() {
    let mut slots = Slots::default();
    let endpoints: Vec<_> = (0..LANES).map(|_| endpoint(false)).collect();
    for endpoint in &endpoints {
        answer(&mut slots, endpoint, MANY, Duration::ZERO);
    }
    let mut free = slots.free_slots();
    endpoints.iter().for_each(|endpoint| free.promise(endpoint, 1));
    for endpoint in &endpoints {
        assert_eq!(free.of(endpoint), 0, "each claim would begin at once");
    }
}

fn task() -> TaskId {
    tokio::spawn(std::future::ready(())).id()
}

#[tokio::test]
async fn beside_what_is_under_way_of_a_line_that_was_sent_home_it_gets_what_is_left_of_its_lanes() {
    let (mut slots, endpoint) = (Slots::default(), endpoint(false));
    answer(&mut slots, &endpoint, MANY, Duration::ZERO);
    let first: Vec<_> = (0..LANES_OF_A_QUICK_ONE + 2).map(|_| task()).collect();
    for task in &first {
        slots.lanes(&endpoint.id, false);
        slots.take(*task, &endpoint.id);
    }
    slots.send_home();
    assert_eq!(slots.free_slots().of(&endpoint), 0, "all of its lanes may be in use");
    let next = slots.lanes(&endpoint.id, false);
    assert_eq!(next.available_permits(), 0, "a claim that was under way then waits");
    for (ended, task) in first.iter().enumerate() {
        let left = first.len() - ended;
        assert_eq!(next.available_permits(), LANES_OF_A_QUICK_ONE.saturating_sub(left));
        assert_eq!(
            slots.free_slots().of(&endpoint),
            LANES_OF_A_QUICK_ONE.saturating_sub(left),
            "and no line while {left} are left"
        );
        slots.free(*task);
    }
    assert_eq!(slots.free_slots().of(&endpoint), MOST_OF_A_LANE * LANES_OF_A_QUICK_ONE);
}

#[tokio::test]
async fn one_that_has_no_line_gets_its_lanes_one_by_one_again() {
    let (mut slots, endpoint) = (Slots::default(), endpoint(false));
    let [hangs, fails] = [task(), task()];
    for task in [hangs, fails] {
        slots.lanes(&endpoint.id, false);
        slots.take(task, &endpoint.id);
    }
    slots.send_home();
    slots.free(fails);
    assert_eq!(slots.free_slots().of(&endpoint), LANES_OF_ONE - 1, "beside the one that hangs");
    assert!(slots.lanes(&endpoint.id, false).available_permits() >= LANES_OF_ONE);
}

#[test]
fn who_is_given_more_to_stand_in_line_counts_as_served_by_no_lane() {
    let mut slots = Slots::default();
    let quick = endpoint(false);
    answer(&mut slots, &quick, MANY, Duration::ZERO);
    let mut free = slots.free_slots();
    assert!(!free.has_served(&quick.id));
    free.promise(&quick, LANES_OF_A_QUICK_ONE);
    assert!(free.has_served(&quick.id));
    free.served.clear();
    free.promise(&quick, LANES_OF_A_QUICK_ONE);
    assert!(!free.has_served(&quick.id), "it had all of its lanes");
}

#[test]
fn where_no_lane_is_free_nobody_gets_anything() {
    let mut slots = Slots::default();
    let quick = endpoint(false);
    answer(&mut slots, &quick, MANY, Duration::ZERO);
    let mut free = slots.free_slots();
    assert!(free.of(&quick) > 0);
    free.close();
    assert!(free.are_none() && free.of(&quick) == 0);
}

#[test]
fn however_many_fail_they_leave_three_quarters_to_the_others() {
    let slots = Slots::default();
    let mut free = slots.free_slots();
    let mut served = 0;
    for failing in (0..1_000).map(|_| endpoint(true)) {
        let share = free.of(&failing);
        free.promise(&failing, share);
        served += share;
        assert_eq!(free.of(&failing), 0, "one slot each");
    }
    assert_eq!((served, free.lanes), (LANES_OF_FAILING, LANES - LANES_OF_FAILING));
    assert_eq!(free.of(&endpoint(false)), LANES_OF_ONE);
}

#[test]
fn no_more_is_promised_than_there_is() {
    let slots = Slots::default();
    let mut free = slots.free_slots();
    let served: usize = std::iter::repeat_with(|| endpoint(false))
        .take(1_000)
        .map(|endpoint| {
            let share = free.of(&endpoint);
            free.promise(&endpoint, share);
            share
        })
        .sum();
    assert!(served == LANES && free.are_none());
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_that_is_set_aside_is_given_nothing_for_a_while() {
    let (mut slots, aside, other) = (Slots::default(), endpoint(false), endpoint(false));
    slots.set_aside(aside.id.clone());
    let given = |slots: &Slots| {
        let free = slots.free_slots();
        (free.of(&aside), free.of(&other))
    };
    assert_eq!(given(&slots), (0, LANES_OF_ONE));
    tokio::time::advance(ASIDE).await;
    assert_eq!(given(&slots), (LANES_OF_ONE, LANES_OF_ONE));
}
