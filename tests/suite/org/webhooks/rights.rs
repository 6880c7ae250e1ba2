//! Who may manage webhooks, how many there may be, and who is told of them.

use serde_json::json;
use tenant_auth_conformance::{App, scenarios};

use crate::suite::support::{
    account::expect_no_link,
    hooks::{ANOTHER, Hook, RECEIVER, expect_unknown, hooking, webhooks},
};

scenarios![
    only_an_admin_manages_webhooks,
    another_organizations_webhook_is_404,
    ten_is_the_limit,
    the_admins_are_told_of_a_new_webhook_and_of_a_new_place,
];

async fn only_an_admin_manages_webhooks(app: &App) {
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, RECEIVER, &["*"]).await;
    let delivery = hook.test(&admin).await;
    let deputy = app.org().new_admin("Dora").await.logged_in().await;
    admin.set_status(deputy.id(), "suspended").await.expect(200);
    let before = hook.shown(&admin).await;
    for (caller, status, code) in [
        (app.member().logged_in().await, 403, "admin_required"),
        (deputy, 403, "suspended"),
        (app.anonymous(), 401, "session_required"),
        (app.backend(), 401, "session_required"),
    ] {
        for request in [
            caller.get("/org/webhooks"),
            hooking(&caller, RECEIVER, &["*"]),
            caller.get(&hook.path()),
            caller.patch(&hook.path(), json!({ "url": ANOTHER })),
            caller.delete(&hook.path()),
            hook.testing(&caller),
            hook.rotating(&caller, 0),
            caller.get(&format!("{}/deliveries", hook.path())),
            hook.redelivering(&caller, &delivery),
        ] {
            request.await.expect_error(status, code);
        }
    }
    assert_eq!((webhooks(&admin).await.len(), hook.shown(&admin).await), (1, before));
}

async fn another_organizations_webhook_is_404(app: &App) {
    let (admin, greta) = (app.admin().logged_in().await, app.other_org().admin().logged_in().await);
    let hook = Hook::new(&greta, RECEIVER, &["*"]).await;
    let delivery = hook.test(&greta).await;
    let before = hook.shown(&greta).await;
    expect_unknown(&admin, &hook, &delivery).await;
    for id in ["whk_00000000000000000000000000", "rubbish", app.other_org().api_key_id()] {
        expect_unknown(&admin, &Hook { id: id.to_owned(), ..hook.clone() }, &delivery).await;
    }
    assert_eq!((hook.shown(&greta).await, hook.log(&greta).await.len()), (before, 1));
    assert!(webhooks(&admin).await.is_empty());
}

async fn ten_is_the_limit(app: &App) {
    let admin = app.admin().logged_in().await;
    let first = Hook::new(&admin, RECEIVER, &["*"]).await;
    for _ in 1..10 {
        Hook::new(&admin, RECEIVER, &["*"]).await;
    }
    hooking(&admin, RECEIVER, &["*"]).await.expect_error(409, "limit_reached");
    hooking(&admin, "nonsense", &["*"]).await.expect_invalid("url");
    first.switching(&admin, "disabled").await.expect(200);
    hooking(&admin, RECEIVER, &["*"]).await.expect_error(409, "limit_reached");
    assert_eq!(webhooks(&admin).await.len(), 10);
    admin.delete(&first.path()).await.expect(200);
    Hook::new(&admin, RECEIVER, &["*"]).await;
    Hook::new(&app.other_org().admin().logged_in().await, RECEIVER, &["*"]).await;
}

async fn the_admins_are_told_of_a_new_webhook_and_of_a_new_place(app: &App) {
    let (admin, deputy) = (app.admin().logged_in().await, app.org().new_admin("Dora").await);
    let hook = Hook::new(&admin, "https://hooks.example.com/T0KEN-in-the-path?key=T0KEN", &["*"]).await;
    let told = async |address: &str| {
        let mails = app.mail_to(address).await;
        mails.into_iter().filter(|mail| mail.subject.contains("webhook")).collect::<Vec<_>>()
    };
    admin.patch(&hook.path(), json!({ "description": "x", "events": ["org.*"], "url": hook.url })).await.expect(200);
    hook.rotated(&admin, 0).await;
    for address in [admin.email(), deputy.email()] {
        assert_eq!(told(address).await.len(), 1, "only its place is anybody's concern");
    }
    admin.patch(&hook.path(), json!({ "url": "https://hooks.example.com/T0KEN-elsewhere" })).await.expect(200);
    for address in [admin.email(), deputy.email()] {
        let mails = told(address).await;
        assert_eq!(mails.len(), 2, "{mails:?}");
        for mail in mails {
            assert!(mail.text.contains("hooks.example.com") && mail.text.contains("Acme Rockets"), "{}", mail.text);
            assert!(!format!("{mail:?}").contains("T0KEN") && !format!("{mail:?}").contains("whs_"));
            expect_no_link(&mail);
        }
    }
    assert!(told(app.member().email()).await.is_empty() && told(app.other_org().admin().email()).await.is_empty());
}
