//! What is attacked, and by which rules it is judged.

mod sealing;
mod service;
mod settings;
mod values;
mod webhooks;

/// A thing that reads strangers' bytes.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) name: &'static str,
    /// Its share of the executions: 1 for what takes a microsecond.
    pub(crate) weight: f64,
    /// Words that mean something to it.
    pub(crate) dictionary: &'static [&'static str],
    pub(crate) make: fn() -> Attack,
}

/// A target, set up.
pub(crate) struct Attack {
    pub(crate) seeds: Vec<Vec<u8>>,
    /// Panics when a rule is broken; otherwise names the kind of outcome.
    pub(crate) run: Run,
}

/// One execution.
pub(crate) type Run = Box<dyn FnMut(&[u8]) -> u64>;

impl Attack {
    fn new(seeds: &[&str], run: impl FnMut(&[u8]) -> u64 + 'static) -> Self {
        Self { seeds: seeds.iter().map(|seed| seed.as_bytes().to_vec()).collect(), run: Box::new(run) }
    }
}

/// Every target.
pub(crate) const ALL: &[Target] = &[
    values::EMAIL,
    values::NAMES,
    values::METADATA,
    values::URLS,
    webhooks::ADDRESSES,
    webhooks::SIGNATURES,
    sealing::SEALED,
    sealing::MASTER_KEYS,
    sealing::CODES,
    sealing::MAILS,
    service::FORWARDED,
    service::TOKENS,
    service::COOKIES,
    service::KEYS,
    service::CURSORS,
    service::REQUESTS,
    settings::SETTINGS,
];

/// An outcome's kind, from a few numbers that tell it from others.
fn kind(numbers: &[u64]) -> u64 {
    numbers.iter().fold(0xcbf2_9ce4_8422_2325, |hash, number| (hash ^ number).wrapping_mul(0x0100_0000_01b3))
}

/// How long, roughly: inputs whose outcome differs in length only are few kinds.
fn size(length: usize) -> u64 {
    u64::from(usize::BITS - length.leading_zeros())
}
