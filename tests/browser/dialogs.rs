//! Dialogs: secrets stay until they are stored, Back leaves a dialog and not its view, and a screen reader hears what is asked.

use tenant_auth_conformance::{
    PASSWORD,
    browser::{Page, Stage, keys},
    visits,
};

visits! {
    a_secret_leaves_only_by_a_deliberate_press,
    back_leaves_a_dialog_and_not_its_view,
    a_question_is_read_aloud_and_its_buttons_stand_alike,
    a_message_comes_into_a_region_that_was_there,
    a_refusal_stays_until_it_is_closed,
}

async fn ada_opens<'a>(stage: &'a Stage, view: &str) -> &'a Page {
    stage.signs_in("ada@acme.example", PASSWORD).await;
    stage.page.arrives_at("Members").await;
    stage.page.press(view).await;
    stage.page.arrives_at(view).await;
    &stage.page
}

async fn creates_key(page: &Page) {
    page.press("Create key").await;
    page.fill("Name", "billing").await;
    page.press("Create key").await;
    page.asks("Your new API key").await;
}

async fn a_secret_leaves_only_by_a_deliberate_press(stage: &Stage) {
    let page = ada_opens(stage, "API keys").await;
    creates_key(page).await;
    let key = page.value("API key “billing”").await;
    page.press("Copy").await;
    for _ in 0..3 {
        page.type_keys(keys::ESCAPE).await;
    }
    page.reads("shown only once").await;
    page.goes_back().await;
    page.comes_true("the address", "return location.hash === '#/api-keys'").await;
    page.press("Close").await;
    page.asks("Close it for good?").await;
    page.is_accessible().await;
    page.press("Go back").await;
    page.asks("Your new API key").await;
    assert_eq!(page.value("API key “billing”").await, key);
    page.press("I have stored it").await;
    page.asks_nothing().await;
}

async fn back_leaves_a_dialog_and_not_its_view(stage: &Stage) {
    let page = ada_opens(stage, "Invites").await;
    page.press("Invite").await;
    page.asks("Invite somebody").await;
    page.goes_back().await;
    page.asks_nothing().await;
    page.arrives_at("Invites").await;
    page.press("Invite").await;
    page.fill("Email address", "nora@acme.example").await;
    page.goes_back().await;
    page.asks("Discard your changes?").await;
    page.press("Discard").await;
    page.asks_nothing().await;
    page.arrives_at("Invites").await;
    page.goes_back().await;
    page.arrives_at("Members").await;
    // The first view of a visit, where there is nothing before.
    page.press("Invite").await;
    page.asks("Invite somebody").await;
    page.goes_back().await;
    page.asks_nothing().await;
    page.arrives_at("Members").await;
}

/// What a screen reader says of the open dialog beside its title, and how its buttons stand.
const TOLD: &str =
    "const one = dialog(); return [one.role, document.getElementById(one.getAttribute('aria-describedby')).textContent,
    [...one.querySelectorAll('.dialog-body .actions button')].map((button) => button.textContent).join(', ')].join(' | ')";

async fn a_question_is_read_aloud_and_its_buttons_stand_alike(stage: &Stage) {
    let page = ada_opens(stage, "API keys").await;
    creates_key(page).await;
    page.press("I have stored it").await;
    page.row("billing").press("Revoke").await;
    page.asks("Revoke “billing”?").await;
    let told = "alertdialog | Every request with this key is refused at once. This cannot be undone. | Cancel, Revoke";
    assert_eq!(page.run(TOLD, vec![]).await, told);
    page.press("Cancel").await;
    page.asks_nothing().await;
    page.row("billing").press("Rotate").await;
    page.asks("Rotate “billing”").await;
    let told = page.run(TOLD, vec![]).await;
    assert!(told.as_str().is_some_and(|told| told.ends_with("| Cancel, Rotate key")), "{told}");
}

async fn a_message_comes_into_a_region_that_was_there(stage: &Stage) {
    let page = ada_opens(stage, "API keys").await;
    creates_key(page).await;
    page.run("globalThis.region = [...dialog().querySelectorAll('[role=status]')].at(-1)", vec![]).await;
    page.comes_true("an empty region", "return region && !region.textContent").await;
    page.press("Copy").await;
    page.comes_true("the message in it", "return region.isConnected && region.textContent.includes('Copied')").await;
}

/// Breaks the connection as the members are asked for as a file.
const BREAKS: &str = "const ask = fetch;
    fetch = (url, how) => (url.includes('/org/members?limit=1000') ? Promise.reject(new TypeError('broken')) : ask(url, how))";

async fn a_refusal_stays_until_it_is_closed(stage: &Stage) {
    let page = ada_opens(stage, "Members").await;
    page.run(BREAKS, vec![]).await;
    page.press("Export CSV").await;
    page.reads("The service cannot be reached.").await;
    let alert =
        "return [...document.querySelectorAll('[role=alert]')].some((one) => one.textContent.includes('cannot be reached'))";
    page.comes_true("an alert", alert).await;
    page.is_accessible().await;
    page.run("setTimeout(() => (globalThis.isLater = true), 7000)", vec![]).await;
    page.comes_true("seven seconds", "return globalThis.isLater").await;
    page.press("Close").await;
    page.reads_no("The service cannot be reached.").await;
    page.comes_true("the focus on the title", "return document.activeElement === document.querySelector('h1')").await;
}
