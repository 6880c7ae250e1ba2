//! Fuzzing of everything that reads strangers' bytes: inputs are mutated from a small corpus, inputs with a new outcome are mutated
//! further, and each target has an oracle that says more than "it did not panic". Builds on stable Rust, so nothing but outcomes
//! guides it. From the root of the repository:
//!
//! ```sh
//! cargo run --release -p tenant-auth-fuzz -- all --executions 100000000   # what a night is for
//! cargo run --release -p tenant-auth-fuzz -- email --seconds 60 --seed 7
//! ```
//!
//! An input that breaks a rule is made smaller, printed and kept in `tests/fuzz/found`; put it into `tests/fuzz/corpus`, where the
//! tests run it for ever.

mod corpus;
mod driver;
mod mutate;
mod targets;

use std::{process::ExitCode, time::Duration};

use clap::Parser;

/// Attacks what reads strangers' bytes.
#[derive(Debug, Parser)]
struct Options {
    /// `all`, or the name of a target.
    what: String,
    /// Executions of all targets together; dear targets get fewer.
    #[arg(long, default_value_t = 1_000_000)]
    executions: u64,
    /// Seconds for each target, instead of a number of executions.
    #[arg(long)]
    seconds: Option<u64>,
    /// Where the mutations begin; the same seed finds the same.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let chosen: Vec<_> = targets::ALL.iter().filter(|target| options.what == "all" || options.what == target.name).collect();
    if chosen.is_empty() {
        let names: Vec<_> = targets::ALL.iter().map(|target| target.name).collect();
        eprintln!("no target is called {}; there are: all, {}", options.what, names.join(", "));
        return ExitCode::FAILURE;
    }
    let weights: f64 = chosen.iter().map(|target| target.weight).sum();
    let mut total = 0;
    for target in chosen {
        let budget = match options.seconds {
            Some(seconds) => driver::Budget::Time(Duration::from_secs(seconds)),
            None => driver::Budget::Executions((options.executions as f64 * target.weight / weights).ceil() as u64),
        };
        match driver::run(target, budget, options.seed) {
            Ok(done) => total += done.report(target.name),
            Err(found) => {
                found.keep(target.name);
                return ExitCode::FAILURE;
            }
        }
    }
    println!("{total} executions in all, nothing found");
    ExitCode::SUCCESS
}

#[cfg(test)]
mod tests {
    use super::{driver, targets};

    /// So many that the whole takes less than a minute without optimisation, one processor.
    const EXECUTIONS: f64 = 25_000.0;

    #[test]
    fn no_target_is_broken_by_its_corpus_or_by_what_is_made_of_it() {
        for target in targets::ALL {
            let executions = (EXECUTIONS * target.weight).ceil() as u64;
            match driver::run(target, driver::Budget::Executions(executions), 1) {
                Ok(done) => assert!(done.outcomes > 1, "{}: every input has the same outcome, so nothing is reached", target.name),
                Err(found) => panic!("{}: {found}", target.name),
            }
        }
    }

    #[test]
    fn what_breaks_a_target_is_found_and_made_smaller() {
        let fragile = targets::Target {
            name: "fragile",
            weight: 1.0,
            dictionary: &["needle"],
            make: || targets::Attack {
                seeds: vec![b"hay hay hay".to_vec()],
                run: Box::new(|input| {
                    assert!(!input.windows(6).any(|window| window == b"needle"), "found");
                    0
                }),
            },
        };
        let found = driver::run(&fragile, driver::Budget::Executions(10_000), 1).expect_err("the needle is in the dictionary");
        assert_eq!(found.input, b"needle");
    }
}
