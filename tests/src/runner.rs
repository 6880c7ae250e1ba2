//! The runner of the matrix. A whole run has each scenario on each adapter and on each database, in two of the four cells. Each scenario gets a runtime, an app and a database of its own, and a deadline; a panic fails that
//! scenario alone. The cluster is stopped before the process ends, however the scenarios went. After a whole run the coverage is
//! judged.

use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    process::ExitCode,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use libtest_mimic::{Arguments, Failed, Trial};

use crate::{Adapter, App, Cell, Engine, Scenario, Setup, database::Database, logs, postgres, race, routes, template::Template};

/// A scenario that takes longer hangs. Races may take as long as they are told to run.
const DEADLINE: Duration = Duration::from_secs(120);
/// Scenarios wait for sockets and disks, so a few more than there are cores run at once.
const THREADS_PER_CORE: usize = 3;
/// Set to 1 it has a whole run of each scenario on all four cells, as a filter has what it finds.
const EVERY_CELL: &str = "TENANT_AUTH_EVERY_CELL";

/// What failed, and how.
static FAILURES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Runs what the command line asks for.
pub fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    arguments.test_threads.get_or_insert(cores * THREADS_PER_CORE);
    let has_postgres = postgres::programs().is_some();
    if !has_postgres && postgres::is_required() {
        eprintln!("{}", postgres::NOT_INSTALLED);
        return ExitCode::FAILURE;
    }
    logs::keep();
    // Without a backtrace, whatever the environment asks for: that of so large a program takes a core for seconds, and beside it
    // scenarios that wait for no longer than a request does would fail.
    std::panic::set_hook(Box::new(|panic| eprintln!("{panic}")));
    let is_whole_run = arguments.filter.is_none() && arguments.skip.is_empty() && !arguments.list && !arguments.ignored;
    let is_usual_run = is_whole_run && has_postgres && std::env::var_os(EVERY_CELL).is_none_or(|value| value != "1");
    let runs_on = if is_usual_run { Scenario::usually_runs_on } else { Scenario::runs_on };
    let mut failed = libtest_mimic::run(&arguments, trials(&Scenario::all(), runs_on, has_postgres)).has_failed();
    stop();
    if is_whole_run {
        failed |= libtest_mimic::run(&arguments, coverage()).has_failed();
    }
    if is_whole_run && !failed {
        for refusal in routes::unseen() {
            eprintln!("declared, but answered to no scenario: {refusal}");
        }
    }
    // Last, where a log that was cut still has it.
    for failure in FAILURES.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        eprintln!("FAILED {failure}");
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Stops and removes what the run shared.
pub fn stop() {
    postgres::Cluster::stop_shared();
    Template::remove_all();
}

fn trials(scenarios: &[Scenario], runs_on: fn(&Scenario, Cell) -> bool, has_postgres: bool) -> Vec<Trial> {
    let on = |cell: Cell, scenario: Scenario| {
        Trial::test(format!("{cell}::{}", scenario.name()), move || {
            run(cell, scenario);
            Ok(())
        })
        .with_ignored_flag(cell.engine == Engine::Postgres && !has_postgres)
    };
    // By scenario and not by cell: what waits for PostgreSQL runs beside what keeps a core busy with SQLite.
    let all = scenarios.iter().flat_map(|scenario| Cell::ALL.into_iter().map(move |cell| (cell, *scenario)));
    all.filter(|(cell, scenario)| runs_on(scenario, *cell)).map(|(cell, scenario)| on(cell, scenario)).collect()
}

fn run(cell: Cell, scenario: Scenario) {
    let database = Arc::new(Database::create(cell.engine));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    let patience = DEADLINE.max(DEADLINE * u32::try_from(race::rounds() / 50).unwrap_or(1));
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        runtime.block_on(async {
            let app = App::start(cell, Setup::new(), Arc::clone(&database)).await;
            tokio::time::timeout(patience, (scenario.run)(&app))
                .await
                .unwrap_or_else(|_| panic!("still running after {patience:?}"));
        });
    }));
    runtime.shutdown_timeout(Duration::from_secs(5));
    drop(database);
    if let Err(panic) = outcome {
        let words = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
        let failure = format!("{cell}::{}: {}", scenario.name(), words.unwrap_or("it panicked without a word"));
        FAILURES.lock().unwrap_or_else(PoisonError::into_inner).push(failure);
        resume_unwind(panic);
    }
}

/// The drift killers: judged when everything has been visited that will be.
fn coverage() -> Vec<Trial> {
    let mut trials = vec![Trial::test("coverage::every_status_seen_is_declared_by_its_row", || none(routes::undeclared()))];
    for adapter in Adapter::ALL {
        trials.push(Trial::test(format!("coverage::every_row_was_visited_on_{adapter}"), move || none(routes::unvisited(adapter))));
    }
    trials
}

fn none(rows: Vec<String>) -> Result<(), Failed> {
    if rows.is_empty() { Ok(()) } else { Err(rows.join("\n").into()) }
}
