use std::env::var;

use tenant_auth_core::{Client, Config, Error, Login, MasterKeys, Sqlite, Tenant, TenantAuth, model::Status, operator, org};

/// Your route, whatever carries it: HTTP of any kind, gRPC, a queue.
async fn reports(acme: &Tenant, token: &str) -> (u16, String) {
    match acme.authenticate(token).await {
        Ok(member) => (200, format!("Reports for {}", member.user().name)),
        Err(error @ Error::Suspended) => (403, error.to_string()),
        Err(error) => (401, error.to_string()),
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (store, keys) = (Sqlite::open(&var("DATABASE")?).await?, MasterKeys::parse(&var("MASTER_KEY")?)?);
    let config = Config::new("https://app.example.com".parse()?);
    let auth = TenantAuth::builder().store(store).master_keys(keys).config(config).build().await?;
    let new = operator::NewOrganization::new("Acme".parse()?, "acme".parse()?, "ada@example.com".parse()?);
    let (invited, acme) = (auth.operator().create_organization(new).await?, auth.tenant(&"acme".parse()?).await?);
    let ada = org::Registration { name: Some("Ada".parse()?), password: Some("mauve-otter-plinth".into()) };
    let Login::Session(opened) = acme.accept_invite(&invited.token, ada, Client::default()).await? else { return Ok(()) };
    let token = opened.tokens.access.expose();
    println!("{:?}", reports(&acme, token).await); // (200, "Reports for Ada")
    auth.operator().set_organization_status(&"acme".parse()?, Status::Suspended).await?;
    println!("{:?}", reports(&acme, token).await); // (403, "Access is suspended. …")
    auth.operator().set_organization_status(&"acme".parse()?, Status::Active).await?;
    acme.authenticate(token).await?.logout().await?;
    println!("{:?}", reports(&acme, token).await); // (401, "A session is required. …")
    Ok(())
}
