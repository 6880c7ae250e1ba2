//! Leaked API keys (secret scanning): whoever found a key in public reports it, and the key is revoked before the answer. Showing the
//! key is all the right that is needed, for whoever has it could do worse with it.
//!
//! What must stay true: the answer takes as long whether or not a key was live, so that it does not tell; a key that is reported by
//! several at once has one event and one mail to each admin. A deployment key ends the same way, and the pending invites that it sent
//! end with it.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use tokio::time::{Instant, sleep_until};

use super::presented_key::PresentedKey;
use crate::{
    error::Error,
    event::{ApiKeyData, EventKind, RevokeReason},
    id::{ApiKeyId, DeploymentKeyId, KeyId, OrgId},
    mail::{self, Letter},
    org::revoke_ended_invites,
    secret::ApiKeyText,
    service::TenantAuth,
    store::{Actor, DeploymentDeed, Event},
};

/// A report takes a whole number of these: longer than it takes to revoke, so that a report of no live key takes as long.
const BEAT: Duration = Duration::from_millis(500);

impl TenantAuth {
    /// Revokes keys that were found where they should not be. Returns for each text the key that it was of, `None` where it was no
    /// live key. Only the key that is shown ends: its predecessor or successor of a rotation lives. The keys of a suspended
    /// organization end, too.
    ///
    /// # Errors
    /// [`Error::Unavailable`]; some keys may be revoked then, and the report is to be made again.
    pub async fn revoke_leaked_keys(&self, shown: &[ApiKeyText]) -> Result<Vec<Option<KeyId>>, Error> {
        let began = Instant::now();
        self.ending(async {
            let found = self.live_keys(shown).await?;
            let mut by_org: BTreeMap<&OrgId, BTreeSet<&ApiKeyId>> = BTreeMap::new();
            let mut of_deployment: BTreeSet<&DeploymentKeyId> = BTreeSet::new();
            for found in found.iter().flatten() {
                match (&found.key, &found.home) {
                    (KeyId::ApiKey(key), Some(org)) => drop(by_org.entry(org).or_default().insert(key)),
                    (KeyId::DeploymentKey(key), _) => drop(of_deployment.insert(key)),
                    (KeyId::ApiKey(_), None) => {}
                }
            }
            for (org, keys) in by_org {
                self.revoke_leaked_keys_of(org, &keys).await?;
            }
            for key in of_deployment {
                self.revoke_leaked_deployment_key(key).await?;
            }
            // Before what follows each end of a right is waited for: that takes the same time after the beat as before it.
            sleep_until(next_beat(began)).await;
            Ok(found.into_iter().map(|found| found.map(|found| found.key)).collect())
        })
        .await
    }

    async fn live_keys(&self, shown: &[ApiKeyText]) -> Result<Vec<Option<Found>>, Error> {
        let mut all = Vec::with_capacity(shown.len());
        for text in shown {
            let presented = PresentedKey::parse(text).or_else(|| PresentedKey::of_deployment(text, None));
            let read = match presented.as_ref().map(PresentedKey::id) {
                Some(id) => self.lookups().of_key(id, None, None, false).await?,
                None => None,
            };
            let live = read
                .map(|read| read.value.key)
                .zip(presented)
                .filter(|(key, presented)| presented.is_of(&key.digest) && key.expires_at.is_none_or(|end| self.now() < end));
            all.push(live.map(|(key, _)| Found { home: key.home().map(|org| org.id.clone()), key: key.id }));
        }
        Ok(all)
    }

    async fn revoke_leaked_keys_of(&self, org: &OrgId, keys: &BTreeSet<&ApiKeyId>) -> Result<(), Error> {
        let mut tx = self.begin().await?;
        let Some(org) = tx.organizations().lock(org).await? else { return Ok(()) };
        let now = tx.now();
        for id in keys {
            // Another report may have been first.
            let Some(key) = tx.api_keys().find(&org.id, id, now).await? else { continue };
            tx.api_keys().delete(&key).await?;
            let data = ApiKeyData::revoked(&key, RevokeReason::Leaked);
            tx.push(Event::new(EventKind::ApiKeyRevoked, &org, Actor::System, &data)?);
            let notice = Letter::LeakedApiKey { organization: &org.name, name: &key.name };
            mail::tell_admins(&mut tx, &org.id, &notice).await?;
        }
        tx.commit().await
    }

    /// The admins of the operators' organization are mailed, where there is one, and the log tells whoever runs the deployment.
    async fn revoke_leaked_deployment_key(&self, id: &DeploymentKeyId) -> Result<(), Error> {
        let mut tx = self.begin().await?;
        let operators = match &self.config().organizations.operator_org {
            Some(slug) => tx.organizations().find_by_slug(slug).await?,
            None => None,
        };
        let now = tx.now();
        // Another report may have been first.
        let Some(key) = tx.deployment_keys().find(id, now).await? else { return Ok(()) };
        if !tx.deployment_keys().delete(id).await? {
            return Ok(());
        }
        if let Some(operators) = &operators {
            mail::tell_admins(&mut tx, &operators.id, &Letter::LeakedDeploymentKey { name: &key.name }).await?;
        }
        tx.invites().end_of_key(id).await?;
        tx.record(Actor::System, DeploymentDeed::KeyRevoked(key.clone(), RevokeReason::Leaked));
        tx.commit().await?;
        revoke_ended_invites(self).await?;
        tracing::warn!(key = %id, "a deployment key was reported as leaked and is revoked; make another one: deployment-key create");
        Ok(())
    }
}

/// A live key and its organization; a deployment key has none.
struct Found {
    key: KeyId,
    home: Option<OrgId>,
}

/// The first moment that is a whole number of beats after the beginning and has not passed.
fn next_beat(began: Instant) -> Instant {
    let beats = began.elapsed().as_millis() / BEAT.as_millis() + 1;
    began + BEAT * u32::try_from(beats).unwrap_or(u32::MAX)
}
