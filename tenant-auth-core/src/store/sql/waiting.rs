//! How much of something waits: what the statements named WAITING tell, alike for mails, events and deliveries.

use crate::{store::dialect::row, time::Timestamp};

row! { WaitingRow { waiting: i64, oldest: i64, } }

impl WaitingRow {
    /// How many wait, and since when the oldest of them does.
    pub(super) fn told(row: Option<Self>) -> (u64, Option<Timestamp>) {
        let Self { waiting, oldest } = row.unwrap_or(Self { waiting: 0, oldest: 0 });
        (waiting.unsigned_abs(), (waiting > 0).then(|| Timestamp::from_millis(oldest)))
    }
}
