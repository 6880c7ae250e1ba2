//! What somebody typed is never lost without a question.

use tenant_auth_conformance::{
    PASSWORD,
    browser::{Page, Stage, keys},
    visits,
};

visits! {
    leaving_a_dialog_asks_before_edited_metadata_is_lost,
    role_and_metadata_are_saved_together,
    a_session_that_ends_is_opened_again_over_the_work,
    signing_in_in_another_tab_leaves_what_was_typed,
    signing_out_in_another_tab_leaves_what_was_typed,
    a_late_answer_closes_nothing,
    another_view_and_back_ask_before_edits_are_lost,
    discarding_what_a_dialog_holds_leads_on,
    signing_out_asks_before_edits_are_lost,
}

const ADA: &str = "ada@acme.example";
const MAX: &str = "max@acme.example";
const TYPED: &str = r#"{"team": "lift-off"}"#;

async fn ada_opens<'a>(stage: &'a Stage, view: &str) -> &'a Page {
    stage.signs_in(ADA, PASSWORD).await;
    stage.page.arrives_at("Members").await;
    stage.page.press(view).await;
    stage.page.arrives_at(view).await;
    &stage.page
}

async fn edits_metadata(page: &Page) {
    page.row(MAX).press("Manage").await;
    page.asks("Max Member").await;
    page.fill("Metadata", TYPED).await;
}

async fn leaving_a_dialog_asks_before_edited_metadata_is_lost(stage: &Stage) {
    let page = ada_opens(stage, "Members").await;
    edits_metadata(page).await;
    page.type_keys(keys::ESCAPE).await;
    page.asks("Discard your changes?").await;
    page.is_accessible().await;
    page.type_keys(keys::ESCAPE).await;
    page.asks("Max Member").await;
    page.press("Close").await;
    page.asks("Discard your changes?").await;
    page.press("Keep editing").await;
    page.asks("Max Member").await;
    assert_eq!(page.value("Metadata").await, TYPED);
    page.type_keys(keys::ESCAPE).await;
    page.press("Discard").await;
    page.asks_nothing().await;
    page.row(MAX).press("Manage").await;
    page.asks("Max Member").await;
    page.type_keys(keys::ESCAPE).await;
    page.asks_nothing().await;
}

async fn role_and_metadata_are_saved_together(stage: &Stage) {
    let page = ada_opens(stage, "Members").await;
    edits_metadata(page).await;
    page.choose("Role", "Admin").await;
    page.press("Save changes").await;
    page.asks_nothing().await;
    page.row(MAX).reads("Admin").await;
    let members = stage.admin().logged_in().await.members().await;
    let max = members.iter().find(|one| one["email"] == MAX).expect("he is there");
    assert_eq!((&max["role"], &max["metadata"]["team"]), (&"org_admin".into(), &"lift-off".into()));
}

/// Signs in over what is on the page.
async fn signs_in_again(page: &Page) {
    page.asks("Sign in again").await;
    page.fill("Password", PASSWORD).await;
    page.press("Sign in").await;
}

async fn a_session_that_ends_is_opened_again_over_the_work(stage: &Stage) {
    let page = ada_opens(stage, "Members").await;
    edits_metadata(page).await;
    stage.admin().logged_in().await.delete("/auth/sessions").await.expect(200);
    page.press("Save changes").await;
    signs_in_again(page).await;
    page.asks_nothing().await;
    page.reads("The metadata was saved.").await;
    page.was_refused_anywhere(401).await;
    let members = stage.admin().logged_in().await.members().await;
    assert!(members.iter().any(|one| one["metadata"]["team"] == "lift-off"), "the refused request was sent again");
}

async fn signing_in_in_another_tab_leaves_what_was_typed(stage: &Stage) {
    let page = ada_opens(stage, "Profile").await;
    page.fill("Bio", "Keeps the rockets pointed up.").await;
    let other = page.another_tab().await;
    other.open("/sign-in#org=acme&email=ada@acme.example").await;
    other.was_sent_by_the_panel().await;
    other.fill("Password", PASSWORD).await;
    other.press("Sign in").await;
    other.arrives_at("Members").await;
    assert_eq!(page.value("Bio").await, "Keeps the rockets pointed up.");
    page.press("Save profile").await;
    page.reads("Your profile was saved.").await;
}

async fn signing_out_in_another_tab_leaves_what_was_typed(stage: &Stage) {
    let page = ada_opens(stage, "Profile").await;
    page.fill("Bio", "Keeps the rockets pointed up.").await;
    let other = page.another_tab().await;
    other.open("/").await;
    other.arrives_at("Members").await;
    other.press("Sign out").await;
    other.arrives_at("Sign in").await;
    page.asks("Sign in again").await;
    page.is_accessible().await;
    signs_in_again(page).await;
    page.asks_nothing().await;
    assert_eq!(page.value("Bio").await, "Keeps the rockets pointed up.");
    page.press("Save profile").await;
    page.reads("Your profile was saved.").await;
}

/// Holds back the answers to `GET /org` until `release` is run.
const HOLD: &str = "const ask = fetch; globalThis.held = [];
    fetch = (url, how) => url.endsWith('/org') && how.method === 'GET'
        ? new Promise((go) => held.push(() => go(ask(url, how)))) : ask(url, how)";
const RELEASE: &str = "held.splice(0).forEach((go) => go())";

async fn a_late_answer_closes_nothing(stage: &Stage) {
    let page = ada_opens(stage, "Settings").await;
    page.run(HOLD, vec![]).await;
    page.fill("Name", "Acme Reworked").await;
    page.press("Save changes").await;
    page.reads("The settings were saved.").await;
    page.press("Members").await;
    page.arrives_at("Members").await;
    page.press("Invite").await;
    page.fill("Email address", "nora@acme.example").await;
    page.comes_true("the request", "return held.length > 0").await;
    page.run(RELEASE, vec![]).await;
    page.comes_true("the new name", "return document.querySelector('nav').parentElement.textContent.includes('Acme Reworked')")
        .await;
    page.asks("Invite somebody").await;
    assert_eq!(page.value("Email address").await, "nora@acme.example");
}

async fn another_view_and_back_ask_before_edits_are_lost(stage: &Stage) {
    let page = ada_opens(stage, "Settings").await;
    page.fill("Name", "Acme Reworked").await;
    page.press("Invites").await;
    page.asks("Discard your changes?").await;
    page.press("Keep editing").await;
    page.asks_nothing().await;
    page.arrives_at("Settings").await;
    assert_eq!(page.value("Name").await, "Acme Reworked");
    page.goes_back().await;
    page.asks("Discard your changes?").await;
    assert_eq!(page.run("return location.hash", vec![]).await, "#/settings");
    page.press("Keep editing").await;
    page.asks_nothing().await;
    assert_eq!(page.value("Name").await, "Acme Reworked");
    page.goes_back().await;
    page.press("Discard").await;
    page.arrives_at("Members").await;
    page.press("Settings").await;
    page.arrives_at("Settings").await;
    assert_eq!(page.value("Name").await, "Acme Rockets");
}

async fn discarding_what_a_dialog_holds_leads_on(stage: &Stage) {
    let page = ada_opens(stage, "Members").await;
    edits_metadata(page).await;
    page.press("What happened to this member").await;
    page.asks("Discard your changes?").await;
    page.press("Discard").await;
    page.arrives_at("Audit log").await;
    page.asks_nothing().await;
    page.goes_back().await;
    page.arrives_at("Members").await;
    page.asks_nothing().await;
}

async fn signing_out_asks_before_edits_are_lost(stage: &Stage) {
    let page = ada_opens(stage, "Profile").await;
    page.fill("Bio", "Keeps the rockets pointed up.").await;
    page.press("Sign out").await;
    page.asks("Discard your changes?").await;
    page.press("Keep editing").await;
    page.asks_nothing().await;
    page.press("Sign out").await;
    page.press("Discard").await;
    page.arrives_at("Sign in").await;
}
