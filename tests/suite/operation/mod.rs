//! What an operator sees and sets: metrics, settings, the rotation of keys, the clock.

pub(crate) mod key_rotation;
pub(crate) mod metrics;
pub(crate) mod metrics_text;
pub(crate) mod rounds;
pub(crate) mod set_back;
pub(crate) mod set_forward;
pub(crate) mod settings;
