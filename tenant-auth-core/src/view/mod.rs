//! Views: resources as JSON, in the shape that the REST API and the events show. The [`model`](crate::model) has no JSON form of its
//! own: a field leaves the service only where a view names it, so a new field of the model stays inside until a view says otherwise.
//! A host's own route can answer with the same shapes: `WebhookView::from(&webhook)` serializes.

#[cfg(feature = "http")]
mod answers;
mod api_key;
mod audit;
mod deployment_key;
mod invite;
mod member;
mod organization;
mod session;
mod user;
mod webhook;

pub use api_key::ApiKeyView;
pub use audit::{AuditActorView, AuditEntryView};
pub use deployment_key::DeploymentKeyView;
pub use invite::InviteView;
pub(crate) use invite::PendingInviteView;
pub use member::{MemberView, MembershipView};
pub(crate) use organization::DetailedOrganizationView;
pub use organization::{ManagedOrganizationView, OrganizationView};
pub use session::SessionView;
pub(crate) use session::ToldSessionView;
pub use user::UserView;
pub(crate) use webhook::ToldWebhookView;
pub use webhook::{DeliveryDetailsView, DeliveryView, WebhookView};

#[cfg(feature = "http")]
pub(crate) use answers::{
    AcceptedMembershipView, AcceptedOrgView, AcceptedUserView, ManagedMembershipView, MembershipOfLoginView, OwnMembershipView,
    PreviewedOrgView, UpdatedUserView, UserWithProfileView,
};

/// A view whose fields are copied from the model's by name: `$schema` is what the OpenAPI document calls it.
macro_rules! view {
    ($(#[$attribute:meta])* $seen:vis $name:ident of $model:ident as $schema:ident { $($(#[$field_attribute:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, serde::Serialize)]
        #[cfg_attr(feature = "http", derive(utoipa::ToSchema), schema(as = $schema))]
        #[serde(rename_all = "camelCase")]
        $seen struct $name { $($(#[$field_attribute])* $field: $type,)* }

        impl From<&$model> for $name {
            fn from(model: &$model) -> Self {
                Self { $($field: Clone::clone(&model.$field),)* }
            }
        }
    };
}
pub(crate) use view;
