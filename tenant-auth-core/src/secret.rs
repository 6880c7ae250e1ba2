//! Secrets as types. A [`Secret<K>`] never prints, is wiped when dropped and compares in constant time only. The database keeps
//! another type, a [`Digest`], so that a raw token cannot reach a query by mistake.

use std::{fmt, marker::PhantomData};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, Zeroizing};

use crate::{hex, ports::Entropy};

/// A secret text of the kind `K`: shown once to its owner, afterwards recognised by its digest alone.
pub struct Secret<K> {
    text: Zeroizing<String>,
    kind: PhantomData<fn() -> K>,
}

/// A password as a person typed it.
#[derive(Debug)]
pub enum PasswordKind {}
/// A single-use token that travels in a mailed link.
#[derive(Debug)]
pub enum LinkKind {}
/// An API key, `pk_live_…`.
#[derive(Debug)]
pub enum ApiKeyTextKind {}
/// A session token (JWT).
#[derive(Debug)]
pub enum TokenKind {}
/// What an authenticator app computes its codes from, as text, as a URL or as a picture.
#[derive(Debug)]
pub enum TotpKind {}
/// A recovery code, good for one login in place of the app's code.
#[derive(Debug)]
pub enum RecoveryCodeKind {}
/// A secret mixed into every password hash.
#[derive(Debug)]
pub enum PepperKind {}

/// A password as typed.
pub type Password = Secret<PasswordKind>;
/// The token of an invite or of another mailed link.
pub type LinkToken = Secret<LinkKind>;
/// The whole text of an API key.
pub type ApiKeyText = Secret<ApiKeyTextKind>;
/// A pepper: kept outside the database, so that stolen hashes alone cannot be guessed at.
pub type Pepper = Secret<PepperKind>;
/// A signed session token.
pub type SignedToken = Secret<TokenKind>;

impl<K> Secret<K> {
    /// Wraps a secret that came from outside.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: Zeroizing::new(text.into()), kind: PhantomData }
    }

    /// The secret itself. The name makes each use easy to find in a review.
    pub fn expose(&self) -> &str {
        &self.text
    }

    /// The digest that the database may keep: SHA-256 of the text. A text with NUL is no secret of the service, and has a digest that nothing
    /// has.
    pub fn digest(&self) -> Digest {
        if self.text.contains('\0') {
            return Digest::of(b"\0");
        }
        Digest::of(self.text.as_bytes())
    }

    /// The digest of a token that was mailed to whoever holds the account of an address, in the form that its holder gave it and not in the
    /// one that was asked for: a token of one kind is none of the other, whatever is written behind it.
    #[cfg(feature = "service")]
    pub(crate) fn digest_to_holder(&self) -> Digest {
        Digest::of([self.text.as_bytes(), b"\0holder"].concat().as_slice())
    }
}

#[cfg(feature = "http")]
crate::schema::text_schema!(
    LinkToken,
    Text {
        means: "The token out of a mail's link.",
        min: Some(1),
        example: Some("q3Zl0cW9yZ2FuaXphdGlvbnMgYXJlIG5vdCBzZWNyZXQ"),
        ..Text::default()
    }
);

impl LinkToken {
    /// 256 random bits, URL-safe base64.
    pub fn generate(entropy: &dyn Entropy) -> Self {
        Self::new(random_text(entropy))
    }
}

/// 256 random bits as 43 URL-safe characters.
pub(crate) fn random_text(entropy: &dyn Entropy) -> String {
    let mut bytes = Zeroizing::new([0u8; 32]);
    entropy.fill(&mut *bytes);
    URL_SAFE_NO_PAD.encode(*bytes)
}

impl<K> Clone for Secret<K> {
    fn clone(&self) -> Self {
        Self { text: self.text.clone(), kind: PhantomData }
    }
}

impl<K> fmt::Debug for Secret<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

impl<K> Drop for Secret<K> {
    fn drop(&mut self) {
        self.text.zeroize();
    }
}

impl<K> From<String> for Secret<K> {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl<K> From<&str> for Secret<K> {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

/// SHA-256 of a secret of at least 128 random bits, in hexadecimal (behaviour.md, B115).
#[derive(Clone)]
pub struct Digest(String);

impl Digest {
    fn of(bytes: &[u8]) -> Self {
        Self(hex::of(&Sha256::digest(bytes)))
    }

    pub(crate) fn from_stored(hex: String) -> Self {
        Self(hex)
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Equality in constant time.
    pub fn matches(&self, other: &Self) -> bool {
        self.0.as_bytes().ct_eq(other.0.as_bytes()).into()
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[digest]")
    }
}

/// A password's PHC string, as the hasher made it.
#[derive(Clone)]
pub struct StoredPassword(String);

impl StoredPassword {
    /// Wraps a PHC string.
    pub fn new(phc: impl Into<String>) -> Self {
        Self(phc.into())
    }

    /// What stands in a password's place where there is none: no password is compared with it.
    pub(crate) fn void() -> Self {
        Self(String::new())
    }

    /// Whether there is no password.
    pub(crate) fn is_void(&self) -> bool {
        self.0.is_empty()
    }

    /// The PHC string, `$argon2id$…`.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for StoredPassword {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[password hash]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::OsEntropy;

    #[test]
    fn secrets_never_print() {
        let token = LinkToken::generate(&OsEntropy);
        assert_eq!(token.expose().len(), 43);
        assert_eq!(format!("{token:?} {:?}", token.digest()), "[redacted] [digest]");
        assert!(token.digest().matches(&LinkToken::new(token.expose()).digest()));
        assert!(!token.digest().matches(&LinkToken::generate(&OsEntropy).digest()));
    }

    #[test]
    fn a_token_of_one_kind_is_none_of_the_other_whatever_is_written_behind_it() {
        let token = LinkToken::generate(&OsEntropy);
        let forged = LinkToken::new(format!("{}\0holder", token.expose()));
        assert!(!forged.digest().matches(&token.digest_to_holder()) && !forged.digest().matches(&token.digest()));
        assert!(!token.digest().matches(&token.digest_to_holder()));
    }
}
