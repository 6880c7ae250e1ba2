//! The limit of file descriptors: each client connection needs one, and so does each file and each connection that the server opens
//! itself.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Reserved for other uses than client connections: log, webhooks, mail, the metrics listener.
const RESERVE: u64 = 100;
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
/// the database.
pub(crate) fn affordable(wanted: u64, open_files: Option<u64>, database: u32) -> usize {
    let kept = RESERVE + FILES_OF_A_DATABASE_CONNECTION * u64::from(database);
    let possible = open_files.map_or(u64::MAX, |files| files.saturating_sub(kept).max(LEAST));
    if possible < wanted {
        tracing::warn!(wanted, possible, "the limit of open files allows fewer connections (ulimit -n, LimitNOFILE=)");
    }
    usize::try_from(wanted.min(possible)).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::affordable;

    #[test]
    fn files_bound_the_connections_and_some_are_kept() {
        assert_eq!(affordable(8_192, None, 10), 8_192);
        assert_eq!(affordable(8_192, Some(65_536), 10), 8_192);
        assert_eq!(affordable(8_192, Some(1_024), 10), 894);
        assert_eq!(affordable(8_192, Some(64), 10), 16);
        assert_eq!(affordable(4, Some(1_024), 10), 4);
    }
}
