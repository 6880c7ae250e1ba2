//! What threads share memory by, in one place: the model of the concurrency inside one process (`tests/model`, with loom) compiles the
//! files of this module that share something, with its own primitives in place of these.

pub(super) use std::{
    hash::RandomState,
    sync::{
        PoisonError, RwLock,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
};
