//! The people of an import: accounts with the ids they had, their memberships, and what they log in with.

use std::collections::HashSet;

use base64::{Engine, engine::general_purpose::STANDARD};
use zeroize::Zeroizing;

use super::{
    arrival::{Arrival, Joining, PendingInvite},
    checks::{digest, expect_native, past},
    outcome::ExistingAccounts,
};
use crate::{
    account::{SECOND_FACTOR_BYTES, seal_second_factor, step_at},
    error::Error,
    id::UserId,
    model::{AccountRole, Membership, Profile, Status, User},
    operator::moving::record::{Credentials, MemberRecord, MembershipRecord, SecondFactor, UserRecord},
    ports::{ForeignCost, ForeignHash},
    secret::{Digest, StoredPassword},
    store::{Account, ArrivedMember, ImportedAccount, ImportedFactor},
    time::Timestamp,
};

/// The most recovery codes an account has; we make ten.
const MOST_CODES: usize = 32;
/// The most ids of deployments before: each of them linked the person to an account that was there.
const MOST_FORMER_IDS: usize = 16;
const TAKEN_MEMBERSHIP: &str = "the membership's id is that of another one here";

/// What an account is opened with, checked.
struct Opening {
    password: StoredPassword,
    factor: Option<Factor>,
    codes: Vec<Digest>,
}

struct Factor {
    secret: Zeroizing<Vec<u8>>,
    enabled_at: Timestamp,
    last_step: i64,
}

impl Arrival<'_> {
    /// Takes a member in, or notes why there will be none.
    ///
    /// # Errors
    /// The database's.
    pub(super) async fn member(&mut self, record: MemberRecord) -> Result<(), Error> {
        self.seen.members += 1;
        let who = record.user.email.clone();
        if let Err(reason) = self.take_in(record).await? {
            self.refuse(format!("member {who}: {reason}"));
        }
        Ok(())
    }

    /// Within it, why the person cannot be imported.
    async fn take_in(&mut self, record: MemberRecord) -> Result<Result<(), String>, Error> {
        let MemberRecord { user, membership, credentials, former_ids } = record;
        if former_ids.len() > MOST_FORMER_IDS {
            return Ok(Err(format!("has more than {MOST_FORMER_IDS} former ids")));
        }
        let opening = match self.opening(credentials) {
            Ok(opening) => opening,
            Err(reason) => return Ok(Err(reason)),
        };
        let created_at = match (past(user.created_at, &self.tx), past(membership.joined_at, &self.tx)) {
            (Ok(created_at), Ok(_)) => created_at,
            (Err(reason), _) | (_, Err(reason)) => return Ok(Err(reason)),
        };
        let UserRecord { id, name, email, is_email_verified, bio, phone, .. } = user;
        let user = User {
            id,
            name,
            email,
            // Nobody becomes an operator of a deployment by a file.
            role: AccountRole::User,
            is_email_verified: is_email_verified && self.import.trust,
            profile: Profile { bio, phone },
        };
        let cost = self.remarkable_cost(&opening.password);
        let account = ImportedAccount { user: &user, password: &opening.password, cost, created_at };
        if !self.tx.imports().account(&account).await? {
            return self.meet(user, membership, former_ids).await;
        }
        self.former.extend(former_ids.into_iter().map(|former| (former, user.id.clone())));
        if let Some(Factor { secret, enabled_at, last_step }) = &opening.factor {
            let sealed = seal_second_factor(&self.tx, &user.id, secret)?;
            let factor = ImportedFactor { user: &user.id, sealed: &sealed, enabled_at: *enabled_at, last_step: *last_step };
            self.tx.imports().factor(&factor).await?;
            self.tx.second_factors().replace_codes(&user.id, &opening.codes).await?;
        }
        let membership = self.membership(user.id, membership);
        if !self.tx.members().insert(&membership).await? {
            return Ok(Err(TAKEN_MEMBERSHIP.to_owned()));
        }
        if opening.password.is_void() {
            self.without_password += 1;
        }
        Ok(Ok(()))
    }

    /// Somebody whose address or id is here already.
    async fn meet(
        &mut self,
        user: User,
        membership: MembershipRecord,
        former_ids: Vec<UserId>,
    ) -> Result<Result<(), String>, Error> {
        let refused = |reason: &str| Ok(Err(reason.to_owned()));
        let Some(Account { user: known, .. }) = self.tx.users().find_by_email(&user.email).await? else {
            return refused("the id is that of another account here");
        };
        if self.import.existing == ExistingAccounts::Refuse {
            return refused("the address has an account here");
        }
        if known.id != user.id && self.tx.users().find(&user.id).await?.is_some() {
            return refused("the id is that of another account here");
        }
        if !known.is_email_verified {
            return refused("the address has an account here that never proved it");
        }
        let ids = former_ids.into_iter().chain([user.id.clone()]);
        self.former.extend(ids.map(|former| (former, known.id.clone())));
        // Of a deployment that moves organization by organization: it is the person who came with another one before.
        let is_same = self.import.existing == ExistingAccounts::Join && known.id == user.id;
        if self.linked.insert(user.id, known.id.clone()).is_some() {
            return refused("the file holds it twice");
        }
        if is_same {
            let membership = self.membership(known.id, membership);
            self.joining.push(Joining { email: known.email, membership });
            return Ok(Ok(()));
        }
        // An invite would let somebody in again whom the source shut out.
        if membership.status == Status::Active {
            let MembershipRecord { role, metadata, .. } = membership;
            self.invites.push(PendingInvite { email: known.email, role, former: None, metadata: Some(metadata) });
        }
        Ok(Ok(()))
    }

    /// Whoever brings an id would get what is told of it, and could have it erased.
    pub(super) async fn expect_unknown_ids(&mut self) -> Result<(), Error> {
        if self.import.trust {
            return Ok(());
        }
        let mut after = String::new();
        loop {
            let members = self.tx.imports().arrived(&self.org.id, &after).await?;
            let Some(last) = members.last() else { return Ok(()) };
            let known = self.known_elsewhere(&after).await?;
            after.clone_from(&last.user_id);
            for ArrivedMember { email, .. } in members.iter().filter(|member| known.contains(&member.user_id)) {
                self.refuse(format!(
                    "member {email}: the log of another organization here knows the id; only a source that somebody vouches for \
                     (--trust) may bring it"
                ));
            }
        }
    }

    /// Whom of the members after this one the log of another organization knows.
    async fn known_elsewhere(&mut self, after: &str) -> Result<HashSet<String>, Error> {
        let (mut known, mut above) = (HashSet::new(), String::new());
        while let Some(upto) = self.tx.imports().end_of_organizations(&above).await? {
            known.extend(self.tx.imports().known_elsewhere(&self.org.id, after, (above.as_str(), upto.as_str())).await?);
            above = upto;
        }
        Ok(known)
    }

    fn membership(&self, user: UserId, record: MembershipRecord) -> Membership {
        let MembershipRecord { id, role, status, metadata, joined_at } = record;
        Membership { id, org_id: self.org.id.clone(), user_id: user, role, status, joined_at, metadata }
    }

    /// Makes people members whose accounts are here, by the same ids: nobody is asked anew.
    pub(super) async fn join_linked(&mut self) -> Result<(), Error> {
        for Joining { email, membership } in std::mem::take(&mut self.joining) {
            if !self.tx.members().insert(&membership).await? {
                self.refuse(format!("member {email}: {TAKEN_MEMBERSHIP}"));
            }
        }
        Ok(())
    }

    /// The cost that a failed login must hide: that of another system's hash, and of one of ours that is dearer than today's.
    fn remarkable_cost(&self, password: &StoredPassword) -> Option<ForeignCost> {
        if let Some(foreign) = ForeignHash::of(password) {
            return Some(foreign.cost());
        }
        let ours = self.operator.auth.config().passwords.argon2;
        let ours = u64::from(ours.memory_kib) * u64::from(ours.iterations);
        let cost = ForeignHash::parse(password.as_str()).ok()?.cost();
        (cost.units > ours).then_some(cost)
    }

    fn opening(&self, credentials: Option<Credentials>) -> Result<Opening, String> {
        let Some(Credentials { password, second_factor, recovery_codes }) = credentials else {
            return Ok(Opening { password: StoredPassword::void(), factor: None, codes: Vec::new() });
        };
        if recovery_codes.len() > MOST_CODES {
            return Err(format!("has more than {MOST_CODES} recovery codes"));
        }
        let mut codes = recovery_codes.iter().map(|text| digest(text)).collect::<Result<Vec<_>, _>>()?;
        codes.sort_by(|one, other| one.as_str().cmp(other.as_str()));
        codes.dedup_by(|one, other| one.as_str() == other.as_str());
        Ok(Opening {
            password: self.password(password.as_deref())?,
            factor: second_factor.map(|factor| self.factor(factor)).transpose()?,
            codes,
        })
    }

    fn password(&self, stored: Option<&str>) -> Result<StoredPassword, String> {
        let Some(text) = stored else { return Ok(StoredPassword::void()) };
        if let Some(foreign) = ForeignHash::mentioned(text) {
            return foreign.map(|hash| hash.stored()).map_err(|rejected| format!("the password's hash {rejected}"));
        }
        expect_native(text)?;
        Ok(if self.peppers.has_one { StoredPassword::new(text) } else { StoredPassword::void() })
    }

    fn factor(&self, SecondFactor { secret, enabled_at, last_step }: SecondFactor) -> Result<Factor, String> {
        let malformed = || "the second factor is malformed".to_owned();
        let secret = STANDARD.decode(secret).map(Zeroizing::new).map_err(|_| malformed())?;
        if !SECOND_FACTOR_BYTES.contains(&secret.len()) {
            return Err(malformed());
        }
        // A step of the future would shut the person out until then.
        let newest = step_at(self.tx.now()) + 1;
        Ok(Factor { secret, enabled_at: past(enabled_at, &self.tx)?, last_step: last_step.min(newest) })
    }
}
