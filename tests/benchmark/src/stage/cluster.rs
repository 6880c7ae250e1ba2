//! A PostgreSQL cluster of our own: made by `initdb`, on the servers' core, reached over a Unix socket, with the settings it comes
//! with. A shell stands beside the server with a pipe from us as its standard input; however we end, the pipe closes and the shell
//! stops the server and removes the directory.

use std::{
    fs,
    os::unix::{
        fs::{MetadataExt, chown},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};

use crate::{Failure, cores};

/// How long the server may take to come up.
const PATIENCE: Duration = Duration::from_secs(60);

const GUARD: &str = r#"
trap "" INT TERM HUP
"$1" -D "$2/data" -k "$2" -c listen_addresses= >"$2/log" 2>&1 </dev/null &
server=$!
cat >/dev/null
kill -QUIT $server
wait $server
rm -rf "$2"
"#;

/// A running server.
#[derive(Debug)]
pub(crate) struct Cluster {
    /// Its first process.
    pub(crate) postmaster: u32,
    pub(crate) version: String,
    directory: PathBuf,
    guard: Child,
}

impl Cluster {
    /// Starts one; `None` where PostgreSQL is not installed.
    pub(crate) async fn start() -> Result<Option<Self>, Failure> {
        let Some(programs) = programs() else { return Ok(None) };
        let owner = owner()?;
        let directory = tempfile::Builder::new().prefix("tenant-auth-benchmark-pg-").tempdir()?.keep();
        if let Some((user, group)) = owner {
            chown(&directory, Some(user), Some(group))?;
        }
        let mut initdb = Command::new(programs.join("initdb"));
        initdb.arg("-D").arg(directory.join("data"));
        initdb.args(["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions"]);
        let made = owned(&mut initdb, owner).output()?;
        if !made.status.success() {
            return Err(format!("initdb: {}", String::from_utf8_lossy(&made.stderr)).into());
        }
        let mut shell = cores::on_servers("sh");
        shell.args(["-c", GUARD, "sh"]).arg(programs.join("postgres")).arg(&directory).stdin(Stdio::piped());
        let guard = owned(&mut shell, owner).spawn()?;
        let mut cluster = Self { postmaster: 0, version: String::new(), directory, guard };
        cluster.wait().await?;
        Ok(Some(cluster))
    }

    /// Makes an empty database and returns its URL.
    pub(crate) async fn create(&self, name: &str) -> Result<String, Failure> {
        PgConnection::connect(&self.url("postgres")).await?.execute(AssertSqlSafe(format!("CREATE DATABASE {name}"))).await?;
        Ok(self.url(name))
    }

    fn url(&self, database: &str) -> String {
        format!("postgres:///{database}?host={}&user=postgres", self.directory.display())
    }

    async fn wait(&mut self) -> Result<(), Failure> {
        let url = self.url("postgres");
        let connecting = async {
            loop {
                match PgConnection::connect(&url).await {
                    Ok(connection) => return connection,
                    Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
                }
            }
        };
        let Ok(mut connection) = tokio::time::timeout(PATIENCE, connecting).await else {
            return Err(format!("PostgreSQL did not come up: {}", fs::read_to_string(self.directory.join("log"))?).into());
        };
        let version: String = sqlx::query_scalar("SELECT version()").fetch_one(&mut connection).await?;
        self.version = version.split(' ').take(2).collect::<Vec<_>>().join(" ");
        let pid = fs::read_to_string(self.directory.join("data/postmaster.pid"))?;
        self.postmaster = pid.lines().next().unwrap_or_default().parse()?;
        Ok(())
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        drop(self.guard.stdin.take());
        let _ = self.guard.wait();
    }
}

/// Where the server's programs are: in `PATH`, or where Debian puts them.
fn programs() -> Option<PathBuf> {
    let in_path: Vec<PathBuf> = std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default();
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut of_debian: Vec<PathBuf> = versions.map(|version| version.path().join("bin")).collect();
    of_debian.sort();
    let has_both = |bin: &PathBuf| bin.join("initdb").exists() && bin.join("postgres").exists();
    in_path.into_iter().chain(of_debian.into_iter().rev()).find(has_both)
}

/// PostgreSQL refuses to run as root: then it runs as the user its package made.
fn owner() -> Result<Option<(u32, u32)>, Failure> {
    if fs::metadata("/proc/self")?.uid() != 0 {
        return Ok(None);
    }
    let users = fs::read_to_string("/etc/passwd")?;
    let line = users.lines().find(|line| line.starts_with("postgres:")).ok_or("as root, a user named postgres is needed")?;
    let mut ids = line.split(':').skip(2).map(str::parse);
    match (ids.next(), ids.next()) {
        (Some(Ok(user)), Some(Ok(group))) => Ok(Some((user, group))),
        _ => Err("the user postgres has no numeric ids".into()),
    }
}

fn owned(command: &mut Command, owner: Option<(u32, u32)>) -> &mut Command {
    command.current_dir(Path::new("/")).env("LC_ALL", "C");
    match owner {
        Some((user, group)) => command.uid(user).gid(group),
        None => command,
    }
}
