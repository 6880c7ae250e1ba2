//! Exporting a person: all that is kept about somebody, found by the address, as one JSON document which that person may be given. It
//! opens nothing, and leaves out what is somebody else's: whom the person's deeds were about, and the networks of whoever did something
//! to the person.

mod account;
mod entries;
mod traces;

use std::fmt;

use serde_json::{Map, Value, json};

use super::{Operator, erasing::Sought};
use crate::{
    error::Error,
    id::{Id, UserId},
    store::{Actor, Deed, DeploymentDeed},
    value::Email,
};

/// The format of the document.
const FORMAT: &str = "tenant-auth-person/1";

/// All that is kept about a person.
#[derive(Clone)]
pub struct PersonExport(Map<String, Value>);

impl PersonExport {
    /// The document (`format` `tenant-auth-person/1`). Its fields are described in the guide `move.md` of `tenant-auth-server`.
    pub fn as_json(&self) -> &Map<String, Value> {
        &self.0
    }

    /// Whether the address has an account. An address without one may have invites, counters and entries.
    pub fn has_account(&self) -> bool {
        self.0.get("account").is_some_and(|account| !account.is_null())
    }
}

/// Without the person.
impl fmt::Debug for PersonExport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PersonExport").finish_non_exhaustive()
    }
}

impl Operator {
    /// Reads all that is kept about the person with this address, whether or not there is an account: the account, memberships,
    /// sessions, links, invites, waiting mails, counters of failed logins, and the entries of every audit log that tell of the person
    /// or of what the person did. No hash, secret, digest or token is in it. The deployment's own log tells of the reading, before it begins.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub async fn export_person(&self, email: &Email) -> Result<PersonExport, Error> {
        // Before the snapshot: this may take a while where there are many entries.
        let known = self.auth.store().read().await?.users().find_by_email(email).await?.map(|account| account.user.id);
        let mut deed = self.auth.begin().await?;
        deed.record(Actor::System, DeploymentDeed::PersonExported(known.clone()));
        deed.commit().await?;
        let addressed = self.addressed_to(Sought { email: email.clone(), is_theirs: true, user: known.clone() }).await?;
        let mut tx = self.auth.transactions().begin_snapshot().await?;
        let account = tx.person().account(email).await?;
        let user: Option<UserId> = account.as_ref().map(|account| Id::from_stored(account.id.clone()));
        if user != known {
            return Err(Error::unavailable("the address became another account's while its entries were read"));
        }

        let mut all = Map::new();
        let mut tell = |name: &str, value: Value| drop(all.insert(name.to_owned(), value));
        tell("format", json!(FORMAT));
        tell("exportedAt", json!(tx.now()));
        tell("email", json!(email));
        tell("account", account::account(&mut tx, account).await?);
        tell("formerIds", account::former_ids(&mut tx, user.as_ref()).await?);
        tell("memberships", account::memberships(&mut tx, user.as_ref()).await?);
        tell("sessions", account::sessions(&mut tx, user.as_ref()).await?);
        tell("waitingLogins", account::waiting_logins(&mut tx, user.as_ref()).await?);
        tell("links", account::links(&mut tx, user.as_ref()).await?);
        for (name, deed) in [("invitesSent", Deed::Invite), ("apiKeysMade", Deed::ApiKey), ("webhooksMade", Deed::Webhook)] {
            tell(name, account::made(&mut tx, deed, user.as_ref()).await?);
        }
        tell("invites", traces::invites(&mut tx, email).await?);
        tell("resetRequests", traces::reset_requests(&mut tx, email).await?);
        tell("signUps", traces::sign_ups(&mut tx, email).await?);
        let (mails, unreadable) = traces::mails(&self.auth, &mut tx, email).await?;
        tell("mails", mails);
        tell("unreadableMails", json!(unreadable));
        tell("counters", traces::counters(&mut tx, email, user.as_ref()).await?);
        tell("networks", traces::networks(&mut tx, email).await?);
        tell("entries", entries::entries(&mut tx, user.as_ref(), &addressed).await?);
        tell("deploymentEntries", entries::of_deployment(&mut tx, user.as_ref()).await?);
        Ok(PersonExport(all))
    }
}
