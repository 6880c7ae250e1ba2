//! What events tell of people: members, sessions and accounts.

use serde::Serialize;

use super::{EndReason, EventData};
use crate::{
    id::UserId,
    model::{MemberEntry, SessionSummary, User},
    time::Timestamp,
    view::{MemberView, ToldSessionView, UserView},
};

#[derive(Serialize)]
pub(crate) struct MemberData {
    member: MemberView,
    #[serde(skip_serializing_if = "Option::is_none")]
    previous: Option<MemberView>,
}

impl EventData for MemberData {
    fn about(&self) -> Option<&UserId> {
        Some(self.member.user_id())
    }
}

impl MemberData {
    pub(crate) fn of(member: &MemberEntry) -> Self {
        Self { member: member.into(), previous: None }
    }

    pub(crate) fn changed(member: &MemberEntry, previous: &MemberEntry) -> Self {
        Self { member: member.into(), previous: Some(previous.into()) }
    }
}

#[derive(Serialize)]
pub(crate) struct SessionData {
    session: ToldSessionView,
    user: UserView,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<EndReason>,
}

impl EventData for SessionData {
    fn about(&self) -> Option<&UserId> {
        Some(&self.user.id)
    }
}

impl SessionData {
    pub(crate) fn of(session: &SessionSummary, user: &User) -> Self {
        Self { session: session.into(), user: user.into(), reason: None }
    }

    pub(crate) fn ended(session: &SessionSummary, user: &User, reason: EndReason) -> Self {
        Self { session: session.into(), user: user.into(), reason: Some(reason) }
    }
}

#[derive(Serialize)]
pub(crate) struct UserData {
    pub(crate) user: UserView,
    #[serde(skip_serializing_if = "Option::is_none")]
    previous: Option<UserView>,
}

impl EventData for UserData {
    fn about(&self) -> Option<&UserId> {
        Some(&self.user.id)
    }
}

impl UserData {
    pub(crate) fn of(user: &User) -> Self {
        Self { user: user.into(), previous: None }
    }

    pub(crate) fn changed(user: &User, previous: &User) -> Self {
        Self { user: user.into(), previous: Some(previous.into()) }
    }
}

/// A deleted account: nothing but its id, so that nothing of it has to be erased.
#[derive(Serialize)]
pub(crate) struct UserDeletedData {
    user: DeletedUser,
}

impl EventData for UserDeletedData {
    fn about(&self) -> Option<&UserId> {
        Some(&self.user.id)
    }
}

impl UserDeletedData {
    pub(crate) fn of(user: &UserId) -> Self {
        Self { user: DeletedUser { id: user.clone() } }
    }
}

#[derive(Serialize)]
struct DeletedUser {
    id: UserId,
}

/// A login that was refused because the account is blocked.
#[derive(Serialize)]
pub(crate) struct LoginBlockedData {
    user: UserView,
    until: Timestamp,
}

impl EventData for LoginBlockedData {
    fn about(&self) -> Option<&UserId> {
        Some(&self.user.id)
    }
}

impl LoginBlockedData {
    pub(crate) fn of(user: &User, until: Timestamp) -> Self {
        Self { user: user.into(), until }
    }
}
