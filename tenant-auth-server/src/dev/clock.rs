//! The clock of `dev`, which can be moved forward: tokens, invites, codes, retries and sweeps follow it, so that what takes days can be
//! tried in seconds.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use axum::{Router, body::Bytes, extract::State, http::StatusCode, response::Response, routing::get};
use serde::Deserialize;
use serde_json::json;
use tenant_auth_core::{
    TenantAuth, Timestamp,
    ports::{Clock, SystemClock},
};

use crate::answer;

/// How far it may be moved in all: ten years.
const MOST: i64 = 10 * 366 * 24 * 3_600 * 1_000;

/// The system's time and what it was moved forward by, in milliseconds.
#[derive(Debug, Default)]
pub(super) struct MovableClock(AtomicI64);

impl Clock for MovableClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(SystemClock.now().millis() + self.0.load(Ordering::SeqCst))
    }
}

impl MovableClock {
    /// Moves it; `false` when it would be too far.
    fn advance(&self, by: Duration) -> bool {
        let Ok(by) = i64::try_from(by.as_millis()) else { return false };
        let moved = |present: i64| present.checked_add(by).filter(|moved| *moved <= MOST);
        self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, moved).is_ok()
    }

    fn told(&self) -> Response {
        answer::success(json!({ "time": self.now(), "advancedBySeconds": self.0.load(Ordering::SeqCst) / 1_000 }))
    }
}

#[derive(Clone)]
struct Watch {
    clock: Arc<MovableClock>,
    auth: TenantAuth,
}

#[derive(Deserialize)]
struct Advance {
    advance: String,
}

/// `GET` and `POST /dev/clock`.
pub(super) fn routes(clock: Arc<MovableClock>, auth: TenantAuth) -> Router {
    let show = async |State(watch): State<Watch>| watch.clock.told();
    Router::new().route("/dev/clock", get(show).post(advance)).with_state(Watch { clock, auth })
}

/// Moves the clock, and does what has become due.
async fn advance(State(watch): State<Watch>, body: Bytes) -> Response {
    let refused = |why: &str| answer::error(StatusCode::BAD_REQUEST, "invalid_request", why);
    let Ok(Advance { advance }) = serde_json::from_slice(&body) else {
        return refused("advance: is required, such as {\"advance\": \"8d\"}");
    };
    let Some(by) = parsed(&advance) else {
        return refused("advance: must be a whole number and s, m, h or d, such as 90s, 15m, 12h or 8d; the clock never goes back");
    };
    if !watch.clock.advance(by) {
        return refused("advance: goes beyond ten years in all; start afresh to have the present again");
    }
    match watch.auth.worker().tick().await {
        Ok(()) => watch.clock.told(),
        Err(error) => {
            tracing::error!(error = %error.causes(), "the clock was moved, but what is due could not be done");
            answer::error(StatusCode::SERVICE_UNAVAILABLE, "unavailable", "The clock was moved; what is due is done in a moment.")
        }
    }
}

/// A duration such as `8d`.
fn parsed(text: &str) -> Option<Duration> {
    let unit = text.chars().last()?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 24 * 3_600,
        _ => return None,
    };
    let number = text.strip_suffix(unit).filter(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))?;
    Some(Duration::from_secs(number.parse::<u64>().ok()?.checked_mul(seconds)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_a_number_and_a_unit() {
        let day = Duration::from_secs(24 * 3_600);
        for (text, expected) in [("8d", Some(day * 8)), ("90s", Some(Duration::from_secs(90))), ("0m", Some(Duration::ZERO))] {
            assert_eq!(parsed(text), expected, "{text}");
        }
        for text in ["", "d", "8", "-8d", "+8d", "8 d", "1.5h", "8w", "99999999999999999999d", "18446744073709551615d", "8ä"] {
            assert_eq!(parsed(text), None, "{text}");
        }
    }

    #[test]
    fn it_only_goes_forward_and_not_beyond_ten_years() {
        let (clock, year) = (MovableClock::default(), Duration::from_secs(365 * 24 * 3_600));
        let before = SystemClock.now();
        assert!((0..10).all(|_| clock.advance(year)));
        assert!(!clock.advance(year) && !clock.advance(Duration::MAX));
        assert!(clock.now().since(before) >= year * 10);
    }
}
