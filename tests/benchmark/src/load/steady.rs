//! A constant rate, whether or not the answers keep up. Latency counts from when a request was due and not from when it could be
//! sent: a server that stalls is not excused by the clients that had to wait.

use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::{Lane, Load, Script};
use crate::Failure;

/// tokio's timers are a millisecond coarse, so the last stretch is waited through.
const COARSE: Duration = Duration::from_millis(2);

impl<S: Script> Load<S> {
    /// Asks `rate` times in each second, and returns every latency.
    pub(crate) async fn steady(&mut self, rate: f64, lasting: Duration) -> Result<Vec<Duration>, Failure> {
        let connections = self.lanes.len();
        let arrivals = (rate * lasting.as_secs_f64()) as usize;
        let start = Instant::now() + Duration::from_millis(50);
        let mut running = JoinSet::new();
        for (first, lane) in std::mem::take(&mut self.lanes).into_iter().enumerate() {
            let dues =
                (first..arrivals).step_by(connections).map(move |index| start + Duration::from_secs_f64(index as f64 / rate));
            running.spawn(through(lane, dues));
        }
        let mut latencies = Vec::with_capacity(arrivals);
        while let Some(ended) = running.join_next().await {
            let (lane, found) = ended??;
            self.lanes.push(lane);
            latencies.extend(found);
        }
        Ok(latencies)
    }
}

async fn through<S: Script>(mut lane: Lane<S>, dues: impl Iterator<Item = Instant>) -> Result<(Lane<S>, Vec<Duration>), Failure> {
    let mut found = Vec::new();
    for due in dues {
        if let Some(coarse) = due.checked_sub(COARSE) {
            tokio::time::sleep_until(coarse.into()).await;
        }
        while Instant::now() < due {
            tokio::task::yield_now().await;
        }
        lane.ask().await?;
        found.push(due.elapsed());
    }
    Ok((lane, found))
}
