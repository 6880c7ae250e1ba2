//! The member list: page by page, filtered by role, status and a part of the name or address. A search reads names and addresses
//! alone and compares them here, because neither database folds the case of every script; only the members that are found are read
//! with their metadata.

use crate::{
    error::Error,
    id::{OrgId, UserId},
    model::{MemberEntry, MemberFilter},
    page::{List, Page, Reading},
    store::{MEMBERS_AT_ONCE, Reader, Store},
    value::SearchText,
};

/// The most people that one statement of a search reads.
const SCANNED: usize = 1_000;

/// A page of an organization's members.
///
/// # Errors
/// [`Error::Invalid`] for a cursor of another list, filter or order.
pub(crate) async fn list_members(
    store: &Store,
    org: &OrgId,
    filter: &MemberFilter,
    page: &Page,
) -> Result<List<MemberEntry>, Error> {
    let MemberFilter { search, role, status } = filter;
    let (role, status) = (role.map_or("", |role| role.as_str()), status.map_or("", |status| status.as_str()));
    let wanted = search.as_ref().map_or("", SearchText::as_str);
    let mut reading = page.reading(&["members", org.as_str(), wanted, role, status])?;
    let mut reader = store.read().await?;
    match search {
        Some(text) => search_members(&mut reader, org, filter, text, &mut reading).await?,
        None => {
            while let Some(bounds) = reading.wants() {
                reading.take(reader.members().list(org, filter, &bounds).await?);
            }
        }
    }
    Ok(reading.finish())
}

async fn search_members(
    reader: &mut Reader,
    org: &OrgId,
    filter: &MemberFilter,
    text: &SearchText,
    reading: &mut Reading<MemberEntry>,
) -> Result<(), Error> {
    while let Some(bounds) = reading.wants_at_most(SCANNED) {
        let people = reader.members().names(org, filter, &bounds).await?;
        let (count, end) = (people.len(), people.last().map(|last| last.position.clone()));
        let found = people.into_iter().filter(|person| text.is_in(&person.name) || text.is_in(&person.email));
        let found: Vec<UserId> = found.map(|person| person.user_id).collect();
        for some in found.chunks(MEMBERS_AT_ONCE) {
            if reading.is_full() {
                return Ok(());
            }
            reading.add(reader.members().find_some(org, some).await?);
        }
        reading.reach(count, end);
    }
    Ok(())
}
