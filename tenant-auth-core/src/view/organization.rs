//! Organizations as JSON.

use super::view;
use crate::{
    id::OrgId,
    model::{Organization, Status},
    time::Timestamp,
    value::{AppUrl, DisplayName, Origin, Plan, Slug},
};

view! {
    /// An organization (tenant).
    pub OrganizationView of Organization as Organization {
        /// `org_…`
        id: OrgId,
        /// Shown to people.
        name: DisplayName,
        /// Used in `X-Org-Slug`.
        slug: Slug,
        /// Not interpreted by the service.
        plan: Plan,
        /// Whether the organization is active; a suspended one lets no member in.
        status: Status,
        /// The customer's application; invitation mails link to it.
        app_url: Option<AppUrl>,
        /// When it was created.
        created_at: Timestamp,
    }
}

view! {
    /// An organization (tenant), with all that its admins may set.
    pub(crate) DetailedOrganizationView of Organization as DetailedOrganization {
        /// `org_…`
        id: OrgId,
        /// Shown to people.
        name: DisplayName,
        /// Used in `X-Org-Slug`.
        slug: Slug,
        /// Not interpreted by the service.
        plan: Plan,
        /// Whether the organization is active; a suspended one lets no member in.
        status: Status,
        /// The customer's application; invitation mails link to it.
        app_url: Option<AppUrl>,
        /// When it was created.
        created_at: Timestamp,
        /// The browser origins that are allowed beside the application's (CORS). Absent in what an earlier version told.
        #[cfg_attr(feature = "http", schema(required = false))]
        allowed_origins: Vec<Origin>,
    }
}

view! {
    /// An organization (tenant), as operators are shown it.
    pub ManagedOrganizationView of Organization as ManagedOrganization {
        /// `org_…`
        id: OrgId,
        /// Shown to people.
        name: DisplayName,
        /// Used in `X-Org-Slug`.
        slug: Slug,
        /// Not interpreted by the service.
        plan: Plan,
        /// Whether the organization is active; a suspended one lets no member in.
        status: Status,
        /// The customer's application; invitation mails link to it.
        app_url: Option<AppUrl>,
        /// When it was created.
        created_at: Timestamp,
        /// When it is deleted with everything that belongs to it; null unless that was ordered.
        deletes_at: Option<Timestamp>,
        /// Whether it may send as many invites as any other; one that sign-up made may not until an operator says so.
        #[serde(rename = "trusted")]
        is_trusted: bool,
    }
}
