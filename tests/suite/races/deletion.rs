//! Races with the deletion of an organization: an acknowledged cancellation is never followed by a removal, and whoever comes in while
//! it is removed is in or out, whole.

use std::future::IntoFuture;

use serde_json::json;
use tenant_auth_conformance::{App, Caller, PASSWORD, rounds, scenarios, together};
use tenant_auth_core::{
    Error,
    model::{DeploymentScope::Organizations, Role},
    operator::{NewOrganization, NewUser},
    secret::Password,
    value::Slug,
};

use super::second_server;
use crate::suite::{
    public::deployment_keys::{made, new_key},
    support::hooks::{texts_in, ticking},
};

scenarios![on each database:
    no_acknowledged_cancellation_is_followed_by_a_removal,
    an_order_beside_a_reactivation_leaves_it_closed,
    a_login_beside_a_removal_opens_nothing,
    an_invite_that_is_accepted_while_the_last_membership_ends_keeps_its_account,
    who_is_made_while_it_is_removed_is_not_left_behind,
];

const DAY: u64 = 24 * 3_600;

/// The product, at a server.
async fn product(app: &App) -> Caller {
    app.anonymous().without_slug().with("X-API-Key", &made(app, new_key(&[Organizations])).await.1)
}

fn slug(round: usize) -> Slug {
    format!("brief-{round}").parse().expect("a slug")
}

/// A new organization and its only member, who belongs nowhere else, logged in.
async fn brief(app: &App, round: usize) -> Caller {
    let name = "Brief".parse().expect("a name");
    let email = format!("b{round}@brief.example").parse().expect("an address");
    let invited = app.auth.operator().create_organization(NewOrganization::new(name, slug(round), email)).await.expect("it is new");
    let member = app.anonymous().at_org(slug(round).as_str());
    member.accept(invited.token.expose(), "Brief Member").await.expect(200);
    member
}

/// Lets the workers finish what they have begun.
async fn settled(app: &App) {
    app.advance(31);
    app.tick().await;
}

async fn is_there(product: &Caller, round: usize) -> bool {
    product.get(&format!("/admin/organizations/{}", slug(round))).may_fail().await.status == 200
}

async fn no_acknowledged_cancellation_is_followed_by_a_removal(app: &App) {
    let (product, other) = (product(app).await, second_server(app).await);
    let (mut kept, mut gone) = (0, 0);
    for round in 0..rounds().min(25) {
        let path = format!("/admin/organizations/{}", slug(round));
        brief(app, round).await;
        app.auth.operator().delete_organization(&slug(round)).await.expect("it is there");
        app.advance(30 * DAY);
        let undo = product.patch(&path, json!({ "deletesAt": null })).into_future();
        let undo = async {
            tokio::time::sleep(std::time::Duration::from_millis(round as u64 % 10 * 4)).await;
            undo.await
        };
        let (undone, one, two) = tokio::join!(undo, ticking(app), ticking(&other));
        one.expect("it ran").and(two.expect("it ran")).expect("both work");
        settled(app).await;
        match undone.status {
            200 => {
                kept += 1;
                let org = product.get(&path).await.expect_ok();
                assert!(org["org"]["deletesAt"].is_null() && org["org"]["status"] == "suspended", "{org}");
                app.auth.operator().delete_organization_now(&slug(round)).await.expect("it is there");
                settled(app).await;
            }
            404 => gone += 1,
            _ => panic!("{}", undone.shown()),
        }
        assert!(!is_there(&product, round).await);
    }
    println!("races: {kept} were kept and {gone} removed");
}

async fn an_order_beside_a_reactivation_leaves_it_closed(app: &App) {
    let (product, other) = (product(app).await, second_server(app).await);
    let path = "/admin/organizations/globex";
    for _ in 0..rounds().min(15) {
        product.patch(path, json!({ "deletesAt": null, "status": "suspended" })).await.expect(200);
        let order = product.via(&other).delete(path);
        let answers = together(vec![product.patch(path, json!({ "status": "active" })), order]).await;
        assert_eq!(answers[1].status, 202, "{}", answers[1].shown());
        assert!(matches!(answers[0].status, 200 | 409), "{}", answers[0].shown());
        let org = product.get(path).await.expect_ok()["org"].clone();
        assert!(org["status"] == "suspended" && org["deletesAt"].is_string(), "{org}");
    }
}

async fn a_login_beside_a_removal_opens_nothing(app: &App) {
    let other = second_server(app).await;
    for round in 0..rounds().min(20) {
        let member = brief(app, round).await;
        let slug = slug(round);
        let entering = app.anonymous().at_org(slug.as_str());
        let login = entering.login_with(&format!("b{round}@brief.example"), PASSWORD).may_fail().into_future();
        let operator = other.auth.operator();
        let (login, removed) = tokio::join!(tokio::spawn(login), operator.delete_organization_now(&slug));
        removed.expect("it is there");
        let login = login.expect("it was answered");
        assert!(matches!(login.status, 200 | 401 | 403 | 404), "{}", login.shown());
        for session in [&entering, &member] {
            session.get("/org").await.expect_error(404, "unknown_organization");
        }
        settled(app).await;
        let left = texts_in(app, &format!("SELECT id FROM tenant_auth_users WHERE email_key = 'b{round}@brief.example'")).await;
        assert!(left.is_empty());
    }
}

async fn an_invite_that_is_accepted_while_the_last_membership_ends_keeps_its_account(app: &App) {
    let (other, admin) = (second_server(app).await, app.admin().logged_in().await);
    let (mut joined, mut anew) = (0, 0);
    for round in 0..rounds().min(25) {
        let email = format!("b{round}@brief.example");
        brief(app, round).await;
        admin.invite(&email).await.expect(201);
        let token = app.link_token_of(&email).await;
        app.auth.operator().delete_organization_now(&slug(round)).await.expect("it is there");
        let here = app.anonymous();
        let accept = here.accept_with_account(&token).may_fail().into_future();
        let (accepted, worked) = tokio::join!(tokio::spawn(accept), ticking(&other));
        worked.expect("it ran").expect("it works");
        let accepted = accepted.expect("it was answered");
        settled(app).await;
        if accepted.status == 200 {
            joined += 1;
        } else {
            // On a slow machine nobody decided; the invite waits still.
            assert_eq!(accepted.status, 503, "{}", accepted.shown());
            anew += 1;
            here.accept_with_account(&token).await.expect(200);
        }
        here.get("/org").await.expect(200);
        app.anonymous().login_with(&email, PASSWORD).await.expect(200);
    }
    println!("races: {joined} joined, {anew} asked again");
    assert!(joined > 0);
}

/// Who is made before the removal begins goes with the others; after it nobody is made.
async fn who_is_made_while_it_is_removed_is_not_left_behind(app: &App) {
    let other = second_server(app).await;
    for round in 0..rounds().min(20) {
        brief(app, round).await;
        let new = NewUser {
            email: format!("late{round}@brief.example").parse().expect("an address"),
            name: "Late".parse().expect("a name"),
            role: Role::Member,
            password: Password::new(PASSWORD),
        };
        let (one, two) = (app.auth.operator(), other.auth.operator());
        let slug = slug(round);
        let removing = async {
            // About as long as the password is hashed.
            tokio::time::sleep(std::time::Duration::from_micros(round as u64 * 150)).await;
            two.delete_organization_now(&slug).await
        };
        let (made, removed) = tokio::join!(one.create_user(&slug, new), removing);
        removed.expect("it is there");
        assert!(matches!(made, Ok(_) | Err(Error::UnknownOrganization)), "{made:?}");
        settled(app).await;
        let left = texts_in(app, "SELECT email FROM tenant_auth_users WHERE email_key LIKE '%brief.example'").await;
        assert!(left.is_empty(), "{left:?}");
    }
}
