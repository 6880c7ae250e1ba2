//! The same where no service can run in this process, because none was compiled.

use std::{convert::Infallible, net::IpAddr};

use ipnet::IpNet;
use tokio::runtime::Handle;

use super::Verifier;
use crate::{error::Error, value::Origin};

pub(super) type Place = Option<Infallible>;

pub(super) const fn runtime(_: &dyn Verifier) -> Option<Handle> {
    None
}

pub(super) const fn trusted_proxies(_: &dyn Verifier) -> Vec<IpNet> {
    Vec::new()
}

pub(super) const fn public_origin(_: &dyn Verifier) -> Option<Origin> {
    None
}

pub(super) fn place(_: &dyn Verifier, _: impl FnOnce() -> Option<IpAddr>) -> Result<Place, Error> {
    Ok(None)
}
