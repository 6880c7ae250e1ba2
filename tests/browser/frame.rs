//! The frame around the panel's pages: getting about by keyboard, on a telephone, and by the browser's own buttons.

use tenant_auth_conformance::{
    PASSWORD,
    browser::{Stage, keys},
    visits,
};

visits! {
    the_navigation_can_be_skipped,
    a_small_screen_has_the_navigation_behind_a_button,
    going_back_goes_back;
    below "/auth": everything_moves_below_a_path
}

async fn is_in(stage: &Stage) {
    stage.signs_in("ada@acme.example", PASSWORD).await;
    stage.page.arrives_at("Members").await;
}

async fn the_navigation_can_be_skipped(stage: &Stage) {
    let page = &stage.page;
    is_in(stage).await;
    page.reload().await;
    page.arrives_at("Members").await;
    page.type_keys(keys::TAB).await;
    assert_eq!(page.focused().await, "Skip to content");
    page.type_keys(keys::ENTER).await;
    page.type_keys(keys::TAB).await;
    assert_eq!(page.focused().await, "Invite");
    page.type_keys(keys::ENTER).await;
    page.asks("Invite somebody").await;
    assert_eq!(page.focused().await, "Email address");
    page.type_keys(keys::ESCAPE).await;
    page.asks_nothing().await;
    assert_eq!(page.focused().await, "Invite");
}

async fn a_small_screen_has_the_navigation_behind_a_button(stage: &Stage) {
    let page = &stage.page;
    is_in(stage).await;
    page.is_narrow(true).await;
    page.offers_no("Profile").await;
    page.press("Menu").await;
    page.is_accessible().await;
    page.is_narrow(true).await;
    page.press("Profile").await;
    page.arrives_at("Profile").await;
    page.offers_no("Sessions").await;
    page.press("Menu").await;
    page.offers("Sessions").await;
    page.type_keys(keys::ESCAPE).await;
    page.offers_no("Sessions").await;
    assert_eq!(page.focused().await, "Menu");
    page.press("Menu").await;
    page.press("Profile").await;
    page.offers_no("Sessions").await;
    assert_eq!(page.focused().await, "Menu", "where the view is shown already");
}

async fn going_back_goes_back(stage: &Stage) {
    let page = &stage.page;
    is_in(stage).await;
    for view in ["Invites", "Security"] {
        page.press(view).await;
        page.arrives_at(view).await;
        let focused = page.run("return document.activeElement.tagName", vec![]).await;
        assert_eq!(focused, "H1", "the new page's title has the focus, so that it is read aloud");
    }
    page.goes_back().await;
    page.arrives_at("Invites").await;
    page.goes_back().await;
    page.arrives_at("Members").await;
}

async fn everything_moves_below_a_path(stage: &Stage) {
    let page = &stage.page;
    page.open("/").await;
    page.arrives_at("Sign in").await;
    is_in(stage).await;
    page.press("Sessions").await;
    page.arrives_at("Sessions").await;
    stage.signs_out().await;
    page.press("Forgot your password?").await;
    page.fill("Email address", "ada@acme.example").await;
    page.press("Send me a link").await;
    page.arrives_at("Look into your mail").await;
    page.open(&stage.link("ada@acme.example", "/reset").await).await;
    page.arrives_at("Choose a new password").await;
    page.fill("New password", "teal-badger-awning-77").await;
    page.press("Set the new password").await;
    page.arrives_at("Your password was changed").await;
}
