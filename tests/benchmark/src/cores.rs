//! Who runs on which core: the servers on one, the load on another, so that neither takes the other's time. Done by `taskset`,
//! which replaces itself by the program it starts and so keeps the process id.

use std::{ffi::OsStr, os::unix::process::CommandExt, process::Command};

/// Where the servers under test run.
pub(crate) const SERVERS: &str = "0";
/// Where this process, with the load, runs.
const LOAD: &str = "1";

/// Set in the process that was moved already.
const MOVED: &str = "TENANT_AUTH_BENCHMARK_MOVED";

/// Starts this program over on the load's core. Where that cannot be done it goes on, and the report says so.
pub(crate) fn move_to_load_core() {
    if is_moved() || !has_two_cores() {
        return;
    }
    if let Ok(program) = std::env::current_exe() {
        // Returns only if it failed.
        let _ = on(Some(LOAD), program).args(std::env::args_os().skip(1)).env(MOVED, "1").exec();
    }
}

/// Whether the cores are kept apart.
pub(crate) fn is_moved() -> bool {
    std::env::var_os(MOVED).is_some()
}

fn has_two_cores() -> bool {
    std::thread::available_parallelism().is_ok_and(|cores| cores.get() >= 2)
}

/// A command that runs on these cores; on all of them, even if this process may not, when it is `None`.
pub(crate) fn on(cores: Option<&str>, program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new("taskset");
    command.args(["-c", cores.unwrap_or("0-1")]).arg(program);
    command
}

/// A command on the servers' core; anywhere when the cores are not kept apart.
pub(crate) fn on_servers(program: impl AsRef<OsStr>) -> Command {
    if is_moved() { on(Some(SERVERS), program) } else { Command::new(program) }
}

/// A command on both cores.
pub(crate) fn on_both(program: impl AsRef<OsStr>) -> Command {
    if is_moved() { on(None, program) } else { Command::new(program) }
}
