//! How long hashes take on this machine. A failed login takes at least as long as with the dearest hash that any account has;
//! otherwise the time of its answer would tell whose account was imported, and so which addresses have accounts.

use std::{
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use super::{ForeignCost, ForeignHash, HashScheme};
use crate::{error::Error, secret::Password};

/// Hashes of each scheme that are quick to compute and long enough to be measured.
const SAMPLES: [&str; 5] = [
    "$argon2id$v=19$m=19456,t=1,p=1$c2l4dGVlbiBieXRlcyBvaw$6l+5b6xNgkpIVRAh2b57tbFCa6MezZlThsJN9gGMC8o",
    "$2b$08$T5r16lmVmHnQL5XO3.umcuiP83iRsh1pBV/d9TGjwF1MsINiFNNvG",
    "$scrypt$ln=14,r=8,p=1$c2l4dGVlbiBieXRlcyBvaw$A553ShwI3q7HlAym+dsR6+Pd5TL9Gfv2k2WBH1f/Lpw",
    "$pbkdf2-sha256$i=30000$c2l4dGVlbiBieXRlcyBvaw$pSoC2VUDS0BVZIqmG5B64io7wMLf0qC6YiBWOAkxANM",
    "$pbkdf2-sha512$i=30000$c2l4dGVlbiBieXRlcyBvaw$8pIGjYoUZDNxrNWbHDQlNZGiWXcEMWOS2TLAQhkILVWcgh6MZDyAHXxU70VwU1XrwNdnTN5UY5AfqKoNs1UhWw",
];

/// The costs of the samples. A computation that costs less is no measure of a dearer one: what is paid once would be counted for each unit.
const LEAST: [u64; 5] = [19_456, 1 << 8, 1 << 17, 30_000, 30_000];

/// The time of one unit of each scheme, in picoseconds: measured once, and raised by slower computations. A raise wears off.
#[derive(Debug, Default)]
pub(in crate::ports) struct Pace {
    units: [Unit; 5],
}

#[derive(Debug, Default)]
struct Unit {
    measured: OnceLock<u64>,
    lately: AtomicU64,
}

impl Pace {
    /// The time that the dearest of these takes, with a quarter more for the differences between one computation and the next. The
    /// first question about a scheme measures it.
    ///
    /// # Errors
    /// [`Error::Internal`] when a sample cannot be computed.
    pub(in crate::ports) fn dearest(&self, costs: &[ForeignCost]) -> Result<Duration, Error> {
        let mut dearest = 0;
        for cost in costs {
            let unit = self.unit(cost.scheme);
            if unit.measured.get().is_none() {
                // The quickest of three: whatever held one of them up is no part of the pace.
                let [first, second, third] = [measure(cost.scheme)?, measure(cost.scheme)?, measure(cost.scheme)?];
                let _ = unit.measured.set(first.min(second).min(third));
            }
            let measured = unit.measured.get().copied().unwrap_or_default();
            let picos = u128::from(measured.max(unit.lately.load(Ordering::Relaxed))) * u128::from(cost.units);
            dearest = dearest.max(picos * 5 / 4);
        }
        Ok(Duration::from_nanos(u64::try_from(dearest / 1_000).unwrap_or(u64::MAX)))
    }

    /// A computation took so long.
    pub(in crate::ports) fn note(&self, cost: ForeignCost, took: Duration) {
        if cost.units < LEAST[cost.scheme as usize] {
            return;
        }
        let picos = per_unit(cost, took);
        let lately = &self.unit(cost.scheme).lately;
        // Two threads that note at once lose one of two measures, which matters to nobody.
        let before = lately.load(Ordering::Relaxed);
        lately.store(picos.max(before - before / 16), Ordering::Relaxed);
    }

    fn unit(&self, scheme: HashScheme) -> &Unit {
        &self.units[scheme as usize]
    }
}

fn measure(scheme: HashScheme) -> Result<u64, Error> {
    let sample = ForeignHash::parse(SAMPLES[scheme as usize]).map_err(Error::internal)?;
    let begun = Instant::now();
    sample.matches(&Password::new("a password that nobody has"))?;
    Ok(per_unit(sample.cost(), begun.elapsed()))
}

fn per_unit(cost: ForeignCost, took: Duration) -> u64 {
    u64::try_from(took.as_nanos() * 1_000 / u128::from(cost.units.max(1))).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_samples_cost_what_is_said_of_them() {
        let costs = SAMPLES.map(|sample| ForeignHash::parse(sample).expect("a hash").cost());
        assert_eq!(costs.map(|cost| cost.units), LEAST);
        assert_eq!(costs.map(|cost| cost.scheme as usize), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn a_cheap_computation_makes_no_refusal_slow() {
        let (pace, dear) = (Pace::default(), ForeignCost { scheme: HashScheme::Pbkdf2Sha512, units: 2_000_000 });
        let before = pace.dearest(&[dear]).expect("it is measured");
        pace.note(ForeignCost { units: 1, ..dear }, Duration::from_secs(1));
        assert_eq!(pace.dearest(&[dear]).expect("it is measured"), before);
    }
}
