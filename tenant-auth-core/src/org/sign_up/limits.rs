//! How many organizations sign-up makes: of an account, of a client network and of the deployment (behaviour.md, B199).

use std::time::Duration;

use super::refused::Refused;
use crate::{
    caller::Client,
    config::Config,
    error::Error,
    model::User,
    service::TenantAuth,
    store::{SignUpLimit, Tx},
    throttle::{Rate, SIGN_UPS_IN_ALL, SIGN_UPS_OF_ACCOUNT, SIGN_UPS_OF_NETWORK, sign_ups_of_deployment, wide_network_of},
    time::DAY,
};

/// The longest that anybody is told to wait.
const LONGEST_WAIT: Duration = DAY;

/// A limit, and whose organizations it counts.
struct Count {
    limit: SignUpLimit,
    rate: Rate,
    whose: String,
}

/// The limits that hold for a founder, in the order of their counters' keys.
fn counts(config: &Config, account: Option<&User>, client: &Client) -> impl Iterator<Item = Count> {
    let of_account = |limit, rate| account.map(|user| Count { limit, rate, whose: user.id.to_string() });
    let of_network = |network| Count { limit: SignUpLimit::Network, rate: SIGN_UPS_OF_NETWORK, whose: network };
    let counts = [
        of_account(SignUpLimit::AccountDay, SIGN_UPS_OF_ACCOUNT),
        Some(Count { limit: SignUpLimit::Deployment, rate: sign_ups_of_deployment(config), whose: "all".to_owned() }),
        of_account(SignUpLimit::AccountInAll, SIGN_UPS_IN_ALL),
        wide_network_of(client).map(of_network),
    ];
    counts.into_iter().flatten()
}

/// Refuses what [`spend`] would refuse at the commit, before anything costly is done for it.
pub(super) async fn refuse_spent(auth: &TenantAuth, account: Option<&User>, client: &Client) -> Result<(), Refused> {
    for count in counts(auth.config(), account, client) {
        count.rate.refuse_spent(auth, &count.whose).await.map_err(|error| count.refused(error))?;
    }
    Ok(())
}

/// Counts an organization.
pub(super) async fn spend(tx: &mut Tx, config: &Config, founder: &User, client: &Client) -> Result<(), Refused> {
    for count in counts(config, Some(founder), client) {
        count.rate.spend(tx, &count.whose).await.map_err(|error| count.refused(error))?;
    }
    Ok(())
}

impl Count {
    fn refused(&self, error: Error) -> Refused {
        match error {
            Error::RateLimited { retry_after } => {
                Refused { error: Error::RateLimited { retry_after: retry_after.min(LONGEST_WAIT) }, limit: Some(self.limit) }
            }
            other => other.into(),
        }
    }
}
