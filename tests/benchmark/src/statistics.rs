//! Medians and percentiles.

use std::time::Duration;

use crate::load::Round;

/// The middle value; of an even number of values the mean of the middle two.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        odd if odd % 2 == 1 => sorted[middle],
        _ => (sorted[middle - 1] + sorted[middle]) / 2.0,
    }
}

/// The median, over the rounds, of how many times the CPU time of `base` that of `other` is: what the machine did beside them in
/// one round it did to both.
pub(crate) fn ratio(other: &[Round], base: &[Round]) -> f64 {
    median(other.iter().zip(base).map(|(other, base)| other.micros / base.micros))
}

/// The value that `share` of the values do not exceed.
pub(crate) fn percentile(values: &[Duration], share: f64) -> Duration {
    let mut sorted = values.to_vec();
    sorted.sort();
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or_default()
}

/// In milliseconds.
pub(crate) fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}
