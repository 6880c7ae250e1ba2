//! An organization as its members manage it: details, members, invites.

mod details;
mod invites;
mod accept;
mod members;

pub use accept::{InvitePreview, Registration};
pub use details::{OrganizationUpdate, Patch};
pub(crate) use invites::{Invitation, invite};
