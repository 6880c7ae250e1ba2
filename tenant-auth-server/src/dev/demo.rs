//! The demo organization of `dev`: created at the first start, found again at the next. A first start that was interrupted is
//! started over; a database whose keys are gone is left alone, because it may hold a person's work.

use std::sync::Arc;

use tenant_auth_core::{
    Client, Config, Error, MasterKeys, Sqlite, Store, TenantAuth,
    backend::NewApiKey,
    model::Scope,
    operator::NewOrganization,
    org::Registration,
    ports::{Clock, Mailer, OsEntropy},
    secret::{LinkToken, Password},
    value::{DisplayName, Email, Plan, Rejected, Slug},
};

use super::{
    files::{Credentials, Demo, Files},
    local::Tools,
    webhooks,
};
use crate::{failure::Failure, serve::Opened};

const SLUG: &str = "acme";
const ADMIN: &str = "admin@acme.example";

/// Opens the directory's service; creates it when there is none.
pub(super) async fn open(files: &Files, config: Config, tools: &Tools) -> Result<(Opened, Demo), Failure> {
    let kept = files.load()?;
    let has_database = files.database().exists();
    let (opened, master_key, mut demo) = match kept {
        Some(Credentials { master_key, demo: Some(demo) }) if has_database => {
            (start(files, &master_key, config, tools).await?, master_key, demo)
        }
        None if has_database => {
            return Err(Failure::Usage(format!(
                "{} is there, but its credentials in {} are not. Put them back, or delete the database to start afresh.",
                files.database().display(),
                files.credentials().display(),
            )));
        }
        _ => {
            let master_key = MasterKeys::generate_text();
            let (opened, demo) = make(files, &master_key, config, tools).await?;
            (opened, master_key, demo)
        }
    };
    if webhooks::subscribe(&opened.auth, &mut demo, &tools.url).await? {
        files.save(&Credentials { master_key, demo: Some(demo.clone()) })?;
    }
    Ok((opened, demo))
}

async fn make(files: &Files, master_key: &str, config: Config, tools: &Tools) -> Result<(Opened, Demo), Failure> {
    let mut credentials = Credentials { master_key: master_key.to_owned(), demo: None };
    files.save(&credentials)?; // before the database: what it seals must open at the next start
    files.renew_database()?;
    let opened = start(files, master_key, config, tools).await?;
    let demo = furnish(&opened.auth).await?;
    credentials.demo = Some(demo.clone());
    files.save(&credentials)?;
    Ok((opened, demo))
}

async fn start(files: &Files, master_key: &str, config: Config, tools: &Tools) -> Result<Opened, Failure> {
    let damaged = |what: String| {
        let (database, credentials) = (files.database(), files.credentials());
        Failure::Usage(format!("{what} Delete {} and {} to start afresh.", database.display(), credentials.display()))
    };
    let master_keys = MasterKeys::parse(master_key).map_err(|error| damaged(format!("The kept master key {error}.")))?;
    let store = Sqlite::open(&files.database().to_string_lossy()).await.map_err(|_| {
        let database = files.database();
        Failure::Usage(format!(
            "{} cannot be opened. Make it and its directory writable, or choose another with --dir.",
            database.display()
        ))
    })?;
    let store = Store::from(store);
    let auth = TenantAuth::builder().store(store.clone()).master_keys(master_keys).config(config);
    let auth = auth.clock(Arc::clone(&tools.clock) as Arc<dyn Clock>).mailer(Arc::clone(&tools.mailbox) as Arc<dyn Mailer>);
    let auth = auth.build().await;
    let auth = auth.map_err(|error| damaged(format!("The database cannot be used: {error}.")))?;
    Ok(Opened { auth, store })
}

/// `acme`, its org_admin and its API key. The admin accepts an invite as people do, so that the address counts as verified and
/// nothing stays pending.
async fn furnish(auth: &TenantAuth) -> Result<Demo, Failure> {
    let (operator, slug) = (auth.operator(), valid(Slug::parse(SLUG))?);
    let organization = NewOrganization {
        name: valid(DisplayName::parse("Acme"))?,
        slug: slug.clone(),
        plan: Plan::default(),
        app_url: None,
        admin_email: valid(Email::parse(ADMIN))?,
    };
    let invited = operator.create_organization(organization).await?;

    let password = generated_password();
    let registration =
        Registration { name: Some(valid(DisplayName::parse("Ada Admin"))?), password: Some(Password::new(password.as_str())) };
    auth.tenant(&slug).await?.accept_invite(&invited.token, registration, Client::default()).await?;

    let key = NewApiKey {
        name: valid(DisplayName::parse("dev"))?,
        scopes: [NewApiKey::default_scopes(), vec![Scope::EventsRead]].concat(),
        expires_at: None,
    };
    let key = operator.create_api_key(&slug, key).await?.key;
    Ok(Demo { organization: SLUG.to_owned(), email: ADMIN.to_owned(), password, api_key: key.expose().to_owned(), webhook: None })
}

/// 120 random bits that need no quoting in a shell, a URL or JSON.
pub(super) fn generated_password() -> String {
    LinkToken::generate(&OsEntropy).expose().chars().take(20).collect()
}

fn valid<T>(value: Result<T, Rejected>) -> Result<T, Error> {
    value.map_err(Error::internal)
}
