//! Blocked logins, as the organization hears of them: `login.blocked`, once an hour for each member. A refused request writes nothing,
//! so that it costs the same for every address and takes no turn at the database's writer; it leaves a note in this process, and a
//! moment later the notes about members become events.

use std::{collections::HashSet, sync::Arc, time::Duration};

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

    /// Turns the notes about members into events. One that cannot be told, as while another holds its organization, hinders none of
    /// another organization; those of its own, and all while the database is away, are given up with it: the next refusals are noted again.
    ///
    /// # Errors
    /// [`Error::Unavailable`]: that of the last note that could not be told.
    pub(crate) async fn tell_blocked_logins(&self) -> Result<(), Error> {
        let logins = self.blocked_logins();
        let _turn = logins.turn().await;
        let (mut told, mut is_away, mut held) = (Ok(()), false, HashSet::new());
        while let Some(note) = logins.next() {
            let mark = logins.mark(&note.org.id, &note.whose.key());
            if is_away || held.contains(&note.org.id) {
                continue;
            }
            let org = note.org.id.clone();
            let telling = match self.member_of(&note).await {
                Ok(Some(member)) => self.tell_blocked(note, &member).await,
                Ok(None) => Ok(()),
                Err(error) => {
                    is_away = true;
                    Err(error)
                }
            };
            match telling {
                Ok(()) => mark.stays(),
                Err(error) => {
                    held.insert(org);
                    told = Err(error);
                }
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

#[cfg(all(test, feature = "testing", feature = "sqlite"))]
mod tests {
    use super::*;
    use crate::{id::UserId, testing::TestAuth};

    fn note(test: &TestAuth, user: &str) -> BlockedLogin {
        let org = Arc::new(test.org.organization().clone());
        let request = Client::default().request_in(&org.id, None);
        BlockedLogin { org, whose: Whose::Account(UserId::from_stored(user)), until: test.auth.now().plus(HOUR), request }
    }

    #[tokio::test]
    async fn one_at_a_time_tells_the_notes_and_those_that_are_kept_meanwhile() {
        let test = TestAuth::new().await;
        let logins = test.auth.blocked_logins();
        assert!(logins.keep(note(&test, "usr_1")), "nobody tells them");
        let turn = logins.turn().await;
        let mut telling = Box::pin(test.auth.tell_blocked_logins());
        tokio::select! {
            biased;
            _ = &mut telling => panic!("somebody else is at it"),
            () = std::future::ready(()) => {}
        }
        assert!(logins.next().is_some() && !logins.keep(note(&test, "usr_2")), "whoever is at it tells it");
        drop(turn);
        telling.await.expect("they are nobody's");
        assert!(logins.keep(note(&test, "usr_3")), "all were told");
        drop(logins.turn().await);
        assert!(logins.keep(note(&test, "usr_4")), "whoever was at it ended early");
    }

    #[tokio::test]
    async fn what_a_database_that_is_away_lets_nobody_tell_is_news_again() {
        let test = TestAuth::new().await;
        let (logins, now) = (test.auth.blocked_logins(), test.auth.now());
        let is_news = |user: &str| logins.is_news(&test.org.organization().id, user, now, now.plus(HOUR));
        for user in ["usr_1", "usr_2", "usr_3"] {
            assert!(is_news(user));
            logins.keep(note(&test, user));
        }
        test.auth.store().close().await;
        test.auth.tell_blocked_logins().await.expect_err("nothing can be read");
        assert!(["usr_1", "usr_2", "usr_3"].into_iter().all(is_news));
        assert!(logins.keep(note(&test, "usr_1")), "nobody tells them any more");
    }
}
