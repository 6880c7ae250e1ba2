//! The forms in which password hashes are written: PHC strings, bcrypt's own, passlib's, Django's, Werkzeug's and Firebase's.

use std::num::NonZeroU32;

use argon2::{Algorithm, Version};
use base64::{
    Engine, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};

use super::{Digest, ForeignHash, Function};
use crate::value::Rejected;

/// Longer than any hash in any of the forms.
const MAX_TEXT: usize = 1_024;
const MAX_SALT: usize = 128;
/// Shorter hashes would match by chance: an empty one every password.
const MIN_HASH: usize = 16;
const MAX_HASH: usize = 64;
/// bcrypt computes a byte more and never shows it.
pub(super) const BCRYPT_HASH_BYTES: usize = 23;
const BCRYPT_SALT_CHARACTERS: usize = 22;
/// So much r and p that their product stays in range; far beyond what a login may cost.
const MAX_SCRYPT_FACTOR: u32 = 1 << 14;

const LENIENT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent).with_decode_allow_trailing_bits(true);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
const BCRYPT: GeneralPurpose = GeneralPurpose::new(&alphabet::BCRYPT, LENIENT);

pub(super) fn read(text: &str) -> Result<ForeignHash, Rejected> {
    if text.len() > MAX_TEXT || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(malformed());
    }
    // Django names the scheme before a string that names it again.
    let bare = text.strip_prefix("argon2$").filter(|rest| rest.starts_with("argon2")).map(|rest| format!("${rest}"));
    let bare = bare.or_else(|| text.strip_prefix("bcrypt$").map(ToOwned::to_owned));
    let bare = bare.as_deref().unwrap_or(text);
    let parts: Vec<&str> = bare.split('$').collect();
    let (function, salt, hash) = match *parts.as_slice() {
        ["", name @ ("argon2id" | "argon2i" | "argon2d"), version, params, salt, hash] => {
            argon2(name, version.strip_prefix("v="), params, encoded(salt, hash)?)?
        }
        ["", name @ ("argon2id" | "argon2i" | "argon2d"), params, salt, hash] => {
            argon2(name, Some("16"), params, encoded(salt, hash)?)?
        }
        ["", "2a" | "2b" | "2y", cost, rest] => bcrypt(cost, rest)?,
        ["", "scrypt", params, salt, hash] => {
            (scrypt(&[named(params, "ln")?, named(params, "r")?, named(params, "p")?])?, decoded(salt)?, decoded(hash)?)
        }
        ["scrypt", n, salt, r, p, hash] => (scrypt(&[log2(n)?, number(r)?, number(p)?])?, salt.into(), decoded(hash)?),
        ["", name @ ("pbkdf2-sha256" | "pbkdf2-sha512"), params, salt, hash] => {
            let iterations = if params.contains('=') { named(params, "i")? } else { number(params)? };
            (pbkdf2(name, iterations)?, decoded(&adapted(salt))?, decoded(&adapted(hash))?)
        }
        [name @ ("pbkdf2_sha256" | "pbkdf2_sha512"), iterations, salt, hash] => {
            (pbkdf2(name, number(iterations)?)?, salt.into(), decoded(hash)?)
        }
        ["", "fbscrypt", params, salt, hash] => firebase(params, decoded(salt)?, decoded(hash)?)?,
        [method, salt, hash] => (werkzeug(method)?, salt.into(), hex(hash)?),
        _ => return Err(unknown()),
    };
    let is_whole = (MIN_HASH..=MAX_HASH).contains(&hash.len()) && salt.len() <= MAX_SALT;
    if is_whole { Ok(ForeignHash { text: text.to_owned(), function, salt, hash }) } else { Err(malformed()) }
}

type Read = (Function, Vec<u8>, Vec<u8>);

/// A salt and a hash, both in base64.
struct Encoded {
    salt: Vec<u8>,
    hash: Vec<u8>,
}

fn encoded(salt: &str, hash: &str) -> Result<Encoded, Rejected> {
    Ok(Encoded { salt: decoded(salt)?, hash: decoded(hash)? })
}

fn argon2(name: &str, version: Option<&str>, params: &str, Encoded { salt, hash }: Encoded) -> Result<Read, Rejected> {
    let version = match version {
        Some("19") => Version::V0x13,
        Some("16") => Version::V0x10,
        _ => return Err(malformed()),
    };
    let algorithm = Algorithm::try_from(name).map_err(|_| unknown())?;
    // A key or associated data would have to be known to verify a password.
    let [m, t, p] = [named(params, "m")?, named(params, "t")?, named(params, "p")?];
    if params.split(',').count() != 3 || salt.len() < argon2::MIN_SALT_LEN {
        return Err(malformed());
    }
    let params = argon2::Params::new(m, t, p, Some(hash.len())).map_err(|_| malformed())?;
    Ok((Function::Argon2(algorithm, version, params), salt, hash))
}

fn bcrypt(cost: &str, rest: &str) -> Result<Read, Rejected> {
    let log_rounds = number(cost)?;
    let (salt, hash) = rest.split_at_checked(BCRYPT_SALT_CHARACTERS).ok_or_else(malformed)?;
    let decode = |text| BCRYPT.decode(text).map_err(|_| malformed());
    let (salt, hash) = (decode(salt)?, decode(hash)?);
    let is_whole = cost.len() == 2 && (4..=31).contains(&log_rounds) && salt.len() == 16 && hash.len() == BCRYPT_HASH_BYTES;
    if is_whole { Ok((Function::Bcrypt { log_rounds }, salt, hash)) } else { Err(malformed()) }
}

/// scrypt with the logarithm of N, with r and p.
fn scrypt(&[log_n, r, p]: &[u32; 3]) -> Result<Function, Rejected> {
    let log_n = u8::try_from(log_n).ok().filter(|log_n| (1..64).contains(log_n)).ok_or_else(malformed)?;
    if r > MAX_SCRYPT_FACTOR || p > MAX_SCRYPT_FACTOR {
        return Err(malformed());
    }
    scrypt::Params::new(log_n, r, p).map(Function::Scrypt).map_err(|_| malformed())
}

fn pbkdf2(name: &str, iterations: u32) -> Result<Function, Rejected> {
    let digest = if name.ends_with("sha256") { Digest::Sha256 } else { Digest::Sha512 };
    NonZeroU32::new(iterations).map(|iterations| Function::Pbkdf2(digest, iterations)).ok_or_else(malformed)
}

/// `scrypt:N:r:p` or `pbkdf2:sha256:iterations`.
fn werkzeug(method: &str) -> Result<Function, Rejected> {
    match *method.split(':').collect::<Vec<_>>().as_slice() {
        ["scrypt", n, r, p] => scrypt(&[log2(n)?, number(r)?, number(p)?]),
        ["pbkdf2", digest @ ("sha256" | "sha512"), iterations] => pbkdf2(digest, number(iterations)?),
        _ => Err(unknown()),
    }
}

/// The salt of scrypt is the account's with the project's separator behind it; the hash is as long as the project's signer key.
fn firebase(params: &str, mut salt: Vec<u8>, hash: Vec<u8>) -> Result<Read, Rejected> {
    let Function::Scrypt(cost) = scrypt(&[named(params, "n")?, named(params, "r")?, named(params, "p")?])? else {
        return Err(malformed());
    };
    salt.extend(decoded(field(params, "ss")?)?);
    let signer_key = decoded(field(params, "sk")?)?;
    let is_whole = field(params, "v")? == "1" && signer_key.len() == hash.len();
    if is_whole { Ok((Function::Firebase { params: cost, signer_key }, salt, hash)) } else { Err(malformed()) }
}

/// The value of a name in `name=value,name=value`.
fn field<'a>(params: &'a str, name: &str) -> Result<&'a str, Rejected> {
    let value = |pair: &'a str| pair.strip_prefix(name)?.strip_prefix('=');
    params.split(',').find_map(value).ok_or_else(malformed)
}

fn named(params: &str, name: &str) -> Result<u32, Rejected> {
    number(field(params, name)?)
}

fn number(text: &str) -> Result<u32, Rejected> {
    Some(text)
        .filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))
        .and_then(|text| text.parse().ok())
        .ok_or_else(malformed)
}

fn log2(n: &str) -> Result<u32, Rejected> {
    let n = number(n)?;
    if n.is_power_of_two() { Ok(n.trailing_zeros()) } else { Err(malformed()) }
}

/// passlib writes `.` for `+`.
fn adapted(text: &str) -> String {
    text.replace('.', "+")
}

fn decoded(text: &str) -> Result<Vec<u8>, Rejected> {
    STANDARD.decode(text).map_err(|_| malformed())
}

fn hex(text: &str) -> Result<Vec<u8>, Rejected> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let byte = |pair: &[u8]| match *pair {
        [high, low] => Some(digit(high)? << 4 | digit(low)?),
        _ => None,
    };
    text.as_bytes().chunks(2).map(byte).collect::<Option<_>>().ok_or_else(malformed)
}

fn unknown() -> Rejected {
    Rejected::because(
        "must be a hash of Argon2, bcrypt, scrypt, PBKDF2 with SHA-256 or SHA-512, or Firebase's scrypt, in a known form",
    )
}

fn malformed() -> Rejected {
    Rejected::because("is no well-formed hash of its scheme")
}
