//! The concurrency inside one process, searched by loom: the files of the core that threads share memory by, compiled here with loom's
//! atomics and locks in place of the standard library's, which also reorder what the processor may reorder. Every interleaving of one
//! change and one request beside it is walked that has at most three preemptions; a request before them and one after them stand outside.
//!
//! One thread changes a row, applies the look that names it, publishes the look and tells of the change. Requests run beside it. The
//! property: a request that begins after the change was told of is never answered with what was before it, from memory or by what it
//! kept.

#[path = "../../../../tenant-auth-core/src/memory/footing.rs"]
mod footing;
#[path = "../../../../tenant-auth-core/src/memory/last_look.rs"]
mod last_look;
#[path = "../../../../tenant-auth-core/src/memory/ledger.rs"]
mod ledger;
mod moment;
#[path = "../../../../tenant-auth-core/src/memory/part.rs"]
mod part;
mod process;
#[path = "../../../../tenant-auth-core/src/memory/shelf.rs"]
mod shelf;
mod sync;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use loom::{model::Builder, sync::Arc, thread};

use process::{Process, STALE};

/// The rules of the process. Without any one of them a stale answer is given.
#[derive(Debug, Clone, Copy)]
pub struct Order {
    /// What was read is kept only if the ledger admits it.
    pub keeps_what_is_admitted: bool,
    /// A reading begins before the database is asked.
    pub begins_before_it_reads: bool,
    /// A look is applied before it counts.
    pub applies_before_it_counts: bool,
    /// A change is told of after the look that follows it.
    pub tells_after_the_look: bool,
}

impl Default for Order {
    fn default() -> Self {
        Self {
            keeps_what_is_admitted: true,
            begins_before_it_reads: true,
            applies_before_it_counts: true,
            tells_after_the_look: true,
        }
    }
}

/// What a run begins with, and how its look ends.
#[derive(Debug, Clone, Copy)]
pub struct Run {
    /// Whether the row is remembered when the change begins.
    pub remembers: bool,
    /// Whether it is found by the id that a look names, or rests on the row's footing.
    pub is_found_by_id: bool,
    /// Whether the look after the change cannot tell what it missed.
    pub forgets: bool,
}

/// Whether some interleaving of one change and the requests beside it gives a stale answer.
///
/// # Panics
/// When anything else goes wrong: memory that grows, parts of two looks, a deadlock.
pub fn is_stale_somewhere(order: Order, run: Run) -> bool {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(3);
    let searched = catch_unwind(AssertUnwindSafe(|| {
        builder.check(move || {
            let process = Arc::new(Process::new(order, run.is_found_by_id));
            if run.remembers {
                process.request();
            }
            let changing = Arc::clone(&process);
            let changing = thread::spawn(move || changing.change(run.forgets));
            process.request();
            changing.join().expect("it only stores");
            process.request();
            assert!(process.is_bounded(), "more is remembered than one row");
        });
    }));
    match searched {
        Ok(()) => false,
        Err(panic) if panic.downcast_ref::<String>().is_some_and(|said| said == STALE) => true,
        Err(panic) => resume_unwind(panic),
    }
}
