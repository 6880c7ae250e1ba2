//! The port for name resolution. A webhook's host is resolved through this port and the addresses are vetted before anything
//! connects (SSRF protection); a test can change a name's addresses between two answers.

use std::{fmt, io, net::IpAddr};

use async_trait::async_trait;

/// Resolves host names.
#[async_trait]
pub trait Resolver: fmt::Debug + Send + Sync {
    /// All addresses of a name, in the order in which to try them; the caller limits the time.
    ///
    /// # Errors
    /// The system's error when the name has no addresses or no server answers; the caller takes each of them for "unreachable".
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

/// The operating system's resolver: `/etc/hosts`, then DNS.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

#[async_trait]
impl Resolver for SystemResolver {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        Ok(tokio::net::lookup_host((host, 0)).await?.map(|address| address.ip()).collect())
    }
}

/// A test double that answers as a test told it: each answer of a name once, the last one for ever. Other names do not exist.
#[cfg(any(test, feature = "testing"))]
#[derive(Debug, Default)]
pub struct ScriptedResolver(std::sync::Mutex<std::collections::HashMap<String, std::collections::VecDeque<Vec<IpAddr>>>>);

#[cfg(any(test, feature = "testing"))]
impl ScriptedResolver {
    /// Appends an answer for `host`.
    pub fn answer(&self, host: &str, addresses: impl IntoIterator<Item = IpAddr>) {
        let mut script = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        script.entry(host.to_owned()).or_default().push_back(addresses.into_iter().collect());
    }
}

#[cfg(any(test, feature = "testing"))]
#[async_trait]
impl Resolver for ScriptedResolver {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        let mut script = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let answers = script.get_mut(host).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        let next = if answers.len() > 1 { answers.pop_front() } else { answers.front().cloned() };
        next.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }
}
