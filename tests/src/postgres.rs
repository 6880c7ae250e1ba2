//! A PostgreSQL cluster for one run: made by `initdb`, reached over a Unix socket only, without durability, and removed at the end
//! however the run ends. A shell stands beside the server with a pipe from us as its standard input; when we exit, panic or are
//! killed, the pipe closes and the shell stops the server and removes the directory.

use std::{
    io::Write,
    os::unix::{fs::MetadataExt, process::CommandExt},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Mutex, OnceLock,
        atomic::{AtomicU32, Ordering},
        mpsc,
    },
    time::Duration,
};

use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, SqliteConnection};

use crate::scratch;

/// How long the server may take to come up.
const PATIENCE: Duration = Duration::from_secs(60);

/// Why there is none.
pub(crate) const NOT_INSTALLED: &str =
    "neither PATH nor /usr/lib/postgresql has initdb and postgres: install PostgreSQL, or do without TENANT_AUTH_REQUIRE_POSTGRES";

const GUARD: &str = r#"
trap "" INT TERM HUP
"$1" -D "$2/data" -k "$2" -F -c listen_addresses= -c max_connections=300 -c shared_buffers=64MB -c autovacuum=off \
    -c synchronous_commit=off -c full_page_writes=off -c wal_level=minimal -c max_wal_senders=0 \
    -c dynamic_shared_memory_type=mmap >"$2/log" 2>&1 </dev/null &
server=$!
cat >/dev/null
kill -QUIT $server
wait $server
rm -rf "$2"
"#;

static CLUSTER: OnceLock<Cluster> = OnceLock::new();
static EMPTY: AtomicU32 = AtomicU32::new(0);

/// A running server.
#[derive(Debug)]
pub(crate) struct Cluster {
    directory: PathBuf,
    guard: Mutex<Option<Child>>,
    orders: Mutex<Option<mpsc::Sender<Order>>>,
    /// Beside the others: a database is removed once its last connections have ended, and nobody waits for that.
    removals: Mutex<Option<Administrator>>,
}

/// A statement for an administrator's connection, and where to say that it is done.
type Order = (String, mpsc::Sender<()>);

/// Where one takes orders, and the thread that ends once nobody can give any more.
type Administrator = (mpsc::Sender<Order>, std::thread::JoinHandle<()>);

/// Where the server's programs are: in `PATH`, or where Debian puts them.
pub(crate) fn programs() -> Option<PathBuf> {
    let in_path = std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect::<Vec<_>>()).unwrap_or_default();
    let mut versions: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
        .map(|entries| entries.flatten().map(|entry| entry.path().join("bin")).collect())
        .unwrap_or_default();
    versions.sort();
    in_path.into_iter().chain(versions.into_iter().rev()).find(|bin| bin.join("initdb").exists() && bin.join("postgres").exists())
}

/// Whether the run must not go without PostgreSQL.
pub(crate) fn is_required() -> bool {
    std::env::var_os("TENANT_AUTH_REQUIRE_POSTGRES").is_some_and(|value| value == "1")
}

/// The URL of an empty database in the run's cluster, for tests of other packages; it lasts as long as the process that asks.
/// `None`, and a word on stderr, where PostgreSQL is not installed.
///
/// # Panics
/// Where it is not installed but `TENANT_AUTH_REQUIRE_POSTGRES=1`.
pub fn empty_postgres() -> Option<String> {
    empty("")
}

/// The same, of a database whose own order of texts is that of a language, by its ICU name.
///
/// # Panics
/// As [`empty_postgres`], and where PostgreSQL was built without ICU.
pub fn empty_postgres_of(language: &str) -> Option<String> {
    empty(&format!(" TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE '{language}'"))
}

fn empty(options: &str) -> Option<String> {
    if programs().is_none() {
        assert!(!is_required(), "{NOT_INSTALLED}");
        eprintln!("SKIPPED: {NOT_INSTALLED}");
        return None;
    }
    let name = format!("empty_{}", EMPTY.fetch_add(1, Ordering::SeqCst));
    Cluster::shared().run(format!("CREATE DATABASE {name}{options}"));
    Some(Cluster::shared().url(&name))
}

/// Runs a statement in a database, directly, beside the service that may be running on it.
///
/// # Panics
/// When the database refuses.
pub fn run_sql(url: &str, sql: &str) {
    drop(hold_sql(url, sql).unwrap_or_else(|error| panic!("{error}")));
}

/// A connection with all that it holds: a place, locks, an open transaction. Given back when dropped.
#[derive(Debug)]
pub struct HeldConnection {
    release: Option<mpsc::Sender<()>>,
    holder: Option<std::thread::JoinHandle<()>>,
}

impl Drop for HeldConnection {
    fn drop(&mut self) {
        drop(self.release.take());
        let _ = self.holder.take().map(std::thread::JoinHandle::join);
    }
}

/// Runs a statement on a connection of its own, and keeps the connection.
///
/// # Errors
/// When the database refuses the connection or the statement.
pub fn hold_sql(url: &str, sql: &str) -> Result<HeldConnection, sqlx::Error> {
    let (url, sql) = (url.to_owned(), AssertSqlSafe(sql.to_owned()));
    let (release, released) = mpsc::channel::<()>();
    let (done, outcome) = mpsc::channel();
    let holder = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let held = if url.starts_with("sqlite:") {
                run_on::<SqliteConnection>(&url, sql).await.map(|held| Box::new(held) as Box<dyn std::any::Any>)
            } else {
                run_on::<PgConnection>(&url, sql).await.map(|held| Box::new(held) as Box<dyn std::any::Any>)
            };
            let (held, error) = held.map_or_else(|error| (None, Err(error)), |held| (Some(held), Ok(())));
            let _ = done.send(error);
            if held.is_some() {
                let _ = released.recv();
            }
        });
    });
    outcome.recv().expect("no panic")?;
    Ok(HeldConnection { release: Some(release), holder: Some(holder) })
}

async fn run_on<C>(url: &str, sql: AssertSqlSafe<String>) -> Result<C, sqlx::Error>
where
    C: Connection,
    for<'c> &'c mut C: Executor<'c>,
{
    let mut connection = C::connect(url).await?;
    (&mut connection).execute(sql).await?;
    Ok(connection)
}

/// Runs a statement in the run's cluster as its administrator, who is connected to another database.
pub fn as_postgres_administrator(sql: &str) {
    Cluster::shared().run(sql);
}

impl Cluster {
    /// The run's cluster, started by the first who asks.
    pub(crate) fn shared() -> &'static Self {
        CLUSTER.get_or_init(|| Self::start(&programs().expect("PostgreSQL's programs are installed")))
    }

    /// Stops the run's cluster, if there is one, and waits until its directory is gone.
    pub(crate) fn stop_shared() {
        let Some(cluster) = CLUSTER.get() else { return };
        cluster.orders.lock().expect("not poisoned").take();
        if let Some((removals, administrator)) = cluster.removals.lock().expect("not poisoned").take() {
            drop(removals);
            administrator.join().expect("every database can be removed");
        }
        if let Some(mut guard) = cluster.guard.lock().expect("not poisoned").take() {
            drop(guard.stdin.take());
            guard.wait().expect("the cluster's guard ends");
        }
    }

    /// The URL of a database.
    pub(crate) fn url(&self, database: &str) -> String {
        format!("postgres:///{database}?host={}&user=postgres", self.directory.display())
    }

    /// Runs a statement as the administrator, one after another: two copies of a template cannot be made at once.
    pub(crate) fn run(&self, sql: impl Into<String>) {
        let (done, wait) = mpsc::channel();
        let orders = self.orders.lock().expect("not poisoned").clone().expect("the cluster is running");
        orders.send((sql.into(), done)).expect("the administrator is there");
        wait.recv().expect("the statement succeeds");
    }

    /// Has a database removed some time from now.
    pub(crate) fn remove(&self, database: &str) {
        let (done, _) = mpsc::channel();
        let removals = self.removals.lock().expect("not poisoned");
        let (orders, _) = removals.as_ref().expect("the cluster is running");
        orders.send((format!("DROP DATABASE {database} WITH (FORCE)"), done)).expect("the administrator is there");
    }

    fn start(bin: &Path) -> Self {
        let owner = postgres_user();
        let directory = scratch::directory("pg").keep();
        if let Some((uid, gid)) = owner {
            std::os::unix::fs::chown(&directory, Some(uid), Some(gid)).expect("root may give a directory away");
        }
        let made = as_owner(&mut Command::new(bin.join("initdb")), owner)
            .arg("-D")
            .arg(directory.join("data"))
            .args(["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions"])
            .output()
            .expect("initdb can be run");
        assert!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));
        let guard = as_owner(&mut Command::new("sh"), owner)
            .args(["-c", GUARD, "sh"])
            .arg(bin.join("postgres"))
            .arg(&directory)
            .stdin(Stdio::piped())
            .spawn()
            .expect("a shell can be run");
        let (orders, _) = administrator(&directory);
        let removals = administrator(&directory);
        Self { directory, guard: Mutex::new(Some(guard)), orders: Mutex::new(Some(orders)), removals: Mutex::new(Some(removals)) }
    }
}

/// PostgreSQL refuses to run as root: then it runs as the user its package made.
pub(crate) fn postgres_user() -> Option<(u32, u32)> {
    let ours = std::fs::metadata("/proc/self").map(|me| me.uid()).unwrap_or_default();
    if ours != 0 {
        return None;
    }
    let users = std::fs::read_to_string("/etc/passwd").expect("a list of users");
    let line = users.lines().find(|line| line.starts_with("postgres:")).expect("as root, a user named postgres is needed");
    let mut ids = line.split(':').skip(2).map(|id| id.parse().expect("a numeric id"));
    Some((ids.next().expect("a uid"), ids.next().expect("a gid")))
}

/// The command, run by the user who runs the PostgreSQL servers: other programs, too, refuse to run as root.
pub fn as_postgres_user(command: Command) -> Command {
    let mut command = command;
    as_owner(&mut command, postgres_user());
    command
}

/// The command, run by that user.
pub(crate) fn as_owner(command: &mut Command, owner: Option<(u32, u32)>) -> &mut Command {
    command.current_dir("/").env("LC_ALL", "C");
    if let Some((uid, gid)) = owner {
        command.uid(uid).gid(gid);
    }
    command
}

/// A thread with one connection to the server, which it first waits for.
fn administrator(directory: &Path) -> Administrator {
    let url = format!("postgres:///postgres?host={}&user=postgres", directory.display());
    let log = directory.join("log");
    let (orders, inbox) = mpsc::channel::<Order>();
    let administrator = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let Ok(mut connection) = tokio::time::timeout(PATIENCE, connected(&url)).await else {
                let _ = std::io::stderr().write_all(&std::fs::read(log).unwrap_or_default());
                panic!("PostgreSQL did not come up within {PATIENCE:?}");
            };
            while let Ok((sql, done)) = inbox.recv() {
                connection.execute(AssertSqlSafe(sql.clone())).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
                let _ = done.send(());
            }
        });
    });
    (orders, administrator)
}

async fn connected(url: &str) -> PgConnection {
    loop {
        match PgConnection::connect(url).await {
            Ok(connection) => return connection,
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}
