//! The three ways a frontend may stand to the service, each walked from the login to the logout: behind one
//! origin, on a sibling subdomain, and behind a backend of its own.

use serde_json::{Value, json};
use tenant_auth_conformance::{App, Caller, PUBLIC_URL, Request, scenarios};
use tenant_auth_core::model::Scope;

scenarios![a_frontend_on_the_same_origin, a_frontend_on_a_sibling_subdomain, a_backend_for_the_frontend];

/// What a page of this origin sends.
fn page(request: Request, origin: &str, site: &str) -> Request {
    request.from_origin(origin).header("Sec-Fetch-Site", site)
}

/// A session from beginning to end, as a page sees it: tokens in cookies only, and no request refused.
async fn tour(person: &Caller, origin: &str, site: &str) {
    let data = page(person.login(), origin, site).await.expect_ok();
    assert!(data.get("accessToken").is_none() && data.get("refreshToken").is_none(), "a page's scripts would read them: {data}");
    page(person.get("/org"), origin, site).await.expect(200);
    page(person.put("/auth/profile", json!({ "name": "Max" })), origin, site).await.expect(200);
    let before = person.access_token();
    assert_eq!(page(person.refresh(), origin, site).await.expect_ok(), json!({}));
    assert_ne!(person.access_token(), before, "the cookie carries the next one");
    page(person.logout(), origin, site).await.expect(200);
    page(person.get("/org"), origin, site).await.expect(401);
}

async fn a_frontend_on_the_same_origin(app: &App) {
    tour(&app.member(), PUBLIC_URL, "same-origin").await;
}

async fn a_frontend_on_a_sibling_subdomain(app: &App) {
    const FRONTEND: &str = "https://app.example.com";
    let app = app.beside(|setup| setup.config.browser.cookie_domain = Some("example.com".to_owned())).await;
    let member = app.member();
    page(member.login(), FRONTEND, "same-site").await.expect_error(403, "forbidden_origin");
    let url = json!({ "appUrl": format!("{FRONTEND}/start") });
    app.admin().logged_in().await.patch("/org", url).await.expect(200);

    let preflight = app.anonymous().without_slug().request("OPTIONS", "/auth/login");
    let preflight = preflight.from_origin(FRONTEND).header("Access-Control-Request-Method", "POST").await.expect(204);
    assert_eq!(preflight.header("access-control-allow-origin"), Some(FRONTEND));
    assert_eq!(preflight.header("access-control-allow-credentials"), Some("true"));

    let answer = page(member.login(), FRONTEND, "same-site").await.expect(200);
    assert_eq!(answer.header("access-control-allow-origin"), Some(FRONTEND));
    let shared: Vec<_> = answer.cookies().into_iter().filter(|cookie| !cookie.is_cleared()).collect();
    assert!(shared.iter().all(|cookie| cookie.domain() == Some("example.com")), "the frontend's host sends them, too: {shared:?}");
    tour(&app.member(), FRONTEND, "same-site").await;
}

/// The backend forwards what the page asks, with its key and the person's address; the page never talks to the service.
async fn a_backend_for_the_frontend(app: &App) {
    let key = app.org().operators_key(&[Scope::Proxy, Scope::Verify]).await;
    let person = app.member().with("X-API-Key", &key).with("X-Client-IP", "203.0.113.7");
    let data = person.login().await.expect_ok();
    let token = data["accessToken"].as_str().expect("backends read tokens in bodies").to_owned();

    let sessions = person.get("/auth/sessions").await.expect_ok();
    let ip = sessions["sessions"].as_array().and_then(|all| all.iter().find(|one| one["current"] == true)).map(|one| &one["ip"]);
    assert_eq!(ip, Some(&Value::from("203.0.113.7")), "the person's address, not the backend's");

    let backend = app.anonymous().backend_with(&key);
    assert!(backend.finds_valid(&token).await);
    person.refresh().await.expect(200);
    assert!(!backend.finds_valid(&token).await, "the old token is superseded");
    let fresh = person.access_token();
    person.logout().await.expect(200);
    assert!(!backend.finds_valid(&fresh).await);
}
