//! Time, which does not matter here: whether a look is too old is judged in the model across processes.

/// As in the core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Moment {
    pub(super) steady: u64,
    pub(super) wall: u64,
}
