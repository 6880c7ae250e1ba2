//! The `Retry-After` header of RFC 9110, section 10.2.3: a number of seconds or a date in any of the three forms of HTTP dates. A
//! stranger sends it, so any other value is ignored.

use std::time::{Duration, UNIX_EPOCH};

use crate::time::Timestamp;

/// When a receiver wants the next attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryAfter {
    /// This long after its answer.
    In(Duration),
    /// At this time, by the receiver's clock.
    At(Timestamp),
}

impl RetryAfter {
    /// Reads the header's value; `None` when it is neither seconds nor a date.
    pub fn parse(value: &str) -> Option<Self> {
        let value = value.trim();
        if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
            let seconds = value.parse().unwrap_or(u64::MAX); // more than there are
            return Some(Self::In(Duration::from_secs(seconds)));
        }
        let date = httpdate::parse_http_date(value).ok()?;
        let seconds = date.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        Some(Self::At(Timestamp::from_secs(i64::try_from(seconds).ok()?)))
    }

    /// The wait from `now`; zero when the time has passed. There is no upper bound: the caller has one.
    pub fn wait(self, now: Timestamp) -> Duration {
        match self {
            Self::In(duration) => duration,
            Self::At(time) => time.since(now),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_read_and_garbage_is_no_wish() {
        assert_eq!(RetryAfter::parse("120"), Some(RetryAfter::In(Duration::from_secs(120))));
        assert_eq!(RetryAfter::parse(" 0 "), Some(RetryAfter::In(Duration::ZERO)));
        let far = Some(RetryAfter::In(Duration::from_secs(u64::MAX)));
        assert_eq!(RetryAfter::parse("99999999999999999999999"), far, "a wish is no garbage for its size");
        let at = Some(RetryAfter::At(Timestamp::from_secs(1_792_485_067)));
        for date in ["Tue, 20 Oct 2026 08:31:07 GMT", "Tue Oct 20 08:31:07 2026", "Tuesday, 20-Oct-26 08:31:07 GMT"] {
            assert_eq!(RetryAfter::parse(date), at, "{date}");
        }
        for garbage in [
            "",
            "-1",
            "1.5",
            "soon",
            "Tue, 20 Oct 2026 08:31:07",
            "Tue, 20 Oct 2026 08:31:07 CET",
            "Tue, 20 Oct 2026 25:31:07 GMT",
            "2026-10-20T08:31:07Z",
            "Tuesday, 20-Oct-26 08:31:07 GMT and more",
            "١٢",
        ] {
            assert_eq!(RetryAfter::parse(garbage), None, "{garbage}");
        }
    }

    #[test]
    fn a_wish_is_a_wait_from_now() {
        let now = Timestamp::from_secs(1_000);
        assert_eq!(RetryAfter::In(Duration::from_secs(7)).wait(now), Duration::from_secs(7));
        assert_eq!(RetryAfter::At(Timestamp::from_secs(1_030)).wait(now), Duration::from_secs(30));
        assert_eq!(RetryAfter::At(Timestamp::from_secs(970)).wait(now), Duration::ZERO);
    }
}
