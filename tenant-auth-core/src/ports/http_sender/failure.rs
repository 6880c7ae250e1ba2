//! The translation of an error of the HTTP stack to a [`SendError`]. The stack wraps one error in another and the innermost is the
//! most exact; `io::Error` hides its inner error from `source()`.

use std::{error::Error, io};

use super::pinned::NotVetted;
use crate::ports::SendError;

/// The translation of one error.
pub(super) fn of(error: reqwest::Error) -> SendError {
    if error.is_builder() {
        // Our own defect: a header that is none, or a URL that the HTTP stack does not take.
        tracing::error!(error = %error.without_url(), "a webhook could not be written");
        return SendError::Blocked;
    }
    let timed_out = error.is_timeout();
    let mut cause: Option<&(dyn Error + 'static)> = Some(&error);
    while let Some(error) = cause {
        if error.is::<NotVetted>() {
            return SendError::Blocked;
        }
        if error.is::<rustls::Error>() {
            return SendError::Tls;
        }
        cause = match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(inside) => Some(inside),
            None => error.source(),
        };
    }
    if timed_out { SendError::Timeout } else { SendError::Unreachable }
}
