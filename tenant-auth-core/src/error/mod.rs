//! The errors of all operations. [`Error`] itself stands at the root, because every program names it; here is what it
//! speaks of.

mod facts;
pub(crate) mod operation;
mod overload;

pub use facts::{InvalidValue, Thing};
pub(crate) use operation::Error;
pub use operation::{Cause, Causes};
pub(crate) use overload::Overload;
