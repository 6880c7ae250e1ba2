//! Log lines about refused attempts, for whoever watches the log for attacks. A line names no address and no account: the client
//! stands there as a keyed hash, which is the same for the same client as long as the process runs, so that its lines can be counted.

use std::{
    fmt,
    hash::{BuildHasher, RandomState},
    sync::LazyLock,
};

use super::limits::network_of;
use crate::{caller::Client, error::Error, id::OrgId};

/// The key of this process. It is never written down, so nobody finds the addresses by hashing all there are.
static KEY: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// A client as the log names it: by its network, as failures are counted (behaviour.md, B87).
struct Pseudonym(Option<u64>);

impl Pseudonym {
    fn of(client: &Client) -> Self {
        Self(network_of(client).map(|network| KEY.hash_one(network)))
    }
}

impl fmt::Display for Pseudonym {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(hash) => write!(f, "{hash:016x}"),
            None => f.write_str("unknown"),
        }
    }
}

/// Logs a login, or a confirmation by password or code, that was refused. What was not judged is no attempt, and has lines of its own.
pub(crate) fn log_refused(refusal: &Error, org: &OrgId, client: &Client) {
    let reason = match refusal {
        Error::InvalidCredentials => "invalid_credentials",
        Error::WrongPassword => "wrong_password",
        Error::SecondFactorFailed | Error::WrongCode => "wrong_code",
        Error::NotAMember => "not_a_member",
        Error::Suspended => "suspended",
        Error::RateLimited { .. } => "rate_limited",
        _ => return,
    };
    tracing::info!(target: "tenant_auth::logins", reason, organization_id = %org, client = %Pseudonym::of(client), "login failed");
}

/// Logs that a client has guessed at keys and links too often.
#[cfg(feature = "http")]
pub(super) fn log_guesser(client: &Client) {
    tracing::info!(target: "tenant_auth::logins", client = %Pseudonym::of(client), "guesses at keys or links are refused");
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    fn shown(ip: &str) -> String {
        Pseudonym::of(&Client { ip: Some(ip.parse::<IpAddr>().expect("an address")), ..Client::default() }).to_string()
    }

    #[test]
    fn a_client_has_one_pseudonym_that_does_not_show_the_address() {
        assert_eq!(shown("203.0.113.7"), shown("203.0.113.7"));
        assert_eq!(shown("2001:db8:1:2::1"), shown("2001:db8:1:2::2"), "one network");
        assert_ne!(shown("203.0.113.7"), shown("203.0.113.8"));
        assert_eq!(shown("203.0.113.7").len(), 16);
        assert_eq!(Pseudonym::of(&Client::default()).to_string(), "unknown");
    }
}
