//! Lists: searched and filtered by an address that can be shared, and changed in place.

use tenant_auth_conformance::{
    PASSWORD,
    browser::{Page, Stage},
    visits,
};

visits! {
    a_search_is_an_address,
    a_row_changes_in_its_place,
    the_focus_goes_to_the_neighbour_of_a_row_that_goes,
    an_audit_search_is_an_address,
    keys_are_searched_among_all_there_are,
}

async fn ada_opens<'a>(stage: &'a Stage, view: &str) -> &'a Page {
    stage.signs_in("ada@acme.example", PASSWORD).await;
    stage.page.arrives_at("Members").await;
    stage.page.press(view).await;
    stage.page.arrives_at(view).await;
    &stage.page
}

async fn hash(page: &Page) -> String {
    page.run("return location.hash", vec![]).await.as_str().unwrap_or_default().to_owned()
}

async fn a_search_is_an_address(stage: &Stage) {
    for number in 0..102 {
        stage.org().new_member(&format!("p{number:03} Person")).await;
    }
    stage.advance(1);
    let last = stage.org().new_admin("zoe Person").await;
    let page = ada_opens(stage, "Members").await;
    page.fill("Search members", "zoe").await;
    page.row("zoe@acme.example").reads("Admin").await;
    page.reads("1 found").await;
    assert_eq!(hash(page).await, "#/members?q=zoe");
    page.fill("Search members", "person").await;
    page.choose("Role", "Admins").await;
    page.reads("1 found").await;
    page.is_accessible().await;
    page.choose("Status", "Suspended").await;
    page.reads("Nothing found").await;
    stage.admin().logged_in().await.set_status(last.id(), "suspended").await.expect(200);
    page.reload().await;
    page.arrives_at("Members").await;
    page.row("zoe@acme.example").reads("Suspended").await;
    assert_eq!(page.value("Search members").await, "person");
    assert_eq!(hash(page).await, "#/members?q=person&role=org_admin&status=suspended");
    page.press("Profile").await;
    page.arrives_at("Profile").await;
    page.goes_back().await;
    page.row("zoe@acme.example").reads("Suspended").await;
    page.reads("1 found").await;
    page.fill("Search members", "nobody at all").await;
    page.press("Show all").await;
    page.reads("Showing the first 100 members").await;
    assert_eq!(hash(page).await, "#/members");
}

async fn a_row_changes_in_its_place(stage: &Stage) {
    for number in 0..102 {
        stage.org().new_member(&format!("p{number:03} Person")).await;
    }
    stage.advance(1);
    stage.org().new_member("zoe Last").await;
    let page = ada_opens(stage, "Members").await;
    page.press("Load all").await;
    page.row("zoe@acme.example").press("Manage").await;
    page.choose("Role", "Admin").await;
    page.run("globalThis.row = document.querySelector('tbody tr'); globalThis.y = scrollY", vec![]).await;
    page.press("Save changes").await;
    page.asks_nothing().await;
    page.row("zoe@acme.example").reads("Admin").await;
    page.reads("105 members").await;
    assert_eq!(page.focused().await, "Manage zoe Last");
    page.comes_true("the rows and the place of before", "return row.isConnected && scrollY === y && y > 500").await;
}

async fn the_focus_goes_to_the_neighbour_of_a_row_that_goes(stage: &Stage) {
    let admin = stage.admin().logged_in().await;
    for name in ["ann", "ben", "cleo"] {
        admin.invite(&format!("{name}@acme.example")).await.expect(201);
        stage.advance(1);
    }
    let page = ada_opens(stage, "Invites").await;
    page.row("ben@acme.example").press("Resend").await;
    page.reads("gets a new link").await;
    page.comes_true("the focus", "return nameOf(document.activeElement) === 'Resend ben@acme.example'").await;
    for (gone, then) in [("ben", "Revoke cleo@acme.example"), ("cleo", "Revoke ann@acme.example")] {
        page.row(&format!("{gone}@acme.example")).press("Revoke").await;
        page.press("Revoke").await;
        page.asks_nothing().await;
        page.reads_no(&format!("{gone}@acme.example")).await;
        page.comes_true("the focus", &format!("return nameOf(document.activeElement) === '{then}'")).await;
    }
    page.row("ann@acme.example").press("Revoke").await;
    page.press("Revoke").await;
    page.reads("No pending invites").await;
    page.comes_true("the focus", "return document.activeElement.tagName === 'H1'").await;
}

async fn an_audit_search_is_an_address(stage: &Stage) {
    let admin = stage.admin().logged_in().await;
    admin.set_metadata(stage.member().id(), serde_json::json!({ "team": "lift-off" })).await.expect(200);
    let page = ada_opens(stage, "Audit log").await;
    page.fill("Person", "max@acme.example").await;
    page.choose("What happened", "Every member event").await;
    page.press("Show").await;
    page.offers_no("Details session.created").await;
    page.row("member.updated").reads("Max Member").await;
    page.reload().await;
    page.arrives_at("Audit log").await;
    page.row("member.updated").reads("Max Member").await;
    page.offers_no("Details session.created").await;
    assert_eq!(page.value("Person").await, "max@acme.example");
}

async fn keys_are_searched_among_all_there_are(stage: &Stage) {
    let page = &stage.page;
    let admin = stage.admin().logged_in().await;
    for name in ["Billing", "Reports", "Old billing"] {
        admin.create_key(name).await.expect(201);
    }
    stage.signs_in("ada@acme.example", PASSWORD).await;
    page.arrives_at("Members").await;
    page.press("API keys").await;
    page.arrives_at("API keys").await;
    page.reads("Reports").await;
    page.fill("Search API keys", "BILL").await;
    page.reads("2 found").await;
    page.comes_true("the address", "return location.hash === '#/api-keys?search=BILL'").await;
    page.reload().await;
    page.reads("2 found").await;
    page.fill("Search API keys", "payroll").await;
    page.reads("Nothing found").await;
    page.is_accessible().await;
    page.press("Show all").await;
    page.reads("Reports").await;
}
