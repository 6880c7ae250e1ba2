use std::{env::var, error::Error};

use tenant_auth_core::{
    Config, MasterKeys, Page, Sqlite, TenantAuth,
    model::{AuditFilter, Role},
    operator::{NewOrganization, OrganizationChange},
};

/// What the webhook of your payment provider calls: nobody is logged in, and your code decides.
async fn paid(auth: &TenantAuth, customer: &str, bookkeeper: &str) -> Result<(), Box<dyn Error>> {
    let (operator, slug) = (auth.operator(), customer.parse()?);
    let upgrade = OrganizationChange { plan: Some("pro".parse()?), ..OrganizationChange::default() };
    operator.change_organization(&slug, upgrade).await?;
    let admin = operator.in_organization(&slug).await?; // an OrgAdmin: whatever acme's own admins can do
    admin.invite(&bookkeeper.parse()?, Role::Member).await?;
    for entry in admin.audit(&AuditFilter::default(), &Page::default()).await?.items {
        println!("{} by the {}", entry.kind, entry.actor.kind);
    }
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let (store, keys) = (Sqlite::open(&var("DATABASE")?).await?, MasterKeys::parse(&var("MASTER_KEY")?)?);
    let config = Config::new("https://app.example.com".parse()?);
    let auth = TenantAuth::builder().store(store).master_keys(keys).config(config).build().await?;
    let acme = NewOrganization::new("Acme".parse()?, "acme".parse()?, "ada@example.com".parse()?);
    auth.operator().create_organization(acme).await?;
    paid(&auth, "acme", "bob@example.com").await
}
