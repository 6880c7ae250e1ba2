//! What a foreign hash costs, and the most that a login may cost here: an import must not let anybody occupy a thread for seconds
//! with each login.

use super::{Digest, ForeignHash, Function};
use crate::value::Rejected;

/// 128 MiB, in KiB.
const ARGON2_MEMORY: u32 = 128 * 1024;
/// 512 MiB of memory times passes, in KiB.
const ARGON2_COST: u64 = 512 * 1024;
const BCRYPT_COST: u64 = 1 << 14;
const SCRYPT_COST: u64 = 1 << 20;
const PBKDF2_COST: u64 = 2_000_000;

/// The schemes of foreign hashes, by what their cost is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HashScheme {
    /// Argon2id, Argon2i and Argon2d, in KiB times passes.
    Argon2,
    /// bcrypt, in rounds.
    Bcrypt,
    /// scrypt, also Firebase's, in N·r·p.
    Scrypt,
    /// PBKDF2 with HMAC-SHA-256, in iterations for all blocks.
    Pbkdf2Sha256,
    /// PBKDF2 with HMAC-SHA-512, in iterations for all blocks.
    Pbkdf2Sha512,
}

impl HashScheme {
    /// The text in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Argon2 => "argon2",
            Self::Bcrypt => "bcrypt",
            Self::Scrypt => "scrypt",
            Self::Pbkdf2Sha256 => "pbkdf2-sha256",
            Self::Pbkdf2Sha512 => "pbkdf2-sha512",
        }
    }
}

/// What computing a hash costs: its time grows with the units of its scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForeignCost {
    /// The scheme.
    pub scheme: HashScheme,
    /// How many of the scheme's units.
    pub units: u64,
}

impl ForeignHash {
    /// What verifying a password with this hash costs.
    pub fn cost(&self) -> ForeignCost {
        let blocks = |size: usize| self.hash.len().div_ceil(size) as u64;
        let (scheme, units) = match &self.function {
            Function::Argon2(_, _, params) => (HashScheme::Argon2, u64::from(params.m_cost()) * u64::from(params.t_cost())),
            Function::Bcrypt { log_rounds } => (HashScheme::Bcrypt, 1 << log_rounds),
            Function::Scrypt(params) | Function::Firebase { params, .. } => (HashScheme::Scrypt, scrypt_cost(params)),
            Function::Pbkdf2(Digest::Sha256, iterations) => (HashScheme::Pbkdf2Sha256, u64::from(iterations.get()) * blocks(32)),
            Function::Pbkdf2(Digest::Sha512, iterations) => (HashScheme::Pbkdf2Sha512, u64::from(iterations.get()) * blocks(64)),
        };
        ForeignCost { scheme, units }
    }

    /// # Errors
    /// [`Rejected`] when a login may not cost as much.
    pub(super) fn refuse_dear(&self) -> Result<(), Rejected> {
        let ForeignCost { scheme, units } = self.cost();
        let memory = if let Function::Argon2(_, _, params) = &self.function { params.m_cost() } else { 0 };
        let (is_dear, most) = match scheme {
            HashScheme::Argon2 => {
                (units > ARGON2_COST || memory > ARGON2_MEMORY, "m of 128 MiB, and m times t of 512 MiB, for Argon2")
            }
            HashScheme::Bcrypt => (units > BCRYPT_COST, "a cost of 14 for bcrypt"),
            HashScheme::Scrypt => (units > SCRYPT_COST, "N·r·p of 1048576 for scrypt"),
            HashScheme::Pbkdf2Sha256 | HashScheme::Pbkdf2Sha512 => (units > PBKDF2_COST, "2000000 iterations for PBKDF2"),
        };
        if is_dear { Err(Rejected::because(format!("costs more than a login may: at most {most}"))) } else { Ok(()) }
    }
}

/// N·r·p.
fn scrypt_cost(params: &scrypt::Params) -> u64 {
    let n = 1_u64.checked_shl(u32::from(params.log_n())).unwrap_or(u64::MAX);
    n.saturating_mul(u64::from(params.r())).saturating_mul(u64::from(params.p()))
}
