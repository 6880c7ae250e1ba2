//! The bound on requests in flight: how many may be at work or wait at once, and how they are shared out among client networks. Each
//! holds its body and what was read of it, so without a bound waiting requests could fill the memory.

use std::{net::IpAddr, sync::Arc};

use crate::{
    budget::{Budget, Permit},
    error::{Error, Overload},
};

/// How many requests may be in flight: with bodies of at most 64 KiB, 256 MiB.
const MOST: usize = 4_096;

/// The requests in flight.
#[derive(Debug)]
pub(crate) struct InFlight(Arc<Budget>);

impl InFlight {
    /// No request yet.
    pub(crate) fn new() -> Self {
        Self(Budget::of(MOST))
    }

    /// Takes a place for a request of this client, given back at its end, or before by a request that only waits and is counted
    /// elsewhere.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when its network holds as many as are free.
    pub(crate) fn take(&self, client: Option<IpAddr>) -> Result<Permit, Error> {
        self.0.take(client, 1).ok_or_else(|| Overload::InFlight.into())
    }
}
