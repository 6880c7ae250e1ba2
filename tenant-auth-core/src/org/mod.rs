//! Organizations as their members manage them: details, members, invites.

mod accept;
mod details;
mod invites;
mod join;
mod member_list;
mod members;

pub use accept::{InvitePreview, Registration};
pub use details::{OrganizationUpdate, Patch};
pub(crate) use invites::{Invitation, Inviter, place_invite};
pub(crate) use join::join;
pub(crate) use member_list::list_members;
