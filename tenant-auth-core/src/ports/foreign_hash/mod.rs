//! Password hashes of other systems (foreign hashes), as an import brings them: bcrypt, scrypt, PBKDF2, Firebase's scrypt, and Argon2
//! with parameters of its own. People keep their passwords that way; the first login replaces the hash by one of ours. A hash is
//! parsed once, at the edge: one that no login could verify, or that would cost more than a login may, is refused there.

mod cost;
mod forms;
mod pace;

use std::{fmt, num::NonZeroU32};

use argon2::{Algorithm, Argon2, Block, Version};
use aws_lc_rs::{cipher, iv::FixedLength, pbkdf2};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

pub use cost::{ForeignCost, HashScheme};
pub(super) use pace::Pace;

use crate::{
    error::Error,
    secret::{Password, StoredPassword},
    value::Rejected,
};

/// What a foreign hash begins with where it is stored: an imported Argon2 hash is made without the pepper, ours with it.
const MARK: &str = "foreign:";

/// What bcrypt reads of a password, the closing NUL included.
const BCRYPT_BYTES: usize = 72;

/// A password hash of another system.
#[derive(Clone)]
pub struct ForeignHash {
    text: String,
    function: Function,
    salt: Vec<u8>,
    hash: Vec<u8>,
}

/// A hash function with its parameters.
#[derive(Clone)]
enum Function {
    Argon2(Algorithm, Version, argon2::Params),
    Bcrypt {
        log_rounds: u32,
    },
    Scrypt(scrypt::Params),
    Pbkdf2(Digest, NonZeroU32),
    /// Firebase Authentication's: the project's signer key, encrypted under what scrypt makes of the password.
    Firebase {
        params: scrypt::Params,
        signer_key: Vec<u8>,
    },
}

/// The hash function inside PBKDF2.
#[derive(Clone, Copy)]
enum Digest {
    Sha256,
    Sha512,
}

impl ForeignHash {
    /// Reads a hash: a PHC string of Argon2, scrypt or PBKDF2, bcrypt's `$2b$…`, the forms of passlib, Django and Werkzeug, or
    /// `$fbscrypt$v=1,n=14,r=8,p=1,ss=…,sk=…$salt$hash` with Firebase's parameters.
    ///
    /// # Errors
    /// [`Rejected`]: no known scheme, not well formed, or dearer than a login may be. The hash itself is never told.
    pub fn parse(text: &str) -> Result<Self, Rejected> {
        let read = forms::read(text)?;
        read.refuse_dear()?;
        Ok(read)
    }

    /// The foreign hash that is stored, when it is one.
    pub fn of(stored: &StoredPassword) -> Option<Self> {
        Self::parse(stored.as_str().strip_prefix(MARK)?).ok()
    }

    /// What a stored text says of a foreign hash; `None` when it is no foreign hash.
    pub(crate) fn mentioned(stored: &str) -> Option<Result<Self, Rejected>> {
        stored.strip_prefix(MARK).map(Self::parse)
    }

    /// What the database keeps of it.
    pub fn stored(&self) -> StoredPassword {
        StoredPassword::new(format!("{MARK}{}", self.text))
    }

    /// Whether the password has this hash. Slow on purpose: for threads of their own.
    ///
    /// # Errors
    /// [`Error::Internal`] when the hash cannot be computed.
    pub fn matches(&self, password: &Password) -> Result<bool, Error> {
        let computed = self.compute(password.expose().as_bytes())?;
        Ok(computed.ct_eq(&self.hash).into())
    }

    fn compute(&self, password: &[u8]) -> Result<Zeroizing<Vec<u8>>, Error> {
        let mut output = Zeroizing::new(vec![0; self.hash.len()]);
        match &self.function {
            Function::Argon2(algorithm, version, params) => {
                let mut memory = vec![Block::default(); params.block_count()];
                Argon2::new(*algorithm, *version, params.clone())
                    .hash_password_into_with_memory(password, &self.salt, &mut output, &mut memory)
                    .map_err(|error| Error::internal(error.to_string()))?;
            }
            Function::Bcrypt { log_rounds } => {
                let salt = self.salt.as_slice().try_into().map_err(Error::internal)?;
                let mut key: Zeroizing<Vec<u8>> = Zeroizing::new(password.iter().copied().chain([0]).collect());
                key.truncate(BCRYPT_BYTES);
                output.copy_from_slice(&bcrypt::bcrypt(*log_rounds, salt, &key)[..forms::BCRYPT_HASH_BYTES]);
            }
            Function::Scrypt(params) => scrypt_into(password, &self.salt, *params, &mut output)?,
            Function::Pbkdf2(digest, iterations) => {
                let algorithm = match digest {
                    Digest::Sha256 => pbkdf2::PBKDF2_HMAC_SHA256,
                    Digest::Sha512 => pbkdf2::PBKDF2_HMAC_SHA512,
                };
                pbkdf2::derive(algorithm, *iterations, &self.salt, password, &mut output);
            }
            Function::Firebase { params, signer_key } => {
                let mut key = Zeroizing::new([0; 32]);
                scrypt_into(password, &self.salt, *params, &mut *key)?;
                output.copy_from_slice(signer_key);
                encrypt(&*key, &mut output).map_err(Error::internal)?;
            }
        }
        Ok(output)
    }
}

fn scrypt_into(password: &[u8], salt: &[u8], params: scrypt::Params, output: &mut [u8]) -> Result<(), Error> {
    scrypt::scrypt(password, salt, &params, output).map_err(|error| Error::internal(error.to_string()))
}

/// AES-256 in counter mode with a counter of zero, which is safe because each key is used for one text.
fn encrypt(key: &[u8], text: &mut [u8]) -> Result<(), aws_lc_rs::error::Unspecified> {
    let key = cipher::EncryptingKey::ctr(cipher::UnboundCipherKey::new(&cipher::AES_256, key)?)?;
    key.less_safe_encrypt(text, cipher::EncryptionContext::Iv128(FixedLength::from([0; 16]))).map(drop)
}

impl fmt::Debug for ForeignHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[password hash]")
    }
}

impl<'de> serde::Deserialize<'de> for ForeignHash {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests;
