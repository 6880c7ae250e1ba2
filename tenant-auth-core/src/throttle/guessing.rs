//! What the HTTP layer asks of a refused key or link: whether it was a guess, and whether its client has guessed too often. It is
//! asked after the refusal, so that nobody who shows a good one is kept out by their neighbours' guesses.

use super::{limits::network_of, rates::wide_network_of, refused::log_guesser};
use crate::{
    caller::Client,
    error::Error,
    secret::{ApiKeyText, Secret},
    service::TenantAuth,
};

impl TenantAuth {
    /// Counts the outcome of showing a key or a link: one that is refused and was not made by this service is a guess. A used,
    /// revoked or expired one is none; nor is anything counted where the client's address is not known.
    ///
    /// # Errors
    /// [`Error::RateLimited`] in place of the refusal, beyond 30 guesses of one network in 15 minutes; otherwise the outcome's.
    pub(crate) fn counted<T, K>(&self, outcome: Result<T, Error>, shown: &Secret<K>, client: &Client) -> Result<T, Error> {
        match outcome {
            Err(refusal @ (Error::InvalidApiKey | Error::InvalidInvite | Error::InvalidLink)) => {
                let network = network_of(client).filter(|_| !self.master_keys().made(shown.expose()));
                network.map_or(Ok(()), |network| self.count_guess(&network, client))?;
                Err(refusal)
            }
            outcome => outcome,
        }
    }

    /// Whether the client's network has reported so many texts already that are none.
    pub(crate) fn has_reported_too_often(&self, client: &Client) -> bool {
        wide_network_of(client).is_some_and(|network| self.guesses().is_spent(&reports_of(&network), self.now()))
    }

    /// Counts a text that was reported as a leaked key and is no live one: by the client network, in a count of its own. Who reports has
    /// found keys in public and guesses at nothing. One that this service made is not counted.
    ///
    /// # Errors
    /// [`Error::RateLimited`] beyond 30 of one client network in 15 minutes.
    pub(crate) fn count_false_report(&self, shown: &ApiKeyText, client: &Client) -> Result<(), Error> {
        let network = wide_network_of(client).filter(|_| !self.master_keys().made(shown.expose()));
        network.map_or(Ok(()), |network| self.count_guess(&reports_of(&network), client))
    }

    fn count_guess(&self, whose: &str, client: &Client) -> Result<(), Error> {
        let wait = self.guesses().count(whose, self.now());
        wait.map_or(Ok(()), |wait| {
            log_guesser(client);
            Err(Error::rate_limited(wait))
        })
    }
}

/// The name of a client network's count of false reports, beside that of its guesses.
fn reports_of(network: &str) -> String {
    format!("reports:{network}")
}
