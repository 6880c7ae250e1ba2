//! Tenant Auth as a library: what a server would do for its clients, called directly. An organization begins, its admin logs in
//! and invites a colleague, who comes, works and leaves; each step says what it found and fails loudly if that is not so.

mod mailbox;

use std::sync::Arc;

use mailbox::Mailbox;
use tenant_auth_core::{
    Client, Config, Credentials, Login, MasterKeys, Sqlite, Tenant, TenantAuth, Verification,
    account::Opened,
    model::Role,
    operator::{NewOrganization, NewUser},
    org::Registration,
    value::{Email, Plan, Slug},
};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

#[tokio::main]
async fn main() -> Outcome<()> {
    let directory = tempfile::tempdir()?;
    let mailbox = Arc::new(Mailbox::default());
    let auth = TenantAuth::builder()
        .store(Sqlite::open(&directory.path().join("auth.db").to_string_lossy()).await?)
        .master_keys(MasterKeys::parse(&MasterKeys::generate_text())?)
        .config(Config::new("https://auth.example.com".parse()?))
        .mailer(mailbox.clone())
        .build()
        .await?;

    let (slug, admin_email): (Slug, Email) = ("acme".parse()?, "ada@acme.example".parse()?);
    let (name, app_url) = ("Acme Rockets".parse()?, Some("https://app.acme.example".parse()?));
    let new = NewOrganization { name, slug: slug.clone(), plan: Plan::default(), app_url, admin_email: admin_email.clone() };
    let invited = auth.operator().create_organization(new).await?;
    println!("1. {} exists; its first admin could accept {}", invited.org.name.as_str(), invited.url);

    let password = "mauve-otter-plinth";
    let ada = NewUser { email: admin_email, name: "Ada Admin".parse()?, role: Role::OrgAdmin, password: password.into() };
    auth.operator().create_user(&slug, ada).await?; // instead of the invite, as an operator may
    let acme = auth.tenant(&"acme".parse()?).await?;
    let ada = login(&acme, "ada@acme.example", password).await?;
    println!("2. {} is logged in as {}", ada.user().name.as_str(), ada.membership().role.as_str());

    let fresh = acme.refresh(ada.tokens.refresh.expose()).await?;
    assert!(matches!(acme.verify(ada.tokens.access.expose()).await?, Verification::Invalid), "a superseded token is dead");
    let Verification::Valid(principal) = acme.verify(fresh.access.expose()).await? else {
        return Err("a fresh token is valid".into());
    };
    assert_eq!(principal.user.email.as_str(), "ada@acme.example");
    println!("3. her session was refreshed: the old token is dead, the new one is {}'s", principal.user.email.as_str());

    let admin = acme.authenticate(fresh.access.expose()).await?.into_admin()?;
    admin.invite(&"max@acme.example".parse()?, Role::Member).await?;
    auth.worker().tick().await?; // a server runs `worker().run_until(shutdown)` instead
    let token = mailbox.token_for("max@acme.example").ok_or("the invite was mailed")?;
    let registration = Registration { name: Some("Max Member".parse()?), password: Some("sable-heron-lintel".into()) };
    let max = entered(acme.accept_invite(&token.as_str().into(), registration, Client::default()).await?)?;
    println!("4. {} accepted the link from his mail and is a {}", max.user().name.as_str(), max.membership().role.as_str());

    let access = max.tokens.access.expose();
    assert!(acme.authenticate(access).await?.into_admin().is_err(), "a member is no admin");
    acme.authenticate(access).await?.logout().await?;
    assert!(matches!(acme.verify(access).await?, Verification::Invalid), "a logged out session is over at once");
    println!("5. he logged out, and his token is invalid at once");
    Ok(())
}

async fn login(tenant: &Tenant, email: &str, password: &str) -> Outcome<Opened> {
    let credentials = Credentials { email: email.parse()?, password: password.into(), client: Client::default() };
    entered(tenant.login(credentials).await?)
}

/// A second factor would be the other outcome; nobody here has one.
fn entered(login: Login) -> Outcome<Opened> {
    let Login::Session(opened) = login else { return Err("another step is asked for".into()) };
    Ok(*opened)
}
