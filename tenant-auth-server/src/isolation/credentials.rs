//! The credentials that the isolation check is given, through the environment: a command line is seen by everybody on the machine.

use std::env;

use crate::failure::Failure;

/// What one organization's people and backends can show.
pub(crate) struct Credentials {
    pub(super) slug: String,
    pub(super) admin: Person,
    pub(super) member: Option<Person>,
    pub(super) api_key: String,
}

/// How somebody is known.
pub(super) enum Person {
    /// By an access token.
    Token(String),
    /// By logging in.
    Login { email: String, password: String, code: Option<String> },
}

impl Credentials {
    /// Reads `ISOLATION_<side>_…`.
    ///
    /// # Errors
    /// [`Failure::Unchecked`] with the name of the variable that is missing.
    pub(crate) fn from_environment(side: &str, slug: String) -> Result<Self, Failure> {
        let missing = |name: &str| Failure::Unchecked(format!("{name} is not set. 'isolation-check --help' says what is needed."));
        let prefix = format!("ISOLATION_{side}");
        let admin = person(&prefix)?.ok_or_else(|| missing(&format!("{prefix}_EMAIL")))?;
        let member = person(&format!("{prefix}_MEMBER"))?;
        let name = format!("{prefix}_API_KEY");
        let api_key = value(&name).ok_or_else(|| missing(&name))?;
        Ok(Self { slug, admin, member, api_key })
    }
}

fn person(prefix: &str) -> Result<Option<Person>, Failure> {
    let of = |name: &str| value(&format!("{prefix}_{name}"));
    match (of("TOKEN"), of("EMAIL"), of("PASSWORD")) {
        (Some(token), _, _) => Ok(Some(Person::Token(token))),
        (None, Some(email), Some(password)) => Ok(Some(Person::Login { email, password, code: of("CODE") })),
        (None, None, None) => Ok(None),
        (None, _, _) => Err(Failure::Unchecked(format!("{prefix}_EMAIL and {prefix}_PASSWORD belong together. Set both."))),
    }
}

fn value(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}
