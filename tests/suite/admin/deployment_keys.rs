//! Deployment keys with the scope `organizations`: the product makes and changes organizations without a person, and its key alone
//! is looked at.

use serde_json::json;
use tenant_auth_conformance::{App, Caller, Request, routes, scenarios};
use tenant_auth_core::{
    Error,
    model::DeploymentScope::{MembersRead, Organizations, Verify},
    operator::{NewOrganization, OrganizationChange},
    secret::ApiKeyText,
};

use crate::suite::{
    admin::operators::operator,
    public::deployment_keys::{made, new_key},
    support::{hooks::run_sql, stored},
};

scenarios![
    the_product_makes_changes_and_lists_organizations,
    what_it_does_is_told_with_the_keys_id,
    the_key_alone_is_looked_at,
    a_bad_key_is_401_and_a_guess,
    it_is_never_shown_by_a_browser_here_either,
    the_operators_organization_stays_beyond_it,
    pages_are_full_without_the_operators_organization,
    a_key_that_ended_meanwhile_changes_nothing,
    invites_end_with_the_key_that_sent_them,
    a_key_ends_also_where_its_invites_cannot_be_told_of,
    keys_send_a_thousand_invites_a_day,
];

const NEW: &str = "/admin/organizations";

/// The product's backend, which names no organization.
async fn product(app: &App) -> Caller {
    app.anonymous().without_slug().with("X-API-Key", &made(app, new_key(&[Organizations])).await.1)
}

/// Each operation, about `globex` where it is about an organization; none of them changes anything where it is refused.
fn operations(caller: &Caller) -> Vec<Request> {
    let rows = routes::table().iter().filter(|row| row.template.starts_with("/admin/organizations"));
    let requests: Vec<Request> = rows
        .map(|row| {
            let request = caller.request(&row.method, &row.path_with("globex"));
            if row.method == "GET" { request } else { request.json(&json!({ "email": "nora@new.example" })) }
        })
        .collect();
    assert_eq!(requests.len(), 6);
    requests
}

async fn the_product_makes_changes_and_lists_organizations(app: &App) {
    let product = product(app).await;
    let new = json!({ "name": "Newcomers", "slug": "newcomers", "adminEmail": "nora@new.example" });
    let created = product.post(NEW, new.clone()).await.expect(201).data();
    assert_eq!((&created["org"]["slug"], &created["invite"]["role"]), (&"newcomers".into(), &"org_admin".into()));
    product.post(NEW, new).await.expect_error(409, "slug_taken");
    let changed = product.patch("/admin/organizations/newcomers", json!({ "plan": "enterprise", "status": "suspended" })).await;
    assert_eq!(changed.expect_ok()["org"]["status"], "suspended");
    product.patch("/admin/organizations/newcomers", json!({ "status": "active" })).await.expect(200);
    product.post("/admin/organizations/newcomers/invites", json!({ "email": "olga@new.example" })).await.expect(201);
    product.patch("/admin/organizations/nobody", json!({})).await.expect_error(404, "not_found");
    product.post(NEW, json!({ "name": "" })).await.expect(400);
    let listed = product.get(NEW).await.expect_ok()["organizations"].as_array().expect("a list").len();
    assert_eq!(listed, 3);
    app.tick().await;
    let nora = app.anonymous().at_org("newcomers");
    nora.accept(&app.link_token_of("nora@new.example").await, "Nora").await.expect(200);
}

async fn what_it_does_is_told_with_the_keys_id(app: &App) {
    let (id, key) = made(app, new_key(&[Organizations])).await;
    let product = app.anonymous().without_slug().with("X-API-Key", &key);
    product.patch("/admin/organizations/acme", json!({ "plan": "enterprise" })).await.expect(200);
    let told = stored::events_of(app, "acme").await.pop().expect("an event");
    assert_eq!((&told["type"], &told["actor"]), (&"org.updated".into(), &json!({ "type": "deployment_key", "id": id.as_str() })));
    let log = app.admin().logged_in().await.get(&format!("/org/audit?actor={id}")).await.expect_ok();
    let entry = &log["entries"][0];
    assert_eq!(entry["actor"], json!({ "type": "deployment_key", "id": id.as_str(), "name": "The product" }));
    assert!(entry["context"].is_null(), "where the product runs is not the organization's business: {entry}");
}

/// Neither a session beside the key nor a slug counts, and no organization's key does here.
async fn the_key_alone_is_looked_at(app: &App) {
    let (app, ada, _) = operator(app).await;
    let (good, without) = (made(&app, new_key(&[Organizations])).await.1, made(&app, new_key(&[Verify, MembersRead])).await.1);
    let bad = format!("{}A", &good[..good.len() - 1]);
    let bad = if bad == good { format!("{}B", &good[..good.len() - 1]) } else { bad };
    let member = app.member().logged_in().await;
    let callers = [
        app.anonymous(),
        app.anonymous().without_slug(),
        app.anonymous().at_org("nowhere"),
        app.anonymous().without_slug().with("X-Org-Slug", "NO SLUG"),
        app.anonymous().with_bearer("rubbish"),
        app.anonymous().with("Cookie", "access_token=rubbish"),
        member.copied(),
        member.elsewhere().with_bearer(&member.access_token()),
        ada.copied(),
    ];
    for caller in &callers {
        caller.get(NEW).header("X-API-Key", good.as_str()).await.expect(200);
        caller.patch("/admin/organizations/globex", json!({})).header("X-API-Key", good.as_str()).await.expect(200);
        for request in operations(caller) {
            request.header("X-API-Key", without.as_str()).await.expect_error(403, "missing_scope");
        }
        caller.get(NEW).header("X-API-Key", bad.as_str()).await.expect_error(401, "invalid_api_key");
        let twice = caller.get(NEW).header("X-API-Key", good.as_str()).header("X-API-Key", good.as_str());
        twice.await.expect_error(401, "invalid_api_key");
    }
    for request in operations(&app.backend()) {
        request.await.expect_no_session();
    }
    ada.get(NEW).header("X-API-Key", app.org().api_key()).await.expect(200);
    // What the scope opens it opens here only.
    let product = app.other_org().anonymous().backend_with(&good);
    product.verify("x").await.expect_error(403, "missing_scope");
    product.get("/public/members").await.expect_error(403, "missing_scope");
    product.get("/org").await.expect_error(403, "missing_scope");
    product.get("/auth/profile").await.expect_no_session();
}

async fn a_bad_key_is_401_and_a_guess(app: &App) {
    let guess = app.anonymous().without_slug().with("X-API-Key", "dk_live_00000000000000000000000000guess");
    let mut refused = 0;
    while guess.get(NEW).await.status == 401 {
        refused += 1;
    }
    assert_eq!(refused, 30);
    guess.get(NEW).await.expect_error(429, "rate_limited");
    product(app).await.get(NEW).await.expect(200);
    let networks = vec!["203.0.113.0/24".parse().expect("a network")];
    let (_, elsewhere) = made(app, tenant_auth_core::operator::NewDeploymentKey { networks, ..new_key(&[Organizations]) }).await;
    app.anonymous().without_slug().with("X-API-Key", &elsewhere).get(NEW).await.expect_error(401, "invalid_api_key");
}

async fn it_is_never_shown_by_a_browser_here_either(app: &App) {
    let product = product(app).await;
    for (name, value) in [
        ("Origin", "http://localhost:8080"),
        ("Sec-Fetch-Site", "same-origin"),
        ("Sec-Fetch-Site", "none"),
        ("X-Client-IP", "203.0.113.9"),
    ] {
        for request in operations(&product) {
            request.header(name, value).await.expect_error(403, "forbidden_origin");
        }
    }
}

async fn the_operators_organization_stays_beyond_it(app: &App) {
    let (app, _, _) = operator(app).await;
    let product = product(&app).await;
    product.patch("/admin/organizations/acme", json!({ "plan": "free" })).await.expect_error(404, "not_found");
    let invite = product.post("/admin/organizations/acme/invites", json!({ "email": "eve@evil.example" }));
    invite.await.expect_error(404, "not_found");
    let listed = product.get(NEW).await.expect_ok()["organizations"].as_array().expect("a list").clone();
    assert!(!listed.is_empty() && listed.iter().all(|org| org["slug"] != "acme"), "{listed:?}");
    let app = app.beside(|setup| setup.config.organizations.operator_org = Some("operators".parse().expect("a slug"))).await;
    let taken = json!({ "name": "Operators", "slug": "operators", "adminEmail": "eve@evil.example" });
    product.via(&app).post(NEW, taken).await.expect_error(409, "slug_taken");
}

async fn pages_are_full_without_the_operators_organization(app: &App) {
    let (app, ..) = operator(app).await;
    let product = product(&app).await;
    for query in ["limit=1", "limit=1&order=desc"] {
        let (mut walked, mut next) = (0, String::new());
        loop {
            let page = product.get(&format!("{NEW}?{query}{next}")).await.expect_ok();
            assert_eq!(page["organizations"].as_array().map(Vec::len), Some(1), "{query}{next}");
            walked += 1;
            let Some(cursor) = page["nextCursor"].as_str() else { break };
            next = format!("&cursor={cursor}");
        }
        assert_eq!(walked, product.get(NEW).await.expect_ok()["organizations"].as_array().map_or(0, Vec::len));
    }
}

async fn a_key_that_ended_meanwhile_changes_nothing(app: &App) {
    let (id, key) = made(app, new_key(&[Organizations])).await;
    let admin = app.auth.deployment_admin(&ApiKeyText::new(key), None).await.expect("a live key");
    app.auth.operator().revoke_deployment_key(&id).await.expect("it lives");
    let (name, slug, email) = ("Late".parse().expect("a name"), "late".parse().expect("a slug"), "l@late.example".parse());
    let late = admin.create_organization(NewOrganization::new(name, slug, email.expect("an address"))).await;
    assert!(matches!(late, Err(Error::InvalidApiKey)), "{late:?}");
    let globex = "globex".parse().expect("a slug");
    let late = admin
        .change_organization(&globex, OrganizationChange { plan: Some("late".parse().expect("a plan")), ..Default::default() });
    let late = late.await;
    assert!(matches!(late, Err(Error::InvalidApiKey)), "{late:?}");
    assert_eq!(app.auth.operator().organizations().await.expect("a list").len(), 2);
}

async fn invites_end_with_the_key_that_sent_them(app: &App) {
    let operator = app.auth.operator();
    for is_leaked in [true, false] {
        let (id, key) = made(app, new_key(&[Organizations])).await;
        let product = app.anonymous().without_slug().with("X-API-Key", &key);
        let slug = if is_leaked { "newcomers" } else { "successors" };
        let new = json!({ "name": "Newcomers", "slug": slug, "adminEmail": "nora@new.example" });
        product.post(NEW, new).await.expect(201);
        product.post("/admin/organizations/acme/invites", json!({ "email": "mallory@evil.example" })).await.expect(201);
        let (_, other) = made(app, new_key(&[Organizations])).await;
        let other = app.anonymous().without_slug().with("X-API-Key", &other);
        let kept = format!("kept@{slug}.example");
        other.post("/admin/organizations/globex/invites", json!({ "email": kept })).await.expect(201);
        app.tick().await;
        let (nora, mallory) = (app.link_token_of("nora@new.example").await, app.link_token_of("mallory@evil.example").await);
        if is_leaked {
            app.anonymous().without_slug().post("/keys/leaked", json!({ "key": key })).await.expect(200);
        } else {
            operator.revoke_deployment_key(&id).await.expect("it is there");
        }
        app.anonymous().at_org(slug).accept(&nora, "Nora").await.expect_error(400, "invalid_invite");
        app.anonymous().at_org("acme").accept(&mallory, "Mallory").await.expect_error(400, "invalid_invite");
        app.anonymous().at_org("globex").accept(&app.link_token_of(&kept).await, "Kept").await.expect(200);
        for slug in [slug, "acme"] {
            let told = stored::events_of(app, slug).await.pop().expect("an event");
            assert_eq!((&told["type"], &told["actor"]["type"]), (&"invite.revoked".into(), &"system".into()));
        }
    }
}

/// The row of the invite was damaged by hand.
async fn a_key_ends_also_where_its_invites_cannot_be_told_of(app: &App) {
    for is_leaked in [true, false] {
        let (id, key) = made(app, new_key(&[Organizations])).await;
        let product = app.anonymous().without_slug().with("X-API-Key", &key);
        let invited = format!("mallory-{is_leaked}@evil.example");
        product.post("/admin/organizations/acme/invites", json!({ "email": invited })).await.expect(201);
        let role_of_it = async |role: &str| {
            run_sql(app, &format!("UPDATE tenant_auth_invites SET role = '{role}' WHERE email = '{invited}'")).await;
        };
        role_of_it("rubbish").await;
        if is_leaked {
            app.anonymous().without_slug().post("/keys/leaked", json!({ "key": key })).await.expect(200);
        } else {
            app.auth.operator().revoke_deployment_key(&id).await.expect("it is there");
        }
        product.get(NEW).await.expect_error(401, "invalid_api_key");
        role_of_it("org_admin").await;
        app.tick().await;
        let told = stored::events_of(app, "acme").await.pop().expect("an event");
        assert_eq!(told["type"], "invite.revoked", "{told}");
    }
}

async fn keys_send_a_thousand_invites_a_day(app: &App) {
    let (product, second) = (product(app).await, product(app).await);
    let invite = |email: &str| json!({ "email": email });
    product.post("/admin/organizations/acme/invites", invite("a@new.example")).await.expect(201);
    run_sql(app, "UPDATE tenant_auth_throttles SET failures = 999 WHERE key LIKE 'deployment-invites:%'").await;
    second.post("/admin/organizations/acme/invites", invite("b@new.example")).await.expect(201);
    product.post("/admin/organizations/globex/invites", invite("c@new.example")).await.expect_error(429, "rate_limited");
    let new = json!({ "name": "Newcomers", "slug": "newcomers", "adminEmail": "nora@new.example" });
    product.post(NEW, new.clone()).await.expect_error(429, "rate_limited");
    let globex = "globex".parse().expect("a slug");
    app.auth.operator().invite_admin(&globex, &"d@new.example".parse().expect("an address")).await.expect("no key, no limit");
    app.advance(24 * 3_600);
    product.post(NEW, new).await.expect(201);
}
