//! Two admins of one organization remove each other at the same moment, many times over. One of them must win, and the
//! organization must keep exactly one admin: never none, never both.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tenant_auth_core::{
    Client, Credentials, Login, MasterKeys, Member, Page, Store, StoreOptions, Tenant, TenantAuth,
    id::UserId,
    model::Role,
    operator::{NewOrganization, NewUser},
    secret::StoredPassword,
    value::Plan,
};
use tokio::sync::Barrier;

use crate::{
    Failure,
    stage::{
        PASSWORD,
        service::{self, Believing},
    },
};

/// An empty database, and how often.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Told {
    pub(crate) database: String,
    pub(crate) master_key: String,
    pub(crate) rounds: u32,
}

/// What the rounds came to.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Found {
    /// Rounds that ended with any number of admins but one.
    pub(crate) violations: u32,
    /// Rounds in which not exactly one of the two was told that it succeeded.
    pub(crate) odd_answers: u32,
    /// What the losers were told, each kind once.
    pub(crate) refusals: Vec<String>,
}

pub(super) async fn play() -> Result<(), Failure> {
    let told: Told = super::told()?;
    let builder = TenantAuth::builder().store(Store::open_with(&told.database, StoreOptions::with_connections(4)).await?);
    let builder = builder.master_keys(MasterKeys::parse(&told.master_key)?).config(service::config()?);
    let auth = builder.hasher(Arc::new(Believing(StoredPassword::new("")))).build().await?;
    let mut found = Found::default();
    for round in 0..told.rounds {
        race(&auth, round, &mut found).await?;
    }
    super::answer(&found)
}

async fn race(auth: &TenantAuth, round: u32, found: &mut Found) -> Result<(), Failure> {
    let slug = format!("race-{round}");
    let new = NewOrganization {
        name: "Race".parse()?,
        slug: slug.parse()?,
        plan: Plan::default(),
        app_url: None,
        admin_email: "first@example.com".parse()?,
    };
    auth.operator().create_organization(new).await?;
    let tenant = auth.tenant(&slug.parse()?).await?;
    let (ada, eve) = (admin(auth, &tenant, &format!("ada-{round}")).await?, admin(auth, &tenant, &format!("eve-{round}")).await?);

    let start = Arc::new(Barrier::new(2));
    let (one, other) = (removes(&ada.0, &eve.0, &start), removes(&eve.0, &ada.0, &start));
    let outcomes = [one.await??, other.await??];
    let left = admins_left(&tenant, &[&ada.1, &eve.1]).await?;

    found.violations += u32::from(left != 1);
    found.odd_answers += u32::from(outcomes.iter().filter(|outcome| outcome.is_none()).count() != 1);
    for refusal in outcomes.into_iter().flatten() {
        if !found.refusals.contains(&refusal) {
            found.refusals.push(refusal);
        }
    }
    Ok(())
}

/// An admin who is logged in, and the token by which to find out later whether they still are.
async fn admin(auth: &TenantAuth, tenant: &Tenant, name: &str) -> Result<(Member, String), Failure> {
    let email = format!("{name}@example.com");
    let new = NewUser { email: email.parse()?, name: "Admin".parse()?, role: Role::OrgAdmin, password: PASSWORD.into() };
    auth.operator().create_user(&tenant.organization().slug, new).await?;
    let credentials = Credentials { email: email.parse()?, password: PASSWORD.into(), client: Client::default() };
    let Login::Session(opened) = tenant.login(credentials).await? else { return Err("a login took another step".into()) };
    let token = opened.tokens.access.expose().to_owned();
    Ok((tenant.authenticate(&token).await?, token))
}

/// Removes the other when both are ready; what was refused, if it was.
fn removes(who: &Member, whom: &Member, start: &Arc<Barrier>) -> tokio::task::JoinHandle<Result<Option<String>, Failure>> {
    let (admin, whom, start): (_, UserId, _) = (who.clone().into_admin(), whom.user().id.clone(), Arc::clone(start));
    tokio::spawn(async move {
        let admin = admin?;
        start.wait().await;
        Ok(admin.remove_member(&whom).await.err().map(|error| error.to_string()))
    })
}

/// How many admins the organization has, as whoever is left sees it.
async fn admins_left(tenant: &Tenant, tokens: &[&String]) -> Result<usize, Failure> {
    for token in tokens {
        if let Ok(member) = tenant.authenticate(token).await {
            let members = member.members(&Page::default()).await?;
            return Ok(members.items.iter().filter(|entry| entry.membership.role == Role::OrgAdmin).count());
        }
    }
    Ok(0)
}
