//! An organization on its way in: the transaction that takes all of it or nothing, and why it will be nothing.

use std::collections::{BTreeSet, HashMap};

use super::{
    chain::ChainCheck,
    checks::past,
    outcome::{ImportedOrganization, OrganizationImport, OrganizationImportError, refused},
};
use crate::{
    config::Config,
    event::{EventKind, ImportData},
    id::{InviteId, OrgId, UserId},
    model::{Membership, Organization, Role},
    operator::{
        Operator,
        moving::record::{End, OrganizationRecord},
    },
    org::{MOST_ORIGINS, is_reserved},
    store::{Actor, DeploymentDeed, Event, Tx},
    time::Timestamp,
    value::{Email, Metadata, Plan, Slug},
};

/// How many refusals are listed.
const MOST_LISTED: usize = 1_000;
/// Why an import that links an account ends with the account.
pub(super) const DELETED_MEANWHILE: &str = "an account here that the file's people are linked to was deleted meanwhile";

/// An invite to place: one that was pending at the source, or one for a person who was a member there.
pub(super) struct PendingInvite {
    pub(super) email: Email,
    pub(super) role: Role,
    /// What it was at the source; `None` for who was a member.
    pub(super) former: Option<FormerInvite>,
    /// What waits in it for the person.
    pub(super) metadata: Option<Metadata>,
}

/// A membership of an account that is here.
pub(super) struct Joining {
    pub(super) email: Email,
    pub(super) membership: Membership,
}

/// An invite as the source knew it.
pub(super) struct FormerInvite {
    pub(super) id: InviteId,
    pub(super) invited_by: Option<UserId>,
    pub(super) created_at: Timestamp,
}

/// Why this deployment takes no such organization. What else the file holds is looked at all the same.
fn refusals_of(record: &OrganizationRecord, config: &Config) -> Vec<String> {
    let mut reasons = Vec::new();
    if config.organizations.operator_org.as_ref() == Some(&record.slug) {
        reasons.push("organization: its slug is that of this deployment's operators".to_owned());
    } else if is_reserved(config, &record.slug) {
        reasons.push("organization: its slug is reserved here, by RESERVED_SLUGS or as one that every deployment keeps".to_owned());
    }
    if record.allowed_origins.len() > MOST_ORIGINS {
        reasons.push(format!("organization: must allow at most {MOST_ORIGINS} origins"));
    }
    reasons
}

/// The source's peppers, held against ours.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Peppers {
    /// The first that is none of ours, from 1.
    pub(super) missing: Option<usize>,
    /// Whether one of them is. A hash does not say with which it was made: those of the others match no password here.
    pub(super) has_one: bool,
}

/// An organization on its way in.
pub(super) struct Arrival<'a> {
    pub(super) operator: &'a Operator,
    pub(super) tx: Tx,
    pub(super) import: &'a OrganizationImport,
    pub(super) org: Organization,
    /// The source's peppers: where one of them is ours, hashes are kept.
    pub(super) peppers: Peppers,
    pub(super) chain: ChainCheck,
    pub(super) seen: End,
    /// The pending invites, which are placed last: the log tells of the import before it tells of them.
    pub(super) invites: Vec<PendingInvite>,
    /// The memberships of people who have an account here and are not asked anew; placed once the accounts are held.
    pub(super) joining: Vec<Joining>,
    /// The accounts here of people who have one, by the id that the source knows them by.
    pub(super) linked: HashMap<UserId, UserId>,
    /// By which ids the log knows people, each with the account here.
    pub(super) former: Vec<(UserId, UserId)>,
    pub(super) without_password: u64,
    pub(super) refusals: Vec<String>,
}

impl<'a> Arrival<'a> {
    pub(super) async fn begin(
        operator: &'a Operator,
        mut tx: Tx,
        import: &'a OrganizationImport,
        record: OrganizationRecord,
        peppers: Peppers,
    ) -> Result<Self, OrganizationImportError> {
        let chain = ChainCheck::of(&record).map_err(|reason| refused(&reason))?;
        let mut refusals = refusals_of(&record, operator.auth.config());
        if let Some(number) = peppers.missing.filter(|_| !import.reset_passwords) {
            refusals.push(format!(
                "the source's pepper number {number} is none of PASSWORD_PEPPER here: add it behind yours, or leave the passwords to \
                 reset links"
            ));
        }
        let plan = import.plan.clone().unwrap_or_else(|| if import.trust { record.plan } else { Plan::default() });
        let mut org = Organization {
            id: record.id,
            name: record.name,
            slug: record.slug,
            plan,
            status: record.status,
            app_url: record.app_url,
            created_at: past(record.created_at, &tx).map_err(|reason| refused(&format!("organization: {reason}")))?,
            allowed_origins: record.allowed_origins,
            deletes_at: None,
            is_trusted: true,
            unproven_until: None,
        };
        if tx.organizations().find(&org.id).await?.is_some() {
            return Err(refused("organization: it is here already"));
        }
        if tx.imports().had_organization(&org.id).await? {
            refusals.push("organization: its id is that of one that was removed here, whose slug was not released".to_owned());
        }
        if !tx.organizations().insert(&org).await? {
            let taken = "organization: its slug is taken here, or was that of one that is removed and whose slug was not released";
            refusals.push(taken.to_owned());
            // Under a slug that nobody has, and never to be committed: whatever else clashes is told in the same run.
            org.slug = Slug::from_stored(OrgId::generate(tx.now(), tx.entropy()).as_str().replace('_', "-"));
            if !tx.organizations().insert(&org).await? {
                return Err(OrganizationImportError::Refused(refusals));
            }
        }
        tx.record(Actor::System, DeploymentDeed::OrganizationCreated((&org).into()));
        let seen = End::default();
        Ok(Self {
            operator,
            tx,
            import,
            org,
            peppers,
            chain,
            seen,
            invites: Vec::new(),
            joining: Vec::new(),
            linked: HashMap::new(),
            former: Vec::new(),
            without_password: 0,
            refusals,
        })
    }

    /// Notes a reason why there will be no import; it is read on, for the others.
    pub(super) fn refuse(&mut self, reason: String) {
        if self.refusals.len() < MOST_LISTED {
            self.refusals.push(reason);
        }
    }

    pub(super) fn expect_whole(&mut self, end: End) {
        if end != self.seen {
            self.refuse("the file holds another number of things than its end says".to_owned());
        }
    }

    /// Keeps the accounts that the file's people are here, in their order: who is erased at the same time is erased before, and refused
    /// here, or after, and found in what this brings.
    async fn refer_to_linked(&mut self) -> Result<(), OrganizationImportError> {
        let accounts: BTreeSet<UserId> = self.linked.values().cloned().collect();
        for account in accounts {
            if !self.tx.users().refer_to(&account).await? {
                self.refuse(DELETED_MEANWHILE.to_owned());
                return Err(OrganizationImportError::Refused(std::mem::take(&mut self.refusals)));
            }
        }
        Ok(())
    }

    pub(super) async fn finish(mut self) -> Result<ImportedOrganization, OrganizationImportError> {
        self.expect_unknown_ids().await?;
        self.refer_to_linked().await?;
        let joined = self.joining.len() as u64;
        self.join_linked().await?;
        self.tx.imports().doubt_successors(&self.org.id).await?;
        self.expect_few_keys().await?;
        self.take_over_chain().await?;
        for (former, account) in self.former.iter().filter(|(former, account)| former != account) {
            self.tx.imports().linked_person(&self.org.id, former, account).await?;
        }
        let End { members, api_keys, webhooks, entries, .. } = self.seen;
        let linked = (self.linked.len() as u64).saturating_sub(joined);
        let members = members.saturating_sub(linked);
        let data = ImportData { members, entries, last_sequence: self.chain.last_sequence(), head: self.chain.head() };
        self.tx.push(Event::new(EventKind::OrgImported, &self.org, Actor::System, &data)?);
        let lacks_admin = self.tx.members().count_active_admins(&self.org.id).await? == 0;
        let invites = self.place_invites().await?;
        if !self.refusals.is_empty() {
            return Err(OrganizationImportError::Refused(self.refusals));
        }
        if !self.import.dry_run {
            self.tx.commit().await?;
        }
        let (org, without_password, lacks_pepper) = (self.org, self.without_password, self.peppers.missing.is_some());
        Ok(ImportedOrganization {
            org,
            members,
            linked,
            invites,
            api_keys,
            webhooks,
            entries,
            without_password,
            lacks_pepper,
            lacks_admin,
            source_lives: true,
        })
    }
}
