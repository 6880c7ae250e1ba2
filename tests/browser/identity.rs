//! A tab acts as the person it shows, with the rights it shows, or not at all.

use serde_json::json;
use tenant_auth_conformance::{
    PASSWORD,
    browser::{Page, Stage},
    visits,
};

visits! {
    another_person_in_another_tab_stops_this_one,
    stepping_down_is_asked_about,
    who_is_demoted_elsewhere_is_told,
    who_becomes_an_operator_hears_nothing_of_admins,
    an_address_survives_the_sign_in,
    who_is_signed_in_can_go_on_from_the_sign_in_page,
    an_invite_for_somebody_else_says_who_is_signed_in,
    the_sign_in_page_names_whoever_joined_last,
    a_new_address_is_confirmed_where_somebody_else_is_signed_in,
}

const ADA: &str = "ada@acme.example";
const MAX: &str = "max@acme.example";

async fn signs_in_at(page: &Page, email: &str) {
    page.open("/sign-in#org=acme").await;
    page.arrives_at("Sign in").await;
    page.was_sent_by_the_panel().await;
    page.fill("Email address", email).await;
    page.fill("Password", PASSWORD).await;
    page.press("Sign in").await;
    page.arrives_at("Members").await;
}

async fn another_person_in_another_tab_stops_this_one(stage: &Stage) {
    let page = &stage.page;
    let bea = stage.org().new_admin("Bea Admin").await;
    bea.logged_in().await;
    signs_in_at(page, ADA).await;
    page.press("Invite").await;
    page.fill("Email address", "nora@acme.example").await;
    let other = page.another_tab().await;
    signs_in_at(&other, "bea@acme.example").await;
    page.asks("Somebody else signed in").await;
    page.is_accessible().await;
    page.press("Sign in as Ada Admin").await;
    page.fill("Password", PASSWORD).await;
    page.press("Sign in").await;
    page.asks("Invite somebody").await;
    page.press("Send invite").await;
    page.reads("nora@acme.example is invited.").await;
    let invites = stage.admin().logged_in().await.get("/org/invites").await.expect_ok();
    assert_eq!(invites["invites"][0]["invitedBy"], ADA);
    other.asks("Somebody else signed in").await;
    other.press("Go on as the other person").await;
    other.arrives_at("Members").await;
    other.part("Members").reads("Ada Admin you").await;
}

async fn stepping_down_is_asked_about(stage: &Stage) {
    let page = &stage.page;
    stage.org().new_admin("Bea Admin").await;
    signs_in_at(page, ADA).await;
    page.row(ADA).press("Manage").await;
    page.choose("Role", "Member").await;
    page.press("Save changes").await;
    page.asks("Stop being an admin?").await;
    page.is_accessible().await;
    page.press("Cancel").await;
    page.asks("Ada Admin").await;
    page.press("Save changes").await;
    page.press("Stop being an admin").await;
    page.asks_nothing().await;
    page.reads("no longer an admin").await;
    page.row(ADA).reads("Member").await;
    page.offers_no("API keys").await;
}

async fn who_is_demoted_elsewhere_is_told(stage: &Stage) {
    let page = &stage.page;
    let bea = stage.org().new_admin("Bea Admin").await.logged_in().await;
    signs_in_at(page, ADA).await;
    bea.set_role(stage.admin().id(), "member").await.expect(200);
    page.press("API keys").await;
    page.arrives_at("Members").await;
    page.reads("no longer an admin").await;
    page.was_refused(403, "/org/api-keys").await;
    page.offers_no("API keys").await;
    assert_eq!(page.run("return location.hash", vec![]).await, "#/members");
}

async fn who_becomes_an_operator_hears_nothing_of_admins(stage: &Stage) {
    let page = &stage.page;
    signs_in_at(page, MAX).await;
    page.press("Profile").await;
    page.arrives_at("Profile").await;
    stage.auth.operator().appoint(&MAX.parse().expect("an address")).await.expect("a member of the operators' organization");
    page.fill("Bio", "Keeps the rockets pointed up.").await;
    page.press("Save profile").await;
    page.offers("Organizations").await;
    page.reads_no("an admin here").await;
}

async fn an_address_survives_the_sign_in(stage: &Stage) {
    let page = &stage.page;
    page.open("/#/api-keys").await;
    page.arrives_at("Sign in").await;
    page.fill("Organization", "acme").await;
    page.fill("Email address", ADA).await;
    page.fill("Password", PASSWORD).await;
    page.press("Sign in").await;
    page.arrives_at("API keys").await;
}

async fn who_is_signed_in_can_go_on_from_the_sign_in_page(stage: &Stage) {
    let page = &stage.page;
    signs_in_at(page, MAX).await;
    page.press("Switch organization").await;
    page.arrives_at("Sign in").await;
    page.reads("Max Member is signed in").await;
    page.is_accessible().await;
    page.press("Go on").await;
    page.arrives_at("Members").await;
    stage.signs_out().await;
    page.offers_no("Go on").await;
}

async fn an_invite_for_somebody_else_says_who_is_signed_in(stage: &Stage) {
    let (page, admin) = (&stage.page, stage.admin().logged_in().await);
    admin.invite("gus@globex.example").await.expect(201);
    let link = stage.link("gus@globex.example", "/invite").await;
    stage.signs_in("max@acme.example", PASSWORD).await;
    page.arrives_at("Members").await;
    page.open(&link).await;
    page.arrives_at("Join Acme Rockets").await;
    page.reads("Max Member is signed in at this browser, and is signed out by joining: this invite is for gus@globex.example.")
        .await;
    page.is_accessible().await;
    page.press("Join Acme Rockets").await;
    page.arrives_at("Welcome to Acme Rockets").await;
    page.press("Go to your account").await;
    page.arrives_at("Members").await;
    page.row("gus@globex.example").reads("you").await;
    // For whoever is signed in, there is nothing to say.
    admin.invite("hal@acme.example").await.expect(201);
    page.press("Sign out").await;
    page.arrives_at("Sign in").await;
    page.open(&stage.link("hal@acme.example", "/invite").await).await;
    page.arrives_at("Join Acme Rockets").await;
    page.reads_no("is signed in at this browser").await;
}

async fn the_sign_in_page_names_whoever_joined_last(stage: &Stage) {
    let page = &stage.page;
    stage.admin().logged_in().await.invite("nora@acme.example").await.expect(201);
    signs_in_at(page, MAX).await;
    page.open(&stage.link("nora@acme.example", "/invite").await).await;
    page.arrives_at("Join Acme Rockets").await;
    page.fill("Your name", "Nora New").await;
    page.fill("Choose a password", PASSWORD).await;
    page.press("Create account and join").await;
    page.arrives_at("Welcome to Acme Rockets").await;
    page.open("/sign-in").await;
    page.reads("Nora New is signed in to “acme”.").await;
}

async fn a_new_address_is_confirmed_where_somebody_else_is_signed_in(stage: &Stage) {
    let page = &stage.page;
    let wanted = json!({ "newEmail": "maximilian@acme.example", "password": PASSWORD });
    stage.member().logged_in().await.post("/auth/change-email", wanted).await.expect(200);
    let link = stage.link("maximilian@acme.example", "/change-email").await;
    stage.signs_in("ada@acme.example", PASSWORD).await;
    page.arrives_at("Members").await;
    page.open(&link).await;
    page.reads("You are signed in to acme as Ada Admin, ada@acme.example.").await;
    page.press("Use this address").await;
    page.press("Use another account").await;
    page.reads("Sign in to “acme” first").await;
    page.was_refused(400, "/auth/change-email/confirm").await;
    page.is_accessible().await;
    page.fill("Email address", "max@acme.example").await;
    page.fill("Password", PASSWORD).await;
    page.press("Sign in").await;
    page.reads("You are signed in to acme as Max Member, max@acme.example.").await;
    page.press("Use this address").await;
    page.arrives_at("Your address was changed").await;
}
