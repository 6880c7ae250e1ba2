//! The `Retry-After` header of RFC 9110, section 10.2.3: a number of seconds or a date in any of the three forms that HTTP has
//! had. It comes from a stranger, so whatever is neither is no wish at all.

use std::time::Duration;

use time::{
    OffsetDateTime, PrimitiveDateTime,
    format_description::BorrowedFormatItem,
    macros::{format_description, offset},
    parsing::Parsed,
};

use crate::time::Timestamp;

/// When a receiver wants to be tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryAfter {
    /// This long after its answer.
    In(Duration),
    /// At this time by its own clock.
    At(Timestamp),
}

const IMF_FIXDATE: &[BorrowedFormatItem<'_>] =
    format_description!("[weekday repr:short], [day] [month repr:short] [year] [hour]:[minute]:[second] GMT");
const ASCTIME: &[BorrowedFormatItem<'_>] =
    format_description!("[weekday repr:short] [month repr:short] [day padding:space] [hour]:[minute]:[second] [year]");
const RFC_850: &[BorrowedFormatItem<'_>] =
    format_description!("[weekday], [day]-[month repr:short]-[year repr:last_two] [hour]:[minute]:[second] GMT");

impl RetryAfter {
    /// Reads the header's value; `None` when it is neither seconds nor a date.
    pub fn parse(value: &str) -> Option<Self> {
        let value = value.trim();
        if value.bytes().all(|byte| byte.is_ascii_digit()) {
            return value.parse().ok().map(|seconds| Self::In(Duration::from_secs(seconds)));
        }
        let date = PrimitiveDateTime::parse(value, IMF_FIXDATE).or_else(|_| PrimitiveDateTime::parse(value, ASCTIME)).ok();
        let seconds = date.map(PrimitiveDateTime::assume_utc).or_else(|| two_digit_year(value))?.unix_timestamp();
        Some(Self::At(Timestamp::from_secs(seconds)))
    }

    /// How long that is from `now`; zero when it has passed. There is no upper bound: the caller has one.
    pub fn wait(self, now: Timestamp) -> Duration {
        match self {
            Self::In(duration) => duration,
            Self::At(time) => time.since(now),
        }
    }
}

/// RFC 850's form. A wish for the future lies in this century.
fn two_digit_year(value: &str) -> Option<OffsetDateTime> {
    let mut parsed = Parsed::new();
    let rest = parsed.parse_items(value.as_bytes(), RFC_850).ok()?;
    let year = 2000 + i32::from(parsed.year_last_two()?);
    parsed.set_year(year)?;
    let date = PrimitiveDateTime::try_from(parsed).ok()?;
    rest.is_empty().then(|| date.assume_offset(offset!(UTC)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_read_and_garbage_is_no_wish() {
        assert_eq!(RetryAfter::parse("120"), Some(RetryAfter::In(Duration::from_secs(120))));
        assert_eq!(RetryAfter::parse(" 0 "), Some(RetryAfter::In(Duration::ZERO)));
        let at = Some(RetryAfter::At(Timestamp::from_secs(1_792_485_067)));
        for date in ["Tue, 20 Oct 2026 08:31:07 GMT", "Tue Oct 20 08:31:07 2026", "Tuesday, 20-Oct-26 08:31:07 GMT"] {
            assert_eq!(RetryAfter::parse(date), at, "{date}");
        }
        for garbage in [
            "",
            "-1",
            "1.5",
            "soon",
            "99999999999999999999999",
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
