//! Points in time as the whole product keeps them: whole milliseconds since the Unix epoch, UTC, shown as ISO 8601 with
//! exactly three decimals. Never read from the system here: see [`Clock`](crate::ports::Clock).

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use time::{OffsetDateTime, format_description::well_known::Rfc3339, macros::format_description};

/// The clocks of a deployment's servers differ by less than this. What was written further in the future was written before a clock was
/// set back.
pub(crate) const CLOCKS_DIFFER: Duration = Duration::from_secs(60);

/// Milliseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

#[cfg(feature = "http")]
crate::schema::text_schema!(
    Timestamp,
    Text {
        means: "A time in UTC, with milliseconds.",
        pattern: Some(r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$"),
        format: Some(utoipa::openapi::KnownFormat::DateTime),
        example: Some("2026-11-20T08:21:00.123Z"),
        ..Text::default()
    }
);

impl Timestamp {
    /// From milliseconds since the Unix epoch.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// From whole seconds since the Unix epoch, as JWTs carry them.
    pub const fn from_secs(seconds: i64) -> Self {
        Self(seconds.saturating_mul(1000))
    }

    /// Milliseconds since the Unix epoch.
    pub const fn millis(self) -> i64 {
        self.0
    }

    /// Whole seconds since the Unix epoch, rounded down.
    pub const fn secs(self) -> i64 {
        self.0.div_euclid(1000)
    }

    /// This time and `duration` more.
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)))
    }

    /// This time less `duration`.
    #[must_use]
    pub fn minus(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)))
    }

    /// How long after `earlier` this is; zero when it is not after it.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// `2026-11-20T08:21:00.123Z` (behaviour.md, B22).
    pub fn to_iso(self) -> String {
        let format = format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:3]Z");
        OffsetDateTime::from_unix_timestamp_nanos(i128::from(self.0) * 1_000_000)
            .ok()
            .and_then(|at| at.format(&format).ok())
            .unwrap_or_else(|| "9999-12-31T23:59:59.999Z".to_owned())
    }

    /// Reads an RFC 3339 time of any offset; `None` when it is not one.
    pub fn parse(text: &str) -> Option<Self> {
        let nanos = OffsetDateTime::parse(text, &Rfc3339).ok()?.unix_timestamp_nanos();
        i64::try_from(nanos.div_euclid(1_000_000)).ok().map(Self)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_iso())
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| D::Error::custom("must be an ISO 8601 time such as 2026-11-20T08:21:00.123Z"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shown_with_exactly_three_decimals() {
        assert_eq!(Timestamp::from_millis(0).to_iso(), "1970-01-01T00:00:00.000Z");
        assert_eq!(
            Timestamp::parse("2026-11-20T09:21:00.5+01:00").map(Timestamp::to_iso).as_deref(),
            Some("2026-11-20T08:21:00.500Z")
        );
        assert_eq!(Timestamp::parse("tomorrow"), None);
    }
}
