//! Races between processes: requests that leave at the same moment, each to another server of one deployment, the program as it is
//! shipped. What no process remembers is what holds: both servers see one database and nothing else. Each race runs on both databases,
//! against one process and against two, some rounds long. More rounds, with what happened in them:
//!
//! ```sh
//! TENANT_AUTH_RACE_ROUNDS=1000 cargo test -p tenant-auth-server --test program -- races --nocapture
//! ```

mod admins;
mod codes;
mod deployment;
mod keys;
mod links;
mod sessions;

use std::{collections::BTreeMap, fmt::Write, time::Instant};

use tenant_auth_conformance::{Request, Response, together};

use deployment::{Database, Deployment};

/// Rounds of a usual run.
const ROUNDS: usize = 3;

/// Four tests of a race: on each database, in one process and in two.
macro_rules! raced {
    ($($module:ident::$race:ident),* $(,)?) => { $(
        mod $race {
            use super::{Database, $module::$race, run};

            #[test]
            fn on_sqlite_in_one_process() {
                run(stringify!($race), Database::Sqlite, 1, |deployment, tally| Box::pin($race(deployment, tally)));
            }

            #[test]
            fn on_sqlite_in_two_processes() {
                run(stringify!($race), Database::Sqlite, 2, |deployment, tally| Box::pin($race(deployment, tally)));
            }

            #[test]
            fn on_postgresql_in_one_process() {
                run(stringify!($race), Database::Postgres, 1, |deployment, tally| Box::pin($race(deployment, tally)));
            }

            #[test]
            fn on_postgresql_in_two_processes() {
                run(stringify!($race), Database::Postgres, 2, |deployment, tally| Box::pin($race(deployment, tally)));
            }
        }
    )* };
}

raced![
    admins::of_two_admins_who_demote_each_other_one_is_left,
    sessions::a_refresh_token_presented_twice_is_one_generation_or_the_end,
    sessions::a_login_beside_a_password_change_comes_to_nothing,
    links::an_invite_is_accepted_once,
    links::a_reset_link_resets_once,
    codes::a_one_time_password_opens_one_login,
    codes::a_recovery_code_opens_one_login,
    keys::a_key_is_dead_everywhere_once_it_was_ended,
    keys::a_deployment_key_changes_nothing_once_it_was_revoked,
];

/// A race: the rounds over a deployment.
type Race = for<'a> fn(&'a Deployment, &'a mut Tally) -> std::pin::Pin<Box<dyn Future<Output = ()> + 'a>>;

/// What happened in the rounds, by name: that both ends of a race were seen shows that it is one.
#[derive(Debug, Default)]
struct Tally(BTreeMap<&'static str, usize>);

impl Tally {
    fn count(&mut self, outcome: &'static str) {
        *self.0.entry(outcome).or_default() += 1;
    }

    /// Counts which of two requests won.
    fn count_winner(&mut self, place: usize) {
        self.count(if place == 0 { "the first won" } else { "the second won" });
    }
}

fn run(name: &str, database: Database, processes: usize, race: Race) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    let Some(deployment) = Deployment::start(&runtime, database, processes) else { return };
    let (since, mut tally) = (Instant::now(), Tally::default());
    runtime.block_on(race(&deployment, &mut tally));
    let mut line =
        format!("{name}: {database:?}, {processes} process(es), {} rounds, {:.1} s", rounds(), since.elapsed().as_secs_f64());
    for (outcome, times) in tally.0 {
        let _ = write!(line, "; {outcome}: {times}");
    }
    println!("{line}");
}

fn rounds() -> usize {
    std::env::var("TENANT_AUTH_RACE_ROUNDS").map_or(ROUNDS, |text| text.parse().expect("a number of rounds"))
}

/// Two requests that leave at the same moment.
async fn both(first: Request, second: Request) -> [Response; 2] {
    together(vec![first, second]).await.try_into().expect("as many answers as requests")
}

/// The place of the only answer that is a success, and the answer that is none.
#[track_caller]
fn one_success(answers: &[Response; 2]) -> (usize, &Response) {
    match answers.each_ref().map(|answer| answer.status < 300) {
        [true, false] => (0, &answers[1]),
        [false, true] => (1, &answers[0]),
        _ => panic!("{}\n{}", answers[0].shown(), answers[1].shown()),
    }
}
