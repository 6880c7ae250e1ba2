//! The audit log: what happened is found by person, kind and time, and shown in full.

use serde_json::json;
use tenant_auth_conformance::{
    PASSWORD,
    browser::{Page, Stage},
    visits,
};

visits! {
    what_happened_is_found_and_shown,
    a_members_own_history_is_one_click_away,
    no_entry_waits_for_the_list_of_members,
    the_log_is_exported_and_a_refusal_is_shown_in_its_place,
}

async fn opens(stage: &Stage) -> &Page {
    let admin = stage.admin().logged_in().await;
    admin.patch("/org", json!({ "name": "Acme Liners" })).await.expect(200);
    admin.set_metadata(stage.member().id(), json!({ "team": "lift-off" })).await.expect(200);
    stage.signs_in("ada@acme.example", PASSWORD).await;
    stage.page.arrives_at("Members").await;
    stage.page.press("Audit log").await;
    stage.page.arrives_at("Audit log").await;
    &stage.page
}

async fn what_happened_is_found_and_shown(stage: &Stage) {
    let page = opens(stage).await;
    page.row("org.updated").reads("Ada Admin").await;
    page.row("member.updated").reads("Max Member").await;
    page.is_accessible().await;
    page.choose("What happened", "Every organization event").await;
    page.press("Show").await;
    page.offers_no("Details member.updated").await;
    page.row("org.updated").press("Details org.updated").await;
    page.asks("org.updated").await;
    page.reads("Acme Liners").await;
    page.is_accessible().await;
    page.press("Close").await;
    page.asks_nothing().await;
    page.fill("Person", "nobody@acme.example").await;
    page.press("Show").await;
    page.reads("Nobody here has this address.").await;
    page.fill("Person", "max@acme.example").await;
    page.choose("What happened", "Everything").await;
    page.press("Show").await;
    page.offers_no("Details org.updated").await;
    page.row("member.updated").reads("Max Member").await;
    page.fill("From", "01012099").await;
    page.press("Show").await;
    page.reads("Nothing found").await;
}

async fn a_members_own_history_is_one_click_away(stage: &Stage) {
    let page = opens(stage).await;
    page.press("Members").await;
    page.arrives_at("Members").await;
    page.row("Max Member").press("Manage Max Member").await;
    page.asks("Max Member").await;
    page.press("What happened to this member").await;
    page.arrives_at("Audit log").await;
    page.row("member.updated").reads("Ada Admin").await;
    page.offers_no("Details org.updated").await;
}

/// The list of members never comes. A block, for a document may begin twice.
const HELD: &str = "{ const ask = fetch; fetch = (url, how) => (url.includes('/org/members?limit=1000') ? new Promise(() => {}) : ask(url, how)); }";

async fn no_entry_waits_for_the_list_of_members(stage: &Stage) {
    stage.page.begins_with(HELD).await;
    let page = opens(stage).await;
    page.row("member.updated").reads("Ada Admin").await;
    page.offers("Details org.updated").await;
    let count = "return [...document.querySelectorAll('[role=status]')].some((one) => /^\\d+ entries$/.test(one.textContent))";
    page.comes_true("a count", count).await;
    page.fill("Person", "MAX@acme.example").await;
    page.press("Show").await;
    page.offers_no("Details org.updated").await;
    page.row("member.updated").reads("Ada Admin").await;
    page.fill("Person", "nobody@acme.example").await;
    page.press("Show").await;
    page.reads("Nobody here has this address.").await;
}

async fn the_log_is_exported_and_a_refusal_is_shown_in_its_place(stage: &Stage) {
    let page = opens(stage).await;
    page.press("Export").await;
    page.reads("The audit log is saved.").await;
    page.choose("What happened", "audit.exported").await;
    page.press("Show").await;
    page.row("audit.exported").reads("Ada Admin").await;
    page.is_accessible().await;
    let admin = stage.admin().logged_in().await;
    for _ in 0..23 {
        admin.post("/org/audit/export", json!({})).await.expect(200);
    }
    page.press("Export").await;
    page.reads("A limit is reached for now. Try again in 1 day.").await;
    page.was_refused(429, "/org/audit/export").await;
}
