//! The entries that lists consist of: where each stands in its list, and how long it is as the JSON of its view.

use super::{Listed, Position};
use crate::{
    model::{ApiKey, AuditEntry, Delivery, Invite, MemberEntry, Organization, SessionSummary, Webhook},
    time::Timestamp,
    view::{
        ApiKeyView, AuditEntryView, DeliveryView, ManagedOrganizationView, MemberView, PendingInviteView, SessionView, WebhookView,
    },
};

macro_rules! listed {
    ($($type:ty as $view:ty: $($time:ident).+, $($id:ident).+;)*) => { $(
        impl Listed for $type {
            fn position(&self) -> Position {
                Position { time: self.$($time).+, id: self.$($id).+.as_str().to_owned() }
            }
            fn size(&self) -> usize {
                serde_json::to_vec(&<$view>::from(self)).map_or(0, |json| json.len())
            }
        }
    )* };
}

listed! {
    MemberEntry as MemberView: membership.joined_at, membership.user_id;
    Invite as PendingInviteView: created_at, id;
    ApiKey as ApiKeyView: created_at, id;
    SessionSummary as SessionView: created_at, id;
    Organization as ManagedOrganizationView: created_at, id;
    Webhook as WebhookView: created_at, id;
    Delivery as DeliveryView: created_at, id;
}

/// An entry's number goes before its time: two may have happened at once.
impl Listed for AuditEntry {
    fn position(&self) -> Position {
        Position { time: Timestamp::from_millis(self.sequence), id: self.id.as_str().to_owned() }
    }
    fn size(&self) -> usize {
        serde_json::to_vec(&AuditEntryView::from(self)).map_or(0, |json| json.len())
    }
}
