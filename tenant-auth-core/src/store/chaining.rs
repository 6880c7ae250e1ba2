//! Chaining events (audit log): the head of an organization's chain moves on with each commit, under the lock of its sequence's row.
//! Events that a former version wrote whole are taken apart and chained in their order: most of them when the schema is brought up to
//! date, in batches that can be interrupted, and what is left of them with the organization's next commit.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    Store, Transaction,
    chain_head::ChainHead,
    engine_transaction::Purpose,
    sql::event_chain::{ChainedEvent, EventChain, FormerEvent, NewHead},
};
use crate::{
    audit::chain::{ActorFacts, DEPLOYMENT, Facts, Hash, Part, link},
    error::Error,
    id::OrgId,
    ports::Entropy,
    time::Timestamp,
};

/// How many former events one transaction takes apart.
const BATCH: i64 = 500;
/// How many organizations are looked up at once.
const ORGANIZATIONS: i64 = 1_000;

/// The chain of an organization while its row is locked.
#[derive(Debug)]
pub(super) struct Chain {
    /// In the deployment's own chain the word [`DEPLOYMENT`].
    org_id: OrgId,
    /// The number of the last event that is chained.
    sequence: i64,
    /// The hash of that event.
    hash: Hash,
    /// The time of that event. Times of an organization never go back, whatever the clocks do.
    at: Timestamp,
    /// The last number that was given away: by a former version, where it is not that of the last event that is chained.
    numbered: i64,
}

/// An event that is about to be chained.
pub(super) struct Unchained {
    pub(super) id: String,
    pub(super) kind: String,
    pub(super) actor_type: String,
    pub(super) actor_id: Option<String>,
    /// Whom the event is about.
    pub(super) user_id: Option<String>,
    pub(super) data: Part,
    pub(super) context: Part,
    /// Whether the event goes to every webhook that selected its kind.
    pub(super) published: bool,
}

impl Chain {
    /// Locks the chain of an organization, unless its head is held already; `None` when the organization is gone. Events of a former
    /// version are chained before.
    pub(super) async fn lock(
        transaction: &mut Transaction,
        org_id: &OrgId,
        held: Option<ChainHead>,
        entropy: &dyn Entropy,
    ) -> Result<Option<Self>, Error> {
        let chain = match held {
            Some(head) => Some(Self::from_head(org_id.clone(), head)?),
            None => Self::read(transaction, org_id).await?,
        };
        let Some(mut chain) = chain else { return Ok(None) };
        while chain.is_behind() {
            chain.catch_up(transaction, entropy).await?;
        }
        Ok(Some(chain))
    }

    /// Chains one more event, of this time or, if that is later, the time of the last one.
    pub(super) fn append(&mut self, event: Unchained, now: Timestamp) -> Result<ChainedEvent, Error> {
        (self.sequence, self.at) = (self.sequence + 1, self.at.max(now));
        let facts = Facts {
            sequence: self.sequence,
            id: &event.id,
            kind: &event.kind,
            timestamp: self.at,
            org: self.org_id.as_str(),
            actor: ActorFacts { kind: &event.actor_type, id: event.actor_id.as_deref() },
            user: event.user_id.as_deref(),
        };
        let (data_digest, context_digest) = (event.data.digest(), event.context.digest());
        self.hash = link(&self.hash, &facts.to_json().map_err(Error::internal)?, &data_digest, &context_digest);
        let Unchained { id, kind, actor_type, actor_id, user_id, data, context, published } = event;
        Ok(ChainedEvent {
            id,
            sequence: self.sequence,
            kind,
            created_at: self.at,
            actor_type,
            actor_id,
            user_id,
            data_salt: data.salt.to_string(),
            data: data.text,
            data_digest: data_digest.to_string(),
            context_salt: context.salt.to_string(),
            context: context.text,
            context_digest: context_digest.to_string(),
            hash: self.hash.to_string(),
            published,
        })
    }

    /// Where the chain ends now.
    pub(super) fn head(&self) -> NewHead<'_> {
        NewHead { org_id: &self.org_id, sequence: self.sequence, hash: self.hash.to_string(), at: self.at }
    }

    async fn read(transaction: &mut Transaction, org_id: &OrgId) -> Result<Option<Self>, Error> {
        let head = EventChain(transaction).head(org_id).await?;
        head.map(|head| Self::from_head(org_id.clone(), head)).transpose()
    }

    /// The chain of the deployment's own log, whose head is locked.
    pub(super) fn of_deployment(head: ChainHead) -> Result<Self, Error> {
        Self::from_head(OrgId::from_stored(DEPLOYMENT), head)
    }

    fn from_head(org_id: OrgId, ChainHead { sequence, chained, hash, last_at }: ChainHead) -> Result<Self, Error> {
        let hash = match hash {
            Some(hash) => Hash::parse(&hash).ok_or_else(|| Error::internal("the head of a chain is no hash"))?,
            None => Hash::beginning(org_id.as_str()),
        };
        Ok(Self { org_id, sequence: chained, hash, at: Timestamp::from_millis(last_at), numbered: sequence })
    }

    fn is_behind(&self) -> bool {
        self.sequence < self.numbered
    }

    /// Chains a batch of what a former version wrote. Where its sweep left a gap, the chain begins after the gap.
    async fn catch_up(&mut self, transaction: &mut Transaction, entropy: &dyn Entropy) -> Result<(), Error> {
        let former = EventChain(&mut *transaction).former(&self.org_id, self.sequence, BATCH).await?;
        let is_all = i64::try_from(former.len()).is_ok_and(|count| count < BATCH);
        let mut chained = Vec::with_capacity(former.len());
        for event in former {
            self.begin_at(transaction, event.sequence).await?;
            let written = Timestamp::from_millis(event.created_at);
            chained.push(self.append(taken_apart(event, entropy)?, written)?);
        }
        if !chained.is_empty() {
            EventChain(&mut *transaction).take_apart(&chained).await?;
        }
        if is_all {
            self.begin_at(transaction, self.numbered + 1).await?;
        }
        Ok(())
    }

    /// Lets what is kept of the chain begin with this number, unless the number follows on the last one.
    async fn begin_at(&mut self, transaction: &mut Transaction, sequence: i64) -> Result<(), Error> {
        if sequence != self.sequence + 1 {
            EventChain(transaction).begin_at(&self.org_id, sequence, &self.hash.to_string()).await?;
            self.sequence = sequence - 1;
        }
        Ok(())
    }
}

/// A payload of a former version.
#[derive(Deserialize)]
struct Whole<'a> {
    actor: WholeActor,
    #[serde(borrow)]
    data: &'a RawValue,
}

#[derive(Deserialize)]
struct WholeActor {
    #[serde(rename = "type")]
    kind: String,
    id: Option<String>,
}

/// Whom the data of an event are about, if anybody.
#[derive(Default, Deserialize)]
struct About {
    user: Option<AboutUser>,
    member: Option<AboutMember>,
}

#[derive(Deserialize)]
struct AboutUser {
    id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AboutMember {
    user_id: String,
}

fn taken_apart(event: FormerEvent, entropy: &dyn Entropy) -> Result<Unchained, Error> {
    let Whole { actor, data } = serde_json::from_str(&event.payload).map_err(Error::internal)?;
    let About { user, member } = serde_json::from_str(data.get()).map_err(Error::internal)?;
    Ok(Unchained {
        id: event.id,
        kind: event.kind,
        actor_type: actor.kind,
        actor_id: actor.id,
        user_id: user.map(|user| user.id).or_else(|| member.map(|member| member.user_id)),
        data: Part::salted(data.get().to_owned(), entropy),
        context: Part::salted("null".to_owned(), entropy),
        published: false,
    })
}

impl Store {
    /// Chains what former versions wrote. Of several processes that start together each takes a part of it; interrupted, it goes on
    /// with the next start.
    pub(super) async fn chain_former_events(&self, entropy: &dyn Entropy) -> Result<(), Error> {
        let mut after = String::new();
        loop {
            let behind = self.read().await?.events().behind(&after, ORGANIZATIONS).await?;
            let Some(last) = behind.last() else { return Ok(()) };
            last.as_str().clone_into(&mut after);
            for org_id in &behind {
                while self.chain_batch(org_id, entropy).await? {}
            }
        }
    }

    /// Whether there is more.
    async fn chain_batch(&self, org_id: &OrgId, entropy: &dyn Entropy) -> Result<bool, Error> {
        let mut transaction = self.begin_for(Purpose::Write).await?;
        let Some(mut chain) = Chain::read(&mut transaction, org_id).await? else { return Ok(false) };
        if chain.is_behind() {
            chain.catch_up(&mut transaction, entropy).await?;
            EventChain(&mut transaction).set_head(&chain.head()).await?;
        }
        transaction.commit().await?;
        Ok(chain.is_behind())
    }
}
