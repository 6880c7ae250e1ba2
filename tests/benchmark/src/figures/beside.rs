//! How long verify takes while logins take all the time that they can get. The service has both cores here, as a deployment of that
//! size has: one is left to requests, the others hash (behaviour.md, B88).

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use crate::{
    Failure,
    load::{Connection, Load, Logins, Script, Verifications},
    report::{Goal, Report},
    stage::Stage,
    statistics::{median, millis, percentile},
};

/// Questions in each second: few, since the load has to share the cores with what it measures.
const RATE: f64 = 500.0;
/// Logins at once: more than can hash, so that the queue is never empty.
const LOGINS: usize = 8;

pub(crate) async fn measure(stage: &mut Stage, report: &mut Report) -> Result<(), Failure> {
    report.heading(&format!("verify, {RATE:.0} a second, while {LOGINS} clients log in without a pause"));
    for engine in stage.engines() {
        let people = stage.few(engine).await?;
        let served = stage.serve_on_both(&people.database)?;
        let lasting = stage.options.round();
        let mut verify =
            Load::open(served.target, Verifications::scripts(&people.verifications(), stage.options.connections), lasting / 8)
                .await?;
        let (mut alone, mut beside) = (Vec::new(), Vec::new());
        for _ in 0..stage.options.rounds {
            alone.push(verify.steady(RATE, lasting).await?);
            let logins = Saturating::begin(served.target.address, Logins::scripts(&people.logins(), LOGINS));
            tokio::time::sleep(Duration::from_millis(200)).await; // until the first hash has its memory
            beside.push(verify.steady(RATE, lasting).await?);
            logins.end().await?;
        }
        let at = |rounds: &[Vec<Duration>], share| median(rounds.iter().map(|round| millis(percentile(round, share))));
        for (name, rounds) in [("alone", &alone), ("beside logins", &beside)] {
            report.note(&format!("{engine}, {name}: p50 {:.2} ms, p99 {:.2} ms", at(rounds, 0.5), at(rounds, 0.99)));
        }
        report.ratio(&format!("p99 beside logins, {engine}"), at(&beside, 0.99) / at(&alone, 0.99), " ×", Goal::AtMost(2.0));
    }
    Ok(())
}

/// Clients that log in until they are told to end.
struct Saturating {
    ends: Arc<AtomicBool>,
    running: Vec<tokio::task::JoinHandle<Result<(), Failure>>>,
}

impl Saturating {
    fn begin(address: std::net::SocketAddr, scripts: Vec<Logins>) -> Self {
        let ends = Arc::new(AtomicBool::new(false));
        let client = |mut script: Logins| {
            let ends = Arc::clone(&ends);
            tokio::spawn(async move {
                let mut connection = Connection::open(address).await?;
                while !ends.load(Ordering::Relaxed) {
                    let answer = connection.exchange(script.request()).await?;
                    script.answered(&answer)?;
                }
                Ok(())
            })
        };
        let running = scripts.into_iter().map(client).collect();
        Self { ends, running }
    }

    async fn end(self) -> Result<(), Failure> {
        self.ends.store(true, Ordering::Relaxed);
        for client in self.running {
            client.await??;
        }
        Ok(())
    }
}
