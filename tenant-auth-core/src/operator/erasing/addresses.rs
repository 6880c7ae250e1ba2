//! Finding a person by address: the events that tell of invites to it hold no id. An account may have had other addresses before; what
//! was told of invites to one of them is about the person up to the moment at which the account gave the address up, and about whoever
//! has it from then on.

use std::collections::{BTreeSet, HashMap};

use serde::Deserialize;

use crate::{
    error::Error,
    event::EventKind,
    id::{EventId, OrgId, UserId},
    model::OrgRef,
    service::TenantAuth,
    store::{Erasing, Link, ToldEvent, Tx},
    time::Timestamp,
    value::Email,
};

/// The kinds of events that hold an address of somebody who may have no account.
const ADDRESSED: [EventKind; 4] =
    [EventKind::InviteCreated, EventKind::InviteResent, EventKind::InviteRevoked, EventKind::InviteAccepted];

/// Somebody who is sought.
#[derive(Debug, Clone)]
pub(in crate::operator) struct Sought {
    pub(in crate::operator) email: Email,
    /// Whether the address is theirs: they proved it, or an operator says so. Until then anybody may have made an account with it
    /// (behaviour.md, B142), and what was told of invites to it is nobody's to wipe or to read.
    pub(in crate::operator) is_theirs: bool,
    /// The account, if there is one, whose former addresses count too.
    pub(in crate::operator) user: Option<UserId>,
}

/// An event that tells of an invite to the address.
pub(in crate::operator) struct Addressed {
    pub(in crate::operator) org: OrgRef,
    pub(in crate::operator) event: EventId,
}

/// What whoever reads for long holds meanwhile.
pub(in crate::operator) trait Holding: Send {
    /// Holds it on; `false` when another worker holds it now.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    fn renew(&mut self) -> impl Future<Output = Result<bool, Error>> + Send;
}

/// Nothing.
pub(super) struct Nothing;

impl Holding for Nothing {
    async fn renew(&mut self) -> Result<bool, Error> {
        Ok(true)
    }
}

/// The events that tell of invites to people, in every organization, for each of them in the order in which they are asked for. Read page
/// by page before anything is locked, once for all of them: this may take a while where there are many events, so what is held meanwhile is
/// held on. `None` when another worker holds it now.
///
/// # Errors
/// [`Error::Unavailable`].
pub(in crate::operator) async fn addressed_to_each(
    auth: &TenantAuth,
    people: &[Sought],
    holding: &mut impl Holding,
) -> Result<Option<Vec<Vec<Addressed>>>, Error> {
    let mut found: Vec<Vec<Addressed>> = people.iter().map(|_| Vec::new()).collect();
    if people.is_empty() {
        return Ok(Some(found));
    }
    let mut claims = Claims::default();
    for (person, sought) in people.iter().enumerate() {
        if !holding.renew().await? {
            return Ok(None);
        }
        claims.add(person, &mut auth.store().read().await?, sought).await?;
    }
    let mut after = String::new();
    loop {
        let orgs = auth.store().read().await?.erasing().organizations_after(&after).await?;
        let Some(last) = orgs.last() else { return Ok(Some(found)) };
        last.id.as_str().clone_into(&mut after);
        for org in orgs {
            for kind in ADDRESSED {
                if !find_in(auth, &org, kind, &claims, &mut found, holding).await? {
                    return Ok(None);
                }
            }
        }
    }
}

/// How far the logs go when a search for one person begins: what they tell between that and the moment at which the person is held is
/// searched then.
#[derive(Default)]
pub(in crate::operator) struct Searched(HashMap<OrgId, i64>);

impl Searched {
    /// # Errors
    /// [`Error::Unavailable`].
    pub(in crate::operator) async fn begin(auth: &TenantAuth) -> Result<Self, Error> {
        let mut lengths = HashMap::new();
        let mut after = String::new();
        loop {
            let some = auth.store().read().await?.erasing().lengths_after(&after).await?;
            let Some((last, _)) = some.last() else { return Ok(Self(lengths)) };
            last.id.as_str().clone_into(&mut after);
            lengths.extend(some.into_iter().map(|(org, last)| (org.id, last)));
        }
    }

    /// The events that came to be since, those of an import included, as the logs tell now whose the addresses were. How far each log goes
    /// is asked of all of them, some hundred at once: it stands beside the organizations, and no time says as surely what has grown.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub(in crate::operator) async fn since(&self, tx: &mut Tx, sought: &Sought) -> Result<Vec<Addressed>, Error> {
        let mut claims = Claims::default();
        claims.add(0, &mut *tx, sought).await?;
        let mut found = Vec::new();
        let mut after = String::new();
        loop {
            let some = tx.erasing().lengths_after(&after).await?;
            let Some((last, _)) = some.last() else { return Ok(found) };
            last.id.as_str().clone_into(&mut after);
            for (org, length) in some {
                let searched = self.0.get(&org.id).copied().unwrap_or(0);
                if length > searched {
                    find_since(tx, &org, searched, &claims, &mut found).await?;
                }
            }
        }
    }
}

async fn find_since(tx: &mut Tx, org: &OrgRef, searched: i64, claims: &Claims, found: &mut Vec<Addressed>) -> Result<(), Error> {
    for kind in ADDRESSED {
        let mut after = searched;
        loop {
            let events = tx.erasing().of_kind_after(&org.id, kind, after).await?;
            let Some(last) = events.last() else { break };
            after = last.sequence;
            let theirs = events.iter().filter(|event| !claims.on(event, org).is_empty());
            found.extend(theirs.map(|event| Addressed { org: org.clone(), event: event.id.clone() }));
        }
    }
    Ok(())
}

/// Adds the events of one kind in one organization; `false` when another worker holds what was held.
async fn find_in(
    auth: &TenantAuth,
    org: &OrgRef,
    kind: EventKind,
    claims: &Claims,
    found: &mut [Vec<Addressed>],
    holding: &mut impl Holding,
) -> Result<bool, Error> {
    let mut after = 0;
    loop {
        if !holding.renew().await? {
            return Ok(false);
        }
        let events = auth.store().read().await?.erasing().of_kind_after(&org.id, kind, after).await?;
        let Some(last) = events.last() else { return Ok(true) };
        after = last.sequence;
        for event in events {
            for person in claims.on(&event, org) {
                if let Some(theirs) = found.get_mut(person) {
                    theirs.push(Addressed { org: org.clone(), event: event.id.clone() });
                }
            }
        }
    }
}

/// Whose an address is, by the address in the form that is compared.
#[derive(Default)]
struct Claims(HashMap<String, Vec<Claim>>);

/// What makes an address somebody's.
#[derive(PartialEq, Eq)]
struct Claim {
    person: usize,
    /// The only organization in which the claim holds: one whose imported log alone knows of it, or one that an address was used in which
    /// nobody proved, or an operator took from the account. Anybody may claim an address so, and must not have another organization's log
    /// lose what it tells of others.
    within: Option<OrgId>,
    /// The last moment at which it was theirs; `None` where it still is.
    until: Option<Timestamp>,
}

impl Claims {
    async fn add<R: Send>(&mut self, person: usize, reader: &mut R, Sought { email, is_theirs, user }: &Sought) -> Result<(), Error>
    where
        for<'r> &'r mut R: Link,
    {
        if *is_theirs {
            self.put(email, Claim { person, within: None, until: None });
        }
        let Some(user) = user else { return Ok(()) };
        for org in Erasing(&mut *reader).changed_in(user).await? {
            let imported_before = Erasing(&mut *reader).imported_before(&org.id).await?;
            let mut after = 0;
            loop {
                let changes = Erasing(&mut *reader).changes_of(&org.id, user, after).await?;
                let Some(last) = changes.last() else { break };
                after = last.sequence;
                for change in changes {
                    let told = if change.sequence < imported_before { Told::ByFile(&org.id) } else { Told::Here(&org.id) };
                    self.put_former(person, told, &change);
                }
            }
        }
        for former in Erasing(&mut *reader).former_selves(user).await? {
            let mut after = 0;
            loop {
                let changes = Erasing(&mut *reader).changes_of(&former.org.id, &former.id, after).await?;
                let Some(last) = changes.last() else { break };
                after = last.sequence;
                for change in changes.iter().filter(|change| change.sequence < former.before) {
                    self.put_former(person, Told::ByFile(&former.org.id), change);
                }
            }
        }
        Ok(())
    }

    /// The address that somebody gave up with a change.
    fn put_former(&mut self, person: usize, told: Told<'_>, change: &ToldEvent) {
        let Ok(Change { user, previous: Some(previous) }) = serde_json::from_str(&change.data) else { return };
        let within = match told {
            // A change that leaves an address unproved is an operator's, who took the account back from whoever had proved the former one.
            Told::Here(_) if previous.is_email_verified && user.is_email_verified => None,
            Told::Here(org) | Told::ByFile(org) => Some(org.clone()),
        };
        if let (Ok(now), Ok(before)) = (user.email.parse::<Email>(), previous.email.parse::<Email>())
            && now != before
        {
            self.put(&before, Claim { person, within, until: Some(change.at) });
        }
    }

    fn put(&mut self, email: &Email, claim: Claim) {
        let claims = self.0.entry(email.key()).or_default();
        if !claims.contains(&claim) {
            claims.push(claim);
        }
    }

    /// Whom an event about an invite tells of.
    fn on(&self, event: &ToldEvent, org: &OrgRef) -> BTreeSet<usize> {
        let claims = address_in(&event.data).and_then(|email| self.0.get(&email.key()));
        let holds = |claim: &&Claim| {
            claim.within.as_ref().is_none_or(|within| *within == org.id) && claim.until.is_none_or(|until| event.at <= until)
        };
        claims.into_iter().flatten().filter(holds).map(|claim| claim.person).collect()
    }
}

/// Where a change is told.
#[derive(Clone, Copy)]
enum Told<'a> {
    /// In what this deployment wrote.
    Here(&'a OrgId),
    /// In what a file brought.
    ByFile(&'a OrgId),
}

#[derive(Deserialize)]
struct Invited {
    invite: HasAddress,
}

#[derive(Deserialize)]
struct Change {
    user: HasAddress,
    previous: Option<HasAddress>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct HasAddress {
    email: String,
    /// An invite does not say.
    #[serde(default)]
    is_email_verified: bool,
}

fn address_in(data: &str) -> Option<Email> {
    serde_json::from_str::<Invited>(data).ok()?.invite.email.parse().ok()
}
