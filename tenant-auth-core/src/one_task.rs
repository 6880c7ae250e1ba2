//! A task of which one runs at a time: whoever needs it and finds none begins it. It counts as ended also where it panicked or its runtime
//! went, so that the next who needs it begins another, and nobody waits for one that is dead.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// Whether the task runs.
#[derive(Debug, Default)]
pub(crate) struct OneTask(Arc<AtomicBool>);

/// What the task holds as long as it runs. One that ends for want of work drops it under the lock under which work is brought: work that
/// comes afterwards begins a new task.
#[derive(Debug)]
pub(crate) struct Running(Arc<AtomicBool>);

impl OneTask {
    /// What the task that is now to be begun holds; `None` while one runs.
    pub(crate) fn begin(&self) -> Option<Running> {
        let was_running = self.0.swap(true, Ordering::AcqRel);
        (!was_running).then(|| Running(Arc::clone(&self.0)))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_task_that_panicked_is_begun_again() {
        let task = OneTask::default();
        let running = task.begin().expect("none runs");
        let runs_twice = task.begin().is_some();
        assert!(!runs_twice);
        let task_itself = async move {
            let _running = running;
            assert!(runs_twice, "a defect, made to order");
        };
        tokio::spawn(task_itself).await.expect_err("it panics");
        drop(task.begin().expect("it runs no longer"));
        assert!(task.begin().is_some(), "nor does one that ended");
    }
}
