//! The API's documentation: it is searched, and its operations are tried out with the reader's own session.

use tenant_auth_conformance::{
    PASSWORD,
    browser::{Page, Stage},
    visits,
};

visits! {
    operations_are_found_by_any_word,
    an_operation_is_tried_out_with_ones_own_session,
    the_page_is_whole_without_its_script,
}

const DOCS: &str = "/api/v1/docs";
const SHOWN: &str =
    "return [...document.querySelectorAll('article')].filter((one) => one.checkVisibility()).map((one) => one.id).join()";

async fn shows(page: &Page, ids: &str) {
    page.comes_true(ids, &format!("return (() => {{ {SHOWN} }})() === '{ids}'")).await;
}

async fn operations_are_found_by_any_word(stage: &Stage) {
    let page = &stage.page;
    page.open(DOCS).await;
    page.is_accessible().await;
    page.fill("Search", "slug_reserved COMPLETE").await;
    shows(page, "completeSignUp").await;
    page.reads("1 of ").await;
    page.fill("Search", "no operation has this").await;
    shows(page, "").await;
    page.reads("0 of ").await;
    page.run("location.hash = '#logout'", vec![]).await;
    page.comes_true("what a link names is shown", "return document.getElementById('logout').checkVisibility()").await;
    page.run("document.activeElement.blur()", vec![]).await;
    page.type_keys("/").await;
    assert_eq!(page.focused().await, "Search");
}

/// Opens the form of an operation.
async fn tries(page: &Page, id: &str) {
    page.open(&format!("{DOCS}#{id}")).await;
    page.run(&format!("document.querySelector('#{id} summary').click()"), vec![]).await;
    page.comes_true("a form", &format!("return Boolean(document.querySelector('#{id} form'))")).await;
}

async fn an_operation_is_tried_out_with_ones_own_session(stage: &Stage) {
    let page = &stage.page;
    tries(page, "listMembers").await;
    page.fill("X-Org-Slug", "acme").await;
    page.press("Send GET").await;
    page.reads("401 after").await;
    page.was_refused(401, "/org/members").await;
    stage.signs_in("ada@acme.example", PASSWORD).await;
    page.arrives_at("Members").await;
    tries(page, "listMembers").await;
    assert_eq!(page.value("X-Org-Slug").await, "acme", "it is kept for the tab");
    page.choose("order", "desc").await;
    page.press("Send GET").await;
    page.reads("200 after").await;
    page.reads("\"ada@acme.example\"").await;
    page.is_accessible().await;
    tries(page, "createInvite").await;
    page.fill("Body", r#"{"email": "nora@acme.example"}"#).await;
    page.press("Send POST").await;
    page.reads("201 after").await;
    page.reads("nora@acme.example").await;
    tries(page, "getOrganizationMember").await;
    page.fill("userId", "..").await;
    page.press("Send GET").await;
    page.comes_true(
        "a path of dots is refused",
        "return document.querySelector('#getOrganizationMember input[name=userId]').matches(':invalid')",
    )
    .await;
    assert_eq!(page.run("return document.querySelector('#getOrganizationMember .try pre').hidden", vec![]).await, true);
    let kept = page.run("return JSON.stringify([Object.entries(localStorage), Object.keys(sessionStorage)])", vec![]).await;
    assert!(!kept.to_string().contains("nora"), "{kept}");
}

async fn the_page_is_whole_without_its_script(stage: &Stage) {
    let page = &stage.page;
    page.cannot_load(&["*docs.js*"]).await;
    page.open(DOCS).await;
    page.reads("Log in").await;
    shows_no_search(page).await;
    assert!(!page.offences().await.is_empty(), "the script was fetched");
}

async fn shows_no_search(page: &Page) {
    let is_there = page.run("return document.querySelector('search').checkVisibility()", vec![]).await;
    assert_eq!(is_there, false, "nothing is offered that does not work");
}
