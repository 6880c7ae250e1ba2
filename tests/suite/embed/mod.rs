//! The gate before a host's own routes, with the service in the same process and with a deployed one.

pub(crate) mod gate;
pub(crate) mod own_rights;
pub(crate) mod redirects;
pub(crate) mod refresh;
pub(crate) mod remembering;
pub(crate) mod remote;
