//! A deployment whose servers remember, and the proof that a change holds in all of them once it is acknowledged: clients ask without
//! a pause while the change is made, and whoever asks for it again is told no sooner.

use std::{
    future::IntoFuture,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use tenant_auth_conformance::{App, Caller, Engine, Request, Response, Setup};
use tokio::task::JoinSet;

const CLIENTS: usize = 8;
/// The freshness of every server.
const FRESHNESS: Duration = Duration::from_millis(100);

/// Two servers over one database that may both remember, and a process that does not, as a command is.
pub(super) struct Deployment {
    pub(super) first: App,
    pub(super) second: App,
    command: App,
}

/// Where a change is made, and by whom or to whom.
pub(super) struct Site<'a> {
    pub(super) deployment: &'a Deployment,
    /// The process that makes the change.
    pub(super) server: &'a App,
    /// A member of `acme` whom nobody else knows, logged in at the first server.
    pub(super) person: Caller,
}

/// What is asked while the change is made.
pub(super) struct Question {
    pub(super) ask: Vec<Request>,
    /// Whether an answer is by what was before the change.
    pub(super) is_old: fn(&Response) -> bool,
}

impl Deployment {
    pub(super) async fn of(app: &App) -> Self {
        Box::pin(Self::with(app, |_| {})).await
    }

    /// The first server is the one that remembers on SQLite, if nobody was asked before: to be called first in a scenario.
    pub(super) async fn with(app: &App, change: fn(&mut Setup)) -> Self {
        let remembering = |setup: &mut Setup| {
            change(setup);
            setup.config.memory.mebibytes = 8;
            setup.config.memory.freshness = FRESHNESS;
        };
        let first = app.beside(remembering).await;
        let slug = app.org().slug().parse().expect("a slug");
        let asked = Instant::now();
        while !first.auth.metrics_text().await.expect("is written").contains("tenant_auth_memory_hits_total 1") {
            assert!(asked.elapsed() < Duration::from_secs(20), "the first server does not remember: was another one asked before?");
            first.auth.tenant(&slug).await.expect("it is there");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let command = |setup: &mut Setup| {
            change(setup);
            setup.config.memory.mebibytes = 0;
        };
        Self { first, second: app.beside(remembering).await, command: app.beside(command).await }
    }

    /// A new member of `acme`, logged in at the first server.
    pub(super) async fn new_person(&self) -> Caller {
        static PEOPLE: AtomicUsize = AtomicUsize::new(0);
        let number = PEOPLE.fetch_add(1, Ordering::Relaxed);
        let person = Box::pin(self.first.org().new_member(&format!("P{number} Person"))).await;
        Box::pin(person.logged_in()).await
    }

    /// The servers, for the same question at each of them.
    pub(super) fn both(&self) -> [&App; 2] {
        [&self.second, &self.first]
    }

    async fn at(&self, server: &App, change: &impl AsyncFn(Site<'_>)) {
        let person = Box::pin(self.new_person()).await;
        Box::pin(change(Site { deployment: self, server, person })).await;
    }
}

/// The change is made at each server in turn.
pub(super) async fn at_each(app: &App, change: impl AsyncFn(Site<'_>)) {
    let deployment = Deployment::of(app).await;
    for server in deployment.both() {
        deployment.at(server, &change).await;
    }
}

/// The change is made at each server in turn, and by a command.
pub(super) async fn at_each_and_by_command(app: &App, change: impl AsyncFn(Site<'_>)) {
    let deployment = Deployment::of(app).await;
    for server in [&deployment.second, &deployment.first, &deployment.command] {
        deployment.at(server, &change).await;
    }
}

impl Site<'_> {
    /// The questions of a backend about the person's token.
    pub(super) fn verifying(&self) -> Vec<Request> {
        self.verifying_of(&self.person)
    }

    pub(super) fn verifying_of(&self, person: &Caller) -> Vec<Request> {
        let token = person.access_token();
        self.deployment.both().map(|server| server.backend().verify(&token)).to_vec()
    }

    /// The person's token is valid, and no longer once the change was made.
    pub(super) async fn ends(&self, change: impl AsyncFn() -> u16) {
        let question = Question { ask: self.verifying(), is_old: is_valid };
        Box::pin(self.holds(question, 200, change)).await;
    }

    /// Makes a change while clients ask; every question that begins after the change was acknowledged is answered by what is new.
    /// `acknowledgement` is its answer's status.
    pub(super) async fn holds(&self, question: Question, acknowledgement: u16, change: impl AsyncFn() -> u16) {
        Box::pin(self.held(question, acknowledgement, &change)).await;
        Box::pin(self.is_told_late_again(&change)).await;
    }

    async fn held(&self, question: Question, acknowledgement: u16, change: &impl AsyncFn() -> u16) {
        let Question { ask, is_old } = question;
        let ask: Vec<Request> = ask.into_iter().map(Request::may_fail).collect();
        warm(&ask, is_old).await;
        let (is_told, is_over) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let asked = Arc::new(AtomicUsize::new(0));
        let mut clients = JoinSet::new();
        for client in 0..CLIENTS {
            let request = ask[client % ask.len()].clone();
            let (is_told, is_over, asked) = (Arc::clone(&is_told), Arc::clone(&is_over), Arc::clone(&asked));
            clients.spawn(async move {
                let (mut stale, mut judged) = (Vec::new(), 0);
                // However slow the machine is, each has asked once since the change was acknowledged.
                while judged == 0 || !is_over.load(Ordering::SeqCst) {
                    let was_told = is_told.load(Ordering::SeqCst);
                    let answer = request.clone().into_future().await;
                    asked.fetch_add(1, Ordering::SeqCst);
                    judged += usize::from(was_told);
                    if was_told && is_old(&answer) {
                        stale.push(answer.shown());
                    }
                }
                stale
            });
        }
        tokio::time::sleep(Duration::from_millis(30)).await;
        assert_eq!(change().await, acknowledgement);
        is_told.store(true, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(60)).await;
        is_over.store(true, Ordering::SeqCst);
        let stale = clients.join_all().await.concat();
        assert!(stale.is_empty(), "{} of {} answers are stale: {}", stale.len(), asked.load(Ordering::SeqCst), stale[0]);
    }

    /// Whoever asks for the change again, because the first answer was lost, is told no sooner: the process that answered may have
    /// died between its commit and its answer.
    async fn is_told_late_again(&self, change: &impl AsyncFn() -> u16) {
        let asked = Instant::now();
        let status = change().await;
        let waited = asked.elapsed();
        assert!(status < 500, "{status}");
        let remembers_alone = self.server.cell.engine == Engine::Sqlite && std::ptr::eq(self.server, &self.deployment.first);
        assert!(remembers_alone || waited >= FRESHNESS * 5 / 4, "told {status} again after {waited:?}");
    }
}

/// Asks the servers until the answers of those that remember come from memory.
async fn warm(ask: &[Request], is_old: fn(&Response) -> bool) {
    for _ in 0..10 {
        for request in ask {
            let answer = request.clone().await;
            assert!(is_old(&answer), "it is so before the change: {}", answer.shown());
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

pub(super) fn is_valid(answer: &Response) -> bool {
    answer.status == 200 && answer.data()["valid"] == true
}

/// The status of an answer that may be a refusal.
pub(super) async fn status_of(request: Request) -> u16 {
    request.may_fail().await.status
}

/// The outcome of an operation without a request, as a status.
pub(super) fn status<T>(outcome: Result<T, tenant_auth_core::Error>) -> u16 {
    match outcome {
        Ok(_) => 200,
        Err(tenant_auth_core::Error::Unavailable(_) | tenant_auth_core::Error::Internal(_)) => 503,
        Err(_) => 404,
    }
}
