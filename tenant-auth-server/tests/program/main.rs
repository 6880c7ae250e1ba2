//! The program from outside: its exit codes, what it prints, and what it answers. Each test has its own directory, listens on a
//! port the system chose, and stops only what it started.

mod admin;
mod audit;
mod backup;
mod check;
mod commands;
mod crash;
mod deploy;
mod dev;
mod dev_settings;
mod disk_full;
mod faults;
mod hook_receiver;
mod isolation;
mod keys;
mod log_gone;
mod lost_master_key;
mod mails;
mod many_clients;
mod memory;
mod metrics;
mod moving;
mod moving_killed;
mod moving_many;
#[cfg(feature = "otlp")]
mod otlp;
mod people;
mod races;
mod readiness;
mod real_parts;
mod refusals;
mod rolling;
mod running;
mod serve;
mod sign_up;
mod slow_clients;
mod small_disk;
mod stale;
mod synced;

use std::{
    io::Write,
    path::Path,
    process::{Command, Output, Stdio},
    time::{Duration, Instant},
};

use tempfile::TempDir;

/// Base64 of 32 bytes that are neither equal nor a sample.
pub(crate) const MASTER_KEY: &str = "q83vEjRWeJq8zd4BI0VniavN7wAREiIzM0RERVVmZnc=";
/// Another.
pub(crate) const OTHER_KEY: &str = "AAERIjNEVWZ3iJmqu8zd7v8PHi08S1ppeIeWpbTD0uE=";

/// When and whom a test hits.
#[expect(clippy::disallowed_methods, reason = "a test outside the process has no port to ask")]
pub(crate) fn chance() -> rand::rngs::ThreadRng {
    rand::rng()
}

/// A call of the program in a directory of its own, with settings that are complete for a SQLite deployment.
pub(crate) struct Program {
    pub(crate) directory: TempDir,
    settings: Vec<(&'static str, String)>,
    /// The words of a command that runs the program, such as a shell with limits.
    runner: Vec<String>,
}

impl Program {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let database = format!("sqlite:{}", directory.path().join("auth.db").display());
        let program = Self { directory, settings: Vec::new(), runner: Vec::new() };
        program
            .with("DATABASE_URL", &database)
            .with("MASTER_KEY", MASTER_KEY)
            .with("PUBLIC_URL", "http://localhost:8080")
            .with("LISTEN", "127.0.0.1:0")
            .with("METRICS_LISTEN", "none")
    }

    /// With none: for `dev`, and for what may be missing.
    pub(crate) fn without_settings() -> Self {
        Self { settings: Vec::new(), ..Self::new() }
    }

    /// The same with another value; the directory stays.
    pub(crate) fn with(mut self, name: &'static str, value: &str) -> Self {
        self = self.without(name);
        self.settings.push((name, value.to_owned()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.settings.retain(|(known, _)| *known != name);
        self
    }

    /// With a limit of open files, as `ulimit` takes it.
    pub(crate) fn with_open_files(self, ulimit: &str) -> Self {
        self.run_by(&["sh", "-c", &format!("ulimit {ulimit} && exec \"$0\" \"$@\"")])
    }

    /// As the last arguments of another command; of none, when there are no words.
    pub(crate) fn run_by(mut self, words: &[&str]) -> Self {
        self.runner = words.iter().map(|word| (*word).to_owned()).collect();
        self
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// The command, without the settings in the environment of the test run.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let binary = env!("CARGO_BIN_EXE_tenant-auth-server");
        let mut words = self.runner.iter().map(String::as_str).chain([binary]);
        let mut command = Command::new(words.next().unwrap_or(binary));
        command.args(words);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("TENANT_AUTH_") {
                command.env_remove(name);
            }
        }
        let settings = self.settings.iter().map(|(name, value)| (format!("TENANT_AUTH_{name}"), value));
        command.args(arguments).envs(settings).current_dir(self.path()).stdin(Stdio::null());
        command
    }

    /// Runs to the end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.run_with_stdin(arguments, "")
    }

    /// Runs to the end with this on stdin. What should be refused might run on instead: that fails the test, it does not hang.
    pub(crate) fn run_with_stdin(&self, arguments: &[&str], text: &str) -> Output {
        let mut command = self.command(arguments);
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program runs");
        // It may end without reading.
        let _ = child.stdin.take().map(|mut stdin| stdin.write_all(text.as_bytes()));
        let deadline = Instant::now() + running::DEADLINE;
        let mut late = false;
        while !late && child.try_wait().expect("it can be waited for").is_none() {
            std::thread::sleep(Duration::from_millis(5));
            late = Instant::now() > deadline;
        }
        if late {
            let _ = child.kill();
        }
        let output = child.wait_with_output().expect("the program ends");
        assert!(!late, "{arguments:?} did not end: {output:?}");
        output
    }
}

/// The one JSON object that a successful command printed.
#[track_caller]
pub(crate) fn json(output: &Output) -> serde_json::Value {
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{stdout}{stderr}");
    serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}"))
}

/// What a command that failed said; on stderr only.
#[track_caller]
pub(crate) fn error(output: &Output) -> String {
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(!output.status.success() && output.status.code().is_some() && stdout.is_empty(), "{stdout}{stderr}");
    stderr.into_owned()
}
