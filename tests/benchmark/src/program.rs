//! The program, as it is deployed: the one that lies beside this one, or another build of it.

use std::{
    net::{SocketAddr, TcpListener, TcpStream},
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use crate::{
    Failure, cpu,
    cpu::Watched,
    load::{Connection, Target},
};

/// Its build.
pub(crate) const BUILD: &str = "cargo build --release -p tenant-auth-server";
const PATIENCE: Duration = Duration::from_secs(10);

/// Where it lies once it is built.
pub(crate) fn built() -> Result<PathBuf, Failure> {
    Ok(std::env::current_exe()?.with_file_name("tenant-auth-server"))
}

/// A process of the program.
pub(crate) struct Program {
    process: Child,
    postmaster: Option<u32>,
    started: Instant,
    public: SocketAddr,
    metrics: SocketAddr,
}

impl Program {
    /// Starts it on a database, whose processes count as well; the command is the program where it shall run.
    pub(crate) fn start(mut command: Command, database: &str, postmaster: Option<u32>, master_key: &str) -> Result<Self, Failure> {
        let free = || TcpListener::bind(("127.0.0.1", 0)).and_then(|listener| listener.local_addr());
        let (public, metrics) = (free()?, free()?);
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
        Ok(Self { process, postmaster, started, public, metrics })
    }

    pub(crate) fn target(&self) -> Target {
        Target { address: self.public, watched: Watched { server: self.process.id(), postmaster: self.postmaster } }
    }

    /// Its memory, in MiB.
    pub(crate) fn resident(&self) -> Result<f64, Failure> {
        cpu::resident(self.process.id())
    }

    /// How long it took from the start to the first answer.
    pub(crate) async fn until_it_answers(&self) -> Result<Duration, Failure> {
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
    pub(crate) async fn bytes_of_a_session(&self) -> Result<Option<f64>, Failure> {
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

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
