//! `/auth/sessions`: the caller's own sessions in this organization, and `/org/members/{userId}/sessions`: a member's.

use serde::Serialize;
use utoipa::ToSchema;

use super::callers::Ender;
use crate::{
    caller::{Member, OrgAdmin},
    http::{
        answer::{Message, Outcome, done},
        input::{Path, Paths},
        listing::{Entry, Listing},
        query::SearchQuery,
    },
    id::{SessionId, UserId},
    model::SessionSummary,
    view::SessionView,
};

#[derive(Serialize, ToSchema)]
pub(crate) struct SessionEntry {
    #[serde(flatten)]
    session: SessionView,
    /// The one that asks.
    current: bool,
}

impl Entry for SessionEntry {
    const KEY: &'static str = "sessions";
}

pub(crate) async fn list(member: Member, query: SearchQuery) -> Outcome<Listing<SessionEntry>> {
    let own = &member.session().id;
    let entry = |session: SessionSummary| SessionEntry { current: session.id == *own, session: (&session).into() };
    Ok(Listing::of(member.sessions_like(query.search.as_ref(), &query.page).await?, entry).into())
}

/// A member's sessions, for an org_admin: as the member sees them. `current` is the session that asks, which is another's.
pub(crate) async fn of_member(admin: OrgAdmin, (Path(user), query): (Path<UserId>, SearchQuery)) -> Outcome<Listing<SessionEntry>> {
    let own = admin.as_member().map(|member| member.session().id.clone());
    let entry = |session: SessionSummary| SessionEntry { current: own.as_ref() == Some(&session.id), session: (&session).into() };
    Ok(Listing::of(admin.member_sessions_like(&user, query.search.as_ref(), &query.page).await?, entry).into())
}

pub(crate) async fn end_of_member(
    Ender(admin): Ender<OrgAdmin>,
    Paths(user, session): Paths<UserId, SessionId>,
) -> Outcome<Message> {
    admin.end_member_session(&user, &session).await?;
    Ok(done("The session has ended."))
}

pub(crate) async fn end(Ender(member): Ender<Member>, Path(session): Path<SessionId>) -> Outcome<Message> {
    member.end_session(&session).await?;
    Ok(done("The session has ended."))
}

pub(crate) async fn end_others(member: Member, (): ()) -> Outcome<Message> {
    member.end_other_sessions().await?;
    Ok(done("Every other session in this organization has ended."))
}
