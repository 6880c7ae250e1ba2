//! The member list: page by page, filtered by role, status and a part of the name or address. A search reads names and addresses
//! alone and compares them here, because neither database folds the case of every script; only the members that are found are read
//! with their metadata.

use crate::{
    error::Error,
    id::{OrgId, UserId},
    model::{MemberEntry, MemberFilter},
    page::{List, Page, Reading},
    service::TenantAuth,
    store::{Link, MEMBERS_AT_ONCE, Members},
    turns::Turn,
    value::SearchText,
};

/// The most people that one statement of a search reads.
const SCANNED: usize = 1_000;

/// Who reads the list. A cursor is good for its own reader alone: what people may see of one another and what a backend may can part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadBy {
    /// Somebody of the organization.
    Insider,
    /// Who shows an API key.
    Backend,
}

/// A page of an organization's members.
///
/// # Errors
/// [`Error::Invalid`] for a cursor of another list, filter or order.
pub(crate) async fn list_members(
    read_by: ReadBy,
    auth: &TenantAuth,
    org: &OrgId,
    filter: &MemberFilter,
    page: &Page,
) -> Result<List<MemberEntry>, Error> {
    let reading = begin(read_by, org, filter, page)?;
    let _turn = turn(auth, org, filter).await?;
    read(&mut auth.store().read().await?, org, filter, reading).await
}

/// The same for a backend, with the number of the organization's last event, both as of one moment: events up to that number have had their effect on
/// the page, and later ones have not.
///
/// # Errors
/// As [`list_members`]; [`Error::UnknownOrganization`] when the organization is gone.
pub(crate) async fn list_members_with_sequence(
    auth: &TenantAuth,
    org: &OrgId,
    filter: &MemberFilter,
    page: &Page,
) -> Result<(List<MemberEntry>, i64), Error> {
    let reading = begin(ReadBy::Backend, org, filter, page)?;
    let _turn = turn(auth, org, filter).await?;
    let mut snapshot = auth.transactions().begin_snapshot().await?;
    let reach = snapshot.event_feed().reach(org).await?.ok_or(Error::UnknownOrganization)?;
    Ok((read(&mut snapshot, org, filter, reading).await?, reach.newest))
}

/// What no index serves has to wait for its turn.
async fn turn(auth: &TenantAuth, org: &OrgId, filter: &MemberFilter) -> Result<Option<Turn>, Error> {
    let MemberFilter { search, role, status } = filter;
    if search.is_none() && role.is_none() && status.is_none() {
        return Ok(None);
    }
    auth.long_reads().turn(org).await.map(Some)
}

fn begin(read_by: ReadBy, org: &OrgId, filter: &MemberFilter, page: &Page) -> Result<Reading<MemberEntry>, Error> {
    let MemberFilter { search, role, status } = filter;
    let (role, status) = (role.map_or("", |role| role.as_str()), status.map_or("", |status| status.as_str()));
    let wanted = search.as_ref().map_or("", SearchText::as_str);
    let list = match read_by {
        ReadBy::Insider => "members",
        ReadBy::Backend => "publicMembers",
    };
    page.reading(&[list, org.as_str(), wanted, role, status])
}

async fn read<H>(
    hand: &mut H,
    org: &OrgId,
    filter: &MemberFilter,
    mut reading: Reading<MemberEntry>,
) -> Result<List<MemberEntry>, Error>
where
    for<'h> &'h mut H: Link,
{
    match &filter.search {
        Some(text) => search_members(hand, org, filter, text, &mut reading).await?,
        None => {
            while let Some(bounds) = reading.wants() {
                reading.take(Members::of(&mut *hand).list(org, filter, &bounds).await?);
            }
        }
    }
    Ok(reading.finish())
}

async fn search_members<H>(
    hand: &mut H,
    org: &OrgId,
    filter: &MemberFilter,
    text: &SearchText,
    reading: &mut Reading<MemberEntry>,
) -> Result<(), Error>
where
    for<'h> &'h mut H: Link,
{
    while let Some(bounds) = reading.wants_at_most(SCANNED) {
        let people = Members::of(&mut *hand).names(org, filter, &bounds).await?;
        let (count, end) = (people.len(), people.last().map(|last| last.position.clone()));
        let found = people.into_iter().filter(|person| text.is_in(&person.name) || text.is_in(&person.email));
        let found: Vec<UserId> = found.map(|person| person.user_id).collect();
        for some in found.chunks(MEMBERS_AT_ONCE) {
            if reading.is_full() {
                return Ok(());
            }
            reading.add(Members::of(&mut *hand).find_some(org, some).await?);
        }
        reading.reach(count, end);
    }
    Ok(())
}
