//! The operators of the deployment: the routes under `/admin`, and what they do from the command line.

pub(crate) mod accounts;
pub(crate) mod closing;
pub(crate) mod copied_before;
pub(crate) mod deletion;
pub(crate) mod deployment_keys;
pub(crate) mod exports;
pub(crate) mod figures;
pub(crate) mod given_addresses;
pub(crate) mod imports;
pub(crate) mod linking;
pub(crate) mod moved_invites;
pub(crate) mod moves;
pub(crate) mod operators;
pub(crate) mod organizations;
pub(crate) mod persons;
pub(crate) mod removal;
pub(crate) mod removers;
pub(crate) mod round_trip;
pub(crate) mod vouching;
mod whole_deployment;
