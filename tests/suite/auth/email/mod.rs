//! The address of an account: proving it, changing it.

pub(crate) mod change;
pub(crate) mod verify;
