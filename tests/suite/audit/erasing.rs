//! Deleting an account erases the person: what the audit log, the feed and waiting deliveries tell of them, and nothing else.

use serde_json::{Value, json};
use tenant_auth_conformance::{App, Caller, id_of, scenarios};
use tenant_auth_core::Error;

use crate::suite::{
    admin::persons::naming,
    support::{
        account::change_address,
        chain::{column, verified},
        hooks::{Hook, RECEIVER, event_in, run_sql},
    },
};

scenarios![
    what_is_told_of_a_deleted_person_is_erased_and_the_chain_holds,
    a_person_is_erased_from_all_of_a_long_log,
    what_a_deleted_person_did_keeps_its_data_and_loses_its_context,
    an_address_is_erased_where_it_was_only_invited,
    an_address_that_never_had_an_account_is_erased,
    an_address_that_is_told_again_is_erased_again,
    an_address_of_before_is_erased_up_to_the_change,
    an_address_of_before_that_nobody_proved_is_left_to_other_organizations,
    an_address_that_an_intruder_gave_an_account_is_left_to_other_organizations,
    who_has_a_former_address_now_is_not_erased_with_it,
    a_waiting_delivery_tells_nothing_of_the_person_any_more,
    a_former_organization_is_told_and_others_are_not,
];

async fn deleted(app: &App, email: &str) {
    app.auth.operator().delete_user(&email.parse().expect("an address")).await.expect("there is an account");
}

async fn entries(admin: &Caller, query: &str) -> Vec<Value> {
    admin.get(&format!("/org/audit?limit=200&{query}")).await.expect_ok()["entries"].as_array().expect("a list").clone()
}

/// Everything that the events of an organization still tell.
async fn told(app: &App, slug: &str) -> String {
    [column(app, slug, "data").await, column(app, slug, "context").await].concat().concat()
}

async fn what_is_told_of_a_deleted_person_is_erased_and_the_chain_holds(app: &App) {
    let admin = app.admin().logged_in().await;
    let pat = app.org().new_member("Pat Person").await.logged_in().await;
    pat.put("/auth/profile", json!({ "name": "Patricia Person" })).await.expect(200);
    admin.set_metadata(pat.id(), json!({ "desk": "by the window" })).await.expect(200);
    let before = entries(&admin, &format!("user={}", pat.id())).await;
    assert!(before.len() >= 4 && before.iter().all(|entry| entry["erased"] == false), "{before:#?}");
    deleted(app, pat.email()).await;
    let after = entries(&admin, &format!("user={}", pat.id())).await;
    assert_eq!((after.len(), &after[0]["type"]), (before.len() + 3, &json!("user.deleted")), "and two that tell of the end");
    assert_eq!((&after[0]["data"], &after[0]["erased"]), (&json!({ "user": { "id": pat.id() } }), &json!(false)));
    for entry in &after[1..] {
        assert_eq!((&entry["data"], &entry["context"], &entry["erased"]), (&Value::Null, &Value::Null, &json!(true)), "{entry}");
    }
    let told = told(app, "acme").await;
    for trace in [pat.email(), "Pat Person", "Patricia", "by the window"] {
        assert!(!told.contains(trace), "{trace} is still told");
    }
    assert!(told.contains(app.member().email()), "of others, all");
    verified(app, "acme").await;
}

async fn a_person_is_erased_from_all_of_a_long_log(app: &App) {
    let pat = app.org().new_member("Pat Person").await.with("User-Agent", "Pat's telephone").logged_in().await;
    pat.put("/auth/profile", json!({ "name": "Patricia Person" })).await.expect(200);
    app.tick().await;
    // As far as a file that is imported may have come.
    let far = (1_i64 << 53) - 1_000;
    run_sql(app, &format!("UPDATE tenant_auth_events SET sequence = sequence + {far} WHERE kind <> 'user.updated'")).await;
    run_sql(app, &format!("UPDATE tenant_auth_event_sequences SET sequence = sequence + {far}, chained = chained + {far}")).await;
    pat.put("/auth/profile", json!({ "name": "Pat Person" })).await.expect(200);
    deleted(app, pat.email()).await;
    let told = told(app, "acme").await;
    for trace in [pat.email(), "Pat", "telephone"] {
        assert!(!told.contains(trace), "{trace} is still told");
    }
}

async fn what_a_deleted_person_did_keeps_its_data_and_loses_its_context(app: &App) {
    let admin = app.admin().logged_in().await;
    let pat = app.org().new_member("Pat Person").await;
    admin.set_role(pat.id(), "org_admin").await.expect(200);
    let pat = pat.with("User-Agent", "Pat's telephone").logged_in().await;
    pat.patch("/org", json!({ "name": "Pat's Acme" })).await.expect(200);
    deleted(app, pat.email()).await;
    let done = entries(&admin, &format!("actor={}&kind=org.updated", pat.id())).await;
    assert_eq!((&done[0]["data"]["org"]["name"], &done[0]["context"]), (&json!("Pat's Acme"), &Value::Null));
    assert_eq!((&done[0]["erased"], &done[0]["actor"]["name"]), (&json!(false), &Value::Null));
    assert!(!told(app, "acme").await.contains("telephone"));
    verified(app, "acme").await;
}

async fn an_address_is_erased_where_it_was_only_invited(app: &App) {
    let (admin, other) = (app.admin().logged_in().await, app.other_org().admin().logged_in().await);
    let max = app.member();
    other.invite(&max.email().to_uppercase()).await.expect(201);
    other.invite("somebody@else.example").await.expect(201);
    deleted(app, max.email()).await;
    let kinds = entries(&other, "kind=invite.*,user.deleted").await;
    let told_of: Vec<_> = kinds.iter().map(|entry| (entry["type"].as_str().expect("a kind"), entry["erased"] == true)).collect();
    let expected = [("user.deleted", false), ("invite.revoked", true), ("invite.created", false), ("invite.created", true)];
    assert_eq!(told_of[..4], expected, "{kinds:#?}");
    assert_eq!(other.pending_invites().await.len(), 1, "the invite to the address has ended");
    assert!(app.mail_to(max.email()).await.is_empty());
    assert!(!told(app, "globex").await.to_lowercase().contains(max.email()));
    for slug in ["acme", "globex"] {
        verified(app, slug).await;
    }
    admin.get("/org").await.expect(200);
}

const NORA: &str = "nora@elsewhere.example";

async fn an_address_that_never_had_an_account_is_erased(app: &App) {
    let (admin, other) = (app.admin().logged_in().await, app.other_org().admin().logged_in().await);
    admin.invite(NORA).await.expect(201);
    admin.delete(&format!("/org/invites/{}", id_of(&admin.pending_invites().await[0]))).await.expect(200);
    app.invited(&other, &NORA.to_uppercase()).await;
    other.post_nothing(&format!("/org/invites/{}/resend", id_of(&other.pending_invites().await[0]))).await.expect(200);
    app.anonymous().login_with(NORA, "wrong-otter-plinth-42").await.expect_error(401, "invalid_credentials");
    app.anonymous().without_slug().post("/auth/sign-up", json!({ "email": NORA })).await.expect(200);
    let address = NORA.parse().expect("an address");
    let gone = app.auth.operator().delete_user(&address).await.expect("there are traces");
    assert!(gone.user.is_none() && gone.without_admin.is_empty());
    assert_eq!(naming(app, NORA, NORA).await, Vec::<String>::new());
    assert!(other.pending_invites().await.is_empty());
    assert_eq!(app.mail_to(NORA).await.len(), 1, "what waited is sent to nobody");
    for (slug, caller) in [("acme", &admin), ("globex", &other)] {
        let told = entries(caller, "kind=user.deleted").await;
        let [told] = &told[..] else { panic!("{slug} is told once: {told:#?}") };
        assert!(id_of(&told["data"]["user"]).starts_with("usr_"), "{told}");
        verified(app, slug).await;
    }
    let again = app.auth.operator().delete_user(&address).await;
    assert!(matches!(again, Err(Error::NotFound(_))), "nothing is left: {again:?}");
}

async fn an_address_that_is_told_again_is_erased_again(app: &App) {
    let other = app.other_org().admin().logged_in().await;
    let max = app.member();
    deleted(app, max.email()).await;
    other.invite(max.email()).await.expect(201);
    assert!(told(app, "globex").await.contains(max.email()));
    deleted(app, max.email()).await;
    assert!(!told(app, "globex").await.contains(max.email()));
    assert_eq!(entries(&other, "kind=user.deleted").await.len(), 1);
    verified(app, "globex").await;
}

const NEXT: &str = "max.next@elsewhere.example";

async fn an_address_of_before_is_erased_up_to_the_change(app: &App) {
    let (max, other) = (app.member().logged_in().await, app.other_org().admin().logged_in().await);
    let old = max.email();
    other.invite(old).await.expect(201);
    let invites = other.pending_invites().await;
    other.delete(&format!("/org/invites/{}", id_of(&invites[0]))).await.expect(200);
    app.advance(60);
    change_address(app, &max, NEXT).await;
    app.advance(60);
    other.invite(old).await.expect(201);
    deleted(app, NEXT).await;
    let told: Vec<_> = entries(&other, "kind=invite.*,user.deleted").await;
    let told: Vec<_> = told.iter().map(|entry| (entry["type"].as_str().expect("a kind"), entry["erased"] == true)).collect();
    assert_eq!(
        told[..4],
        [("user.deleted", false), ("invite.created", false), ("invite.revoked", true), ("invite.created", true)],
        "what came after the change is about somebody else"
    );
    for slug in ["acme", "globex"] {
        verified(app, slug).await;
    }
}

/// Anybody may have made an account with it: what others told of invites to it is not the account's to wipe.
async fn an_address_of_before_that_nobody_proved_is_left_to_other_organizations(app: &App) {
    let (max, other) = (app.member().logged_in().await, app.other_org().admin().logged_in().await);
    let old = max.email();
    let unproved = format!("UPDATE tenant_auth_users SET is_email_verified = FALSE WHERE email = '{old}'");
    run_sql(app, &unproved).await;
    other.invite(old).await.expect(201);
    other.delete(&format!("/org/invites/{}", id_of(&other.pending_invites().await[0]))).await.expect(200);
    app.advance(60);
    change_address(app, &max, NEXT).await;
    let before = entries(&other, "kind=invite.*").await;
    deleted(app, NEXT).await;
    assert_eq!(entries(&other, "kind=invite.*").await, before);
    assert!(told(app, "globex").await.contains(old));
    assert!(!told(app, "acme").await.contains(old), "where it was a member it is erased");
}

/// The intruder proved it, and took the account with it; the owner never had it.
async fn an_address_that_an_intruder_gave_an_account_is_left_to_other_organizations(app: &App) {
    let (max, other) = (app.member().logged_in().await, app.other_org().admin().logged_in().await);
    let owners = max.email();
    change_address(app, &max, NEXT).await;
    other.invite(NEXT).await.expect(201);
    other.delete(&format!("/org/invites/{}", id_of(&other.pending_invites().await[0]))).await.expect(200);
    app.advance(60);
    let [from, to] = [NEXT, owners].map(|address| address.parse().expect("an address"));
    app.auth.operator().set_email(&from, &to).await.expect("it is nobody's");
    let before = entries(&other, "kind=invite.*").await;
    deleted(app, owners).await;
    assert_eq!(entries(&other, "kind=invite.*").await, before);
    assert!(told(app, "globex").await.contains(NEXT));
}

async fn who_has_a_former_address_now_is_not_erased_with_it(app: &App) {
    let (max, admin) = (app.member().logged_in().await, app.admin().logged_in().await);
    let old = max.email();
    change_address(app, &max, NEXT).await;
    app.advance(60);
    app.tick().await; // the notice to the former address leaves before the invite
    let token = app.invited(&admin, old).await;
    let nora = app.anonymous();
    nora.accept(&token, "Nora").await.expect(200);
    let before = entries(&admin, "kind=invite.*").await;
    deleted(app, NEXT).await;
    assert_eq!(entries(&admin, "kind=invite.*").await, before);
    let id = id_of(&nora.get("/auth/profile").await.expect_ok()["user"]).to_owned();
    let told = entries(&admin, &format!("user={id}")).await;
    assert!(!told.is_empty() && told.iter().all(|entry| entry["erased"] == false), "{told:#?}");
    verified(app, "acme").await;
}

async fn a_waiting_delivery_tells_nothing_of_the_person_any_more(app: &App) {
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, RECEIVER, &["member.updated"]).await;
    hook.answers(app, &[500, 200]);
    admin.set_metadata(app.member().id(), json!({ "desk": "by the window" })).await.expect(200);
    app.tick().await;
    deleted(app, app.member().email()).await;
    app.advance(10);
    app.tick().await;
    let sent: Vec<Value> = hook.sent(app).iter().map(event_in).collect();
    assert_eq!(sent.len(), 2);
    assert_eq!((&sent[0]["data"]["member"]["metadata"]["desk"], sent[0].get("erased")), (&json!("by the window"), None));
    assert_eq!((&sent[1]["id"], &sent[1]["data"], &sent[1]["erased"]), (&sent[0]["id"], &Value::Null, &json!(true)));
}

async fn a_former_organization_is_told_and_others_are_not(app: &App) {
    let (admin, other) = (app.admin().logged_in().await, app.other_org().admin().logged_in().await);
    let max = app.member();
    admin.delete(&format!("/org/members/{}", max.id())).await.expect(200);
    deleted(app, max.email()).await;
    let told = entries(&admin, "kind=user.deleted").await;
    assert_eq!(told.len(), 1, "{told:#?}");
    let before = entries(&admin, &format!("user={}", max.id())).await.split_off(1);
    assert!(!before.is_empty() && before.iter().all(|entry| entry["erased"] == true), "{before:#?}");
    assert!(entries(&other, "kind=user.deleted").await.is_empty());
}
