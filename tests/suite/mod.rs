//! The scenarios, in folders that mirror the paths of the API. A new file is a `mod` line in its folder; a new scenario is a function and
//! its name at the top of its file. How to write one stands at the top of `tests/src/lib.rs`.

pub(crate) mod admin;
pub(crate) mod audit;
pub(crate) mod auth;
pub(crate) mod deliveries;
pub(crate) mod embed;
pub(crate) mod events;
pub(crate) mod http;
pub(crate) mod limits;
pub(crate) mod memory;
pub(crate) mod operation;
pub(crate) mod org;
pub(crate) mod public;
pub(crate) mod races;
pub(crate) mod storage;
pub(crate) mod support;
