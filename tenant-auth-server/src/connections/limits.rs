//! The limit of file descriptors: each client connection needs one, and so does each file and each connection that the server opens
//! itself.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tenant_auth_core::{Worker, ports::HttpSender};

use crate::serve::METRICS_CONNECTIONS;

/// What the program itself has open: standard streams, listeners, the system's queues of events and signals, look-ups of names.
const OWN: u64 = 64;
/// What the worker has open to receivers of webhooks and mail servers.
const WORKER: u64 = (Worker::ATTEMPTS + HttpSender::CONNECTIONS) as u64;
/// A connection to SQLite holds the file, its write-ahead log and its index.
const FILES_OF_A_DATABASE_CONNECTION: u64 = 3;
/// With fewer connections than this nothing works.
const LEAST: u64 = 16;

/// Raises the soft limit of open files to the hard one; returns the limit, when it is finite.
pub(crate) fn raise_open_files() -> Option<u64> {
    let limit = getrlimit(Resource::Nofile);
    match setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum }) {
        Ok(()) => limit.maximum,
        Err(error) => {
            tracing::warn!(%error, "the limit of open files stays what it is");
            limit.current
        }
    }
}

/// The affordable connection limit: as many as wanted, unless file descriptors run out first. `database` is the most connections to
/// the database. Where there are not enough for all that the worker may open, it and the clients have half of the rest each: the worker
/// seldom opens as many, and what finds no descriptor is tried again.
pub(crate) fn affordable(wanted: u64, open_files: Option<u64>, database: u32) -> usize {
    let kept = OWN + METRICS_CONNECTIONS as u64 + FILES_OF_A_DATABASE_CONNECTION * u64::from(database);
    let possible = open_files.map_or(u64::MAX, |files| {
        let rest = files.saturating_sub(kept);
        rest.saturating_sub(WORKER).max(rest / 2).max(LEAST)
    });
    if possible < wanted {
        tracing::warn!(wanted, possible, "the limit of open files allows fewer connections (ulimit -n, LimitNOFILE=)");
    }
    usize::try_from(wanted.min(possible)).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As when each receiver hangs and Prometheus asks often, while all clients are there.
    #[test]
    fn what_else_is_open_at_most_leaves_each_client_its_file() {
        let clients = affordable(8_192, Some(2_000), 10);
        let others = Worker::ATTEMPTS + HttpSender::CONNECTIONS + METRICS_CONNECTIONS + 3 * 10;
        assert!(others > 100 && clients + others < 2_000, "{clients} clients beside {others}");
    }

    #[test]
    fn files_bound_the_connections_and_some_are_kept() {
        assert_eq!(affordable(8_192, None, 10), 8_192);
        assert_eq!(affordable(8_192, Some(65_536), 10), 8_192);
        assert_eq!(affordable(8_192, Some(1_024), 10), 464);
        assert_eq!(affordable(8_192, Some(256), 10), 65);
        assert_eq!(affordable(8_192, Some(64), 10), 16);
        assert_eq!(affordable(4, Some(1_024), 10), 4);
    }
}
