//! The loop: mutate, run, and keep what has an outcome that no input had before.

use std::{
    collections::HashSet,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook},
    time::{Duration, Instant},
};

use rand::{SeedableRng, rngs::SmallRng};

use crate::{
    corpus,
    mutate::mutated,
    targets::{Attack, Run, Target},
};

/// Inputs that are mutated further; beyond this only outcomes are remembered.
const MOST_KEPT: usize = 4_096;

/// When to stop.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Budget {
    Executions(u64),
    Time(Duration),
}

/// A target that held.
#[derive(Debug)]
pub(crate) struct Done {
    executions: u64,
    time: Duration,
    pub(crate) outcomes: usize,
}

/// An input that breaks a rule.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) input: Vec<u8>,
    reason: String,
}

impl Done {
    /// Prints a line about it; returns the executions.
    pub(crate) fn report(&self, name: &str) -> u64 {
        let rate = self.executions as f64 / self.time.as_secs_f64().max(1e-9);
        println!("{name:<16} {:>11} executions  {rate:>9.0} a second  {:>6} outcomes", self.executions, self.outcomes);
        self.executions
    }
}

impl Found {
    /// Prints it, and writes it where it can be taken into the corpus.
    pub(crate) fn keep(&self, target: &str) {
        eprintln!("{target}: {self}");
        match corpus::keep(target, &self.input) {
            Ok(file) => eprintln!("kept in {}", file.display()),
            Err(error) => eprintln!("it cannot be kept: {error}"),
        }
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\ninput: {}", self.reason, corpus::line(&self.input))
    }
}

/// Runs a target over its corpus, then over mutations of it.
///
/// # Errors
/// The smallest input found that breaks it.
pub(crate) fn run(target: &Target, budget: Budget, seed: u64) -> Result<Done, Found> {
    let Attack { mut seeds, mut run } = (target.make)();
    seeds.extend(corpus::of(target.name));
    let mut random = SmallRng::seed_from_u64(seed);
    let (since, mut executions, mut outcomes) = (Instant::now(), 0, HashSet::new());
    for input in &seeds {
        executions += 1;
        outcomes.insert(attempt(&mut run, input)?);
    }
    let goes_on = |executions: u64| match budget {
        Budget::Executions(most) => executions < most,
        Budget::Time(most) => !executions.is_multiple_of(64) || since.elapsed() < most,
    };
    while goes_on(executions) {
        let input = mutated(&mut random, &seeds, target.dictionary);
        executions += 1;
        if outcomes.insert(attempt(&mut run, &input)?) && seeds.len() < MOST_KEPT {
            seeds.push(input);
        }
    }
    Ok(Done { executions, time: since.elapsed(), outcomes: outcomes.len() })
}

fn attempt(run: &mut Run, input: &[u8]) -> Result<u64, Found> {
    outcome(run, input).map_err(|reason| smaller(run, Found { input: input.to_vec(), reason }))
}

fn outcome(run: &mut Run, input: &[u8]) -> Result<u64, String> {
    catch_unwind(AssertUnwindSafe(|| run(input))).map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
    })
}

/// Leaves out what is not needed to break it.
fn smaller(run: &mut Run, mut found: Found) -> Found {
    let hook = take_hook();
    set_hook(Box::new(|_| ())); // each attempt would print
    let mut piece = found.input.len() / 2;
    while piece > 0 {
        let mut at = 0;
        while at + piece <= found.input.len() {
            let mut input = found.input.clone();
            input.drain(at..at + piece);
            match outcome(run, &input) {
                Err(reason) => found = Found { input, reason },
                Ok(_) => at += piece,
            }
        }
        piece /= 2;
    }
    set_hook(hook);
    found
}
