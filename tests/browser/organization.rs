//! What admins do with their organization, and what plain members may see of it.

use serde_json::json;
use tenant_auth_conformance::{
    PASSWORD,
    browser::{Page, Stage, keys},
    visits,
};

visits! {
    settings_are_changed,
    members_are_found_and_managed,
    metadata_is_edited_digit_for_digit,
    invites_are_sent_sent_again_and_revoked,
    a_key_is_created_and_shown_once,
    a_key_is_rotated_with_an_overlap_and_revoked,
    a_plain_member_sees_what_they_may_and_nothing_else,
    a_member_leaves,
    a_long_list_is_shown_in_parts,
}

const MAX: &str = "max@acme.example";

async fn admin_opens<'a>(stage: &'a Stage, view: &str) -> &'a Page {
    stage.signs_in("ada@acme.example", PASSWORD).await;
    stage.page.arrives_at("Members").await;
    stage.page.press(view).await;
    stage.page.arrives_at(view).await;
    &stage.page
}

async fn settings_are_changed(stage: &Stage) {
    let page = admin_opens(stage, "Settings").await;
    page.is_accessible().await;
    page.fill("Name", "Acme & Söhne").await;
    page.fill("Application URL", "http://insecure.example").await;
    page.press("Save changes").await;
    page.was_eventually_refused(400, "/org").await;
    page.is_accessible().await;
    page.fill("Application URL", "https://rockets.example/start").await;
    page.fill("Further allowed origins", "https://one.example\nhttps://two.example").await;
    page.press("Save changes").await;
    page.reads("The settings were saved.").await;
    page.reload().await;
    page.arrives_at("Settings").await;
    page.part("Details").reads("Acme & Söhne").await;
    assert_eq!(page.value("Further allowed origins").await, "https://one.example\nhttps://two.example");
    let org = stage.admin().logged_in().await.get("/org").await.expect_ok();
    assert_eq!(org["org"]["appUrl"], "https://rockets.example/start");
    assert_eq!(org["org"]["allowedOrigins"], json!(["https://one.example", "https://two.example"]));
    page.press("Leave organization").await;
    page.asks("Leave Acme & Söhne?").await;
    page.press("Leave").await;
    page.reads("last active").await;
    page.was_refused(400, "/org/leave").await;
}

async fn members_are_found_and_managed(stage: &Stage) {
    let max = stage.member().logged_in().await;
    let page = admin_opens(stage, "Members").await;
    page.is_accessible().await;
    page.fill("Search members", "MAX").await;
    page.reads("1 found").await;
    page.part("Members").reads_no("ada@acme.example").await;
    page.is_accessible().await;
    page.row(MAX).press("Manage").await;
    page.asks("Max Member").await;
    page.is_accessible().await;
    page.choose("Role", "Admin").await;
    page.press("Save changes").await;
    page.asks_nothing().await;
    page.row(MAX).reads("Admin").await;

    page.row(MAX).press("Manage").await;
    page.press("End sessions").await;
    page.asks("Sign Max Member out?").await;
    page.press("End sessions").await;
    page.asks_nothing().await;
    max.get("/auth/profile").await.expect_error(401, "session_required");

    page.row(MAX).press("Manage").await;
    page.press("Suspend").await;
    page.asks("Suspend Max Member?").await;
    page.is_accessible().await;
    page.press("Suspend").await;
    page.asks_nothing().await;
    page.row(MAX).reads("Suspended").await;
    max.login().await.expect_error(403, "suspended");

    page.row(MAX).press("Manage").await;
    page.press("Reactivate").await;
    page.press("Reactivate").await;
    page.asks_nothing().await;
    page.row(MAX).reads("Active").await;
    max.login().await.expect(200);

    page.row(MAX).press("Manage").await;
    page.press("Remove").await;
    page.asks("Remove Max Member?").await;
    page.press("Remove").await;
    page.asks_nothing().await;
    page.reads_no(MAX).await;
    max.login().await.expect_error(403, "not_a_member");
}

async fn metadata_is_edited_digit_for_digit(stage: &Stage) {
    let page = admin_opens(stage, "Members").await;
    page.row(MAX).press("Manage").await;
    page.asks("Max Member").await;
    page.fill("Metadata", r#"{"seat": 12345678901234567890, "team": "lift-off""#).await;
    page.press("Save changes").await;
    page.reads("Metadata:").await;
    page.is_accessible().await;
    page.fill("Metadata", r#"{"seat": 12345678901234567890, "ratio": 1.50e2, "team": "lift-off"}"#).await;
    page.press("Save changes").await;
    page.asks_nothing().await;
    page.reads("The metadata was saved.").await;
    let stored = stage.admin().logged_in().await.get("/org/members").await.expect(200);
    assert!(stored.body.contains("12345678901234567890") && stored.body.contains("1.50e2"), "{}", stored.body);
    page.row(MAX).press("Manage").await;
    page.asks("Max Member").await;
    let shown = page.value("Metadata").await;
    assert!(shown.contains("12345678901234567890") && shown.contains("1.50e2"), "{shown}");
}

async fn invites_are_sent_sent_again_and_revoked(stage: &Stage) {
    let page = admin_opens(stage, "Invites").await;
    page.reads("No pending invites").await;
    page.is_accessible().await;
    page.press("Invite").await;
    page.asks("Invite somebody").await;
    page.is_accessible().await;
    page.fill("Email address", MAX).await;
    page.press("Send invite").await;
    page.reads("already belongs to a member").await;
    page.was_refused(409, "/org/members/invite").await;
    page.fill("Email address", "nora@acme.example").await;
    page.choose("Role", "Admin").await;
    page.press("Send invite").await;
    page.reads("nora@acme.example is invited.").await;
    page.row("nora@acme.example").reads("Admin").await;
    let first = stage.link("nora@acme.example", "/invite").await;
    page.reload().await;
    page.arrives_at("Invites").await;
    page.row("nora@acme.example").reads("Sent").await;
    page.is_accessible().await;
    page.row("nora@acme.example").press("Resend").await;
    page.reads("gets a new link").await;
    let second = stage.link("nora@acme.example", "/invite").await;
    let looks = async |link: &str| stage.anonymous().preview(link.split_once("token=").expect("a token").1).await.status;
    assert_eq!((looks(&first).await, looks(&second).await), (400, 200));
    page.row("nora@acme.example").press("Revoke").await;
    page.asks("Revoke this invite?").await;
    page.press("Revoke").await;
    page.reads("No pending invites").await;
    assert_eq!(looks(&second).await, 400);
}

/// Takes the secret of a dialog that shows it once: by the clipboard, as people do.
async fn takes(page: &Page, label: &str) -> String {
    let shown = page.value(label).await;
    page.type_keys(keys::ESCAPE).await;
    page.press("Copy").await;
    page.reads("Copied to the clipboard.").await;
    assert_eq!(page.clipboard().await, shown);
    page.press("I have stored it").await;
    page.asks_nothing().await;
    page.reads_no(&shown).await;
    shown
}

async fn creates_key(page: &Page, name: &str) -> String {
    page.press("Create key").await;
    page.asks("Create an API key").await;
    page.fill("Name", name).await;
    page.press("Create key").await;
    page.asks("Your new API key").await;
    takes(page, &format!("API key “{name}”")).await
}

async fn a_key_is_created_and_shown_once(stage: &Stage) {
    let page = admin_opens(stage, "API keys").await;
    page.is_accessible().await;
    page.press("Create key").await;
    page.asks("Create an API key").await;
    page.is_accessible().await;
    page.fill("Name", "billing").await;
    page.tick("Read members").await;
    page.tick("Read users").await;
    page.choose("Expires", "In 90 days").await;
    page.press("Create key").await;
    page.asks("Your new API key").await;
    page.is_accessible().await;
    let key = takes(page, "API key “billing”").await;
    assert!(stage.key_works(&key).await);
    stage.anonymous().backend_with(&key).get("/public/members").await.expect_error(403, "missing_scope");
    page.row("billing").reads("verify").await;
    page.row("billing").reads("in 3 months").await;
    page.reload().await;
    page.arrives_at("API keys").await;
    page.row("billing").reads("just now").await;
    page.reads_no(&key).await;
}

async fn a_key_is_rotated_with_an_overlap_and_revoked(stage: &Stage) {
    let page = admin_opens(stage, "API keys").await;
    let old = creates_key(page, "billing").await;
    page.row("billing").press("Rotate").await;
    page.asks("Rotate “billing”").await;
    page.is_accessible().await;
    page.choose("How long does the old one still work?", "For an hour").await;
    page.press("Rotate key").await;
    page.asks("Your new API key").await;
    let new = takes(page, "API key “billing”").await;
    assert!(stage.key_works(&old).await && stage.key_works(&new).await);
    stage.advance(60 * 60);
    assert!(!stage.key_works(&old).await && stage.key_works(&new).await);
    let end = &new[new.len() - 4..];
    page.row(end).press("Revoke").await;
    page.asks("Revoke “billing”?").await;
    page.press("Revoke").await;
    page.asks_nothing().await;
    page.reads_no(end).await;
    page.was_refused_anywhere(401).await;
    assert!(!stage.key_works(&new).await);
}

async fn a_plain_member_sees_what_they_may_and_nothing_else(stage: &Stage) {
    let page = &stage.page;
    stage.signs_in(MAX, PASSWORD).await;
    page.arrives_at("Members").await;
    for view in ["Members", "Settings", "Profile", "Security", "Sessions"] {
        page.offers(view).await;
    }
    for view in ["Invites", "API keys", "Webhooks", "Organizations", "Invite", "Manage"] {
        page.offers_no(view).await;
    }
    page.row("ada@acme.example").press("Details").await;
    page.asks("Ada Admin").await;
    page.is_accessible().await;
    for action in ["Save changes", "Suspend", "Remove", "End sessions"] {
        page.offers_no(action).await;
    }
    page.press("Close").await;
    page.press("Settings").await;
    page.arrives_at("Settings").await;
    page.offers_no("Save changes").await;
    page.is_accessible().await;
    // An address typed by hand leads to what they may see, and asks the service for nothing else: a 403 would stand in the journal.
    for view in ["invites", "api-keys", "webhooks", "operator"] {
        page.open(&format!("/#/{view}")).await;
        page.arrives_at("Members").await;
        page.reads("only.").await;
        assert_eq!(page.run("return location.hash", vec![]).await, "#/members");
    }
}

async fn a_member_leaves(stage: &Stage) {
    let page = &stage.page;
    stage.signs_in(MAX, PASSWORD).await;
    page.arrives_at("Members").await;
    page.press("Settings").await;
    page.press("Leave organization").await;
    page.asks("Leave Acme Rockets?").await;
    page.is_accessible().await;
    page.press("Leave").await;
    page.arrives_at("Sign in").await;
    page.offers_no("Acme Rockets").await;
    page.reads("You left the organization.").await;
    stage.member().login().await.expect_error(403, "not_a_member");
}

async fn a_long_list_is_shown_in_parts(stage: &Stage) {
    for number in 0..104 {
        stage.org().new_member(&format!("p{number:03} Person")).await;
    }
    stage.advance(1);
    stage.org().new_member("zoe Last").await;
    let page = admin_opens(stage, "Members").await;
    page.reads("Showing the first 100 members").await;
    page.fill("Search members", "zoe@").await;
    page.row("zoe@acme.example").reads("Member").await;
    page.reads("1 found").await;
    page.fill("Search members", "").await;
    page.press("Load all").await;
    page.reads("107 members").await;
}
