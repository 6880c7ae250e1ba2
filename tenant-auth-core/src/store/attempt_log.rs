//! The attempts of a delivery as they are kept: a line for each, `<at> <milliseconds> <status or -> <error or ->`, appended by the
//! statement that records the outcome.

use std::time::Duration;

use crate::{
    model::{DeliveryAttempt, DeliveryError},
    time::Timestamp,
};

/// What stands in place of a value that there is none of.
const NONE: &str = "-";

/// The line of one attempt.
pub(crate) fn line(attempt: &DeliveryAttempt) -> String {
    let DeliveryAttempt { at, status_code, error, took } = attempt;
    let code = status_code.map_or_else(|| NONE.to_owned(), |code| code.to_string());
    format!("{} {} {code} {}\n", at.millis(), took.as_millis(), error.map_or(NONE, DeliveryError::as_str))
}

/// The attempts of a log, the first first. A line that this version cannot read is left out: it says less, and hides nothing else.
pub(crate) fn read(log: &str) -> Vec<DeliveryAttempt> {
    log.lines().filter_map(parse).collect()
}

fn parse(line: &str) -> Option<DeliveryAttempt> {
    let mut words = line.split(' ');
    let (at, took, code, error) = (words.next()?, words.next()?, words.next()?, words.next()?);
    Some(DeliveryAttempt {
        at: Timestamp::from_millis(at.parse().ok()?),
        took: Duration::from_millis(took.parse().ok()?),
        status_code: if code == NONE { None } else { Some(code.parse().ok()?) },
        error: if error == NONE { None } else { Some(DeliveryError::parse(error)?) },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_of_an_attempt_is_read_again() {
        let attempt = |status_code, error| DeliveryAttempt {
            at: Timestamp::from_millis(1_795_000_000_123),
            status_code,
            error,
            took: Duration::from_millis(87),
        };
        let attempts = [
            attempt(None, Some(DeliveryError::Timeout)),
            attempt(Some(503), Some(DeliveryError::Status)),
            attempt(Some(204), None),
        ];
        let log: String = attempts.iter().map(line).collect();
        assert_eq!(read(&log), attempts);
        assert_eq!(read(""), []);
        assert_eq!(read("1 2 - teapot\n1795000000123 87 204 -\n"), [attempt(Some(204), None)]);
    }
}
