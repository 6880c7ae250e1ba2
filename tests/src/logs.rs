//! A capture of everything the process logs, so that a scenario can look for what must never be there.

use std::{
    io::{self, Write},
    sync::{Mutex, MutexGuard, PoisonError},
};

use tracing_subscriber::EnvFilter;

static KEPT: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// What the service and the libraries under it say at their most talkative. The frameworks' own chatter is the host's business.
const FILTER: &str =
    "off,tenant_auth=trace,tenant_auth_core=trace,tenant_auth_axum=trace,tenant_auth_actix=trace,sqlx=info,lettre=trace";

/// Keeps what is logged from now on.
pub(crate) fn keep() {
    let subscriber =
        tracing_subscriber::fmt().with_env_filter(EnvFilter::new(FILTER)).with_ansi(false).with_writer(|| Keeper).finish();
    tracing::subscriber::set_global_default(subscriber).expect("nobody else keeps the log");
}

/// Whether a text was logged so far.
pub fn mention(text: &str) -> bool {
    kept().windows(text.len()).any(|window| window == text.as_bytes())
}

/// Everything logged so far.
pub fn all() -> Vec<u8> {
    kept().clone()
}

struct Keeper;

impl Write for Keeper {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        kept().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn kept() -> MutexGuard<'static, Vec<u8>> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}
