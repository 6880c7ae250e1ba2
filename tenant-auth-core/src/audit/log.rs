//! Reading the audit log: an org_admin's question, page by page, the newest entries first.

use crate::{
    caller::OrgAdmin,
    error::Error,
    id::OrgId,
    model::{AuditEntry, AuditFilter, EventKind, EventSelection, SortOrder},
    page::{List, Page},
    store::{Chosen, Reader, Span},
};

impl OrgAdmin {
    /// The audit log of the organization, the newest entries first; the page's order is not looked at.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a cursor of another list or filter.
    pub async fn audit(&self, filter: &AuditFilter, page: &Page) -> Result<List<AuditEntry>, Error> {
        let org = self.org_id();
        let (from, to) = (text_of(filter.from), text_of(filter.to));
        let words = filter.kinds.as_ref().map(|kinds| kinds.join(","));
        let list = ["audit", org.as_str(), or_empty(&filter.actor), or_empty(&filter.user), or_empty(&words), &from, &to];
        let mut reading = page.clone().ordered(SortOrder::Descending).reading(&list)?;
        // Each filter has an index, and two of them together, but not all three.
        let is_long = filter.actor.is_some() && filter.user.is_some() && filter.kinds.is_some();
        let _turn = if is_long { Some(self.auth().long_reads().turn(org).await?) } else { None };
        let mut reader = self.auth().store().read().await?;
        let bounds = Bounds::of(&mut reader, org, filter).await?;
        while let Some(wanted) = reading.wants() {
            let span = Span { below: wanted.time.min(bounds.below), from: bounds.from, rows: wanted.rows };
            reading.take(read(&mut reader, org, filter, span).await?);
        }
        Ok(reading.finish())
    }
}

fn or_empty(text: &Option<String>) -> &str {
    text.as_deref().unwrap_or_default()
}

fn text_of(time: Option<crate::time::Timestamp>) -> String {
    time.map_or_else(String::new, |time| time.millis().to_string())
}

/// The numbers between which the times lie.
struct Bounds {
    from: i64,
    below: i64,
}

impl Bounds {
    async fn of(reader: &mut Reader, org: &OrgId, filter: &AuditFilter) -> Result<Self, Error> {
        let from = match filter.from {
            Some(from) => reader.audit().first_since(org, from).await?,
            None => i64::MIN,
        };
        let below = match filter.to {
            Some(to) => reader.audit().first_since(org, to).await?,
            None => i64::MAX,
        };
        Ok(Self { from, below })
    }
}

/// The newest entries of a span that the filter chooses. Several kinds are read one by one, each by its index.
async fn read(reader: &mut Reader, org: &OrgId, filter: &AuditFilter, span: Span) -> Result<Vec<AuditEntry>, Error> {
    let chosen = Chosen { user: or_empty(&filter.user), actor: or_empty(&filter.actor), kind: "" };
    let is_impossible = |id: &Option<String>| id.as_deref().is_some_and(str::is_empty);
    if is_impossible(&filter.user) || is_impossible(&filter.actor) {
        return Ok(Vec::new());
    }
    let Some(patterns) = filter.kinds.as_deref().filter(|patterns| !patterns.iter().any(|pattern| pattern == "*")) else {
        return reader.audit().list(org, span, chosen).await;
    };
    let mut found = Vec::new();
    for kind in EventSelection::kinds_of(patterns) {
        found.extend(reader.audit().list(org, span, Chosen { kind: EventKind::as_str(kind), ..chosen }).await?);
    }
    found.sort_unstable_by_key(|entry| std::cmp::Reverse(entry.sequence));
    found.truncate(usize::try_from(span.rows).unwrap_or(usize::MAX));
    Ok(found)
}
