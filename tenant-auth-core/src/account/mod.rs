//! A person's account: logging in and out, keeping a session alive, profile and password.

mod login;
mod logout;
mod password;
mod profile;
mod refresh;
mod sessions;

use std::net::IpAddr;

pub use login::{Credentials, Login, Opened};
pub use password::NewPassword;
pub use profile::ProfileUpdate;
pub(crate) use sessions::{Ending, idle_until, open_session, tell_ended};

/// Where a request comes from; kept with the session it opens, for its owner to recognise.
#[derive(Debug, Clone, Default)]
pub struct Client {
    /// The client's address.
    pub ip: Option<IpAddr>,
    /// Its `User-Agent`.
    pub user_agent: Option<String>,
}
