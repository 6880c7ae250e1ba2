//! The right of an org_admin. It has an origin: a member's session, a deployment key of the product, or the process that runs the
//! service. Operations take the right whatever it rests on, and every write judges it again as its origin demands.

use super::{Author, Member, OrgWrite, Product, Tenant};
use crate::{
    error::Error,
    id::{OrgId, UserId},
    model::{Organization, Role},
    service::TenantAuth,
};

/// The right of an org_admin in one organization: a member's with that role, the product's by a deployment key
/// ([`TenantAuth::org_admin_of_deployment`]), or the process's own ([`Operator::in_organization`](crate::operator::Operator::in_organization)).
#[derive(Clone, Debug)]
pub struct OrgAdmin(Origin);

/// What the right rests on.
#[derive(Clone, Debug)]
enum Origin {
    Session(Member),
    Key(Product, Tenant),
    Process(Tenant),
}

impl OrgAdmin {
    /// The right of a member, whose role was judged.
    pub(super) fn of_member(member: Member) -> Self {
        Self(Origin::Session(member))
    }

    /// The right of the product, whose key was found to have the scope `admin`, in an organization that is not beyond it.
    pub(crate) fn of_product(product: Product, tenant: Tenant) -> Self {
        Self(Origin::Key(product, tenant))
    }

    /// The right of whoever controls the process.
    pub(crate) fn of_process(tenant: Tenant) -> Self {
        Self(Origin::Process(tenant))
    }

    /// The admin as a member; `None` for a deployment key and for the process.
    pub fn as_member(&self) -> Option<&Member> {
        match &self.0 {
            Origin::Session(member) => Some(member),
            Origin::Key(..) | Origin::Process(_) => None,
        }
    }

    /// The organization, as it was when the right was judged.
    pub fn organization(&self) -> &Organization {
        match &self.0 {
            Origin::Session(member) => member.organization(),
            Origin::Key(_, tenant) | Origin::Process(tenant) => tenant.organization(),
        }
    }

    pub(crate) fn auth(&self) -> &TenantAuth {
        match &self.0 {
            Origin::Session(member) => &member.auth,
            Origin::Key(_, tenant) | Origin::Process(tenant) => &tenant.auth,
        }
    }

    pub(crate) fn org_id(&self) -> &OrgId {
        &self.organization().id
    }

    /// Whether the right is this person's own; a deployment key and the process are nobody.
    pub(crate) fn is_of(&self, user: &UserId) -> bool {
        self.as_member().is_some_and(|member| member.user_id() == user)
    }

    /// The id of who acts; `None` for the process itself.
    pub(crate) fn author_id(&self) -> Option<&str> {
        match &self.0 {
            Origin::Session(member) => Some(member.user_id().as_str()),
            Origin::Key(product, _) => Some(product.key.as_str()),
            Origin::Process(_) => None,
        }
    }

    /// Whether nobody calls: the process itself acts.
    pub(crate) fn is_process(&self) -> bool {
        matches!(self.0, Origin::Process(_))
    }

    /// Begins a write that only an org_admin may make; fails when the right was lost in the meantime. Lock order: the organization,
    /// then what the right rests on: membership and session, or the key.
    pub(crate) async fn begin_write(&self) -> Result<OrgWrite, Error> {
        match &self.0 {
            Origin::Session(member) => {
                let write = member.begin_write().await?;
                match write.live.membership.role {
                    Role::OrgAdmin => Ok(write.into()),
                    Role::Member => Err(Error::AdminRequired),
                }
            }
            Origin::Key(product, tenant) => {
                let mut write = tenant.begin_write_by(Author::Product(product.key.clone())).await?;
                product.judge_again(&mut write.tx).await?;
                Ok(write)
            }
            Origin::Process(tenant) => tenant.begin_write_by(Author::Process).await,
        }
    }
}

impl Tenant {
    /// Begins a write of somebody who is no member. It keeps nothing of the request: where the product or the process runs is not the
    /// organization's business.
    async fn begin_write_by(&self, author: Author) -> Result<OrgWrite, Error> {
        let mut tx = self.auth.begin_in_turn(&self.org.id).await?;
        let org = tx.organizations().lock(&self.org.id).await?.ok_or(Error::UnknownOrganization)?;
        Ok(OrgWrite { tx, org, author })
    }
}
