//! Invites as JSON: to the admin who acts on one, in the list of pending ones, and to the holder of the link.

use serde::Serialize;

use super::view;
use crate::{
    id::InviteId,
    model::{Invite, MailStatus, Role},
    time::Timestamp,
    value::Email,
};

view! {
    /// What an operation on an invite shows of it.
    pub InviteView of Invite as InviteSummary {
        /// `inv_…`
        id: InviteId,
        /// The invited address.
        email: Email,
        /// The role it gives.
        role: Role,
        /// Until when it can be accepted.
        expires_at: Timestamp,
    }
}

// An entry of the list of pending invites. By hand, because JSON calls the inviter's address `invitedBy`.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "http", derive(utoipa::ToSchema), schema(as = PendingInvite))]
#[serde(rename_all = "camelCase")]
pub(crate) struct PendingInviteView {
    id: InviteId,
    email: Email,
    role: Role,
    invited_by: Option<Email>,
    expires_at: Timestamp,
    mail: MailStatus,
}

impl From<&Invite> for PendingInviteView {
    fn from(invite: &Invite) -> Self {
        Self {
            id: invite.id.clone(),
            email: invite.email.clone(),
            role: invite.role,
            invited_by: invite.invited_by_email.clone(),
            expires_at: invite.expires_at,
            mail: invite.mail,
        }
    }
}
