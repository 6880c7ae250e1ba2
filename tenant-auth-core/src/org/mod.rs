//! Organizations as their members manage them: details, members, invites.

mod accept;
mod details;
mod invites;
mod join;
mod key_invites;
mod member_list;
mod members;
mod sign_up;

pub use accept::{InvitePreview, Registration};
pub(crate) use details::MOST_ORIGINS;
pub use details::{OrganizationUpdate, Patch};
pub(crate) use invites::{Invitation, Inviter, MOST_INVITES_PER_DAY, MovedInvite, place_invite, place_moved_invite};
pub(crate) use join::{Place, join, join_with};
pub(crate) use key_invites::{revoke_ended_invites, tell_ended};
pub(crate) use member_list::{ReadBy, list_members, list_members_with_sequence};
pub use sign_up::{SignUpCompletion, SignUpPreview};
pub(crate) use sign_up::{SignUpPost, is_reserved};
