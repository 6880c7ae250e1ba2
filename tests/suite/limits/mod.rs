//! Rate limits of logins and codes: by account, by address, and both wide limits; and who is served first.

pub(crate) mod account;
pub(crate) mod addresses;
pub(crate) mod crowds;
pub(crate) mod edges;
pub(crate) mod races;
pub(crate) mod tenants;
pub(crate) mod wide;
