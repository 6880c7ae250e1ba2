//! The sealed file of an export (`TAEX`, version 1): XChaCha20-Poly1305 in chunks, in the STREAM construction (Hoang, Reyhanitabar,
//! Rogaway, Vizár 2015). Each chunk is bound to its place and to the file's head, and the last one is marked, so that a chunk that is
//! changed, moved, missing or added is found, and so is a cut-off end. The head is plain, so that a newer format is told from damage.

use std::{fmt, io};

use base64::{Engine, engine::general_purpose::STANDARD};
use chacha20poly1305::{
    Key, KeyInit, XChaCha20Poly1305, XNonce,
    aead::{Aead, Payload},
};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use zeroize::Zeroizing;

use crate::ports::Entropy;

const MAGIC: &[u8; 4] = b"TAEX";
const VERSION: u16 = 1;
const PREFIX: usize = 15;
const HEAD: usize = MAGIC.len() + size_of::<u16>() + PREFIX;
/// The plain bytes of each chunk but the last.
const CHUNK: usize = 64 * 1024;
const TAG: usize = 16;

/// The key of an export's file: 32 random bytes, in text as padded base64. Who has file and key has the organization.
#[derive(Clone)]
pub struct FileKey(Zeroizing<[u8; 32]>);

impl FileKey {
    /// A new key.
    pub fn generate(entropy: &dyn Entropy) -> Self {
        let mut bytes = Zeroizing::new([0; 32]);
        entropy.fill(&mut *bytes);
        Self(bytes)
    }

    /// Reads a key's text; white space around it counts for nothing. `None` when it is no key.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = Zeroizing::new(STANDARD.decode(text.trim()).ok()?);
        Some(Self(Zeroizing::new(bytes.as_slice().try_into().ok()?)))
    }

    /// The key's text.
    pub fn expose(&self) -> Zeroizing<String> {
        Zeroizing::new(STANDARD.encode(*self.0))
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new(Key::from_slice(&*self.0))
    }
}

impl fmt::Debug for FileKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[key of an export]")
    }
}

/// Why a file cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// It does not begin like an export.
    #[error("This is no sealed export of an organization: it does not begin with TAEX.")]
    Unknown,
    /// It has a newer format.
    #[error("This export has the format {0}, which is newer than this program. Use a newer version of the program.")]
    Newer(u16),
    /// Nothing in it can be opened.
    #[error("This key does not open this file: it is another file's key, or the file was changed.")]
    WrongKey,
    /// A later part of it cannot be opened.
    #[error("This file was changed, or a part of it is missing: what stands {0} bytes after its beginning cannot be opened.")]
    Damaged(u64),
    /// It cannot be read.
    #[error("The file cannot be read: {0}")]
    Unreadable(#[from] io::Error),
}

/// The nonces of a file's chunks.
struct Nonces {
    head: [u8; HEAD],
    next: u64,
}

impl Nonces {
    fn next(&mut self, is_last: bool) -> XNonce {
        let mut nonce = [0; 24];
        let (prefix, rest) = nonce.split_at_mut(PREFIX);
        prefix.copy_from_slice(&self.head[HEAD - PREFIX..]);
        rest[..8].copy_from_slice(&self.next.to_be_bytes());
        rest[8] = u8::from(is_last);
        self.next += 1;
        nonce.into()
    }
}

/// Seals what is written to it.
pub(super) struct SealedWriter<W> {
    sink: W,
    cipher: XChaCha20Poly1305,
    nonces: Nonces,
    waiting: Zeroizing<Vec<u8>>,
}

impl<W: AsyncWrite + Unpin> SealedWriter<W> {
    pub(super) async fn begin(mut sink: W, key: &FileKey, entropy: &dyn Entropy) -> io::Result<Self> {
        let mut head = [0; HEAD];
        head[..4].copy_from_slice(MAGIC);
        head[4..6].copy_from_slice(&VERSION.to_be_bytes());
        entropy.fill(&mut head[HEAD - PREFIX..]);
        sink.write_all(&head).await?;
        let nonces = Nonces { head, next: 0 };
        Ok(Self { sink, cipher: key.cipher(), nonces, waiting: Zeroizing::new(Vec::with_capacity(2 * CHUNK)) })
    }

    pub(super) async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.waiting.extend_from_slice(bytes);
        // The last chunk is never empty unless the whole file is: which one is last shows only at the end.
        while self.waiting.len() > CHUNK {
            self.seal(CHUNK, false).await?;
        }
        Ok(())
    }

    pub(super) async fn finish(mut self) -> io::Result<W> {
        self.seal(self.waiting.len(), true).await?;
        Ok(self.sink)
    }

    async fn seal(&mut self, length: usize, is_last: bool) -> io::Result<()> {
        let nonce = self.nonces.next(is_last);
        let plain = Payload { msg: &self.waiting[..length], aad: &self.nonces.head };
        let sealed = self.cipher.encrypt(&nonce, plain).map_err(|_| io::Error::other("a chunk cannot be sealed"))?;
        self.waiting.drain(..length);
        self.sink.write_all(&sealed).await
    }
}

/// Opens what a [`SealedWriter`] wrote.
pub(super) struct SealedReader<R> {
    source: R,
    cipher: XChaCha20Poly1305,
    nonces: Nonces,
    /// What was read beyond the chunk before.
    ahead: Vec<u8>,
    at: u64,
    is_over: bool,
}

impl<R: AsyncRead + Unpin> SealedReader<R> {
    pub(super) async fn open(mut source: R, key: &FileKey) -> Result<Self, FileError> {
        let mut head = [0; HEAD];
        let begins = read_up_to(&mut source, &mut head).await?;
        if begins < HEAD || head[..4] != *MAGIC {
            return Err(FileError::Unknown);
        }
        match u16::from_be_bytes([head[4], head[5]]) {
            VERSION => {}
            newer if newer > VERSION => return Err(FileError::Newer(newer)),
            _ => return Err(FileError::Unknown),
        }
        let nonces = Nonces { head, next: 0 };
        Ok(Self { source, cipher: key.cipher(), nonces, ahead: Vec::new(), at: HEAD as u64, is_over: false })
    }

    /// How many bytes of the file were read.
    pub(super) fn at(&self) -> u64 {
        self.at
    }

    /// The next chunk, opened; `None` after the last one.
    pub(super) async fn chunk(&mut self) -> Result<Option<Zeroizing<Vec<u8>>>, FileError> {
        if self.is_over {
            return Ok(None);
        }
        // One byte more than a chunk tells whether this is the last.
        let mut sealed = vec![0; CHUNK + TAG + 1];
        let kept = self.ahead.len();
        sealed[..kept].copy_from_slice(&self.ahead);
        let length = kept + read_up_to(&mut self.source, &mut sealed[kept..]).await?;
        self.is_over = length <= CHUNK + TAG;
        let end = length.min(CHUNK + TAG);
        self.ahead = sealed[end..length].to_vec();
        let is_first = self.nonces.next == 0;
        let nonce = self.nonces.next(self.is_over);
        let opened = self.cipher.decrypt(&nonce, Payload { msg: &sealed[..end], aad: &self.nonces.head });
        let plain = opened.map_err(|_| if is_first { FileError::WrongKey } else { FileError::Damaged(self.at) })?;
        self.at += end as u64;
        Ok(Some(Zeroizing::new(plain)))
    }
}

/// Reads until the buffer is full or the source ends.
async fn read_up_to(source: &mut (impl AsyncRead + Unpin), buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match source.read(&mut buffer[filled..]).await? {
            0 => break,
            read => filled += read,
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::OsEntropy;

    async fn sealed(plain: &[u8], key: &FileKey) -> Vec<u8> {
        let mut writer = SealedWriter::begin(Vec::new(), key, &OsEntropy).await.expect("memory");
        for part in plain.chunks(1_000) {
            writer.write(part).await.expect("memory");
        }
        writer.finish().await.expect("memory")
    }

    async fn opened(file: &[u8], key: &FileKey) -> Result<Vec<u8>, FileError> {
        let mut reader = SealedReader::open(file, key).await?;
        let mut plain = Vec::new();
        while let Some(chunk) = reader.chunk().await? {
            plain.extend_from_slice(&chunk);
        }
        Ok(plain)
    }

    #[tokio::test]
    async fn what_was_sealed_is_opened_with_its_key_only() {
        let (key, other) = (FileKey::generate(&OsEntropy), FileKey::generate(&OsEntropy));
        assert_eq!(FileKey::parse(&format!(" {}\n", *key.expose())).expect("a key").0, key.0);
        assert!(FileKey::parse("AAAA").is_none() && FileKey::parse("!").is_none());
        for length in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK] {
            let plain = vec![7; length];
            let file = sealed(&plain, &key).await;
            assert_eq!(opened(&file, &key).await.expect("opens"), plain, "{length}");
            assert!(matches!(opened(&file, &other).await, Err(FileError::WrongKey)), "{length}");
        }
    }

    #[tokio::test]
    async fn every_change_of_the_file_is_found() {
        let key = FileKey::generate(&OsEntropy);
        let file = sealed(&vec![7; 2 * CHUNK + 100], &key).await;
        let sealed_chunk = CHUNK + TAG;
        let (first, second) = (HEAD..HEAD + sealed_chunk, HEAD + sealed_chunk..HEAD + 2 * sealed_chunk);
        let mut changed: Vec<(String, Vec<u8>)> = Vec::new();
        for at in (0..file.len()).step_by(977).chain(0..HEAD).chain([file.len() - 1]) {
            let mut bad = file.clone();
            bad[at] ^= 1;
            changed.push((format!("byte {at}"), bad));
        }
        for end in (0..file.len()).step_by(4_099).chain([first.end, second.end, file.len() - 1]) {
            changed.push((format!("cut at {end}"), file[..end].to_vec()));
        }
        changed.push(("more".to_owned(), [file.as_slice(), b"x"].concat()));
        changed.push(("a chunk gone".to_owned(), [&file[..first.start], &file[second.start..]].concat()));
        changed.push(("a chunk twice".to_owned(), [&file[..first.end], &file[first.start..]].concat()));
        changed.push((
            "swapped".to_owned(),
            [&file[..HEAD], &file[second.clone()], &file[first.clone()], &file[second.end..]].concat(),
        ));
        for (what, bad) in changed {
            assert!(opened(&bad, &key).await.is_err(), "{what}");
        }
        let mut newer = file;
        newer[5] = 2;
        assert!(matches!(opened(&newer, &key).await, Err(FileError::Newer(2))));
    }
}
