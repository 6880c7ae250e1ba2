//! The operator of the deployment, at the browser.

use tenant_auth_conformance::{
    PASSWORD,
    browser::{Page, Stage},
    visits,
};

use crate::browser::phone::Phone;

visits! {
    organizations_are_created_changed_and_suspended,
    without_a_second_factor_an_operator_is_refused,
}

const ADA: &str = "ada@acme.example";

/// Makes Ada the operator, signs her in by both factors and opens the list of organizations.
pub(crate) async fn opens_organizations(stage: &Stage) {
    let page = &stage.page;
    let phone = Phone::guarding(&stage.admin().logged_in().await, stage).await;
    stage.auth.operator().appoint(&ADA.parse().expect("an address")).await.expect("a member of the operators' organization");
    stage.signs_in(ADA, PASSWORD).await;
    page.fill("Code", &phone.next_code(stage)).await;
    page.press("Continue").await;
    page.arrives_at("Members").await;
    page.press("Organizations").await;
    page.arrives_at("Organizations").await;
}

async fn organizations_are_created_changed_and_suspended(stage: &Stage) {
    let page = &stage.page;
    opens_organizations(stage).await;
    page.is_accessible().await;
    creates(page, "globex").await;
    page.reads("This short name is taken.").await;
    page.was_refused(409, "/admin/organizations").await;
    page.is_accessible().await;
    page.fill("Short name", "initech").await;
    page.press("Create organization").await;
    page.reads("Initech was created").await;
    stage.link("bill@initech.example", "/invite").await;
    page.row("initech").reads("free").await;

    page.row("initech").press("Edit").await;
    page.asks("Edit Initech").await;
    page.is_accessible().await;
    page.fill("Plan", "enterprise").await;
    page.press("Save changes").await;
    page.row("initech").reads("enterprise").await;

    page.row("initech").press("Suspend").await;
    page.asks("Suspend Initech?").await;
    page.press("Suspend").await;
    page.row("initech").reads("Suspended").await;
    page.row("initech").press("Reactivate").await;
    page.asks("Reactivate Initech?").await;
    page.press("Reactivate").await;
    page.row("initech").reads("Active").await;

    stage.auth.operator().delete_organization(&"initech".parse().expect("a slug")).await.expect("it is there");
    page.press("Members").await;
    page.arrives_at("Members").await;
    page.press("Organizations").await;
    page.row("initech").reads("deleted on").await;
    page.is_accessible().await;
    page.row("initech").press("Keep").await;
    page.asks("Keep Initech?").await;
    page.press("Keep").await;
    page.row("initech").press("Reactivate").await;
    page.press("Reactivate").await;
    page.row("initech").reads("Active").await;

    page.choose("Status", "Suspended").await;
    page.reads("Nothing found").await;
    page.fill("Search organizations", "INIT").await;
    page.choose("Status", "Active").await;
    page.row("initech").press("Open Initech").await;
    page.arrives_at("Organization").await;
    page.part("People").reads("Pending invites 1").await;
    page.is_accessible().await;
    page.press("Delete organization").await;
    page.asks("Delete Initech?").await;
    page.is_accessible().await;
    page.fill("Type", "initec").await;
    page.press("Delete").await;
    page.reads("This is not its short name.").await;
    page.fill("Type", "initech").await;
    page.press("Delete").await;
    page.reads("It is deleted with everything in it on").await;
    page.reload().await;
    page.part("Deletion").press("Keep Initech").await;
    page.press("Keep").await;
    page.press("Reactivate Initech").await;
    page.press("Reactivate").await;
    page.offers("Suspend Initech").await;
    page.goes_back().await;
    page.arrives_at("Organizations").await;
    assert_eq!(page.value("Search organizations").await, "INIT");

    page.row("initech").press("Invite admin").await;
    page.asks("Invite an admin of Initech").await;
    page.is_accessible().await;
    page.fill("Email address", "peter@initech.example").await;
    page.press("Send invite").await;
    page.reads("peter@initech.example is invited.").await;
    page.open(&stage.link("peter@initech.example", "/invite").await).await;
    page.arrives_at("Join Initech").await;
    page.reads("admin").await;
}

async fn creates(page: &Page, slug: &str) {
    page.press("Create organization").await;
    page.asks("Create an organization").await;
    page.is_accessible().await;
    page.fill("Name", "Initech").await;
    page.fill("Short name", slug).await;
    page.fill("Email address of the first admin", "bill@initech.example").await;
    page.press("Create organization").await;
}

async fn without_a_second_factor_an_operator_is_refused(stage: &Stage) {
    let page = &stage.page;
    stage.auth.operator().appoint(&ADA.parse().expect("an address")).await.expect("a member of the operators' organization");
    stage.signs_in(ADA, PASSWORD).await;
    page.arrives_at("Members").await;
    page.press("Organizations").await;
    page.reads("with two-factor authentication").await;
    page.was_refused(403, "/admin/organizations").await;
    page.reads_no("The deployment").await;
    page.offers_no("Create organization").await;
    page.is_accessible().await;
    page.press("Set up two-factor authentication").await;
    page.arrives_at("Security").await;
}
