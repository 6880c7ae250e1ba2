//! Tenant Auth as a program: `dev` to try it, `serve` to run it, and the operator's commands. The core decides what the service
//! does; this crate has settings, start, shutdown and output.

mod answer;
mod cli;
mod connections;
mod database_mark;
mod dev;
mod drain;
mod failure;
mod health;
mod isolation;
mod logging;
mod metrics;
mod process;
mod serve;
mod settings;
mod traces;

use std::process::ExitCode;

use mimalloc::MiMalloc;
use rustix::process::{Resource, Rlimit, setrlimit};

/// The system's allocator keeps an arena for each thread and seldom gives memory back: with the system's the idle service holds a third more.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// A core dump would hold the master key, and whatever was open when the program crashed (behaviour.md, B312). One byte is too little for a
/// file, and Linux's sign that nothing is piped to a program that takes dumps either, which a limit of 0 does not prevent. Where a hard
/// limit of 0 allows no more, it is that.
fn leave_no_core_dump() {
    let bounded = |bytes| setrlimit(Resource::Core, Rlimit { current: Some(bytes), maximum: Some(bytes) });
    let _ = bounded(1).or_else(|_| bounded(0));
}

#[tokio::main]
async fn main() -> ExitCode {
    leave_no_core_dump();
    let _log = logging::WrittenAtTheEnd;
    // One TLS provider for the whole process. It fails only where one is installed already, which serves as well.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    match cli::run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            logging::complain(&failure.to_string());
            failure.exit_code()
        }
    }
}
