//! Blocked logins, as the organization hears of them: `login.blocked`, once an hour for each member. A refused request writes nothing,
//! so that it costs the same for every address and takes no turn at the database's writer; it leaves a note in this process, and a
//! moment later the notes about members become events.

use std::{sync::Arc, time::Duration};

use super::{
    limits::{HOUR, account_key, network_of, pair_limit, wide_limits},
    noted::{BlockedLogin, Whose},
};
use crate::{
    caller::{Client, Tenant},
    error::Error,
    event::{EventKind, LoginBlockedData},
    model::User,
    service::TenantAuth,
    store::{Actor, Event},
    value::Email,
};

/// How long a note waits to be told together with others.
const TOLD_WITHIN: Duration = Duration::from_secs(5);
impl Whose {
    fn key(&self) -> String {
        match self {
            Self::Address(email) => account_key(email),
            Self::Account(user) => user.to_string(),
        }
    }
}

impl Tenant {
    /// Notes a login that was refused because the account is blocked. That a whole network is blocked is nothing about a person.
    pub(crate) async fn note_blocked(&self, refusal: &Error, whose: Whose, client: &Client) {
        let (auth, now) = (&self.auth, self.auth.now());
        let Error::RateLimited { retry_after } = refusal else { return };
        let key = whose.key();
        if !auth.blocked_logins().is_news(&self.org.id, &key, now, now.plus(HOUR)) {
            return;
        }
        let mark = auth.blocked_logins().mark(&self.org.id, &key);
        let is_blocked = match &whose {
            Whose::Address(email) => auth.is_blocked(email, client).await,
            Whose::Account(_) => Ok(true),
        };
        if !is_blocked.is_ok_and(|is_blocked| is_blocked) {
            return;
        }
        mark.stays();
        let request = client.request_in(&self.org.id, None);
        let note = BlockedLogin { org: Arc::clone(&self.org), whose, until: now.plus(*retry_after), request };
        if auth.blocked_logins().keep(note) {
            let auth = auth.clone();
            self.auth.runtime().spawn(async move {
                tokio::time::sleep(TOLD_WITHIN).await;
                if let Err(error) = auth.tell_blocked_logins().await {
                    tracing::warn!(error = %error.causes(), "blocked logins were not told to their organizations");
                }
            });
        }
    }
}

impl TenantAuth {
    /// Whether a limit of the account itself blocks, whoever it belongs to.
    async fn is_blocked(&self, email: &Email, client: &Client) -> Result<bool, Error> {
        let account = account_key(email);
        let pair = network_of(client).map(|network| pair_limit(self.config(), &account, &network));
        let own = wide_limits(self.config(), &account, client).into_iter().filter(|limit| limit.subject.is_some());
        let limits: Vec<_> = pair.into_iter().chain(own).collect();
        Ok(!self.store().read().await?.throttles().blocks(&limits, self.now()).await?.is_empty())
    }

    /// Turns the notes about members into events. One that cannot be told, as while another holds its organization, hinders no other, and
    /// the next refusal is noted again.
    ///
    /// # Errors
    /// [`Error::Unavailable`]: that of the last note that could not be told, or of a database that is away, when the others wait.
    pub(crate) async fn tell_blocked_logins(&self) -> Result<(), Error> {
        let logins = self.blocked_logins();
        logins.begin_to_tell();
        let mut told = Ok(());
        while let Some(note) = logins.next() {
            let mark = logins.mark(&note.org.id, &note.whose.key());
            let telling = match self.member_of(&note).await? {
                Some(member) => self.tell_blocked(note, &member).await,
                None => Ok(()),
            };
            match telling {
                Ok(()) => mark.stays(),
                Err(error) => told = Err(error),
            }
        }
        told
    }

    /// The person, if a member of the organization.
    async fn member_of(&self, note: &BlockedLogin) -> Result<Option<User>, Error> {
        let mut reader = self.store().read().await?;
        let account = match &note.whose {
            Whose::Account(user) => reader.users().find(user).await?,
            Whose::Address(email) => reader.users().find_by_email(email).await?,
        };
        let Some(account) = account else { return Ok(None) };
        Ok(reader.members().find(&note.org.id, &account.user.id).await?.map(|_| account.user))
    }

    async fn tell_blocked(&self, note: BlockedLogin, member: &User) -> Result<(), Error> {
        let mut tx = self.begin().await?;
        // Judged again under the lock: of somebody who was deleted meanwhile, nothing may be told that the deletion did not erase.
        if tx.members().hold(&note.org.id, &member.id).await?.is_none() {
            return Ok(());
        }
        // Another process may have told it.
        let once = format!("blocked:{}:{}", note.org.id, member.id);
        let until = tx.now().plus(HOUR);
        if !tx.throttles().spend(&once, until, 1).await? {
            return Ok(());
        }
        let data = LoginBlockedData::of(member, note.until);
        tx.push(Event::new(EventKind::LoginBlocked, &*note.org, Actor::System, &data)?.of_request(note.request));
        tx.commit().await
    }
}
