//! The records of a sealed file, read one by one.

use tokio::io::AsyncRead;
use zeroize::Zeroizing;

use super::outcome::{OrganizationImportError, refused};
use crate::operator::moving::{
    record::Record,
    sealed_file::{FileKey, SealedReader},
};

/// The most bytes of a record: an entry of the audit log tells of metadata twice, of 16 KiB each, escaped.
const MAX_RECORD: usize = 1024 * 1024;

/// The longest reason that is told.
const MOST_SAID: usize = 300;

pub(super) struct RecordReader<R> {
    file: SealedReader<R>,
    /// What was opened and not yet read.
    ahead: Zeroizing<Vec<u8>>,
    /// How much of that was read.
    read: usize,
    number: u64,
}

impl<R: AsyncRead + Unpin> RecordReader<R> {
    pub(super) async fn open(source: R, key: &FileKey) -> Result<Self, OrganizationImportError> {
        Ok(Self { file: SealedReader::open(source, key).await?, ahead: Zeroizing::default(), read: 0, number: 0 })
    }

    /// How many bytes of the file were read.
    pub(super) fn at(&self) -> u64 {
        self.file.at()
    }

    /// The next record; `None` at the end of the file.
    pub(super) async fn next(&mut self) -> Result<Option<Record>, OrganizationImportError> {
        let mut searched = self.read;
        loop {
            if let Some(end) = self.ahead[searched..].iter().position(|byte| *byte == b'\n') {
                let end = searched + end;
                self.number += 1;
                let record =
                    parse(&self.ahead[self.read..end]).map_err(|reason| refused(&format!("record {}: {reason}", self.number)));
                self.read = end + 1;
                return record.map(Some);
            }
            self.ahead.drain(..self.read);
            self.read = 0;
            searched = self.ahead.len();
            if searched > MAX_RECORD {
                return Err(refused(&format!("record {}: is too long", self.number + 1)));
            }
            match self.file.chunk().await? {
                Some(chunk) => self.ahead.extend_from_slice(&chunk),
                None if self.ahead.is_empty() => return Ok(None),
                None => return Err(refused("the last record has no end")),
            }
        }
    }
}

/// The reason names the field and what it must be, and shows nothing of the value.
fn parse(line: &[u8]) -> Result<Record, String> {
    let text = str::from_utf8(line).map_err(|_| "must be UTF-8".to_owned())?;
    let mut reader = serde_json::Deserializer::from_str(text);
    let record = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let path = error.path().to_string();
        let inner = error.into_inner();
        let said = inner.to_string();
        let said = said.split(" at line ").next().unwrap_or_default();
        // serde shows an unexpected value, which may be a secret.
        let said = if said.starts_with("invalid type") { "is of another type" } else { said };
        // A field's name is the file's, and a terminal obeys control characters.
        format!("{path}: {said}").chars().filter(|c| !c.is_control()).take(MOST_SAID).collect::<String>()
    })?;
    reader.end().map_err(|_| "must be one JSON object".to_owned())?;
    Ok(record)
}
