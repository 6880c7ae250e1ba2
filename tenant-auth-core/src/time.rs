//! Points in time as the whole product keeps them: whole milliseconds since the Unix epoch, UTC, shown as ISO 8601 with
//! exactly three decimals. Never read from the system here: see [`Clock`](crate::ports::Clock).

use std::{
    fmt,
    str::FromStr,
    time::{Duration, SystemTime},
};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use time::{OffsetDateTime, format_description::well_known::Rfc3339, macros::format_description};

/// The clocks of a deployment's servers differ by less than this. What was written further in the future was written before a clock was
/// set back.
pub(crate) const CLOCKS_DIFFER: Duration = Duration::from_secs(60);

#[cfg(feature = "service")]
pub(crate) const HOUR: Duration = Duration::from_secs(3_600);
#[cfg(feature = "service")]
pub(crate) const DAY: Duration = Duration::from_secs(24 * 3_600);

const MILLIS_OF_A_DAY: i64 = 24 * 3_600 * 1_000;

/// Milliseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

/// The text is no time; to be read after the field's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be an ISO 8601 time such as 2026-11-20T08:21:00.123Z")]
pub struct MalformedTime;

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

    /// The day of this time (UTC), counted from 1970-01-01.
    pub(crate) const fn day(self) -> i64 {
        self.0.div_euclid(MILLIS_OF_A_DAY)
    }

    /// The beginning of a day that [`Timestamp::day`] counted.
    pub(crate) const fn of_day(day: i64) -> Self {
        Self(day.saturating_mul(MILLIS_OF_A_DAY))
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

/// The system's time, cut to whole milliseconds: `Timestamp::from(SystemTime::now())`, where a host asks no
/// [`Clock`](crate::ports::Clock).
impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        let millis = |span: Duration| i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
        match time.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(since) => Self(millis(since)),
            Err(before) => Self(millis(before.duration()).saturating_neg()),
        }
    }
}

impl FromStr for Timestamp {
    type Err = MalformedTime;

    /// Judges as the API does: an RFC 3339 time of any offset.
    fn from_str(text: &str) -> Result<Self, MalformedTime> {
        Self::parse(text).ok_or(MalformedTime)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_iso())
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_iso())
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
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

    #[test]
    fn the_systems_time_and_a_text_become_one() {
        let at = SystemTime::UNIX_EPOCH + Duration::from_millis(1_500);
        assert_eq!(Timestamp::from(at), Timestamp::from_millis(1_500));
        assert_eq!(Timestamp::from(SystemTime::UNIX_EPOCH - Duration::from_millis(7)), Timestamp::from_millis(-7));
        let text = Timestamp::from(at).to_string();
        assert_eq!((text.as_str(), text.parse()), ("1970-01-01T00:00:01.500Z", Ok(Timestamp::from(at))));
        assert!("tomorrow".parse::<Timestamp>().is_err());
    }
}
