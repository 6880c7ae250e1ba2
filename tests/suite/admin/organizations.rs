//! What operators of the deployment do: make organizations, list and change them, and invite their admins. What happened is told to
//! the organization with the operator's id.

use serde_json::{Value, json};
use tenant_auth_conformance::{App, Caller, PUBLIC_URL, id_of, scenarios, shape};

use crate::suite::{
    admin::operators::operator,
    support::{account::linked_token, stored},
};

scenarios![
    organizations_are_listed_oldest_first,
    organizations_are_walked_page_by_page,
    organizations_are_found_by_a_part_of_name_or_slug_and_by_status,
    an_organization_is_shown_with_its_figures,
    an_organization_is_made_with_an_invite_for_its_admin,
    what_is_left_out_has_its_default,
    a_slug_that_is_taken_is_409,
    each_field_of_a_new_organization_is_judged,
    details_are_changed_and_what_is_left_out_stays,
    each_field_of_a_change_is_judged,
    a_suspension_shuts_everybody_out_until_it_is_lifted,
    the_operators_own_organization_is_not_suspended,
    an_admin_is_invited_where_nobody_is_one,
    who_belongs_there_or_was_invited_is_409,
    an_organization_that_there_is_not_is_404,
    what_operators_do_is_told_with_their_id,
    a_change_that_changes_nothing_is_told_to_nobody,
];

const NEW: &str = "/admin/organizations";

fn newcomers() -> Value {
    json!({ "name": "Newcomers", "slug": "newcomers", "adminEmail": "Nora@new.example", "plan": "pro", "appUrl": "https://new.example" })
}

async fn listed(operator: &Caller) -> Vec<Value> {
    operator.get(NEW).await.expect_ok()["organizations"].as_array().expect("a list").clone()
}

async fn organizations_are_listed_oldest_first(app: &App) {
    let (app, ada, _) = operator(app).await;
    app.advance(1);
    ada.post(NEW, newcomers()).await.expect(201);
    let all = listed(&ada).await;
    let slugs: Vec<&str> = all.iter().map(|org| org["slug"].as_str().expect("a slug")).collect();
    assert_eq!(slugs.last(), Some(&"newcomers"));
    assert_eq!(
        {
            let mut slugs = slugs.clone();
            slugs.sort_unstable();
            slugs
        },
        ["acme", "globex", "newcomers"]
    );
    for org in &all {
        assert_eq!(shape(org), ["appUrl", "createdAt", "deletesAt", "id", "name", "plan", "slug", "status", "trusted"]);
    }
}

async fn organizations_are_walked_page_by_page(app: &App) {
    let (app, ada, _) = operator(app).await;
    for n in 0..4 {
        app.advance(u64::from(n % 2 == 0));
        ada.post(NEW, json!({ "name": "N", "slug": format!("new-{n}"), "adminEmail": "n@new.example" })).await.expect(201);
    }
    crate::suite::http::pagination::expect_walkable(&ada, NEW, "organizations", 6).await;
    for query in ["limit=0", "limit=1001", "limit=x", "limit=1&limit=2"] {
        ada.get(&format!("{NEW}?{query}")).await.expect_invalid("limit");
    }
    ada.get(&format!("{NEW}?cursor=x")).await.expect_invalid("cursor");
}

async fn organizations_are_found_by_a_part_of_name_or_slug_and_by_status(app: &App) {
    let (app, ada, _) = operator(app).await;
    for (name, slug) in [("Söhne & Co", "sons"), ("Daughters", "tochter"), ("Nobody", "sohn-2")] {
        app.advance(1);
        ada.post(NEW, json!({ "name": name, "slug": slug, "adminEmail": "n@new.example" })).await.expect(201);
    }
    ada.patch(&format!("{NEW}/sohn-2"), json!({ "status": "suspended" })).await.expect(200);
    let found = async |query: &str| {
        let data = ada.get(&format!("{NEW}?{query}")).await.expect_ok();
        let slugs =
            data["organizations"].as_array().expect("a list").iter().map(|org| org["slug"].as_str().expect("a slug").to_owned());
        (slugs.collect::<Vec<_>>(), data["nextCursor"].as_str().map(str::to_owned))
    };
    assert_eq!(found("search=S%C3%96HN").await, (vec!["sons".to_owned()], None));
    assert_eq!(found("search=OHN").await.0, ["sohn-2"]);
    assert_eq!(found("search=o&state=suspended").await.0, ["sohn-2"]);
    assert_eq!(found("search=100%25").await.0, [""; 0]);
    let (first, next) = found("search=so&limit=1&order=desc").await;
    assert_eq!(first, ["sohn-2"]);
    let next = next.expect("more");
    assert_eq!(found(&format!("search=so&limit=1&order=desc&cursor={next}")).await, (vec!["sons".to_owned()], None));
    ada.get(&format!("{NEW}?search=other&order=desc&cursor={next}")).await.expect_invalid("cursor");
    ada.get(&format!("{NEW}?state=gone")).await.expect_invalid("state");
    ada.get(&format!("{NEW}?search={}", "x".repeat(101))).await.expect_invalid("search");
}

async fn an_organization_is_shown_with_its_figures(app: &App) {
    let (app, ada, _) = operator(app).await;
    let admin = app.other_org().admin().logged_in().await;
    ada.post(NEW, newcomers()).await.expect(201);
    let made = ada.get(&format!("{NEW}/newcomers")).await.expect_ok();
    assert_eq!(made["createdBy"], Value::Null, "an operator made it");
    let before = ada.get(&format!("{NEW}/globex")).await.expect_ok();
    assert_eq!(shape(&before), ["createdBy", "figures", "org"]);
    assert_eq!(shape(&before["figures"]), ["activeAdmins", "members", "pendingInvites"]);
    admin.invite("nora@new.example").await.expect(201);
    let max = app.other_org().member().logged_in().await;
    admin.set_status(max.id(), "suspended").await.expect(200);
    let after = ada.get(&format!("{NEW}/globex")).await.expect_ok();
    assert_eq!(after["figures"]["members"], before["figures"]["members"], "the suspended ones, too");
    assert_eq!((&after["figures"]["activeAdmins"], &after["figures"]["pendingInvites"]), (&1.into(), &1.into()));
    admin.remove(max.id()).await.expect(200);
    let last = ada.get(&format!("{NEW}/globex")).await.expect_ok();
    assert_eq!(last["figures"]["members"].as_i64(), before["figures"]["members"].as_i64().map(|number| number - 1));
}

async fn an_organization_is_made_with_an_invite_for_its_admin(app: &App) {
    let (app, ada, _) = operator(app).await;
    let data = ada.post(NEW, newcomers()).await.expect(201).data();
    assert_eq!(shape(&data), ["invite", "org"]);
    let (org, invite) = (&data["org"], &data["invite"]);
    assert_eq!(shape(invite), ["email", "expiresAt", "id", "role"]);
    assert_eq!((&invite["email"], &invite["role"]), (&"Nora@new.example".into(), &"org_admin".into()));
    assert_eq!((&org["slug"], &org["plan"], &org["status"]), (&"newcomers".into(), &"pro".into(), &"active".into()));
    assert_eq!((&org["name"], &org["appUrl"]), (&"Newcomers".into(), &"https://new.example".into()));

    let mail = app.mail_to("Nora@new.example").await.pop().expect("a mail");
    let token = linked_token(&mail, "invite", "newcomers");
    for revealing in [ada.email(), "Ada"] {
        assert!(!mail.text.contains(revealing), "an operator is nobody the organization knows: {}", mail.text);
    }
    let nora = app.anonymous().at_org("newcomers");
    assert_eq!(nora.accept(&token, "Nora").await.expect_ok()["membership"]["role"], "org_admin");
    assert_eq!(nora.get("/auth/profile").await.expect_ok()["user"]["role"], "user", "an org_admin, and no operator");
    assert_eq!(nora.get("/org").await.expect_ok()["org"]["id"], org["id"]);
    assert_eq!(nora.members().await.len(), 1, "its operator is not among its members");
    ada.clone().at_org("newcomers").get("/org").await.expect_error(401, "wrong_organization");
}

async fn what_is_left_out_has_its_default(app: &App) {
    let (_app, ada, _) = operator(app).await;
    let bare = json!({ "name": "Newcomers", "slug": "newcomers", "adminEmail": "nora@new.example" });
    let org = ada.post(NEW, bare).await.expect(201).data()["org"].clone();
    assert_eq!((&org["plan"], &org["appUrl"]), (&"free".into(), &Value::Null));
}

async fn a_slug_that_is_taken_is_409(app: &App) {
    let (app, ada, _) = operator(app).await;
    for taken in ["acme", "globex"] {
        let body = json!({ "name": "Mine", "slug": taken, "adminEmail": "nora@new.example" });
        ada.post(NEW, body).await.expect_error(409, "slug_taken");
    }
    assert!(app.mail_to("nora@new.example").await.is_empty());
    assert_eq!(listed(&ada).await.len(), 2);
}

async fn each_field_of_a_new_organization_is_judged(app: &App) {
    let (_app, ada, _) = operator(app).await;
    for field in ["name", "slug", "adminEmail"] {
        let mut without = newcomers();
        without.as_object_mut().expect("an object").remove(field);
        ada.post(NEW, without).await.expect_invalid(field);
    }
    let bad = [
        ("name", json!("")),
        ("name", json!("a\u{202E}b")),
        ("name", json!("x".repeat(101))),
        ("slug", json!("New")),
        ("slug", json!("n")),
        ("slug", json!("new--comers")),
        ("slug", json!(5)),
        ("adminEmail", json!("nora")),
        ("adminEmail", json!(null)),
        ("plan", json!("Gold!")),
        ("plan", json!("x".repeat(33))),
        ("appUrl", json!("http://new.example")),
        ("appUrl", json!("javascript:alert(1)")),
        ("name", json!("a\0b")),
    ];
    for (field, value) in bad {
        let mut body = newcomers();
        body[field] = value;
        ada.post(NEW, body).await.expect_invalid(field);
    }
    assert_eq!(listed(&ada).await.len(), 2);
    let mut odd = newcomers();
    odd["id"] = "org_00000000000000000000000000".into();
    odd["status"] = "suspended".into();
    let org = ada.post(NEW, odd).await.expect(201).data()["org"].clone();
    assert!(org["status"] == "active" && org["id"] != "org_00000000000000000000000000", "unknown fields have no effect: {org}");
}

async fn details_are_changed_and_what_is_left_out_stays(app: &App) {
    let (app, ada, _) = operator(app).await;
    let greta = app.other_org().admin().logged_in().await;
    greta.patch("/org", json!({ "allowedOrigins": ["https://one.globex.example"] })).await.expect(200);
    let before = greta.get("/org").await.expect_ok()["org"].clone();
    let change = async |body: Value| {
        let data = ada.patch("/admin/organizations/globex", body).await.expect_ok();
        assert_eq!(shape(&data), ["org"]);
        data["org"].clone()
    };
    let after = change(json!({ "plan": "enterprise", "slug": "better", "id": "x" })).await;
    assert_eq!((&after["plan"], &after["slug"], &after["id"]), (&"enterprise".into(), &"globex".into(), &before["id"]));
    assert_eq!((&after["name"], &after["appUrl"]), (&before["name"], &before["appUrl"]));
    let after = change(json!({ "name": "Globex Limited", "appUrl": null })).await;
    assert_eq!((&after["name"], &after["appUrl"], &after["plan"]), (&"Globex Limited".into(), &Value::Null, &"enterprise".into()));
    let seen = greta.get("/org").await.expect_ok()["org"].clone();
    assert_eq!((&seen["plan"], &seen["name"]), (&"enterprise".into(), &"Globex Limited".into()));
    assert_eq!(seen["allowedOrigins"], before["allowedOrigins"], "an operator's change leaves them alone");
}

async fn each_field_of_a_change_is_judged(app: &App) {
    let (_app, ada, _) = operator(app).await;
    let bad = [
        ("name", json!("")),
        ("name", json!(7)),
        ("plan", json!("Gold!")),
        ("appUrl", json!("ftp://globex.example")),
        ("status", json!("deleted")),
        ("status", json!(true)),
    ];
    for (field, value) in bad {
        ada.patch("/admin/organizations/globex", json!({ field: value })).await.expect_invalid(field);
    }
    ada.patch("/admin/organizations/globex", json!({ "name": "N", "status": "deleted" })).await.expect_invalid("status");
    let globex = listed(&ada).await.into_iter().find(|org| org["slug"] == "globex").expect("it is there");
    assert_eq!(globex["name"], "Globex Corporation");
}

async fn a_suspension_shuts_everybody_out_until_it_is_lifted(app: &App) {
    let (app, ada, _) = operator(app).await;
    let gus = app.other_org().member().logged_in().await;
    let org = ada.patch("/admin/organizations/globex", json!({ "status": "suspended" })).await.expect_ok()["org"].clone();
    assert_eq!(org["status"], "suspended");
    gus.get("/org").await.expect_error(403, "suspended");
    assert!(!app.other_org().backend().finds_valid(&gus.access_token()).await);
    ada.patch("/admin/organizations/globex", json!({ "status": "active" })).await.expect(200);
    gus.get("/org").await.expect(200);
}

async fn the_operators_own_organization_is_not_suspended(app: &App) {
    let (app, ada, _) = operator(app).await;
    let refused = ada.patch("/admin/organizations/acme", json!({ "name": "Closed", "status": "suspended" })).await;
    refused.expect_error(400, "operator_organization");
    assert_eq!(ada.get("/org").await.expect_ok()["org"]["name"], "Acme Rockets", "all of it or nothing");
    let slug = "acme".parse().expect("a slug");
    let by_command = app.auth.operator().set_organization_status(&slug, tenant_auth_core::model::Status::Suspended).await;
    assert!(by_command.is_err_and(|error| error.to_string().contains("locked out")));
    ada.patch("/admin/organizations/acme", json!({ "name": "Acme Operations", "status": "active" })).await.expect(200);
    assert_eq!(ada.get("/org").await.expect_ok()["org"]["name"], "Acme Operations");
}

async fn an_admin_is_invited_where_nobody_is_one(app: &App) {
    let (app, ada, _) = operator(app).await;
    let greta = app.other_org().admin();
    app.auth.operator().delete_user(&greta.email().parse().expect("an address")).await.expect("she is there");
    let data = ada.post("/admin/organizations/globex/invites", json!({ "email": "nora@new.example", "role": "member" })).await;
    let data = data.expect(201).data();
    assert_eq!(shape(&data), ["invite"]);
    assert_eq!(shape(&data["invite"]), ["email", "expiresAt", "id", "role"]);
    assert_eq!(data["invite"]["role"], "org_admin", "whatever else was asked for");
    let mail = app.mail_to("nora@new.example").await.pop().expect("a mail");
    assert!(mail.text.contains(&format!("{PUBLIC_URL}/invite#org=globex")), "{}", mail.text);
    let nora = app.other_org().anonymous();
    nora.accept(&linked_token(&mail, "invite", "globex"), "Nora").await.expect(200);
    nora.get("/org/invites").await.expect(200);

    ada.post("/admin/organizations/globex/invites", json!({ "email": "olga@new.example" })).await.expect(201);
    let pending = nora.pending_invites().await;
    assert_eq!((pending.len(), &pending[0]["invitedBy"]), (1, &Value::Null));
    nora.delete(&format!("/org/invites/{}", id_of(&pending[0]))).await.expect(200);
}

async fn who_belongs_there_or_was_invited_is_409(app: &App) {
    let (app, ada, _) = operator(app).await;
    let invite = |email: &str| ada.post("/admin/organizations/globex/invites", json!({ "email": email }));
    invite(app.other_org().member().email()).await.expect_error(409, "already_member");
    invite("nora@new.example").await.expect(201);
    invite("NORA@new.example").await.expect_error(409, "already_invited");
    invite("nora").await.expect_invalid("email");
    ada.post("/admin/organizations/globex/invites", json!({})).await.expect_invalid("email");
}

async fn an_organization_that_there_is_not_is_404(app: &App) {
    let (_app, ada, _) = operator(app).await;
    for slug in ["nowhere", "Acme", "%00", "a", "..%2Facme", "acme%20", "org_00000000000000000000000000"] {
        ada.patch(&format!("{NEW}/{slug}"), json!({ "name": "N" })).await.expect_error(404, "not_found");
        ada.post(&format!("{NEW}/{slug}/invites"), json!({ "email": "n@new.example" })).await.expect_error(404, "not_found");
        ada.get(&format!("{NEW}/{slug}")).await.expect_error(404, "not_found");
        ada.delete(&format!("{NEW}/{slug}")).await.expect_error(404, "not_found");
    }
}

async fn what_operators_do_is_told_with_their_id(app: &App) {
    let (app, ada, _) = operator(app).await;
    let created = ada.post(NEW, newcomers()).await.expect(201).data();
    let both = json!({ "plan": "enterprise", "status": "suspended" });
    ada.patch("/admin/organizations/newcomers", both).await.expect(200);
    ada.patch("/admin/organizations/newcomers", json!({ "status": "active" })).await.expect(200);
    let told = stored::events_of(&app, "newcomers").await;
    let kinds: Vec<&str> = told.iter().map(|event| event["type"].as_str().expect("a type")).collect();
    assert_eq!(kinds, ["invite.created", "org.updated", "org.suspended", "org.reactivated"]);
    for event in &told {
        assert_eq!(event["actor"], json!({ "type": "user", "id": ada.id() }));
        assert_eq!(event["org"], json!({ "id": created["org"]["id"], "slug": "newcomers" }));
    }
    assert_eq!(told[0]["data"], json!({ "invite": created["invite"] }));
    let plan_and_status = |org: &Value| (org["plan"].clone(), org["status"].clone());
    let states = [("pro", "active"), ("enterprise", "active"), ("enterprise", "suspended"), ("enterprise", "active")];
    for (event, change) in told[1..].iter().zip(states.windows(2)) {
        assert_eq!(plan_and_status(&event["data"]["previous"]), (change[0].0.into(), change[0].1.into()));
        assert_eq!(plan_and_status(&event["data"]["org"]), (change[1].0.into(), change[1].1.into()));
    }
}

async fn a_change_that_changes_nothing_is_told_to_nobody(app: &App) {
    let (app, ada, _) = operator(app).await;
    let before = stored::events_of(&app, "globex").await;
    for nothing in [json!({}), json!({ "status": "active" }), json!({ "name": "Globex Corporation", "plan": "pro" })] {
        ada.patch("/admin/organizations/globex", nothing).await.expect(200);
    }
    ada.patch("/admin/organizations/acme", json!({ "status": "suspended" })).await.expect(400);
    ada.post(NEW, json!({ "name": "N", "slug": "globex", "adminEmail": "n@new.example" })).await.expect(409);
    assert_eq!(stored::events_of(&app, "globex").await, before);
}
