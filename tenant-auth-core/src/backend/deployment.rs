//! The rights that a deployment key gives: the product acts on organizations as a whole, as an org_admin of any of them, or asks what
//! changed of all.

use std::net::IpAddr;

use super::presented_key::PresentedKey;
use crate::{
    caller::{Client, DeploymentBackend, OrgAdmin, Product, Tenant},
    error::Error,
    id::KeyId,
    model::DeploymentScope,
    secret::ApiKeyText,
    service::TenantAuth,
    store::{KeyRecord, Reach},
    value::Slug,
};

impl TenantAuth {
    /// The right of an org_admin of any organization, also a suspended one, by a deployment key with the scope `admin`. `sender` is the
    /// address that shows the key, for a key that counts from some networks only.
    ///
    /// # Errors
    /// [`Error::InvalidApiKey`], the same for every reason; [`Error::UnknownOrganization`], also for the operators' own;
    /// [`Error::MissingScope`].
    pub async fn org_admin_of_deployment(&self, slug: &Slug, key: &ApiKeyText, sender: Option<IpAddr>) -> Result<OrgAdmin, Error> {
        let shown = PresentedKey::of_deployment(key, sender).ok_or(Error::InvalidApiKey)?;
        let (record, org) = self.key_in(slug, &shown).await?;
        let product = self.product_of(&record, DeploymentScope::Admin)?;
        Ok(OrgAdmin::of_product(product, Tenant { auth: self.clone(), org, client: Client::default() }))
    }

    /// Authenticates the product's own backend in all organizations at once, by a deployment key with the scope `verify`. `sender` is
    /// the address that shows the key, for a key that counts from some networks only.
    ///
    /// # Errors
    /// [`Error::InvalidApiKey`], the same for every reason; [`Error::MissingScope`].
    pub async fn backend_of_all_organizations(&self, key: &ApiKeyText, sender: Option<IpAddr>) -> Result<DeploymentBackend, Error> {
        Ok(DeploymentBackend(self.product(key, sender, DeploymentScope::Verify).await?))
    }

    /// Authenticates the product by a deployment key that this address shows.
    ///
    /// # Errors
    /// [`Error::InvalidApiKey`], the same for every reason; [`Error::MissingScope`].
    pub(crate) async fn product(&self, key: &ApiKeyText, sender: Option<IpAddr>, scope: DeploymentScope) -> Result<Product, Error> {
        let shown = PresentedKey::of_deployment(key, sender).ok_or(Error::InvalidApiKey)?;
        let record = self.key_record(&shown).await?;
        self.product_of(&record, scope)
    }

    /// The product, by a key that counts.
    fn product_of(&self, record: &KeyRecord, scope: DeploymentScope) -> Result<Product, Error> {
        self.note_key_use(&record.id, record.last_used_at);
        match (&record.id, &record.reach) {
            (KeyId::DeploymentKey(id), Reach::Deployment(reach)) if reach.scopes.contains(&scope) => {
                Ok(Product { auth: self.clone(), key: id.clone(), scope })
            }
            _ => Err(Error::MissingScope(scope.as_str())),
        }
    }
}
