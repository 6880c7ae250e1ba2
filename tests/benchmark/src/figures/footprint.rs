//! What the program itself needs: its size, how soon it answers, its memory at rest and under load, and what a remembered session
//! takes. The program is the one that lies beside this one.

use std::{
    net::{SocketAddr, TcpListener, TcpStream},
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use crate::{
    Failure, cores, cpu,
    cpu::Watched,
    load::{Connection, Load, Logins, Target, Verifications},
    report::{Goal, Report},
    stage::{People, Stage},
};

/// The program's build.
const BUILD: &str = "cargo build --release -p tenant-auth-server";
const MIB: f64 = 1024.0 * 1024.0;
/// Until what the start needed is given back.
const REST: Duration = Duration::from_secs(3);
const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) async fn measure(stage: &mut Stage, report: &mut Report) -> Result<(), Failure> {
    report.heading("footprint of tenant-auth-server");
    let program = std::env::current_exe()?.with_file_name("tenant-auth-server");
    let Ok(file) = program.metadata() else {
        report.note(&format!("there is none beside this program: {BUILD}"));
        return Ok(());
    };
    report.ratio("the program, stripped", file.len() as f64 / MIB, " MiB", Goal::AtMost(20.0));
    for engine in stage.engines() {
        let people = stage.few(engine).await?;
        let server = Server::start(program.clone(), &people.database.url, &stage.master_key)?;
        let ready = server.until_it_answers().await?;
        report.ratio(
            &format!("from its start to the first answer, {engine}"),
            ready.as_secs_f64() * 1e3,
            " ms",
            Goal::AtMost(50.0),
        );
        tokio::time::sleep(REST).await;
        report.ratio(&format!("memory at rest, {engine}"), server.resident()?, " MiB", Goal::AtMost(25.0));
        load(stage, &people, &server).await?;
        report.ratio(&format!("memory under load, {engine}"), server.resident()?, " MiB", Goal::AtMost(64.0));
        if let Some(bytes) = server.bytes_of_a_session().await? {
            report.ratio(&format!("a remembered session and its token, {engine}"), bytes, " bytes", Goal::AtMost(1_024.0));
        }
    }
    Ok(())
}

/// Questions about everybody, and logins: what a busy server has in its memory.
async fn load(stage: &Stage, people: &People, server: &Server) -> Result<(), Failure> {
    let (target, round) = (server.target(), stage.options.round());
    let verify = Verifications::scripts(&people.verifications(), stage.options.connections);
    Load::open(target, verify, round).await?.round().await?;
    Load::open(target, Logins::scripts(&people.logins(), 4), round).await?.round().await?;
    Ok(())
}

struct Server {
    process: Child,
    started: Instant,
    public: SocketAddr,
    metrics: SocketAddr,
}

impl Server {
    fn start(program: PathBuf, database: &str, master_key: &str) -> Result<Self, Failure> {
        let free = || TcpListener::bind(("127.0.0.1", 0)).and_then(|listener| listener.local_addr());
        let (public, metrics) = (free()?, free()?);
        let mut command: Command = cores::on_both(program);
        let settings = [
            ("DATABASE_URL", database),
            ("MASTER_KEY", master_key),
            ("PUBLIC_URL", "https://auth.example.com"),
            ("TRUSTED_PROXIES", "127.0.0.0/8"),
            ("LISTEN", &public.to_string()),
            ("METRICS_LISTEN", &metrics.to_string()),
            ("DRAIN_NOTICE", "0"),
        ];
        command.envs(settings.map(|(name, value)| (format!("TENANT_AUTH_{name}"), value)));
        let started = Instant::now();
        let process = command.arg("serve").stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        Ok(Self { process, started, public, metrics })
    }

    fn target(&self) -> Target {
        Target { address: self.public, watched: Watched { server: self.process.id(), postmaster: None } }
    }

    fn resident(&self) -> Result<f64, Failure> {
        cpu::resident(self.process.id())
    }

    /// How long it took from the start to the first answer.
    async fn until_it_answers(&self) -> Result<Duration, Failure> {
        while TcpStream::connect(self.public).is_err() {
            if self.started.elapsed() > PATIENCE {
                return Err("the program did not start".into());
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        self.get(self.public, "/health/ready").await?;
        Ok(self.started.elapsed())
    }

    async fn get(&self, address: SocketAddr, path: &str) -> Result<String, Failure> {
        let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n");
        let mut connection = Connection::open(address).await?;
        let answer = connection.exchange(request.as_bytes()).await?;
        if !answer.head.starts_with("HTTP/1.1 200 ") {
            return Err(format!("{path}: {}", answer.head).into());
        }
        Ok(answer.body.to_owned())
    }

    /// The mean of what sessions and tokens take, by the server's own metrics; `None` when it remembers none.
    async fn bytes_of_a_session(&self) -> Result<Option<f64>, Failure> {
        let metrics = self.get(self.metrics, "/metrics").await?;
        let of = |name: &str, kind: &str| {
            let beginning = format!("tenant_auth_memory_{name}{{kind=\"{kind}\"}} ");
            metrics.lines().find_map(|line| line.strip_prefix(&beginning)?.parse::<f64>().ok()).unwrap_or_default()
        };
        let each = |kind| of("bytes", kind) / of("entries", kind);
        let both = each("sessions") + each("tokens");
        Ok(both.is_finite().then_some(both))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
