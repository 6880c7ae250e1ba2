//! The rules of the protocol, each of which can be taken away.

/// Where the observer runs, as seen from the writer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deployment {
    /// The writer is another process of the same deployment.
    OtherProcess,
    /// The observer's process made the change itself.
    SameProcess,
    /// The writer is another process, and the observer starts to remember while the change is made.
    LateStart,
    /// SQLite: the observer's process holds the lock that lets it remember, and made the change itself. It need not wait.
    LockHolder,
    /// SQLite: the observer had the lock until its file was removed, which it finds out at its next look. The writer took the lock.
    Successor,
}

/// The protocol. Each field is a rule; `true` is the protocol as it is built.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// A look's age counts from when it began, not from when it came back.
    pub age_from_begin: bool,
    /// A look that took too long serves the requests that arrived before it began, and no later ones.
    pub looks_serve_earlier_requests_only: bool,
    /// What was read is not kept when a look named it meanwhile.
    pub named_reads_are_discarded: bool,
    /// A look sees every change that became visible since the look before it, in whatever order changes were numbered.
    pub looks_by_visibility: bool,
    /// A restarted or failed-over database is another one: everything is forgotten.
    pub incarnation_is_compared: bool,
    /// Whoever ends a right waits before it tells.
    pub writers_wait: bool,
    /// The wait is as long as the deployment's longest freshness, not as the writer's own.
    pub largest_freshness: bool,
    /// The wait counts from when COMMIT came back.
    pub wait_from_commit: bool,
    /// The freshness is read after the commit.
    pub freshness_read_after_commit: bool,
    /// A process remembers only after a look of its own saw its freshness announced.
    pub announced_before_use: bool,
    /// The writer's own process looks once after the commit, before it tells.
    pub own_look: bool,
    /// Looks read the process's own changes, too.
    pub own_changes_are_seen: bool,
    /// Whoever finds the right ended already waits alike before it tells so.
    pub repeated_requests_wait: bool,
    /// Events of the change leave no sooner than its acknowledgement could.
    pub events_wait: bool,
    /// A failed look makes memory unusable.
    pub failed_looks_count_as_none: bool,
    /// Whoever took the lock goes on waiting until a former holder's last look is too old.
    pub successors_wait: bool,
}

impl Default for Rules {
    /// The protocol as it is built.
    fn default() -> Self {
        Self {
            age_from_begin: true,
            looks_serve_earlier_requests_only: true,
            named_reads_are_discarded: true,
            looks_by_visibility: true,
            incarnation_is_compared: true,
            writers_wait: true,
            largest_freshness: true,
            wait_from_commit: true,
            freshness_read_after_commit: true,
            announced_before_use: true,
            own_look: true,
            own_changes_are_seen: true,
            repeated_requests_wait: true,
            events_wait: true,
            failed_looks_count_as_none: true,
            successors_wait: true,
        }
    }
}
