//! The deployment's own log: what is done to the deployment as a whole, such as making a key that opens every organization, and whether
//! there is an organization. It is chained as an organization's events are, from SHA-256 of the word `deployment` on, in the
//! transaction of the deed and after its events; whoever runs the deployment exports and verifies it in the same way. Nothing of it is
//! told to webhooks.
//!
//! What must stay true: the log names people and organizations by ids alone, so that nothing in it has to be erased.

use super::{
    Actor, Tx,
    chaining::{Chain, Unchained},
    deed::{Deed, Done},
};
use crate::{audit::chain::Part, error::Error, id::EventId};

impl Tx {
    /// Records what this transaction does to the deployment; it is written at the commit.
    pub(crate) fn record(&mut self, actor: Actor, deed: Deed) {
        self.deeds.push(Done { actor, deed });
    }

    /// Chains and stores what this transaction did to the deployment. The lock is the last one: transactions of all organizations
    /// share the row.
    pub(super) async fn write_deeds(&mut self, deeds: Vec<Done>) -> Result<(), Error> {
        if deeds.is_empty() {
            return Ok(());
        }
        let mut chain = Chain::of_deployment(self.deployment_log().hold().await?)?;
        let now = self.now();
        for done in deeds {
            let entry = chain.append(self.unchained_deed(&done), now)?;
            self.deployment_log().insert(&entry).await?;
        }
        self.deployment_log().move_head(&chain.head()).await
    }

    fn unchained_deed(&self, Done { actor, deed }: &Done) -> Unchained {
        let id: EventId = self.new_id();
        let (actor_type, actor_id) = actor.told();
        Unchained {
            id: id.as_str().to_owned(),
            kind: deed.kind().to_owned(),
            actor_type: actor_type.to_owned(),
            actor_id: actor_id.map(str::to_owned),
            user_id: deed.about().map(|user| user.as_str().to_owned()),
            data: Part::salted(deed.data().to_string(), self.entropy()),
            context: Part::salted("null".to_owned(), self.entropy()),
            published: false,
        }
    }
}
