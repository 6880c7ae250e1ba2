//! Events of an organization: which operation tells what, in whose name. The objects are the ones the API shows.

use serde_json::{Value, json};
use tenant_auth_conformance::{App, Caller, id_of, scenarios, together};
use tenant_auth_core::{backend::NewApiKey, model::Scope};

use crate::suite::{
    audit::deployment::sha256,
    support::{
        hooks::{Hook, RECEIVER, event_in},
        listener::{Listener, data_of, kinds, session_of, system, user},
        stored::forget_proof,
    },
};

scenarios![
    an_invite_tells_of_its_life,
    accepting_tells_of_everything_that_came_about,
    an_existing_account_that_accepts_is_no_news_of_its_address,
    a_change_to_a_member_tells_what_was,
    a_member_who_goes_is_told_of,
    an_admin_who_goes_takes_their_invites_along,
    the_organization_tells_of_itself,
    an_api_key_tells_of_its_life,
    what_the_operator_does_is_nobodys_doing,
    sequences_have_no_gaps_however_many_write_at_once,
    what_changes_nothing_is_not_told,
    a_webhook_tells_the_others_of_its_life,
];

async fn an_invite_tells_of_its_life(app: &App) {
    let admin = app.admin().logged_in().await;
    let mut listener = Listener::new(app, &admin).await;
    let created = admin.invite_as("nora@acme.example", "org_admin").await.expect(201).data();
    assert_eq!(listener.only("invite.created").await, (user(&admin), json!({ "invite": created["invite"] })));
    app.advance(60);
    let path = format!("/org/invites/{}", id_of(&created["invite"]));
    let resent = admin.post_nothing(&format!("{path}/resend")).await.expect_ok();
    assert_eq!(listener.only("invite.resent").await, (user(&admin), json!({ "invite": resent["invite"] })));
    admin.delete(&path).await.expect(200);
    assert_eq!(listener.only("invite.revoked").await, (user(&admin), json!({ "invite": resent["invite"] })));
}

async fn accepting_tells_of_everything_that_came_about(app: &App) {
    let admin = app.admin().logged_in().await;
    let token = app.invited(&admin, "nora@acme.example").await;
    let invite = admin.pending_invites().await[0].clone();
    let mut listener = Listener::new(app, &admin).await;
    let nora = app.anonymous();
    let data = nora.accept(&token, "Nora").await.expect_ok();
    let events = listener.heard().await;
    let mut told = kinds(&events);
    told.sort_unstable();
    assert_eq!(told, ["invite.accepted", "member.joined", "session.created", "user.email_verified"]);
    let id = data["user"]["id"].as_str().expect("an id");
    assert!(events.iter().all(|event| event["actor"] == json!({ "type": "user", "id": id })), "{events:#?}");
    let accepted = data_of(&events, "invite.accepted")["invite"].clone();
    for field in ["id", "email", "role", "expiresAt"] {
        assert_eq!(accepted[field], invite[field], "{field}");
    }
    assert_eq!(data_of(&events, "member.joined"), json!({ "member": admin.member_entry(id).await }));
    let shown = app.backend().get(&format!("/public/users/{id}")).await.expect_ok()["user"].clone();
    assert_eq!(data_of(&events, "user.email_verified"), json!({ "user": shown }));
    let created = data_of(&events, "session.created");
    assert_eq!((&created["user"], id_of(&created["session"])), (&shown, session_of(&nora).as_str()));
}

async fn an_existing_account_that_accepts_is_no_news_of_its_address(app: &App) {
    let admin = app.admin().logged_in().await;
    let gus = app.other_org().member();
    forget_proof(app, gus.id()).await;
    for (role, expected) in [("member", true), ("org_admin", false)] {
        admin.invite_as(gus.email(), role).await.expect(201);
        let token = app.link_token_of(gus.email()).await;
        let mut listener = Listener::at(app, &admin, "acme").await;
        app.anonymous().accept_with_account(&token).await.expect(200);
        let events = listener.heard().await;
        assert_eq!(kinds(&events).contains(&"user.email_verified"), expected, "the first time only");
        assert!(kinds(&events).contains(&"member.joined"));
        assert_eq!(data_of(&events, "member.joined")["member"]["role"], role);
        admin.delete(&listener.hook.path()).await.expect(200);
        admin.remove(gus.id()).await.expect(200);
    }
}

async fn a_change_to_a_member_tells_what_was(app: &App) {
    let admin = app.admin().logged_in().await;
    let id = app.member().id().to_owned();
    let mut listener = Listener::new(app, &admin).await;
    let mut previous = admin.member_entry(&id).await;
    for (request, kind) in [
        (admin.set_metadata(&id, json!({ "team": "rockets", "n": 1e2 })), "member.updated"),
        (admin.set_role(&id, "org_admin"), "member.role_changed"),
        (admin.set_role(&id, "member"), "member.role_changed"),
        (admin.set_status(&id, "suspended"), "member.suspended"),
        (admin.set_status(&id, "active"), "member.reactivated"),
        (admin.set_metadata(&id, json!({})), "member.updated"),
    ] {
        request.await.expect(200);
        let now = admin.member_entry(&id).await;
        assert_eq!(listener.only(kind).await, (user(&admin), json!({ "member": now, "previous": previous })));
        previous = now;
    }
}

async fn a_member_who_goes_is_told_of(app: &App) {
    let admin = app.admin().logged_in().await;
    let (max, pat) = (app.member().logged_in().await, app.org().new_member("Pat").await.logged_in().await);
    max.elsewhere().logged_in().await;
    let entries = [admin.member_entry(max.id()).await, admin.member_entry(pat.id()).await];
    let mut listener = Listener::new(app, &admin).await;
    admin.remove(max.id()).await.expect(200);
    let events = listener.heard().await;
    assert_eq!(kinds(&events).len(), 3, "two sessions, one member");
    assert_eq!(data_of(&events, "member.removed"), json!({ "member": entries[0] }));
    expect_sessions_ended(&events, &max, 2, &admin);
    pat.post_nothing("/org/leave").await.expect(200);
    let events = listener.heard().await;
    assert_eq!(data_of(&events, "member.removed"), json!({ "member": entries[1] }));
    expect_sessions_ended(&events, &pat, 1, &pat);
}

/// So many sessions of the person were ended by their removal, through the actor.
#[track_caller]
fn expect_sessions_ended(events: &[Value], person: &Caller, count: usize, actor: &Caller) {
    let ended: Vec<&Value> = events.iter().filter(|event| event["type"] == "session.revoked").collect();
    assert_eq!(ended.len(), count);
    for event in ended {
        assert_eq!((&event["data"]["reason"], &event["data"]["user"]["id"]), (&"removed".into(), &person.id().into()));
    }
    assert!(events.iter().all(|event| event["actor"] == user(actor)), "{events:#?}");
}

async fn an_admin_who_goes_takes_their_invites_along(app: &App) {
    let admin = app.admin().logged_in().await;
    let deputy = app.org().new_admin("Dora").await.logged_in().await;
    let invite = deputy.invite("nora@acme.example").await.expect(201).data()["invite"].clone();
    let mut listener = Listener::new(app, &admin).await;
    admin.set_role(deputy.id(), "member").await.expect(200);
    let events = listener.heard().await;
    assert_eq!(kinds(&events).len(), 2);
    assert_eq!(data_of(&events, "invite.revoked"), json!({ "invite": invite }));
    assert_eq!(data_of(&events, "member.role_changed")["previous"]["role"], "org_admin");
}

async fn the_organization_tells_of_itself(app: &App) {
    let admin = app.admin().logged_in().await;
    let shown = async || admin.get("/org").await.expect_ok()["org"].clone();
    let mut listener = Listener::new(app, &admin).await;
    let before = shown().await;
    let change = json!({ "name": "Acme", "appUrl": null, "allowedOrigins": ["https://extra.example"] });
    admin.patch("/org", change).await.expect(200);
    let (actor, data) = listener.only("org.updated").await;
    assert_eq!((actor, &data), (user(&admin), &json!({ "org": shown().await, "previous": before })));
    let mut active = data["org"].clone();
    assert_eq!(active["allowedOrigins"], json!(["https://extra.example"]));
    active.as_object_mut().expect("an object").remove("allowedOrigins"); // which no other event tells
    let mut suspended = active.clone();
    suspended["status"] = json!("suspended");
    app.org().suspend().await;
    assert_eq!(listener.only("org.suspended").await, (system(), json!({ "org": suspended, "previous": active })));
    app.org().reactivate().await;
    assert_eq!(listener.only("org.reactivated").await, (system(), json!({ "org": active, "previous": suspended })));
}

async fn an_api_key_tells_of_its_life(app: &App) {
    let admin = app.admin().logged_in().await;
    let mut listener = Listener::new(app, &admin).await;
    let (created, _) = admin.created_key(json!({ "name": "Back end" })).await;
    assert_eq!(listener.only("api_key.created").await, (user(&admin), json!({ "apiKey": created })));
    let rotated = admin.post_nothing(&format!("/org/api-keys/{}/rotate", id_of(&created))).await.expect(201).data();
    assert_eq!(listener.only("api_key.rotated").await, (user(&admin), json!({ "apiKey": rotated["apiKey"] })));
    admin.delete(&format!("/org/api-keys/{}", id_of(&rotated["apiKey"]))).await.expect(200);
    assert_eq!(listener.only("api_key.revoked").await, (user(&admin), json!({ "apiKey": rotated["apiKey"], "reason": "revoked" })));
}

async fn what_the_operator_does_is_nobodys_doing(app: &App) {
    let admin = app.admin().logged_in().await;
    let mut listener = Listener::new(app, &admin).await;
    let (operator, slug) = (app.auth.operator(), "acme".parse().expect("a slug"));
    let pat = app.org().new_member("Pat").await;
    let entry = admin.member_entry(pat.id()).await;
    assert_eq!(listener.only("member.joined").await, (system(), json!({ "member": entry })));
    let new = NewApiKey { name: "By hand".parse().expect("a name"), scopes: vec![Scope::Verify], expires_at: None };
    let key = operator.create_api_key(&slug, new).await.expect("room for a key");
    let (actor, data) = listener.only("api_key.created").await;
    assert_eq!((actor, id_of(&data["apiKey"])), (system(), key.api_key.id.as_str()));
    operator.invite_admin(&slug, &"chief@acme.example".parse().expect("an address")).await.expect("new");
    let (actor, data) = listener.only("invite.created").await;
    assert_eq!((actor, &data["invite"]["role"]), (system(), &"org_admin".into()));
    operator.delete_user(&pat.email().parse().expect("an address")).await.expect("there is an account");
    let told = listener.heard().await;
    assert_eq!(kinds(&told), ["member.removed", "user.deleted"]);
    assert_eq!((&told[0]["data"], &told[0]["erased"]), (&Value::Null, &json!(true)), "what tells of the deletion is born erased");
    assert_eq!((&told[1]["actor"], &told[1]["data"]), (&system(), &json!({ "user": { "id": pat.id() } })));
}

async fn sequences_have_no_gaps_however_many_write_at_once(app: &App) {
    let (admin, other) = (app.admin().logged_in().await, app.beside(|_| {}).await);
    let mut listener = Listener::new(app, &admin).await;
    for round in 0..5 {
        let mut requests = Vec::new();
        for n in 0..4 {
            let caller = if n % 2 == 0 { admin.clone() } else { admin.via(&other) };
            requests.push(caller.patch("/org", json!({ "name": format!("Acme {round} {n}") })));
            requests.push(caller.set_metadata(app.member().id(), json!({ "n": format!("{round} {n}") })));
            requests.push(caller.patch("/org", json!({ "name": "" })));
            requests.push(app.member().via(&other).login());
        }
        together(requests).await;
        assert_eq!(listener.heard().await.len(), 12, "the listener looks for gaps");
    }
}

async fn what_changes_nothing_is_not_told(app: &App) {
    let admin = app.admin().logged_in().await;
    let mut listener = Listener::new(app, &admin).await;
    for request in [
        admin.set_role(app.member().id(), "member"),
        admin.set_status(app.member().id(), "active"),
        admin.set_metadata(app.member().id(), json!({})),
        admin.refresh(),
        admin.get("/org/members"),
    ] {
        request.await.expect(200);
    }
    listener.nothing().await;
}

/// A webhook that an admin is shown, as the others are told of it: its URL opens something.
fn told(shown: &Value) -> Value {
    let mut told = shown.clone();
    let url = told.as_object_mut().and_then(|fields| fields.remove("url")).expect("a URL");
    told["host"] = json!("hooks.example.com");
    told["urlDigest"] = json!(sha256(url.as_str().expect("a text")));
    told
}

async fn a_webhook_tells_the_others_of_its_life(app: &App) {
    let admin = app.admin().logged_in().await;
    let mut listener = Listener::new(app, &admin).await;
    listener.nothing().await;
    let hook = Hook::new(&admin, RECEIVER, &["*"]).await;
    let made = hook.shown(&admin).await;
    assert_eq!(listener.only("webhook.created").await, (user(&admin), json!({ "webhook": told(&made) })));
    admin.patch(&hook.path(), json!({ "events": ["webhook.*", "webhook.updated"] })).await.expect(200);
    let changed = hook.shown(&admin).await;
    assert_eq!(
        listener.only("webhook.updated").await,
        (user(&admin), json!({ "webhook": told(&changed), "previous": told(&made) }))
    );
    hook.rotated(&admin, 0).await;
    assert_eq!(listener.only("webhook.secret_rotated").await, (user(&admin), json!({ "webhook": told(&changed) })));
    for nothing in
        [json!({}), json!({ "url": RECEIVER, "events": ["webhook.*", "webhook.updated"], "description": "", "status": "active" })]
    {
        admin.patch(&hook.path(), nothing).await.expect(200);
    }
    listener.nothing().await;
    admin.patch(&listener.hook.path(), json!({ "description": "Everything" })).await.expect(200);
    listener.nothing().await;
    listener.misses(1);
    let sent = hook.sent(app).iter().map(event_in).map(|event| event["data"]["webhook"]["id"].clone()).collect::<Vec<_>>();
    assert_eq!(sent, [json!(listener.hook.id)], "of its own life it is told nothing, and of another's what it names");
    admin.delete(&hook.path()).await.expect(200);
    assert_eq!(listener.only("webhook.deleted").await, (user(&admin), json!({ "webhook": told(&changed) })));
    let log = admin.get("/org/audit?kind=webhook.*").await.expect_ok();
    let told = ["deleted", "updated", "secret_rotated", "updated", "created", "created"].map(|kind| format!("webhook.{kind}"));
    assert_eq!(kinds(log["entries"].as_array().expect("a list")), told, "the log has all of it");
}
