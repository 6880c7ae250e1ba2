//! loom's primitives, and a hash that is the same in each run: loom repeats what it has seen.

use std::hash::{BuildHasherDefault, DefaultHasher};

pub(super) use loom::sync::{
    RwLock,
    atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
};
pub(super) use std::sync::PoisonError;

/// In place of the one that is random.
#[derive(Debug, Clone, Default)]
pub(super) struct RandomState(BuildHasherDefault<DefaultHasher>);

impl RandomState {
    pub(super) fn new() -> Self {
        Self::default()
    }
}

impl std::hash::BuildHasher for RandomState {
    type Hasher = DefaultHasher;

    fn build_hasher(&self) -> DefaultHasher {
        self.0.build_hasher()
    }
}
