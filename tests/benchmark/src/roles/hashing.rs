//! What a login cannot cost less than: comparing a password with an Argon2id hash of the default parameters, in memory that is
//! there already and not wiped.

use std::io::BufRead;

use argon2::{Algorithm, Argon2, Block, Params, Version, password_hash::phc::PasswordHash};
use serde::{Deserialize, Serialize};
use tenant_auth_core::ports::Argon2Params;

use crate::Failure;

/// A password and its hash. After it, each line is a number of comparisons, and is answered when they are done.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Told {
    pub(crate) password: String,
    pub(crate) hash: String,
}

pub(super) fn play() -> Result<(), Failure> {
    // On a thread of its own, as in the service: the allocator treats the main thread differently.
    std::thread::spawn(compare).join().map_err(|_| "the hashing thread panicked")?
}

fn compare() -> Result<(), Failure> {
    let Told { password, hash } = super::told()?;
    let Argon2Params { memory_kib, iterations, parallelism } = Argon2Params::default();
    let params = Params::new(memory_kib, iterations, parallelism, None).map_err(|error| error.to_string())?;
    let mut memory = vec![Block::default(); params.block_count()];
    let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
    let hash = PasswordHash::new(&hash).map_err(|error| error.to_string())?;
    let (Some(salt), Some(expected)) = (&hash.salt, &hash.hash) else { return Err("a hash without a salt".into()) };
    for line in std::io::stdin().lock().lines() {
        let times: u32 = line?.parse()?;
        for _ in 0..times {
            let mut computed = vec![0; expected.len()];
            let done = argon2.hash_password_into_with_memory(password.as_bytes(), salt, &mut computed, &mut memory);
            done.map_err(|error| error.to_string())?;
            if computed != expected.as_bytes() {
                return Err("the password is not the hashed one".into());
            }
        }
        super::answer(&times)?;
    }
    Ok(())
}
