//! Rate limits of logins and codes: by account, by address, and both wide limits; who is served first; and rates of what is told to
//! others.

pub(crate) mod account;
pub(crate) mod addresses;
pub(crate) mod crowds;
pub(crate) mod edges;
pub(crate) mod guesses;
pub(crate) mod races;
pub(crate) mod rates;
pub(crate) mod refusals;
pub(crate) mod tenants;
pub(crate) mod wide;
