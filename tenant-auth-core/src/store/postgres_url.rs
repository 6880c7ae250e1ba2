//! Parsing of a PostgreSQL URL. The URL holds a password, so nothing of the URL reaches the log.

use std::str::FromStr;

use sqlx::postgres::PgConnectOptions;
use tracing::{Dispatch, dispatcher};
use url::Url;

use crate::config::{ConfigError, Setting};

/// The parameters that sqlx reads (`sqlx-postgres`, `options/parse.rs`), but for `options[…]`.
const PARAMETERS: [&str; 18] = [
    "application_name",
    "dbname",
    "host",
    "hostaddr",
    "options",
    "password",
    "port",
    "ssl-ca",
    "ssl-cert",
    "ssl-key",
    "ssl-mode",
    "ssl-root-cert",
    "sslcert",
    "sslkey",
    "sslmode",
    "sslrootcert",
    "statement-cache-capacity",
    "user",
];

/// The options that a URL states.
///
/// sqlx logs a parameter that it does not know with its value, and a broken line of a password file as a whole. A password with an
/// unescaped `?` ends up in a parameter, so sqlx parses without a subscriber, and the warning here tells neither name nor value.
///
/// # Errors
/// [`ConfigError`] for a URL that is none.
pub(super) fn parse(url: &str) -> Result<PgConnectOptions, ConfigError> {
    let options = dispatcher::with_default(&Dispatch::none(), || PgConnectOptions::from_str(url))
        .map_err(|_| ConfigError::new(Setting::DatabaseUrl, "must be postgres://user:password@host:port/database"))?;
    let unknown = count_unknown_parameters(url);
    if unknown > 0 {
        tracing::warn!(
            unknown,
            "the database URL has parameters that are not known and have no effect; check their spelling, and write a ? in the \
             password as %3F"
        );
    }
    Ok(options)
}

fn count_unknown_parameters(url: &str) -> usize {
    let is_known = |name: &str| PARAMETERS.contains(&name) || name.starts_with("options[");
    Url::parse(url).map_or(0, |url| url.query_pairs().filter(|(name, _)| !is_known(name)).count())
}

#[cfg(test)]
mod tests {
    use std::{
        io,
        sync::{Arc, Mutex},
    };

    use super::*;

    /// A log in memory.
    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Log {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("nobody panics with it").extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// What `act` logs, at every level.
    fn logged<T>(act: impl FnOnce() -> T) -> (T, String) {
        let log = Log::default();
        let writer = log.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_ansi(false)
            .with_max_level(tracing::Level::TRACE)
            .with_writer(move || writer.clone())
            .finish();
        let outcome = tracing::subscriber::with_default(subscriber, act);
        let bytes = log.0.lock().expect("nobody panics with it").clone();
        (outcome, String::from_utf8(bytes).expect("text"))
    }

    /// The password is `1?mauve=otter-plinth`; its `?` should be `%3F`.
    const UNESCAPED: &str = "postgres://auth:1?mauve=otter-plinth@db.internal/auth";

    #[test]
    fn a_password_with_a_question_mark_does_not_reach_the_log() {
        let (_, of_sqlx) = logged(|| PgConnectOptions::from_str(UNESCAPED));
        assert!(of_sqlx.contains("otter-plinth"), "sqlx has become discreet; parse with its log again:\n{of_sqlx}");
        let (options, log) = logged(|| parse(UNESCAPED));
        options.expect("sqlx takes it for a URL with parameters");
        assert!(log.contains("WARN") && log.contains("unknown=1") && log.contains("%3F"), "{log}");
        assert!(!log.contains("mauve") && !log.contains("otter-plinth"), "{log}");
    }

    #[test]
    fn parameters_that_sqlx_knows_are_no_reason_for_a_warning() {
        let value = |name: &&str| match *name {
            "port" | "statement-cache-capacity" => "5432",
            "hostaddr" => "127.0.0.1",
            "ssl-mode" | "sslmode" => "disable",
            _ => "x",
        };
        let query: Vec<String> = PARAMETERS.iter().map(|name| format!("{name}={}", value(name))).collect();
        let url = format!("postgres://auth@db.internal/auth?{}&options[jit]=off", query.join("&"));
        let (_, of_sqlx) = logged(|| PgConnectOptions::from_str(&url).expect("a URL"));
        let (_, ours) = logged(|| parse(&url).expect("a URL"));
        assert_eq!((of_sqlx.as_str(), ours.as_str()), ("", ""));
    }

    #[test]
    fn what_is_no_url_is_refused_without_being_told() {
        let (refused, log) = logged(|| parse("postgres://auth:mauve?otter@db.internal/auth").expect_err("its port is no number"));
        assert!(!refused.to_string().contains("mauve") && log.is_empty(), "{refused} {log}");
    }
}
