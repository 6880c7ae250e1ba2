//! A PostgreSQL server of one test's own, on a TCP port of loopback: one that the test may crash, freeze, copy and promote. The run's
//! cluster ([`crate::empty_postgres`]) is everybody's, so nothing may happen to it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use crate::{
    free_port,
    postgres::{self, as_owner, postgres_user},
    run_sql, scratch,
};

/// How long a server may take to start, to stop and to be copied.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs the server for as long as its standard input is open, so that no server outlives the test, however it ends. A frozen one
/// must be thawed before it can be stopped.
const GUARD: &str = r#"
trap "" INT TERM HUP
bin=$1 directory=$2 port=$3
"$bin/postgres" -D "$directory/data" -p "$port" -k "$directory" -F -c listen_addresses=127.0.0.1 -c max_connections=40 \
    -c shared_buffers=32MB -c wal_level=replica -c max_wal_senders=4 -c hot_standby=on -c dynamic_shared_memory_type=mmap \
    >>"$directory/log" 2>&1 </dev/null &
server=$!
cat >/dev/null
kill -CONT $server $(cat /proc/$server/task/$server/children) 2>/dev/null
kill -QUIT $server
wait $server
"#;

/// The server and its data, which are gone when it is dropped.
#[derive(Debug)]
pub struct PostgresServer {
    bin: PathBuf,
    directory: PathBuf,
    port: u16,
    guard: Option<Child>,
}

impl PostgresServer {
    /// A new server with nothing in it. `None`, and a word on stderr, where PostgreSQL is not installed.
    ///
    /// # Panics
    /// Where it is not installed but `TENANT_AUTH_REQUIRE_POSTGRES=1`, and when it does not start.
    pub fn start() -> Option<Self> {
        let Some(bin) = postgres::programs() else {
            assert!(!postgres::is_required(), "{}", postgres::NOT_INSTALLED);
            eprintln!("SKIPPED: {}", postgres::NOT_INSTALLED);
            return None;
        };
        // In PATH there may be links to some of the programs only.
        let program = fs::canonicalize(bin.join("postgres")).expect("it was found there");
        let mut server = Self::without_data(program.parent().expect("a program is in a directory").to_owned());
        server.make_data(
            "initdb",
            &["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions"],
        );
        server.start_again();
        Some(server)
    }

    /// A standby that follows this server by streaming replication, under the name that `synchronous_standby_names` takes.
    ///
    /// # Panics
    /// When it cannot be made.
    pub fn standby(&self, name: &str) -> Self {
        let mut standby = Self::without_data(self.bin.clone());
        let source = format!("host=127.0.0.1 port={} user=postgres application_name={name}", self.port);
        standby.make_data("pg_basebackup", &["--dbname", &source, "--write-recovery-conf", "--checkpoint=fast", "--no-sync"]);
        standby.start_again();
        standby
    }

    fn without_data(bin: PathBuf) -> Self {
        let directory = scratch::directory("server").keep();
        if let Some((uid, gid)) = postgres_user() {
            std::os::unix::fs::chown(&directory, Some(uid), Some(gid)).expect("root may give a directory away");
        }
        Self { bin, directory, port: free_port(), guard: None }
    }

    fn make_data(&self, program: &str, arguments: &[&str]) {
        let made = as_owner(&mut Command::new(self.bin.join(program)), postgres_user())
            .arg("-D")
            .arg(self.directory.join("data"))
            .args(arguments)
            .output()
            .expect("it can be run");
        assert!(made.status.success(), "{program}: {}", String::from_utf8_lossy(&made.stderr));
    }

    /// Where a database of it is reached.
    pub fn url(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}", self.port)
    }

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Runs a statement as the administrator.
    ///
    /// # Panics
    /// When the server refuses.
    pub fn run(&self, sql: &str) {
        run_sql(&self.url("postgres"), sql);
    }

    /// Ends it like a crash: nothing is flushed, no client is told.
    ///
    /// # Panics
    /// When it does not end.
    pub fn crash(&mut self) {
        if let Some(mut guard) = self.guard.take() {
            drop(guard.stdin.take());
            guard.wait().expect("the server's guard ends");
        }
    }

    /// Starts it on the data that it has.
    ///
    /// # Panics
    /// When it does not answer in time.
    pub fn start_again(&mut self) {
        let guard = as_owner(&mut Command::new("sh"), postgres_user())
            .args(["-c", GUARD, "sh"])
            .arg(&self.bin)
            .arg(&self.directory)
            .arg(self.port.to_string())
            .stdin(Stdio::piped())
            .spawn()
            .expect("a shell can be run");
        self.guard = Some(guard);
        self.until("it takes connections", || self.is_answering());
    }

    fn is_answering(&self) -> bool {
        let asked =
            Command::new(self.bin.join("pg_isready")).args(["-q", "-h", "127.0.0.1", "-p", &self.port.to_string()]).status();
        asked.is_ok_and(|status| status.success())
    }

    /// Makes a standby a primary, and waits until it takes writes.
    ///
    /// # Panics
    /// When it does not become one.
    pub fn promote(&self) {
        self.run("SELECT pg_promote(true, 60)");
        assert!(!self.directory.join("data/standby.signal").exists(), "it is still a standby");
    }

    /// Whether it follows another server.
    pub fn is_standby(&self) -> bool {
        self.directory.join("data/standby.signal").exists()
    }

    /// Stops every process of it where it stands. Connections stay open and say nothing.
    ///
    /// # Panics
    /// When it is not running.
    pub fn freeze(&self) {
        self.signal("-STOP");
    }

    /// Lets it go on.
    ///
    /// # Panics
    /// When it is not running.
    pub fn thaw(&self) {
        self.signal("-CONT");
    }

    fn signal(&self, signal: &str) {
        let file = fs::read_to_string(self.directory.join("data/postmaster.pid")).expect("it is running");
        let server = file.lines().next().expect("the server's id").to_owned();
        let children = fs::read_to_string(format!("/proc/{server}/task/{server}/children")).expect("it is running");
        let sent = Command::new("kill").arg(signal).arg(&server).args(children.split_whitespace()).status();
        // A child may have ended meanwhile.
        sent.expect("kill can be run");
    }

    fn until(&self, what: &str, is_so: impl Fn() -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !is_so() {
            assert!(Instant::now() < deadline, "{what}: not within {PATIENCE:?}\n{}", log(&self.directory));
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        self.crash();
        let _ = fs::remove_dir_all(&self.directory);
    }
}

fn log(directory: &Path) -> String {
    fs::read_to_string(directory.join("log")).unwrap_or_default()
}
