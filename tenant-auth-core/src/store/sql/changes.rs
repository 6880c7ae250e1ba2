//! Change notes: one row for each change of a row on which a cached answer may rest, for caches in other processes.

use crate::{
    error::Error,
    store::{
        ChangedRow, Tx,
        dialect::{execute, statements},
    },
};

pub(crate) struct Changes<L>(pub(in crate::store) L);

statements! {
    NOTE = "INSERT INTO tenant_auth_changes (kind, id, created_at) VALUES ($1, $2, $3)";
}

impl Changes<&mut Tx> {
    pub(in crate::store) async fn note(mut self, touched: &ChangedRow) -> Result<(), Error> {
        let now = self.0.now();
        execute!(self.0, NOTE, touched.kind, touched.id.as_str(), now.millis())?;
        Ok(())
    }
}
