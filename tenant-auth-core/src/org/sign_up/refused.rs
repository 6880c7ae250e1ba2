//! Refused sign-ups in the deployment's own log (behaviour.md, B267). Whoever has a good link can be refused as often as they like, so
//! that few are told of each client network and of all: nobody fills the log, which is kept for ever.

use crate::{
    caller::Client,
    error::Error,
    service::TenantAuth,
    store::{Actor, DeploymentDeed, SignUpLimit, SignUpRefusal},
    throttle::{SIGN_UP_REFUSALS, SIGN_UP_REFUSALS_OF_NETWORK, wide_network_of},
    value::Slug,
};

/// Why a sign-up was refused, and by which of its limits.
pub(super) struct Refused {
    pub(super) error: Error,
    pub(super) limit: Option<SignUpLimit>,
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self { error, limit: None }
    }
}

impl Refused {
    /// What the deployment's log tells of it; `None` for what concerns the link, the password or what was typed.
    fn told(&self) -> Option<SignUpRefusal> {
        match (&self.error, self.limit) {
            (Error::SlugTaken, _) => Some(SignUpRefusal::SlugTaken),
            (Error::SlugReserved, _) => Some(SignUpRefusal::SlugReserved),
            (Error::RateLimited { .. }, limit) => limit.map(SignUpRefusal::RateLimited),
            _ => None,
        }
    }
}

impl TenantAuth {
    /// Tells a refusal of a sign-up in the deployment's own log, if it is one to tell. It changes no answer: what cannot be told is not.
    pub(super) async fn tell_refused(&self, refused: &Refused, slug: Slug, client: &Client) {
        let Some(refusal) = refused.told() else { return };
        match self.record_refused(refusal, slug, client).await {
            Ok(()) | Err(Error::RateLimited { .. }) => {}
            Err(error) => tracing::warn!(error = %error.causes(), "a refused sign-up could not be told in the deployment's log"),
        }
    }

    async fn record_refused(&self, refusal: SignUpRefusal, slug: Slug, client: &Client) -> Result<(), Error> {
        let network = wide_network_of(client);
        let counts = network.iter().map(|network| (&SIGN_UP_REFUSALS_OF_NETWORK, network.as_str()));
        let counts: Vec<_> = counts.chain([(&SIGN_UP_REFUSALS, "all")]).collect();
        for (rate, whose) in &counts {
            rate.refuse_spent(self, whose).await?;
        }
        let mut tx = self.begin().await?;
        for (rate, whose) in &counts {
            rate.spend(&mut tx, whose).await?;
        }
        tx.record(Actor::System, DeploymentDeed::SignUpRefused { refusal, slug });
        tx.commit().await
    }
}
