//! The load: keep-alive connections that ask as fast as they are answered, in rounds of a fixed number of requests. A round begins
//! and ends with nothing in flight, so that the CPU time spent meanwhile is exactly that of its requests.

mod connection;
mod receiver;
mod script;
mod steady;

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::task::JoinSet;

use crate::{Failure, cpu::Watched};
pub(crate) use connection::{Answer, Connection};
pub(crate) use receiver::{Arrivals, Mood, Receiver};
pub(crate) use script::{Listings, Logins, Refreshes, Script, Verifications};

/// Where the load goes, and whose CPU time it costs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Target {
    pub(crate) address: SocketAddr,
    pub(crate) watched: Watched,
}

/// What a round found.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Round {
    /// CPU time for each request, in microseconds.
    pub(crate) micros: f64,
    /// The part of it that PostgreSQL's processes used.
    pub(crate) of_database: f64,
    /// Requests in each second of wall time.
    pub(crate) rate: f64,
}

/// Connections to a target, each with its part of what there is to ask.
#[derive(Debug)]
pub(crate) struct Load<S> {
    target: Target,
    lanes: Vec<Lane<S>>,
    requests: i64,
}

#[derive(Debug)]
struct Lane<S> {
    connection: Connection,
    script: S,
}

impl<S: Script> Load<S> {
    /// Connects, warms up, and finds out how many requests make a round of about this length.
    pub(crate) async fn open(target: Target, scripts: Vec<S>, round: Duration) -> Result<Self, Failure> {
        let mut lanes = Vec::new();
        for script in scripts {
            lanes.push(Lane { connection: Connection::open(target.address).await?, script });
        }
        let requests = 4 * i64::try_from(lanes.len())?;
        let mut load = Self { target, lanes, requests };
        for warm_up in [round / 8, round / 4, round] {
            let rate = load.round().await?.rate;
            load.requests = load.requests.max((rate * warm_up.as_secs_f64()) as i64);
        }
        Ok(load)
    }

    /// One round.
    pub(crate) async fn round(&mut self) -> Result<Round, Failure> {
        let (started, before) = (Instant::now(), self.target.watched.used()?);
        self.run().await?;
        let (elapsed, after) = (started.elapsed(), self.target.watched.used()?);
        let requests = self.requests as f64;
        let [server, of_database] = after.since(&before).map(|micros| micros / requests);
        Ok(Round { micros: server + of_database, of_database, rate: requests / elapsed.as_secs_f64() })
    }

    async fn run(&mut self) -> Result<(), Failure> {
        let left = Arc::new(AtomicI64::new(self.requests));
        let mut running = JoinSet::new();
        for mut lane in std::mem::take(&mut self.lanes) {
            let left = Arc::clone(&left);
            running.spawn(async move {
                while left.fetch_sub(1, Ordering::Relaxed) > 0 {
                    lane.ask().await?;
                }
                Ok::<_, Failure>(lane)
            });
        }
        self.gather(running).await
    }

    /// Takes the lanes back from their tasks.
    async fn gather(&mut self, mut running: JoinSet<Result<Lane<S>, Failure>>) -> Result<(), Failure> {
        while let Some(ended) = running.join_next().await {
            self.lanes.push(ended??);
        }
        Ok(())
    }
}

impl<S: Script> Lane<S> {
    async fn ask(&mut self) -> Result<(), Failure> {
        let answer = self.connection.exchange(self.script.request()).await?;
        self.script.answered(&answer)
    }
}
