//! The audit log of an import: taken over byte for byte, and gone on with.

use super::{arrival::Arrival, chain::ChainCheck, checks::past};
use crate::{error::Error, operator::moving::entry::EntryRecord, store::ExportedChain};

impl Arrival<'_> {
    pub(super) async fn entry(&mut self, entry: EntryRecord) -> Result<(), Error> {
        self.seen.entries += 1;
        let sequence = entry.sequence;
        let checked = past(entry.timestamp, &self.tx).and_then(|_| self.chain.follow(self.org.id.as_str(), entry));
        match checked {
            Ok(entry) => {
                if !self.tx.imports().entry(&self.org.id, &entry).await? {
                    self.refuse(format!("audit entry {sequence}: its id is that of another one here"));
                }
            }
            Err(reason) => self.refuse(format!("audit entry {sequence}: {reason}")),
        }
        Ok(())
    }

    /// Lets the organization's log go on where the source's ended.
    pub(super) async fn take_over_chain(&mut self) -> Result<(), Error> {
        if !self.chain.is_whole() {
            self.refuse("the audit log does not end where the source says".to_owned());
            return Ok(());
        }
        let ChainCheck { says, sequence, hash, at, .. } = &self.chain;
        let last_at = match past(says.last_at, &self.tx) {
            Ok(last_at) => last_at.max(*at),
            Err(reason) => {
                self.refuse(format!("audit log: {reason}"));
                return Ok(());
            }
        };
        let chain = ExportedChain {
            sequence: *sequence,
            chained: *sequence,
            hash: says.head.as_ref().map(|_| hash.to_string()),
            last_at: last_at.millis(),
            first_sequence: says.first_sequence,
            first_previous: says.previous.clone(),
        };
        self.tx.imports().chain(&self.org.id, &chain).await
    }
}
