//! Sanity checks: settings that can be read but are surely mistakes. Each is refused or warned of by name, before it costs an
//! evening.

use super::{
    reading::Reading,
    table::{ARGON2, PUBLIC_URL, REFRESH_TOKEN_TTL, TRUSTED_PROXIES},
};

/// The most that one password hash may cost: memory in KiB times passes. Some 100 times the default, several seconds.
const DEAREST: u64 = 4 * 1_024 * 1_024;
/// One GiB: each hashing thread takes as much.
const LARGEST_KIB: u32 = 1_024 * 1_024;
/// What OWASP's smallest recommendations come to, in the same unit as [`DEAREST`].
const CHEAPEST: u64 = 7_168 * 5;

/// Looks at settings beside each other.
pub(super) fn judge(reading: &mut Reading) {
    let config = &reading.values.config;
    let (access, refresh) = (config.sessions.access_token_ttl.as_secs(), config.sessions.refresh_token_ttl.as_secs());
    let is_nested = config.public_url.path().trim_end_matches('/').ends_with("/api/v1");
    let trusts_all = config.network.trusted_proxies.iter().any(|network| network.prefix_len() == 0);
    let memory = config.passwords.argon2.memory_kib;
    let cost = u64::from(memory) * u64::from(config.passwords.argon2.iterations);
    if refresh < access {
        let effect = "once an access token has expired, its session can no longer be refreshed";
        reading
            .warn(format!("{} is {refresh} s, shorter than an access token's {access} s: {effect}", REFRESH_TOKEN_TTL.variable()));
    }
    // The core refuses these, too, and tells what it refuses one by one.
    if is_nested {
        reading.refuse(&PUBLIC_URL, "must end before /api/v1, which the service adds itself");
    }
    if trusts_all {
        let reason =
            "must not hold every address: anybody could then state any address in X-Forwarded-For. Give your proxies' networks";
        reading.refuse(&TRUSTED_PROXIES, reason);
    }
    if memory > LARGEST_KIB || cost > DEAREST {
        let most = format!("memory must be at most {LARGEST_KIB} KiB, and memory times passes at most {DEAREST}");
        reading.refuse(&ARGON2, format!("is too dear for a login: {most}"));
    } else if cost < CHEAPEST {
        let advice = "is so cheap that a stolen database is soon guessed; leave it out, or give 19456,2,1 or more";
        reading.warn(format!("{} {advice}", ARGON2.variable()));
    }
}
