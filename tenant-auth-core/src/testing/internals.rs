//! Parts below the public interface, for the tests of this repository: what strangers' bytes reach, for the fuzzer, and one half of a
//! worker's round. They may change in any release.

#[cfg(feature = "http")]
use std::net::IpAddr;

#[cfg(feature = "http")]
use ::http::HeaderMap;
#[cfg(feature = "http")]
use ipnet::IpNet;

use crate::{
    config::{Languages, MailTemplates, Product},
    error::Error,
    mail,
    ports::{Message, OsEntropy},
    sealed::{MasterKeys, SealContext},
    service::TenantAuth,
    time::Timestamp,
    value::{DisplayName, Email, WebhookUrl},
    webhooks::target::Targets,
};

/// Sweeps as a worker does, and does nothing else that a worker does.
///
/// # Errors
/// [`Error::Unavailable`] when the database is away.
pub async fn sweep(auth: &TenantAuth) -> Result<(), Error> {
    auth.worker().sweep().await
}

/// Whether webhooks may be sent to this URL, as far as that can be judged without resolving a name; https on port 443 only.
pub fn is_webhook_target(url: &WebhookUrl) -> bool {
    Targets { allow_private_networks: false, ports: vec![443] }.check(url).is_ok()
}

/// The client's address behind trusted proxies.
#[cfg(feature = "http")]
pub fn client_address(trusted_proxies: &[IpNet], peer: IpAddr, headers: &HeaderMap) -> Option<IpAddr> {
    crate::http::client_ip::of(trusted_proxies, Some(peer), headers)
}

/// Seals a value for a cell of the database.
///
/// # Errors
/// [`Error::Internal`] when the cipher refuses, which it does not.
pub fn seal(keys: &MasterKeys, plain: &[u8], row: &str) -> Result<String, Error> {
    keys.seal(plain, cell(row), &OsEntropy)
}

/// Opens what [`seal`] sealed for the same row; `None` for anything else.
pub fn open(keys: &MasterKeys, sealed: &str, row: &str) -> Option<Vec<u8>> {
    keys.open(sealed, cell(row)).map(|plain| plain.to_vec())
}

fn cell(row: &str) -> SealContext<'_> {
    SealContext { table: "fuzzed", column: "value", row, org: "org_fuzzed" }
}

/// The mail that tells `to` about a new API key: a letter that shows names which people chose.
///
/// # Errors
/// [`Error::Internal`] when the template cannot be rendered, which it can.
pub fn letter(organization: &DisplayName, name: &DisplayName, to: &Email) -> Result<Message, Error> {
    mail::Letter::NewApiKey { organization, name }.to(
        to,
        &Product::default(),
        Languages::default().of(None),
        &MailTemplates::default(),
    )
}

/// The time step of a one-time password (RFC 6238) at a moment; `None` when the password is wrong.
///
/// # Errors
/// [`Error::Internal`] for a secret that is none.
pub fn one_time_password_step(secret: &[u8], code: &str, now: Timestamp) -> Result<Option<i64>, Error> {
    crate::account::two_factor::step_of(secret, code, now)
}
