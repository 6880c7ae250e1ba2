//! Rates: how often something may be done in a fixed window, counted in the database by guarded statements, in the transaction of
//! what is done. What is rolled back is not counted. Unlike failed attempts, nothing is reserved and nobody waits.

use std::time::Duration;

use crate::{
    bounded::client_network,
    caller::{Author, Client, Member, OrgAdmin, OrgWrite, Write},
    config::Config,
    error::Error,
    id::OrgId,
    service::TenantAuth,
    store::Tx,
};

/// A limit of one kind of deed, for each of those it is counted by.
#[derive(Debug)]
pub(crate) struct Rate {
    /// The beginning of the counter's key.
    name: &'static str,
    /// How many deeds a window allows.
    most: u32,
    /// The length of the window, which begins with its first deed.
    window: Duration,
}

/// Mails with a link, by purpose and recipient, whoever asks for them (behaviour.md, B89).
pub(super) const MAILS: Rate = Rate { name: "mail", most: 3, window: HOUR };

/// Requests for reset mails, by client network (behaviour.md, B145).
pub(crate) const RESET_REQUESTS: Rate = Rate { name: "reset-requests", most: 30, window: Duration::from_secs(15 * 60) };

/// Requests for links to sign up with, by client network (behaviour.md, B196).
pub(crate) const SIGN_UP_REQUESTS: Rate = Rate { name: "sign-up-requests", ..RESET_REQUESTS };

const HOUR: Duration = Duration::from_secs(3_600);
const DAY: Duration = Duration::from_secs(24 * 3_600);

/// Organizations that sign-up makes, by account (behaviour.md, B199).
pub(crate) const SIGN_UPS_OF_ACCOUNT: Rate = Rate { name: "sign-ups-account", most: 3, window: DAY };

/// The same in all: nobody lives to see the window end.
pub(crate) const SIGN_UPS_IN_ALL: Rate = Rate { name: "sign-ups-in-all", most: 10, window: DAY.saturating_mul(36_525) };

/// The same by client network.
pub(crate) const SIGN_UPS_OF_NETWORK: Rate = Rate { name: "sign-ups-network", most: 10, window: DAY };

/// The same by deployment, as many as the settings say.
pub(crate) fn sign_ups_of_deployment(config: &Config) -> Rate {
    Rate { name: "sign-ups-day", most: config.sign_up.per_day, window: DAY }
}

/// So many links to sign up with are mailed in an hour, however few organizations may be made.
const LEAST_SIGN_UP_MAILS: u32 = 10;

/// Links to sign up with that are mailed, by deployment: twice as many an hour as organizations a day. Beyond, requests wait (behaviour.md,
/// B302).
pub(crate) fn sign_up_mails_of_deployment(config: &Config) -> Rate {
    Rate { name: "sign-up-mails", most: config.sign_up.per_day.saturating_mul(2).max(LEAST_SIGN_UP_MAILS), window: HOUR }
}

/// Refused sign-ups that the deployment's own log tells, by client network (behaviour.md, B267).
pub(crate) const SIGN_UP_REFUSALS_OF_NETWORK: Rate = Rate { name: "sign-up-refusals-network", most: 10, window: DAY };

/// The same in all.
pub(crate) const SIGN_UP_REFUSALS: Rate = Rate { name: "sign-up-refusals", most: 100, window: DAY };

/// Invitation mails of an organization that sign-up made and no operator trusts yet (behaviour.md, B201).
pub(crate) const NEWCOMERS_INVITES: Rate = Rate { name: "newcomers-invites", most: 10, window: DAY };

/// Invitation mails to one address, by organization that sign-up made and no operator trusts yet (behaviour.md, B301).
pub(crate) const INVITES_TO_ADDRESS: Rate = Rate { name: "invites-to-address", most: 10, window: HOUR };

/// The same in a day, of all such organizations together.
pub(crate) const INVITES_TO_ADDRESS_A_DAY: Rate = Rate { name: "invites-to-address-day", most: 20, window: DAY };

/// Requests to change an address there: each mails somebody who may be a stranger (behaviour.md, B201).
pub(crate) const NEWCOMERS_EMAIL_CHANGES: Rate = Rate { name: "newcomers-email-changes", most: 5, window: DAY };

/// Changes of their own profile, by member and organization: each is told in every organization of the person (behaviour.md, B147).
pub(crate) const PROFILE_CHANGES: Rate = Rate { name: "profile-changes", most: 60, window: HOUR };

/// Requests to change the address, by member and organization: each mails somebody who may be a stranger (behaviour.md, B147).
pub(crate) const EMAIL_CHANGES: Rate = Rate { name: "email-changes", most: 5, window: HOUR };

/// Changes that an org_admin makes to organization, members, keys and webhooks, by admin (or deployment key) and organization: each is
/// told to webhooks (behaviour.md, B148).
pub(crate) const ADMIN_CHANGES: Rate = Rate { name: "admin-changes", most: 2_000, window: Duration::from_secs(15 * 60) };

/// Bytes that changes of members and of the organization itself write into the log of an organization, what was and what is, which are kept
/// for as long as the log: no tenant fills the disk that all tenants share (behaviour.md, B148).
pub(crate) const METADATA_BYTES: Rate = Rate { name: "metadata-bytes", most: 64 << 20, window: DAY };

/// The same where sign-up made the organization and no operator trusts it yet.
pub(crate) const NEWCOMERS_METADATA_BYTES: Rate = Rate { most: 6 << 20, ..METADATA_BYTES };

/// Changes that mail the other org_admins, by organization (behaviour.md, B148).
pub(crate) const NOTICES: Rate = Rate { name: "notices", most: 120, window: HOUR };

/// The same where the only org_admin made them: the mail is left out then (behaviour.md, B148).
pub(crate) const NOTICES_TO_AUTHOR: Rate = Rate { name: "notices-to-author", ..NOTICES };

/// Mails that tell people what they did to their own account, by account and mail: beyond, the mail is left out (behaviour.md, B300).
pub(crate) const OWN_NOTICES: Rate = Rate { name: "own-notices", most: 20, window: HOUR };

/// Deliveries that are made again on request, by organization (behaviour.md, B148).
pub(crate) const REDELIVERIES: Rate = Rate { name: "redeliveries", most: 600, window: HOUR };

/// Test deliveries, by organization: a webhook that is deleted and made again has used up what its organization has (behaviour.md, B91).
pub(crate) const TEST_DELIVERIES: Rate = Rate { name: "test-deliveries", ..REDELIVERIES };

/// Exports of the audit log, by organization (behaviour.md, B175).
pub(crate) const AUDIT_EXPORTS: Rate = Rate { name: "audit-exports", most: 24, window: Duration::from_secs(24 * 3_600) };

/// Deletions of organizations by the product, by deployment: a key that leaked does not end all of it in a day (behaviour.md, B190).
pub(crate) const DELETIONS: Rate = Rate { name: "deletions", most: 20, window: Duration::from_secs(24 * 3_600) };

/// Invitation mails that deployment keys send, resent ones included, of all keys together: with a key that leaked anybody could be mailed (behaviour.md, B90).
pub(crate) const DEPLOYMENT_INVITES: Rate =
    Rate { name: "deployment-invites", most: 1_000, window: Duration::from_secs(24 * 3_600) };

impl Rate {
    /// Counts a deed of the caller, for the caller's organization alone: no token reaches beyond it.
    ///
    /// # Errors
    /// [`Error::RateLimited`] when the window is used up.
    pub(crate) async fn spend_by_caller(&self, write: &mut Write) -> Result<(), Error> {
        let whose = in_organization(&write.live.org.id, write.live.user.id.as_str());
        self.spend(&mut write.tx, &whose).await
    }

    /// Refuses a deed of the caller that [`Rate::spend_by_caller`] would refuse, before its write begins; see [`Rate::refuse_spent`].
    ///
    /// # Errors
    /// [`Error::RateLimited`] when the window is used up.
    pub(crate) async fn refuse_spent_by(&self, caller: &Member) -> Result<(), Error> {
        let whose = in_organization(caller.org_id(), caller.user_id().as_str());
        self.refuse_spent(&caller.auth, &whose).await
    }

    /// Begins a write of an admin and counts it; see [`Rate::spend_by_author`]. Where the window is used up, no write begins.
    ///
    /// # Errors
    /// [`Error::RateLimited`] when the window is used up; as [`OrgAdmin::begin_write`].
    pub(crate) async fn begin_write_of(&self, admin: &OrgAdmin) -> Result<OrgWrite, Error> {
        if let Some(author) = admin.author_id() {
            self.refuse_spent(admin.auth(), &in_organization(admin.org_id(), author)).await?;
        }
        let mut write = admin.begin_write().await?;
        self.spend_by_author(&mut write).await?;
        Ok(write)
    }

    /// Counts a deed of the author of a write, in its organization alone. The process itself is not counted: no limit protects from
    /// whoever controls it.
    ///
    /// # Errors
    /// [`Error::RateLimited`] when the window is used up.
    pub(crate) async fn spend_by_author(&self, write: &mut OrgWrite) -> Result<(), Error> {
        let author = match &write.author {
            Author::Member(user) => user.id.as_str(),
            Author::Product(key) => key.as_str(),
            Author::Process => return Ok(()),
        };
        let whose = in_organization(&write.org.id, author);
        self.spend(&mut write.tx, &whose).await
    }

    /// Counts an amount in the organization of a write, whoever does it, but for the process itself.
    ///
    /// # Errors
    /// [`Error::RateLimited`] when the window is used up.
    pub(crate) async fn spend_in_organization(&self, write: &mut OrgWrite, amount: u32) -> Result<(), Error> {
        match write.author {
            Author::Member(_) | Author::Product(_) => self.spend_some(&mut write.tx, write.org.id.as_str(), amount).await,
            Author::Process => Ok(()),
        }
    }

    /// Refuses a deed of an admin that [`Rate::spend_in_organization`] would refuse, before its write begins; see [`Rate::refuse_spent`].
    ///
    /// # Errors
    /// [`Error::RateLimited`] when the window is used up.
    pub(crate) async fn refuse_spent_in_organization(&self, admin: &OrgAdmin) -> Result<(), Error> {
        if admin.is_process() { Ok(()) } else { self.refuse_spent(admin.auth(), admin.org_id().as_str()).await }
    }

    /// Counts a deed of `whose`.
    ///
    /// # Errors
    /// [`Error::RateLimited`] when the window is used up.
    pub(crate) async fn spend(&self, tx: &mut Tx, whose: &str) -> Result<(), Error> {
        self.spend_some(tx, whose, 1).await
    }

    /// Whether the window of `whose` is used up, also by what the transaction itself has counted.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub(crate) async fn is_spent(&self, tx: &mut Tx, whose: &str) -> Result<bool, Error> {
        let now = tx.now();
        let state = tx.throttles().state(&self.key(whose)).await?;
        Ok(state.is_some_and(|state| state.is_spent(self.most, now, now.plus(self.window))))
    }

    /// Counts a deed of `whose` that is done in any case; `false` when the window is used up, for what would come of it to be left out.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub(crate) async fn allows(&self, tx: &mut Tx, whose: &str) -> Result<bool, Error> {
        match self.spend(tx, whose).await {
            Err(Error::RateLimited { .. }) => Ok(false),
            counted => counted.map(|()| true),
        }
    }

    /// The last amount may go beyond the limit.
    async fn spend_some(&self, tx: &mut Tx, whose: &str, amount: u32) -> Result<(), Error> {
        let now = tx.now();
        let key = self.key(whose);
        if tx.throttles().spend_some(&key, amount, now.plus(self.window), self.most).await? {
            return Ok(());
        }
        let until = tx.throttles().state(&key).await?.map_or(now, |state| state.window_ends_at());
        Err(Error::rate_limited(until.since(now).min(self.window)))
    }

    /// Refuses a deed of `whose` that [`Rate::spend`] would refuse. It only reads: a flood of refused deeds takes no turn at the
    /// database's writer.
    ///
    /// # Errors
    /// [`Error::RateLimited`] when the window is used up.
    pub(crate) async fn refuse_spent(&self, auth: &TenantAuth, whose: &str) -> Result<(), Error> {
        let now = auth.now();
        let state = auth.store().read().await?.throttles().state(&self.key(whose)).await?;
        match state.filter(|state| state.is_spent(self.most, now, now.plus(self.window))) {
            Some(state) => Err(Error::rate_limited(state.window_ends_at().since(now).min(self.window))),
            None => Ok(()),
        }
    }

    /// How many deeds of `whose` [`Rate::spend`] would still count. It only reads.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub(crate) async fn left(&self, auth: &TenantAuth, whose: &str) -> Result<u32, Error> {
        let now = auth.now();
        let state = auth.store().read().await?.throttles().state(&self.key(whose)).await?;
        let lasting = state.filter(|state| state.is_spent(1, now, now.plus(self.window)));
        let done = lasting.map_or(0, |state| u32::try_from(state.failures).unwrap_or(u32::MAX));
        Ok(self.most.saturating_sub(done))
    }

    /// Forgets what was counted of `whose`.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub(crate) async fn forget(&self, tx: &mut Tx, whose: &str) -> Result<(), Error> {
        tx.throttles().forget(&self.key(whose)).await
    }

    fn key(&self, whose: &str) -> String {
        format!("{}:{whose}", self.name)
    }
}

/// Somebody, as counted in one organization alone.
fn in_organization(org: &OrgId, whose: &str) -> String {
    format!("{org}:{whose}")
}

/// The network that a client's requests are counted by: IPv4 /24, IPv6 /48. An address that a backend stated counts for the
/// backend's organization alone. `None` when the address is not known: nothing is counted by it.
pub(crate) fn wide_network_of(client: &Client) -> Option<String> {
    let network = client_network(client.ip?);
    Some(client.stated_by.as_ref().map_or_else(|| network.to_string(), |org| format!("{org}:{network}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(ip: &str) -> Option<String> {
        wide_network_of(&Client { ip: Some(ip.parse().expect("an address")), ..Client::default() })
    }

    #[test]
    fn neighbours_in_a_network_are_counted_together() {
        assert_eq!(network("203.0.113.7"), network("::ffff:203.0.113.200"));
        assert_ne!(network("203.0.113.7"), network("203.0.114.7"));
        assert_eq!(network("2001:db8:1:2::3"), network("2001:db8:1:ffff::4"));
        assert_ne!(network("2001:db8:1::1"), network("2001:db8:2::1"));
        assert_eq!(wide_network_of(&Client::default()), None);
    }
}
