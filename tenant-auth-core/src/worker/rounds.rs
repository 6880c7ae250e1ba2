//! What the worker's loops note of their rounds, whose ages the metrics tell: a loop that fails, or does not end, shows there.

use crate::{metrics::WorkerLoop, service::TenantAuth};

impl TenantAuth {
    /// Notes that a loop of the worker did what was due.
    pub(crate) fn worked(&self, of: WorkerLoop) {
        self.metrics().rounds().done(of, self.steady());
    }

    /// Notes that a loop of the worker did a part of what is due.
    pub(crate) fn gets_on(&self, of: WorkerLoop) {
        self.metrics().rounds().gets_on(of, self.steady());
    }

    /// Notes that a round of a loop of the worker fails.
    pub(crate) fn fails(&self, of: WorkerLoop) {
        self.metrics().rounds().fails(of);
    }
}
