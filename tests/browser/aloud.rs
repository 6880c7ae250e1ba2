//! What is read aloud: messages come into live regions that were on the page before them.

use serde_json::json;
use tenant_auth_conformance::{
    PASSWORD,
    browser::{Page, Receiver, Stage},
    visits,
};

visits! { every_message_comes_into_a_region_that_was_there }

/// Notes each region that comes, moves or is unhidden with its text; and what the others were given to say.
const LISTENS: &str = "globalThis.missed = [];
    globalThis.said = [];
    const REGIONS = '[role=status], [role=alert], [aria-live]';
    const within = (node) => (node.nodeType === Node.ELEMENT_NODE ? [...(node.matches(REGIONS) ? [node] : []), ...node.querySelectorAll(REGIONS)] : []);
    new MutationObserver((changes) => {
        for (const change of changes) {
            if (change.type === 'attributes') {
                if (change.target.matches(REGIONS)) missed.push(`unhidden: ${change.target.outerHTML}`);
                continue;
            }
            for (const region of [...change.addedNodes].flatMap(within)) if (region.textContent.trim()) missed.push(`came with its text: ${region.outerHTML}`);
            const region = change.target.closest?.(REGIONS);
            if (region?.textContent.trim()) said.push(region.textContent);
        }
    }).observe(document, { childList: true, subtree: true, attributes: true, attributeFilter: ['hidden'] });";

/// Waits until this was said aloud, and nothing was missed.
async fn says(page: &Page, text: &str) {
    page.comes_true(text, &format!("return said.some((one) => one.includes({}))", json!(text))).await;
    assert_eq!(page.run("return missed", vec![]).await, json!([]));
}

async fn every_message_comes_into_a_region_that_was_there(stage: &Stage) {
    let page = &stage.page;
    let receiver = Receiver::start().await;
    page.begins_with(LISTENS).await;
    page.open("/sign-in#org=acme&why=ended").await;
    page.was_sent_by_the_panel().await;
    says(page, "Your session is over").await;
    page.fill("Email address", "ada@acme.example").await;
    page.fill("Password", "quite another password").await;
    page.press("Sign in").await;
    says(page, "Invalid email or password.").await;
    page.was_refused(401, "/auth/login").await;
    page.fill("Password", PASSWORD).await;
    page.press("Sign in").await;
    page.arrives_at("Members").await;
    says(page, "2 members").await;
    page.fill("Search members", "max").await;
    says(page, "1 found").await;
    page.press("Invite many").await;
    page.fill("Addresses", "nora@acme.example").await;
    page.press("Look at them first").await;
    says(page, "1 person will be invited.").await;
    page.press("Back").await;
    page.press("Cancel").await;
    page.asks("Discard your changes?").await;
    page.press("Discard").await;
    page.open("/#/api-keys").await;
    page.press("Create key").await;
    page.fill("Name", "billing").await;
    for scope in ["Verify access tokens", "Read users", "Read members"] {
        page.tick(scope).await;
    }
    page.press("Create key").await;
    says(page, "Choose at least one.").await;
    page.press("Cancel").await;
    let made =
        stage.admin().logged_in().await.post("/org/webhooks", json!({ "url": receiver.url(), "events": ["*"] })).await.expect(201);
    page.open(&format!("/#/webhooks/{}", made.data()["webhook"]["id"].as_str().expect("an id"))).await;
    page.press("Send a test").await;
    says(page, "Delivered").await;
    page.press("Disable").await;
    page.press("Disable").await;
    says(page, "disabled").await;
}
