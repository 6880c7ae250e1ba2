//! The runner of the browser suite: runs each scenario over SQLite, with a service of its own and a browser to itself, two at a time. A panic
//! fails its scenario alone, and the report shows what was on the page. Without Chromium no scenario runs, and the output says so.
//!
//! Both adapters serve the same bytes, which the scenarios without a browser prove. So a browser walks each scenario on one of them, half
//! of them on each; a filter that begins with an adapter's name (`-- actix`) walks all of them there.

use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use libtest_mimic::{Arguments, Trial};

use super::{Scenario, Stage, axe, driver::Driver};
use crate::{Adapter, logs, template::Template};

/// A scenario that takes longer hangs.
const DEADLINE: Duration = Duration::from_secs(120);
/// Browsers at a time: each keeps about a core busy.
const THREADS: usize = 2;

/// Runs what the command line asks for.
pub fn main(scenarios: &[Scenario]) -> ExitCode {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(THREADS);
    logs::keep();
    let driver = (!arguments.list).then(Driver::start).flatten().map(Arc::new);
    if driver.is_none() && !arguments.list {
        eprintln!(
            "\nChromium or chromedriver is not installed: NO page is tested. Install both (apt-get install chromium chromium-driver).\n"
        );
        if is_required("TENANT_AUTH_REQUIRE_BROWSER") {
            return ExitCode::FAILURE;
        }
    }
    if !axe::is_installed() && !arguments.list {
        eprintln!("\n{}\n", axe::missing());
        if is_required("TENANT_AUTH_REQUIRE_AXE") {
            return ExitCode::FAILURE;
        }
    }
    let conclusion = libtest_mimic::run(&arguments, trials(scenarios, arguments.filter.as_deref(), driver.as_ref()));
    drop(driver);
    Template::remove_all();
    conclusion.exit_code()
}

/// Whether a part that is missing is a failure; says so.
fn is_required(variable: &str) -> bool {
    let is_required = std::env::var_os(variable).is_some_and(|value| value == "1");
    if is_required {
        eprintln!("{variable}=1: that is a failure.");
    }
    is_required
}

/// Where a scenario runs unless the filter names an adapter: always at the same one, whatever other scenarios there are.
fn usual(scenario: &Scenario) -> Adapter {
    let sum: u32 = scenario.name.bytes().map(u32::from).sum();
    if sum.is_multiple_of(2) { Adapter::Axum } else { Adapter::Actix }
}

fn trials(scenarios: &[Scenario], filter: Option<&str>, driver: Option<&Arc<Driver>>) -> Vec<Trial> {
    let named = Adapter::ALL.into_iter().find(|adapter| filter.is_some_and(|filter| filter.starts_with(&adapter.to_string())));
    let runs_on = |adapter: Adapter, scenario: &&Scenario| adapter == named.unwrap_or_else(|| usual(scenario));
    let on = |adapter: Adapter, scenario: Scenario| {
        let is_ignored = driver.is_none() || (scenario.needs_axe && !axe::is_installed());
        let driver = driver.cloned();
        let trial = Trial::test(format!("{adapter}::{}", scenario.name), move || {
            run(adapter, scenario, &driver.expect("an ignored scenario was asked for, but there is no browser"));
            Ok(())
        });
        trial.with_ignored_flag(is_ignored)
    };
    let all_on =
        |adapter| scenarios.iter().filter(move |scenario| runs_on(adapter, scenario)).map(move |scenario| on(adapter, *scenario));
    Adapter::ALL.into_iter().flat_map(all_on).collect()
}

fn run(adapter: Adapter, scenario: Scenario, driver: &Driver) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    let stage = runtime.block_on(Stage::set(adapter, driver, scenario.below));
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        runtime.block_on(async {
            let walk = async {
                (scenario.run)(&stage).await;
                stage.page.finish().await;
            };
            tokio::time::timeout(DEADLINE, walk).await.unwrap_or_else(|_| panic!("still running after {DEADLINE:?}"));
        });
    }));
    if outcome.is_err() {
        eprintln!("{adapter}::{}: {}", scenario.name, runtime.block_on(stage.page.shown()));
    }
    runtime.block_on(stage.strike(driver, outcome.is_ok()));
    runtime.shutdown_timeout(Duration::from_secs(5));
    if let Err(panic) = outcome {
        resume_unwind(panic);
    }
}
