//! Pages start, or say why they do not.

use tenant_auth_conformance::{PASSWORD, browser::Stage, visits};

visits! {
    a_missing_file_is_told,
    signing_in_works_without_storage,
    loading_an_invite_again_keeps_its_link,
}

async fn a_missing_file_is_told(stage: &Stage) {
    let page = &stage.page;
    stage.signs_in("ada@acme.example", PASSWORD).await;
    page.arrives_at("Members").await;
    page.cannot_load(&["*/assets/panel.js*"]).await;
    page.reload().await;
    page.reads("This page did not load").await;
    page.offers("Reload").await;
    assert!(!page.offences().await.is_empty(), "the file was fetched");
    page.is_accessible().await;
    page.cannot_load(&[]).await;
    page.press("Reload").await;
    page.arrives_at("Members").await;
}

async fn signing_in_works_without_storage(stage: &Stage) {
    let page = &stage.page;
    let forbidden =
        "for (const name of ['getItem', 'setItem', 'removeItem']) Storage.prototype[name] = () => { throw new DOMException('no') }";
    page.begins_with(forbidden).await;
    page.open("/").await;
    page.arrives_at("Sign in").await;
    page.fill("Organization", "acme").await;
    page.fill("Email address", "ada@acme.example").await;
    page.fill("Password", PASSWORD).await;
    page.press("Sign in").await;
    page.arrives_at("Members").await;
    page.reads("ada@acme.example").await;
    page.press("Invites").await;
    page.arrives_at("Invites").await;
}

async fn loading_an_invite_again_keeps_its_link(stage: &Stage) {
    let page = &stage.page;
    stage.admin().logged_in().await.invite("nora@acme.example").await.expect(201);
    page.open(&stage.link("nora@acme.example", "/invite").await).await;
    page.arrives_at("Join Acme Rockets").await;
    page.reload().await;
    page.arrives_at("Join Acme Rockets").await;
    page.fill("Your name", "Nora New").await;
    page.fill("Choose a password", "teal-badger-awning-77").await;
    page.press("Create account and join").await;
    page.arrives_at("Welcome to Acme Rockets").await;
    assert_eq!(page.run("return JSON.stringify(history.state)", vec![]).await, "null", "the link is used up");
}
