//! Sessions as JSON.

use super::view;
use crate::{id::SessionId, model::SessionSummary, time::Timestamp};

view! {
    /// What its owner sees of a session.
    pub SessionView of SessionSummary as SessionSummary {
        /// `ses_…`
        id: SessionId,
        /// When it was opened.
        created_at: Timestamp,
        /// When it was last refreshed or wrote something.
        last_used_at: Timestamp,
        /// The client's address at login.
        ip: Option<String>,
        /// The client's `User-Agent` at login.
        user_agent: Option<String>,
    }
}

view! {
    /// What an event tells of a session: neither address nor `User-Agent`, because receivers keep events longer than a person's
    /// session lasts, and what was sent cannot be erased.
    pub(crate) ToldSessionView of SessionSummary as ToldSession {
        /// `ses_…`
        id: SessionId,
        /// When it was opened.
        created_at: Timestamp,
        /// When it was last refreshed or wrote something.
        last_used_at: Timestamp,
    }
}
