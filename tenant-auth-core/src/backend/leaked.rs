//! Leaked API keys (secret scanning): whoever found a key in public reports it, and the key is revoked before the answer. Showing the
//! key is all the right that is needed, for whoever has it could do worse with it.
//!
//! What must stay true: the answer takes as long whether or not a key was live, so that it does not tell; a key that is reported by
//! several at once has one event and one mail to each admin. A deployment key ends the same way, and the pending invites that it sent
//! end with it.

use std::{
    collections::{BTreeMap, BTreeSet},
    future::poll_fn,
    task::Poll,
    time::Duration,
};

use tokio::time::{Instant, sleep_until};

use super::presented_key::PresentedKey;
#[cfg(feature = "http")]
use crate::caller::Client;
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

/// How many texts that the service did not make are looked up of a report that is refused for its network's guesses: keys that came with an
/// organization are such texts, too.
#[cfg(feature = "http")]
const STRANGE: usize = 5;

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
        self.revoke_leaked(shown, usize::MAX).await
    }

    /// The same for whoever reports over HTTP. Where the client's network has reported too many false ones, few texts are looked up that this service
    /// did not make: a report must not be a cheap way to load the database.
    ///
    /// # Errors
    /// As [`TenantAuth::revoke_leaked_keys`].
    #[cfg(feature = "http")]
    pub(crate) async fn revoke_reported_keys(&self, shown: &[ApiKeyText], client: &Client) -> Result<Vec<Option<KeyId>>, Error> {
        let strange = if self.has_reported_too_often(client) { STRANGE } else { usize::MAX };
        self.revoke_leaked(shown, strange).await
    }

    async fn revoke_leaked(&self, shown: &[ApiKeyText], strange: usize) -> Result<Vec<Option<KeyId>>, Error> {
        let began = Instant::now();
        self.ending(async {
            let found = self.live_keys(shown, strange).await?;
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

    /// Looks up all texts that this service made and so many others, for each text in its order. They are asked for together, and so in few
    /// statements.
    async fn live_keys(&self, shown: &[ApiKeyText], mut strange: usize) -> Result<Vec<Option<Found>>, Error> {
        let mut lookups = Vec::with_capacity(shown.len());
        for text in shown {
            let presented = PresentedKey::parse(text).or_else(|| PresentedKey::of_deployment(text, None));
            let presented = presented.filter(|presented| {
                self.master_keys().made(presented.text().expose()) || {
                    let is_within = strange > 0;
                    strange = strange.saturating_sub(1);
                    is_within
                }
            });
            lookups.push(self.live_key(presented));
        }
        together(lookups).await.into_iter().collect()
    }

    async fn live_key(&self, presented: Option<PresentedKey>) -> Result<Option<Found>, Error> {
        let Some(presented) = presented else { return Ok(None) };
        let Some(read) = self.lookups().of_key(presented.id(), None, None, false).await? else { return Ok(None) };
        let key = read.value.key;
        let is_live = presented.is_of(&key.digest) && key.expires_at.is_none_or(|end| self.now() < end);
        Ok(is_live.then(|| Found { home: key.home().map(|org| org.id.clone()), key: key.id }))
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
        tracing::warn!(key = %id, "a deployment key was reported as leaked and is revoked; make another one: deployment-key create");
        revoke_ended_invites(self).await;
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

/// The outcomes of futures that are awaited side by side, in their order.
async fn together<F: Future>(futures: Vec<F>) -> Vec<F::Output> {
    let mut all: Vec<_> = futures.into_iter().map(|future| (Box::pin(future), None)).collect();
    poll_fn(|context| {
        for (future, outcome) in all.iter_mut().filter(|(_, outcome)| outcome.is_none()) {
            if let Poll::Ready(ready) = future.as_mut().poll(context) {
                *outcome = Some(ready);
            }
        }
        if all.iter().all(|(_, outcome)| outcome.is_some()) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    all.into_iter().filter_map(|(_, outcome)| outcome).collect()
}

#[cfg(all(test, feature = "testing", feature = "sqlite", feature = "http"))]
mod tests {
    use super::*;
    use crate::{
        backend::NewApiKey,
        model::Scope,
        testing::{SLUG, TestAuth},
    };

    fn false_key(n: usize) -> ApiKeyText {
        ApiKeyText::new(format!("pk_live_01k9f3s8v6q2w4x7y9z0a1b2c3{n:065}"))
    }

    /// A key that came with an organization from another deployment, whose tag nobody here can judge.
    async fn brought(test: &TestAuth) -> ApiKeyText {
        let new = NewApiKey { name: "brought".parse().expect("a name"), scopes: vec![Scope::Verify], expires_at: None };
        let made = test.auth.operator().create_api_key(&SLUG.parse().expect("a slug"), new).await.expect("a key");
        let (id, _) = made.key.expose().split_at(34);
        let brought = ApiKeyText::new(format!("{id}{:065}", 7));
        let mut tx = test.auth.begin().await.expect("a transaction");
        assert!(tx.api_keys().delete(&made.api_key).await.is_ok());
        tx.api_keys().insert(&made.api_key, &brought.digest()).await.expect("a key");
        tx.commit().await.expect("a commit");
        brought
    }

    #[tokio::test]
    async fn a_refused_network_has_what_we_made_looked_up_and_little_else() {
        let test = TestAuth::new().await;
        let (brought, own) = (brought(&test).await, test.api_key(&[Scope::Verify]).await);
        let mut shown: Vec<_> = (0..STRANGE).map(false_key).collect();
        shown.extend([brought.clone(), own]);
        let found = |found: Vec<Option<Found>>| found.iter().map(Option::is_some).collect::<Vec<_>>();
        let (mut few, mut all) = (vec![false; STRANGE], vec![false; STRANGE]);
        few.extend([false, true]);
        all.extend([true, true]);
        assert_eq!(found(test.auth.live_keys(&shown, STRANGE).await.expect("an answer")), few);
        assert_eq!(found(test.auth.live_keys(&shown, usize::MAX).await.expect("an answer")), all);
        let client = Client { ip: "203.0.113.9".parse().ok(), ..Client::default() };
        for n in 0..=30 {
            let counted = test.auth.count_false_report(&false_key(n), &client);
            assert_eq!(matches!(counted, Err(Error::RateLimited { .. })), n == 30, "{n}");
        }
        let reported = test.auth.revoke_reported_keys(&shown, &client).await.expect("an answer");
        assert_eq!(reported.iter().map(Option::is_some).collect::<Vec<_>>(), few);
        let reported = test.auth.revoke_reported_keys(&[brought], &client).await.expect("an answer");
        assert!(reported[0].is_some(), "a live key dies although the rest is refused");
    }
}
