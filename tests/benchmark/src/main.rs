//! Measures the service against what bounds it: a bare axum endpoint, a bare Argon2id hash, itself on less data. Every figure is a
//! ratio inside one run, of CPU time and not of wall time, so that it means the same on another machine or a busy one. Nothing is
//! asserted: the program prints what it found beside the goal, and fails only where an answer is not the one it asked for.
//!
//! The servers under test, PostgreSQL among them, are processes of their own on one core; this one, with the load, runs on the other.

mod child;
mod cores;
mod cpu;
mod figures;
mod load;
mod options;
mod program;
mod report;
mod roles;
mod stage;
mod statistics;

use std::process::ExitCode;

use clap::Parser;
use mimalloc::MiMalloc;
use options::{Options, What};
use report::Report;
use stage::Stage;

/// That of the program; the bare endpoint has it, too.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// Any error, for the person who runs the benchmark.
pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> ExitCode {
    let options = Options::parse();
    let done = match options.role {
        Some(role) => roles::play(role),
        None => {
            cores::move_to_load_core();
            tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .map_err(Failure::from)
                .and_then(|runtime| runtime.block_on(measure(&options)))
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

async fn measure(options: &Options) -> Result<(), Failure> {
    let mut report = Report::start(options);
    let mut stage = Stage::set_up(options, &mut report).await?;
    let wanted = |what: What| options.what == what || options.what == What::All;
    if wanted(What::Verify) {
        figures::verify::measure(&mut stage, &mut report).await?;
    }
    if wanted(What::Program) {
        figures::program::measure(&mut stage, &mut report).await?;
    }
    if wanted(What::Pipeline) {
        figures::pipeline::measure(&mut stage, &mut report).await?;
    }
    if wanted(What::Remembering) {
        figures::remembering::measure(&mut stage, &mut report).await?;
    }
    if wanted(What::Refresh) {
        figures::refresh::measure(&mut stage, &mut report).await?;
    }
    if wanted(What::Login) {
        figures::login::measure(&mut stage, &mut report).await?;
        figures::guessing::measure(&mut stage, &mut report).await?;
    }
    if wanted(What::Beside) {
        figures::beside::measure(&mut stage, &mut report).await?;
    }
    if wanted(What::Members) {
        figures::members::measure(&mut stage, &mut report).await?;
    }
    if wanted(What::Growth) {
        figures::growth::measure(&mut stage, &mut report).await?;
    }
    if wanted(What::Deliveries) {
        figures::deliveries::measure(&mut stage, &mut report).await?;
    }
    if options.what == What::Audit {
        figures::audit::measure(&mut stage, &mut report).await?;
    }
    if wanted(What::Footprint) {
        figures::footprint::measure(&mut stage, &mut report).await?;
    }
    if wanted(What::Races) {
        figures::races::measure(&mut stage, &mut report).await?;
    }
    report.end();
    Ok(())
}
