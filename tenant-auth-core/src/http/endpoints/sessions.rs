//! `/auth/sessions`: the caller's own sessions in this organization.

use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    caller::Member,
    http::{
        answer::{Message, Outcome, done},
        input::Path,
    },
    id::SessionId,
    model::SessionSummary,
    page::Page,
};

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionsData {
    sessions: Vec<SessionEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    next_cursor: Option<String>,
}

#[derive(Serialize, ToSchema)]
struct SessionEntry {
    #[serde(flatten)]
    session: SessionSummary,
    /// The one that asks.
    current: bool,
}

pub(crate) async fn list(member: Member, page: Page) -> Outcome<SessionsData> {
    let list = member.sessions(&page).await?;
    let entry = |session: SessionSummary| SessionEntry { current: session.id == member.session().id, session };
    Ok(SessionsData { sessions: list.items.into_iter().map(entry).collect(), next_cursor: list.next_cursor }.into())
}

pub(crate) async fn end(member: Member, Path(session): Path<SessionId>) -> Outcome<Message> {
    member.end_session(&session).await?;
    Ok(done("The session has ended."))
}

pub(crate) async fn end_others(member: Member, (): ()) -> Outcome<Message> {
    member.end_other_sessions().await?;
    Ok(done("Every other session in this organization has ended."))
}
