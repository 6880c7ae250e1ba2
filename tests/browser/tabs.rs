//! Several tabs of one browser, which share one session.

use tenant_auth_conformance::{
    PASSWORD,
    browser::{Stage, keys},
    visits,
};
use tenant_auth_core::ports::Clock;

visits! {
    two_tabs_outlive_their_access_token,
    signing_out_in_one_tab_leaves_the_other_too,
    another_organization_in_another_tab_is_noticed,
    who_is_called_back_from_another_organization_is_told_why,
    an_organization_whose_name_is_forgotten_is_called_another,
    who_lost_the_session_comes_back_to_where_they_were,
}

const MAX: &str = "max@acme.example";

async fn two_tabs_outlive_their_access_token(stage: &Stage) {
    let first = &stage.page;
    stage.signs_in(MAX, PASSWORD).await;
    first.arrives_at("Members").await;
    let second = first.another_tab().await;
    second.open("/").await;
    second.arrives_at("Members").await;
    let began = stage.clock.now();
    for view in ["Profile", "Sessions", "Profile"] {
        stage.advance(stage.config.sessions.access_token_ttl.as_secs());
        first.press_together(&second, view).await;
        first.arrives_at(view).await;
        second.arrives_at(view).await;
        first.was_refused_anywhere(401).await;
    }
    // Had a tab used a refresh token that another one had superseded, the session would have ended here at the latest.
    stage.advance(stage.config.sessions.refresh_grace.as_secs() + 1);
    for page in [first, &second] {
        page.press("Members").await;
        page.arrives_at("Members").await;
    }
    assert!(stage.clock.now() > began.plus(stage.config.sessions.access_token_ttl * 3));
}

async fn signing_out_in_one_tab_leaves_the_other_too(stage: &Stage) {
    stage.signs_in(MAX, PASSWORD).await;
    stage.page.arrives_at("Members").await;
    let second = stage.page.another_tab().await;
    second.open("/").await;
    second.arrives_at("Members").await;
    stage.signs_out().await;
    second.arrives_at("Sign in").await;
}

async fn another_organization_in_another_tab_is_noticed(stage: &Stage) {
    let first = &stage.page;
    stage.signs_in(MAX, PASSWORD).await;
    first.arrives_at("Members").await;
    let second = first.another_tab().await;
    second.open("/sign-in#org=globex").await;
    second.was_sent_by_the_panel().await;
    second.fill("Email address", "gus@globex.example").await;
    second.fill("Password", PASSWORD).await;
    second.press("Sign in").await;
    second.arrives_at("Members").await;
    first.asks("Signed in to another organization").await;
    first.type_keys(keys::ESCAPE).await;
    first.type_keys(keys::ESCAPE).await;
    first.asks("Signed in to another organization").await;
    first.is_accessible().await;
    first.press("Switch to globex").await;
    first.arrives_at("Members").await;
    first.reads("Globex Corporation").await;
}

async fn who_is_called_back_from_another_organization_is_told_why(stage: &Stage) {
    let first = &stage.page;
    stage.signs_in(MAX, PASSWORD).await;
    first.arrives_at("Members").await;
    first.press("Profile").await;
    first.arrives_at("Profile").await;
    first.fill("Bio", "Keeps the rockets pointed up.").await;
    let second = first.another_tab().await;
    second.open("/sign-in#org=globex").await;
    second.was_sent_by_the_panel().await;
    second.fill("Email address", "gus@globex.example").await;
    second.fill("Password", PASSWORD).await;
    second.press("Sign in").await;
    second.arrives_at("Members").await;
    first.asks("Signed in to another organization").await;
    first.press("Sign in to acme").await;
    first.reads("Another tab signed in to another organization. Sign in again to keep what you have not saved.").await;
    first.is_accessible().await;
    first.fill("Password", PASSWORD).await;
    first.press("Sign in").await;
    first.asks_nothing().await;
    assert_eq!(first.value("Bio").await, "Keeps the rockets pointed up.");
}

/// As where storage is forbidden: nobody knows which organization was signed in to last.
const FORGETS: &str = "localStorage.clear();
    new BroadcastChannel(`tenant-auth${new URL('api/v1', location).pathname}`).postMessage({ what: 'signed-in' })";

async fn an_organization_whose_name_is_forgotten_is_called_another(stage: &Stage) {
    let page = &stage.page;
    stage.signs_in(MAX, PASSWORD).await;
    page.arrives_at("Members").await;
    page.run(FORGETS, vec![]).await;
    page.asks("Signed in to another organization").await;
    page.reads("Another tab of this browser signed in to another organization, so this one can no longer show acme.").await;
    page.is_accessible().await;
}

async fn who_lost_the_session_comes_back_to_where_they_were(stage: &Stage) {
    let page = &stage.page;
    stage.signs_in(MAX, PASSWORD).await;
    page.arrives_at("Members").await;
    page.press("Security").await;
    page.arrives_at("Security").await;
    let admin = stage.admin().logged_in().await;
    admin.delete(&format!("/org/members/{}/sessions", stage.member().id())).await.expect(200);
    page.press("Sessions").await;
    page.arrives_at("Sign in").await;
    page.was_refused(401, "/auth/sessions").await;
    page.was_refused(401, "/auth/refresh").await;
    page.reads("Your session is over.").await;
    assert_eq!(page.value("Organization").await, "acme");
    assert_eq!(page.value("Email address").await, MAX);
    page.fill("Password", PASSWORD).await;
    page.press("Sign in").await;
    page.arrives_at("Sessions").await;
}
