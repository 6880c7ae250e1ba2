//! The figures, a file for each.

pub(crate) mod audit;
mod audit_pages;
pub(crate) mod beside;
pub(crate) mod deliveries;
pub(crate) mod footprint;
pub(crate) mod growth;
pub(crate) mod guessing;
pub(crate) mod login;
pub(crate) mod members;
pub(crate) mod pipeline;
pub(crate) mod program;
pub(crate) mod races;
pub(crate) mod refresh;
pub(crate) mod remembering;
pub(crate) mod verify;
