//! The database: what lies in it, and what happens when it is away.

pub(crate) mod at_rest;
pub(crate) mod at_rest_accounts;
pub(crate) mod change_log;
pub(crate) mod incarnations;
pub(crate) mod language_order;
pub(crate) mod locks;
pub(crate) mod outage;
pub(crate) mod printed;
pub(crate) mod stall;
pub(crate) mod statements;
