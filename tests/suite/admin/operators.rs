//! The rights of operators: the whole of `/admin`, called by persons who each lack one condition.

use serde_json::{Value, json};
use tenant_auth_conformance::{App, Caller, PASSWORD, PUBLIC_URL, Request, routes, scenarios};
use tenant_auth_core::value::Email;

use crate::suite::support::{
    account::in_both,
    authenticator::{Authenticator, SecondFactor},
    stored,
};

scenarios![
    an_operator_is_let_in,
    nobody_is_one_without_an_appointment,
    nobody_is_one_without_the_setting,
    nobody_is_one_in_another_organization,
    nobody_is_one_without_the_second_factor,
    nobody_is_one_twelve_hours_after_the_login,
    nobody_is_one_after_removing_the_second_factor,
    a_dismissed_operator_is_refused_at_once,
    a_suspended_operator_is_refused_as_any_member,
    without_a_session_nobody_is_anybody,
    a_foreign_page_cannot_use_an_operators_cookies,
    the_organizations_own_pages_cannot_use_an_operators_cookies,
    only_members_of_the_operators_organization_are_appointed,
    no_request_of_an_org_admin_makes_an_operator,
    who_is_appointed_is_listed_until_the_dismissal,
];

/// The very same deployment, with `acme` as the operators' organization.
pub(crate) async fn with_operators(app: &App) -> App {
    app.beside(|setup| setup.config.organizations.operator_org = Some("acme".parse().expect("a slug"))).await
}

fn address(person: &Caller) -> Email {
    person.email().parse().expect("an address")
}

pub(crate) async fn appoint(app: &App, person: &Caller) {
    let user = app.auth.operator().appoint(&address(person)).await.expect("a member of the operators' organization");
    assert_eq!(user.id.as_str(), person.id());
}

pub(crate) async fn dismiss(app: &App, person: &Caller) {
    app.auth.operator().dismiss(&address(person)).await.expect("there is an account");
}

/// A deployment with Ada as its operator: in `acme`, appointed, logged in with both factors just now.
pub(crate) async fn operator(app: &App) -> (App, Caller, Authenticator) {
    let app = with_operators(app).await;
    let authenticator = app.admin().logged_in().await.guard(&app).await;
    appoint(&app, &app.admin()).await;
    let ada = app.admin().through(&app, &authenticator).await;
    (app, ada, authenticator)
}

/// Each operation of an operator, about `globex` where it is about an organization.
fn operations(caller: &Caller) -> Vec<Request> {
    let requests = requests(caller, |_| true);
    assert_eq!(requests.len(), 7);
    requests
}

/// Those that change something.
fn changes(caller: &Caller) -> Vec<Request> {
    let requests = requests(caller, |method| method != "GET");
    assert_eq!(requests.len(), 4);
    requests
}

fn requests(caller: &Caller, of: fn(&str) -> bool) -> Vec<Request> {
    let rows = routes::table().iter().filter(|row| row.template.starts_with("/admin/") && of(&row.method));
    let body = json!({
        "name": "Newcomers", "slug": "newcomers", "adminEmail": "nora@new.example", "email": "nora@new.example", "status": "suspended"
    });
    rows.map(|row| caller.request(&row.method, &row.template.replace("{slug}", "globex")).json(&body)).collect()
}

/// Every operation is refused, and comes to nothing.
async fn expect_refused(app: &App, caller: &Caller, status: u16, code: &str) {
    for operation in operations(caller) {
        let refused = operation.await.expect_error(status, code);
        assert!(refused.cookies().is_empty(), "{}", refused.shown());
    }
    app.anonymous().at_org("newcomers").get("/org").await.expect_error(404, "unknown_organization");
    let globex = app.other_org().member().logged_in().await.get("/org").await.expect_ok();
    assert_eq!((&globex["org"]["status"], &globex["org"]["name"]), (&"active".into(), &"Globex Corporation".into()));
    assert!(app.mail_to("nora@new.example").await.is_empty());
}

async fn an_operator_is_let_in(app: &App) {
    let (app, ada, _) = operator(app).await;
    let bearer = ada.elsewhere().with_bearer(&ada.access_token());
    for caller in [&ada, &bearer] {
        caller.get("/admin/organizations").await.expect(200);
    }
    ada.refresh().await.expect(200);
    for operation in operations(&ada) {
        let answer = operation.await;
        assert!(answer.status < 300, "{}", answer.shown());
    }
    assert_eq!(app.other_org().member().login().await.expect(403).code(), "suspended");
}

async fn nobody_is_one_without_an_appointment(app: &App) {
    let app = with_operators(app).await;
    let authenticator = app.admin().logged_in().await.guard(&app).await;
    let ada = app.admin().through(&app, &authenticator).await;
    expect_refused(&app, &ada, 403, "operator_required").await;
    expect_refused(&app, &app.member().logged_in().await, 403, "operator_required").await;
    // An appointment reaches the session that is there: it was opened by both factors.
    appoint(&app, &ada).await;
    ada.get("/admin/organizations").await.expect(200);
    assert_eq!(ada.get("/auth/profile").await.expect_ok()["user"]["role"], "admin");
}

async fn nobody_is_one_without_the_setting(app: &App) {
    let (_, ada, _) = operator(app).await;
    expect_refused(app, &ada.via(app), 403, "operator_required").await;
}

async fn nobody_is_one_in_another_organization(app: &App) {
    let app = with_operators(app).await;
    let (max, there) = in_both(&app).await;
    let authenticator = max.guard(&app).await;
    appoint(&app, &max).await;
    let max = app.member().through(&app, &authenticator).await;
    let there = there.elsewhere().through(&app, &authenticator).await;
    max.get("/admin/organizations").await.expect(200);
    expect_refused(&app, &there, 403, "operator_required").await;
    expect_refused(&app, &there.at_org("acme"), 401, "wrong_organization").await;
    expect_refused(&app, &max.at_org("globex"), 401, "wrong_organization").await;
}

async fn nobody_is_one_without_the_second_factor(app: &App) {
    let app = with_operators(app).await;
    let ada = app.admin().logged_in().await;
    appoint(&app, &ada).await;
    expect_refused(&app, &ada, 403, "operator_required").await;
    let authenticator = ada.guard(&app).await;
    // The session is older than the factor: it never was asked for it.
    expect_refused(&app, &ada, 403, "operator_required").await;
    let ada = app.admin().through(&app, &authenticator).await;
    ada.get("/admin/organizations").await.expect(200);
}

async fn nobody_is_one_twelve_hours_after_the_login(app: &App) {
    let (app, ada, authenticator) = operator(app).await;
    app.advance(12 * 60 * 60 - 1);
    ada.refresh().await.expect(200);
    ada.get("/admin/organizations").await.expect(200);
    app.advance(1);
    expect_refused(&app, &ada, 403, "operator_required").await;
    ada.refresh().await.expect(200);
    expect_refused(&app, &ada, 403, "operator_required").await;
    ada.get("/org").await.expect(200);
    app.admin().through(&app, &authenticator).await.get("/admin/organizations").await.expect(200);
}

async fn nobody_is_one_after_removing_the_second_factor(app: &App) {
    let (app, ada, authenticator) = operator(app).await;
    app.advance(30);
    ada.disable(PASSWORD, &authenticator.code(&app)).await.expect(200);
    ada.get("/org").await.expect(200);
    expect_refused(&app, &ada, 403, "operator_required").await;
}

async fn a_dismissed_operator_is_refused_at_once(app: &App) {
    let (app, ada, _) = operator(app).await;
    ada.get("/admin/organizations").await.expect(200);
    dismiss(&app, &ada).await;
    expect_refused(&app, &ada, 403, "operator_required").await;
    ada.get("/org/invites").await.expect(200);
    assert_eq!(ada.get("/auth/profile").await.expect_ok()["user"]["role"], "user");
    appoint(&app, &ada).await;
    ada.get("/admin/organizations").await.expect(200);
}

async fn a_suspended_operator_is_refused_as_any_member(app: &App) {
    let (app, ada, _) = operator(app).await;
    let dora = app.org().new_admin("Dora Deputy").await.logged_in().await;
    dora.set_status(ada.id(), "suspended").await.expect(200);
    expect_refused(&app, &ada, 403, "suspended").await;
    dora.set_status(ada.id(), "active").await.expect(200);
    ada.get("/admin/organizations").await.expect(200);
    dora.remove(ada.id()).await.expect(200);
    expect_refused(&app, &ada, 401, "session_required").await;
}

async fn without_a_session_nobody_is_anybody(app: &App) {
    let (app, ada, _) = operator(app).await;
    let token = ada.access_token();
    expect_refused(&app, &app.anonymous(), 401, "session_required").await;
    expect_refused(&app, &app.backend(), 401, "session_required").await;
    ada.logout().await.expect(200);
    expect_refused(&app, &app.anonymous().with_bearer(&token), 401, "session_required").await;
}

async fn a_foreign_page_cannot_use_an_operators_cookies(app: &App) {
    let (app, ada, _) = operator(app).await;
    for operation in changes(&ada) {
        operation.clone().from_origin("https://evil.example").await.expect_error(403, "forbidden_origin");
        operation.header("Sec-Fetch-Site", "cross-site").await.expect_error(403, "forbidden_origin");
    }
    let body = json!({ "name": "Renamed" });
    let own = ada.patch("/admin/organizations/globex", body).from_origin(PUBLIC_URL).await.expect(200);
    assert_eq!(own.header("Access-Control-Allow-Origin"), Some(PUBLIC_URL));
    assert_eq!(app.other_org().member().logged_in().await.get("/org").await.expect_ok()["org"]["name"], "Renamed");
}

async fn the_organizations_own_pages_cannot_use_an_operators_cookies(app: &App) {
    let (app, ada, _) = operator(app).await;
    ada.patch("/org", json!({ "allowedOrigins": ["https://extra.example"] })).await.expect(200);
    for origin in ["https://app.acme.example", "https://extra.example"] {
        for operation in changes(&ada) {
            operation.from_origin(origin).await.expect_error(403, "forbidden_origin");
        }
        let read = ada.get("/admin/organizations").from_origin(origin).await.expect(200);
        assert_eq!(read.header("Access-Control-Allow-Origin"), None, "{origin} asks and cannot read");
        let asked = app.anonymous().request("OPTIONS", "/admin/organizations").from_origin(origin);
        let asked = asked.header("Access-Control-Request-Method", "POST").await.expect(204);
        assert_eq!(asked.header("Access-Control-Allow-Origin"), None, "{origin} does not pass a preflight");
        ada.patch("/org", json!({ "name": "Acme" })).from_origin(origin).await.expect(200);
    }
    let read = ada.get("/admin/organizations").from_origin(PUBLIC_URL).await.expect(200);
    assert_eq!(read.header("Access-Control-Allow-Origin"), Some(PUBLIC_URL));
}

async fn only_members_of_the_operators_organization_are_appointed(app: &App) {
    let with = with_operators(app).await;
    let appoint = async |app: &App, email: &str| {
        let outcome = app.auth.operator().appoint(&email.parse().expect("an address")).await;
        outcome.map(|user| user.role.as_str().to_owned()).map_err(|error| error.to_string())
    };
    assert!(
        appoint(app, app.admin().email()).await.is_err_and(|text| text.contains("No organization is the operators'")),
        "without the setting"
    );
    assert!(appoint(&with, app.other_org().admin().email()).await.is_err_and(|text| text.contains("not a member")));
    assert!(appoint(&with, "nobody@acme.example").await.is_err_and(|text| text.contains("account")));
    for _ in 0..2 {
        assert_eq!(appoint(&with, app.admin().email()).await, Ok("admin".to_owned()));
    }
}

/// Bodies with more fields than each route reads.
fn greedy() -> Vec<Value> {
    let common = json!({
        "role": "admin", "accountRole": "admin", "isAdmin": true, "user": { "role": "admin" }, "name": "Ada", "metadata": { "role": "admin" },
        "email": "wished@acme.example", "password": PASSWORD, "status": "active", "scopes": ["admin"], "slug": "acme"
    });
    let mut with_a_good_role = common.clone();
    with_a_good_role["role"] = "org_admin".into();
    vec![
        common,
        with_a_good_role,
        json!({ "operator_org": "globex", "allowedOrigins": [], "role": "member", "user.role": "admin" }),
    ]
}

async fn no_request_of_an_org_admin_makes_an_operator(app: &App) {
    let app = with_operators(app).await;
    for org in [app.org(), app.other_org()] {
        let authenticator = org.admin().logged_in().await.guard(&app).await;
        // Ways out of the organization and out of the session come to an end of their own.
        let rows = routes::table().iter().filter(|row| !row.template.starts_with("/auth/2fa") && row.template != "/auth/logout");
        for row in rows {
            let admin = org.admin().through(&app, &authenticator).await;
            for target in [org.member(), org.admin()] {
                for body in greedy() {
                    admin.request(&row.method, &row.plausible_path(target.id())).json(&body).await;
                }
            }
        }
        let admin = org.admin().through(&app, &authenticator).await;
        assert_eq!(admin.get("/auth/profile").await.expect_ok()["user"]["role"], "user");
        admin.get("/admin/organizations").await.expect_error(403, "operator_required");
        admin.invite_as("wish@acme.example", "admin").await.expect_invalid("role");
        admin.set_role(org.admin().id(), "admin").await.expect_invalid("role");
    }
    let eve = app.org().new_admin("Eve").await.logged_in().await;
    let token = app.invited(&eve, "nora@acme.example").await;
    let wish = json!({ "name": "Nora", "password": PASSWORD, "role": "admin", "user": { "role": "admin" } });
    let nora = app.anonymous();
    nora.post(&format!("/org/invites/{token}/accept"), wish).await.expect(200);
    assert_eq!(nora.get("/auth/profile").await.expect_ok()["user"]["role"], "user");
    assert!(stored::operators(&app).await.is_empty());
    appoint(&app, &eve).await;
    assert_eq!(stored::operators(&app).await, [eve.email()], "this would have shown");
}

async fn who_is_appointed_is_listed_until_the_dismissal(app: &App) {
    let app = with_operators(app).await;
    let listed = async || {
        let operators = app.auth.operator().operators().await.expect("the database answers");
        operators.into_iter().map(|user| user.email.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(listed().await, [""; 0]);
    let eve = app.org().new_admin("Eve").await.logged_in().await;
    appoint(&app, &eve).await;
    appoint(&app, &app.admin()).await;
    let mut both = [app.admin().email().to_owned(), eve.email().to_owned()];
    both.sort();
    assert_eq!(listed().await, both);
    app.admin().logged_in().await.remove(eve.id()).await.expect(200);
    assert_eq!(listed().await, both, "who comes back would be one again");
    dismiss(&app, &eve).await;
    assert_eq!(listed().await, [app.admin().email()]);
}
