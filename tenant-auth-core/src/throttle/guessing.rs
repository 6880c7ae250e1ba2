//! What the HTTP layer asks of a refused key or link: whether it was a guess, and whether its client has guessed too often. It is
//! asked after the refusal, so that nobody who shows a good one is kept out by their neighbours' guesses.

use super::{limits::network_of, refused::log_guesser};
use crate::{caller::Client, error::Error, secret::Secret, service::TenantAuth};

impl TenantAuth {
    /// Counts the outcome of showing a key or a link: one that is refused and was not made by this service is a guess. A used,
    /// revoked or expired one is none; nor is anything counted where the client's address is not known.
    ///
    /// # Errors
    /// [`Error::RateLimited`] in place of the refusal, beyond 30 guesses of one network in 15 minutes; otherwise the outcome's.
    pub(crate) fn counted<T, K>(&self, outcome: Result<T, Error>, shown: &Secret<K>, client: &Client) -> Result<T, Error> {
        match outcome {
            Err(refusal @ (Error::InvalidApiKey | Error::InvalidInvite | Error::InvalidLink)) => {
                if self.master_keys().made(shown.expose()) {
                    return Err(refusal);
                }
                let wait = network_of(client).and_then(|network| self.guesses().count(&network, self.now()));
                Err(wait.map_or(refusal, |wait| {
                    log_guesser(client);
                    Error::rate_limited(wait)
                }))
            }
            outcome => outcome,
        }
    }
}
