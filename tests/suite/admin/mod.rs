//! The operators of the deployment: the routes under `/admin`, and what they do from the command line.

pub(crate) mod accounts;
pub(crate) mod operators;
pub(crate) mod organizations;
