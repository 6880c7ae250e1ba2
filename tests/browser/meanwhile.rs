//! What changed while a page stood open: a form sends what was changed in it and nothing else, and what comes late disturbs nobody.

use serde_json::json;
use tenant_auth_conformance::{
    PASSWORD,
    browser::{Page, Stage},
    visits,
};

visits! {
    what_another_admin_changed_meanwhile_stays,
    a_member_who_comes_late_opens_over_nothing,
}

const MAX: &str = "max@acme.example";

async fn ada_opens_members(stage: &Stage) -> &Page {
    stage.signs_in("ada@acme.example", PASSWORD).await;
    stage.page.arrives_at("Members").await;
    &stage.page
}

async fn what_another_admin_changed_meanwhile_stays(stage: &Stage) {
    let bea = stage.org().new_admin("Bea Admin").await.logged_in().await;
    let allowed = async |origins: &[&str]| bea.patch("/org", json!({ "allowedOrigins": origins })).await.expect(200);
    let (one, two) = ("https://one.example", "https://two.example");
    let page = ada_opens_members(stage).await;
    allowed(&[one, two]).await;
    page.press("Settings").await;
    page.arrives_at("Settings").await;
    assert_eq!(page.value("Further allowed origins").await, format!("{one}\n{two}"), "not as when the page was loaded");
    allowed(&[one]).await;
    page.fill("Name", "Acme Reworked").await;
    page.press("Save changes").await;
    page.reads("The settings were saved.").await;
    let org = bea.get("/org").await.expect_ok();
    assert_eq!((&org["org"]["name"], &org["org"]["allowedOrigins"]), (&json!("Acme Reworked"), &json!([one])));
    assert_eq!(page.value("Further allowed origins").await, one, "the next save sends it no more");
    page.press("Members").await;
    page.arrives_at("Members").await;
    bea.set_metadata(stage.member().id(), json!({ "team": "lift-off" })).await.expect(200);
    page.row(MAX).press("Manage").await;
    page.asks("Max Member").await;
    let metadata = page.value("Metadata").await;
    assert!(metadata.contains("lift-off"), "{metadata}");
}

/// Holds back what is asked for of one member until `release` is run.
const HOLD: &str = "const ask = fetch; globalThis.held = [];
    const send = (url, how) => {
        const answer = ask(url, how);
        const over = () => setTimeout(() => (globalThis.isOver = true), 500);
        answer.then((copy) => copy.clone().text().then(over));
        return answer;
    };
    fetch = (url, how) => url.includes('/org/members/usr_') ? new Promise((go) => held.push(() => go(send(url, how)))) : ask(url, how)";
/// Half a second after the answer came it is over.
const RELEASE: &str = "held.splice(0).forEach((go) => go())";

async fn a_member_who_comes_late_opens_over_nothing(stage: &Stage) {
    let page = ada_opens_members(stage).await;
    page.run(HOLD, vec![]).await;
    page.row(MAX).press("Manage").await;
    page.comes_true("the request", "return held.length > 0").await;
    page.press("Settings").await;
    page.arrives_at("Settings").await;
    page.run(RELEASE, vec![]).await;
    page.comes_true("half a second", "return globalThis.isOver").await;
    page.asks_nothing().await;
    assert_eq!(page.run("return location.hash", vec![]).await, "#/settings");
}
