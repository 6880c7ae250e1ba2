//! A deployment that moves as a whole, organization by organization: people stay members of each (behaviour.md, B169).

use serde_json::{Value, json};
use tenant_auth_conformance::{App, Caller, PASSWORD, scenarios};
use tenant_auth_core::operator::{ExistingAccounts, FileKey, NewOrganization, OrganizationImport};

use super::{
    moves::{NILS, NORA, exported, exported_of, import, is_there, logged_in, movers, reasons, target},
    round_trip::another,
};
use crate::suite::support::hooks::run_sql;

scenarios![on each database:
    who_belongs_to_two_organizations_belongs_to_both_at_the_target,
    who_is_linked_is_invited_also_where_somebody_vouches_for_the_source,
    nobody_joins_from_a_source_that_nobody_vouches_for,
    an_organization_without_an_active_admin_is_told_of,
];

fn trusting(key: FileKey) -> OrganizationImport {
    OrganizationImport { trust: true, existing: ExistingAccounts::Join, ..OrganizationImport::new(key) }
}

/// Another organization that Nora administers, and in which Nils is suspended. Both proved their addresses before: whoever proves one by
/// accepting loses the password that was set for them (B142).
async fn shippers(app: &App) -> Caller {
    movers(app).await;
    run_sql(app, &format!("UPDATE tenant_auth_users SET is_email_verified = TRUE WHERE email IN ('{NORA}', '{NILS}')")).await;
    let new = NewOrganization::new(
        "Shippers".parse().expect("a name"),
        "shippers".parse().expect("a slug"),
        NORA.parse().expect("an address"),
    );
    app.auth.operator().create_organization(new).await.expect("it is new");
    let nora = joining(app, NORA).await;
    nora.invite(NILS).await.expect(201);
    let nils = joining(app, NILS).await;
    let id = nils.get("/auth/profile").await.expect_ok()["user"]["id"].as_str().expect("an id").to_owned();
    nora.set_metadata(&id, json!({ "team": "research" })).await.expect(200);
    nora.set_status(&id, "suspended").await.expect(200);
    nora
}

async fn joining(app: &App, email: &str) -> Caller {
    let token = app.link_token_of(email).await;
    let caller = logged_in(app, email).await.at_org("shippers");
    caller.accept_with_account(&token).await.expect(200);
    caller.login_with(email, PASSWORD).await.expect(200);
    caller
}

/// What memberships are, by person.
fn places(members: &[Value]) -> Vec<Value> {
    let fields = ["userId", "email", "role", "status", "joinedAt", "metadata"];
    members.iter().map(|member| Value::Array(fields.map(|field| member[field].clone()).to_vec())).collect()
}

async fn who_belongs_to_two_organizations_belongs_to_both_at_the_target(app: &App) {
    let before = places(&shippers(app).await.members().await);
    assert_eq!(before.len(), 2);
    let target = another(app).await;
    for slug in ["movers", "shippers"] {
        let (file, key) = exported_of(app, slug, true).await;
        let done = import(&target, &file, &trusting(key)).await.expect("nothing clashes");
        assert_eq!((done.members, done.linked, done.without_password, done.lacks_admin), (2, 0, 0, false), "{slug}");
    }
    for email in [NORA, NILS] {
        assert_eq!(target.mail_to(email).await.len(), 0, "nobody is asked anew");
    }
    let there = |email: &'static str, slug: &'static str| {
        let caller = target.anonymous().at_org(slug);
        async move { (caller.login_with(email, PASSWORD).await, caller) }
    };
    for (email, slug) in [(NORA, "movers"), (NORA, "shippers"), (NILS, "movers")] {
        there(email, slug).await.0.expect(200);
    }
    there(NILS, "shippers").await.0.expect_error(403, "suspended");
    let (_, nora) = there(NORA, "shippers").await;
    assert_eq!(places(&nora.members().await), before);
    assert!(nora.pending_invites().await.is_empty());
}

async fn who_is_linked_is_invited_also_where_somebody_vouches_for_the_source(app: &App) {
    shippers(app).await;
    let target = target(app).await;
    let (file, key) = exported(app, true).await;
    import(&target, &file, &trusting(key)).await.expect("nothing clashes");
    let (file, key) = exported_of(app, "shippers", true).await;
    for (trust, dry_run) in [(true, true), (false, false)] {
        let how = OrganizationImport { trust, dry_run, existing: ExistingAccounts::Link, ..OrganizationImport::new(key.clone()) };
        let done = import(&target, &file, &how).await.expect("nothing clashes");
        assert_eq!((done.members, done.linked, done.invites, done.lacks_admin), (0, 2, 1, true), "Nils was suspended");
    }
    assert_eq!(target.mail_to(NORA).await.len(), 1);
}

async fn nobody_joins_from_a_source_that_nobody_vouches_for(app: &App) {
    movers(app).await;
    let (file, key) = exported(app, false).await;
    let target = target(app).await;
    let refused = reasons(import(&target, &file, &OrganizationImport { trust: false, ..trusting(key) }).await);
    assert!(refused.len() == 1 && refused[0].contains("needs --trust"), "{refused:?}");
    assert!(!is_there(&target).await);
}

async fn an_organization_without_an_active_admin_is_told_of(app: &App) {
    movers(app).await;
    for (role, lacks) in [("org_admin", false), ("member", true)] {
        let of_movers = "org_id IN (SELECT id FROM tenant_auth_organizations WHERE slug = 'movers')";
        run_sql(app, &format!("UPDATE tenant_auth_memberships SET role = '{role}' WHERE {of_movers}")).await;
        let (file, key) = exported(app, false).await;
        let done = import(&target(app).await, &file, &OrganizationImport::new(key)).await.expect("nothing clashes");
        assert_eq!(done.lacks_admin, lacks, "{role}");
    }
}
