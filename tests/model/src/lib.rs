//! A model of the protocol by which a process may answer from memory (behaviour.md, B153 and B154), searched exhaustively.
//! Every interleaving of looks, reads, commits, waits, stalls and deaths is walked, breadth first, and the property is judged in
//! each state: **a request that begins after somebody was told of a change is never answered with what was before it.**
//!
//! The model has one change of one fact, one process that remembers (the observer), and one clock. That suffices: a stale answer is
//! given by one process, and whatever another one does reaches it only through the database. Each rule of the protocol can be taken
//! away ([`Rules`]); the tests show that each is needed.
//!
//! A step may come at any time or never, while the clock ticks. So a slow network, a stalled disk, a paused process and a dropped
//! connection are in every run and need no states of their own. A machine that is suspended as a whole is not in the model: its own
//! clock stands still, and no protocol notices it.

pub mod inside;
mod rules;
mod search;
mod state;
mod steps;

pub use rules::{Deployment, Rules};
pub use search::{Outcome, search};
