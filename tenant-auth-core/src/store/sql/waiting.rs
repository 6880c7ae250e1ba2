//! The length of a queue and the age of its head: the result of the statements named WAITING, for mails, requests for
//! reset mails, events and deliveries.

use crate::{store::dialect::row, time::Timestamp};

row! { WaitingRow { waiting: i64, oldest: i64, } }

impl WaitingRow {
    /// The number of waiting rows, and since when the oldest has waited.
    pub(super) fn told(row: Option<Self>) -> (u64, Option<Timestamp>) {
        let Self { waiting, oldest } = row.unwrap_or(Self { waiting: 0, oldest: 0 });
        (waiting.unsigned_abs(), (waiting > 0).then(|| Timestamp::from_millis(oldest)))
    }
}
