//! What happens to deliveries when their webhook changes under them, and which webhooks an event never reaches.

use serde_json::json;
use tenant_auth_conformance::{App, scenarios};

use crate::suite::support::hooks::{ANOTHER, Hook, RECEIVER, event_in, is_signed_with, ticking, until_sent};

scenarios![
    what_waits_goes_to_the_new_place,
    what_waits_for_a_deleted_webhook_is_never_sent,
    an_attempt_at_a_webhook_that_is_deleted_meanwhile_is_nobodys,
    what_happened_before_there_was_a_webhook_is_never_told,
    only_what_is_selected_is_told,
    a_changed_selection_holds_from_then_on,
    a_refused_request_tells_nothing,
    a_suspended_organization_is_still_told_what_happens_to_it,
    nothing_is_told_twice,
];

async fn what_waits_goes_to_the_new_place(app: &App) {
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, RECEIVER, &["org.updated"]).await;
    hook.answers(app, &[500]);
    hook.test(&admin).await;
    app.tick().await;
    admin.patch(&hook.path(), json!({ "url": ANOTHER })).await.expect(200);
    app.advance(6);
    app.tick().await;
    assert_eq!(hook.sent(app).len(), 1);
    let moved = crate::suite::support::hooks::sent_to(app, ANOTHER);
    assert_eq!((moved.len(), &moved[0].body), (1, &hook.sent(app)[0].body));
    assert!(is_signed_with(&moved[0], &hook.secret));
    assert_eq!(hook.delivery(&admin).await["status"], "succeeded");
}

async fn what_waits_for_a_deleted_webhook_is_never_sent(app: &App) {
    let admin = app.admin().logged_in().await;
    let (hook, witness) = (Hook::new(&admin, RECEIVER, &["org.updated"]).await, Hook::new(&admin, ANOTHER, &["org.updated"]).await);
    hook.answers(app, &[500]);
    hook.test(&admin).await;
    app.tick().await;
    hook.test(&admin).await;
    admin.patch("/org", json!({ "name": "Acme" })).await.expect(200);
    admin.delete(&hook.path()).await.expect(200);
    for _ in 0..3 {
        app.advance(600);
        app.tick().await;
    }
    assert_eq!((hook.sent(app).len(), witness.sent(app).len()), (1, 1));
}

async fn an_attempt_at_a_webhook_that_is_deleted_meanwhile_is_nobodys(app: &App) {
    let admin = app.admin().logged_in().await;
    for last in [200, 500, 410] {
        let url = format!("https://hooks.example.com/{last}");
        let (hook, witness) =
            (Hook::new(&admin, &url, &["org.updated"]).await, Hook::new(&admin, ANOTHER, &["webhook.disabled"]).await);
        hook.answers(app, &[last]);
        app.webhooks.hold(&url);
        hook.test(&admin).await;
        let worker = ticking(app);
        until_sent(app, &url, 1).await;
        admin.delete(&hook.path()).await.expect(200);
        app.webhooks.release(&url);
        worker.await.expect("the worker goes on").expect("the database answers");
        app.advance(10);
        app.tick().await;
        assert_eq!((hook.sent(app).len(), witness.sent(app).len()), (1, 0), "{last}");
        admin.get(&hook.path()).await.expect_error(404, "not_found");
        admin.delete(&witness.path()).await.expect(200);
    }
}

async fn what_happened_before_there_was_a_webhook_is_never_told(app: &App) {
    let admin = app.admin().logged_in().await;
    admin.patch("/org", json!({ "name": "Before" })).await.expect(200);
    let hook = Hook::new(&admin, RECEIVER, &["*"]).await;
    app.tick().await;
    app.advance(600);
    app.tick().await;
    assert!(hook.sent(app).is_empty() && hook.log(&admin).await.is_empty());
    hook.switching(&admin, "disabled").await.expect(200);
    admin.patch("/org", json!({ "name": "While the only one is disabled" })).await.expect(200);
    hook.switching(&admin, "active").await.expect(200);
    app.tick().await;
    assert!(hook.sent(app).is_empty(), "nor what nobody was there for");
}

async fn only_what_is_selected_is_told(app: &App) {
    let admin = app.admin().logged_in().await;
    let selections: [&[&str]; 6] =
        [&["member.updated"], &["member.*"], &["*"], &["org.*", "invite.created"], &["session.created"], &["member.updated", "*"]];
    let mut hooks = Vec::new();
    for (place, selection) in selections.into_iter().enumerate() {
        hooks.push(Hook::new(&admin, &format!("https://hooks.example.com/{place}"), selection).await);
    }
    app.tick().await;
    let before: Vec<usize> = hooks.iter().map(|hook| hook.sent(app).len()).collect(); // of each other's making
    admin.set_metadata(app.member().id(), json!({ "team": "rockets" })).await.expect(200);
    admin.patch("/org", json!({ "name": "Acme" })).await.expect(200);
    admin.invite("nora@acme.example").await.expect(201);
    app.tick().await;
    for ((hook, before), expected) in hooks.iter().zip(before).zip([
        vec!["member.updated"],
        vec!["member.updated"],
        vec!["invite.created", "member.updated", "org.updated"],
        vec!["invite.created", "org.updated"],
        vec![],
        vec!["invite.created", "member.updated", "org.updated"],
    ]) {
        let mut kinds: Vec<String> =
            hook.sent(app)[before..].iter().map(|sent| event_in(sent)["type"].as_str().expect("a kind").to_owned()).collect();
        kinds.sort_unstable();
        assert_eq!(kinds, expected);
    }
}

async fn a_changed_selection_holds_from_then_on(app: &App) {
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, RECEIVER, &["org.updated"]).await;
    hook.answers(app, &[500, 200]);
    admin.patch("/org", json!({ "name": "Before" })).await.expect(200);
    app.tick().await;
    admin.patch(&hook.path(), json!({ "events": ["member.updated"] })).await.expect(200);
    admin.patch("/org", json!({ "name": "After" })).await.expect(200);
    admin.set_metadata(app.member().id(), json!({ "team": "rockets" })).await.expect(200);
    app.advance(6);
    app.tick().await;
    let kinds: Vec<String> =
        hook.log(&admin).await.iter().map(|delivery| delivery["event"].as_str().expect("a kind").to_owned()).collect();
    assert_eq!(kinds, ["org.updated", "member.updated"], "what was selected when it happened is still delivered");
    assert_eq!(hook.sent(app).len(), 3);
}

async fn a_refused_request_tells_nothing(app: &App) {
    let (admin, member) = (app.admin().logged_in().await, app.member().logged_in().await);
    let hook = Hook::new(&admin, RECEIVER, &["*"]).await;
    admin.patch("/org", json!({ "name": "" })).await.expect(400);
    admin.set_role(admin.id(), "member").await.expect(400);
    admin.set_status(admin.id(), "suspended").await.expect(400);
    admin.remove(admin.id()).await.expect(400);
    admin.post_nothing("/org/leave").await.expect(400);
    admin.invite(member.email()).await.expect(409);
    admin.set_metadata("usr_00000000000000000000000000", json!({})).await.expect(404);
    member.set_metadata(member.id(), json!({})).await.expect(403);
    member.change_password("not-the-password", "velvet-anchor-93-comet").await.expect(401);
    app.member().login_with(member.email(), "not-the-password").await.expect(401);
    app.other_org().device_of(member.person()).login().await.expect(403);
    app.anonymous().accept("rubbish", "Nora").await.expect(400);
    admin.delete("/org/api-keys/key_00000000000000000000000000").await.expect(404);
    app.tick().await;
    assert!(hook.sent(app).is_empty(), "{:?}", hook.sent(app).iter().map(event_in).collect::<Vec<_>>());
    admin.patch("/org", json!({ "name": "Acme" })).await.expect(200);
    app.tick().await;
    assert_eq!(hook.sent(app).len(), 1);
}

async fn a_suspended_organization_is_still_told_what_happens_to_it(app: &App) {
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, RECEIVER, &["org.*"]).await;
    app.org().suspend().await;
    app.tick().await;
    app.org().reactivate().await;
    app.tick().await;
    let kinds: Vec<String> =
        hook.sent(app).iter().map(|sent| event_in(sent)["type"].as_str().expect("a kind").to_owned()).collect();
    assert_eq!(kinds, ["org.suspended", "org.reactivated"]);
}

async fn nothing_is_told_twice(app: &App) {
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, RECEIVER, &["org.updated", "org.*", "*"]).await;
    admin.patch("/org", json!({ "name": "Acme" })).await.expect(200);
    for _ in 0..3 {
        app.tick().await;
        app.advance(200);
    }
    assert_eq!(hook.sent(app).len(), 1);
}
