//! The session cookies, attribute by attribute, and who is shown a token in a body. That every cookie of every answer is made
//! right is also checked in passing wherever one is set.

use serde_json::Value;
use tenant_auth_conformance::{App, Caller, Response, scenarios, shape};
use tenant_auth_core::config::{SameSite, TokensInBody};

scenarios![
    a_login_sets_exactly_two_cookies_with_the_exact_attributes,
    a_refresh_sets_both_again,
    accepting_an_invite_sets_both,
    the_old_refresh_cookie_does_not_outlive_the_session,
    browsers_get_no_tokens_in_bodies,
    everyone_gets_tokens_in_bodies_when_the_setting_says_so,
    a_domain_makes_every_cookie_expire_its_host_only_variant,
    two_values_of_one_cookie_expire_the_host_only_variant_where_a_domain_is_set,
    same_site_follows_the_setting,
];

const DAY: u64 = 24 * 60 * 60;

fn set_names(response: &Response) -> Vec<String> {
    let mut names: Vec<String> =
        response.cookies().into_iter().filter(|cookie| !cookie.is_cleared()).map(|cookie| cookie.name).collect();
    names.sort();
    names
}

async fn a_login_sets_exactly_two_cookies_with_the_exact_attributes(app: &App) {
    let answer = app.member().login().await.expect(200);
    assert_eq!(set_names(&answer), ["access_token", "refresh_token"]);
    for (name, seconds) in [("access_token", 900), ("refresh_token", 7 * 86_400)] {
        let mut attributes = answer.cookie(name).attributes;
        attributes.sort();
        assert_eq!(attributes, ["HttpOnly", &format!("Max-Age={seconds}"), "Path=/", "SameSite=Lax", "Secure"]);
    }
}

async fn a_refresh_sets_both_again(app: &App) {
    let member = app.member().logged_in().await;
    let answer = member.refresh().await.expect(200);
    assert_eq!(set_names(&answer), ["access_token", "refresh_token"]);
    assert_eq!((answer.cookie("access_token").max_age(), answer.cookie("refresh_token").max_age()), (900, 7 * 86_400));
}

async fn accepting_an_invite_sets_both(app: &App) {
    let admin = app.admin().logged_in().await;
    let token = app.invited(&admin, "nora@acme.example").await;
    let answer = app.anonymous().accept(&token, "Nora New").await.expect(200);
    assert_eq!(set_names(&answer), ["access_token", "refresh_token"]);
}

async fn the_old_refresh_cookie_does_not_outlive_the_session(app: &App) {
    let member = app.member().logged_in().await;
    for _ in 0..4 {
        app.advance(6 * DAY);
        member.refresh().await.expect(200);
    }
    app.advance(5 * DAY);
    let answer = member.refresh().await.expect(200);
    assert!(answer.cookie("refresh_token").max_age() <= 86_400, "a day is left of the thirty: {}", answer.shown());
}

/// Whether a body holds both tokens; never just one.
#[track_caller]
fn has_tokens(data: &Value) -> bool {
    let names = shape(data);
    assert_eq!(names.contains(&"accessToken"), names.contains(&"refreshToken"), "{names:?}");
    names.contains(&"accessToken")
}

/// As a browser sends: with an origin, or without one but with fetch metadata.
fn browsers(caller: &Caller) -> [Caller; 3] {
    [
        caller.clone().with("Origin", "https://app.acme.example"),
        caller.clone().with("Sec-Fetch-Site", "same-origin"),
        caller.clone().with("Origin", "https://auth.example.com").with("Sec-Fetch-Site", "same-origin"),
    ]
}

async fn browsers_get_no_tokens_in_bodies(app: &App) {
    for browser in browsers(&app.member()) {
        let login = browser.login().await.expect(200);
        assert!(!has_tokens(&login.data()), "{}", login.shown());
        assert_eq!(set_names(&login), ["access_token", "refresh_token"], "the cookies are what a browser gets");
        assert!(!login.body.contains(&browser.access_token()));
        assert!(!has_tokens(&browser.refresh().await.expect_ok()));
    }
    let admin = app.admin().logged_in().await;
    for (place, browser) in browsers(&app.anonymous()).into_iter().enumerate() {
        let token = app.invited(&admin, &format!("nora{place}@acme.example")).await;
        assert!(!has_tokens(&browser.accept(&token, "Nora New").await.expect_ok()));
    }
    assert!(has_tokens(&app.member().login().await.expect_ok()), "everybody else gets them");
}

async fn everyone_gets_tokens_in_bodies_when_the_setting_says_so(app: &App) {
    let generous = app.beside(|setup| setup.config.browser.tokens_in_body = TokensInBody::Always).await;
    for browser in browsers(&generous.member()) {
        assert!(has_tokens(&browser.login().await.expect_ok()));
        assert!(has_tokens(&browser.refresh().await.expect_ok()));
    }
}

/// The name and domain of each cookie that is set, and of each that is cleared.
type Domains = Vec<(String, Option<String>)>;

fn domains(response: &Response) -> (Domains, Domains) {
    let (mut cleared, mut set): (Vec<_>, Vec<_>) = response.cookies().into_iter().partition(|cookie| cookie.is_cleared());
    let named = |cookies: &mut Vec<tenant_auth_conformance::Cookie>| {
        let mut all: Domains = cookies.drain(..).map(|cookie| (cookie.name.clone(), cookie.domain().map(str::to_owned))).collect();
        all.sort();
        all
    };
    (named(&mut set), named(&mut cleared))
}

async fn a_domain_makes_every_cookie_expire_its_host_only_variant(app: &App) {
    let wide = app.beside(|setup| setup.config.browser.cookie_domain = Some("example.com".to_owned())).await;
    let member = wide.member();
    let domain = Some("example.com".to_owned());
    let named = |name: &str, domain: &Option<String>| (name.to_owned(), domain.clone());
    let pair = |domain: &Option<String>| vec![named("access_token", domain), named("refresh_token", domain)];
    for answer in [member.login().await, member.refresh().await] {
        assert_eq!(domains(&answer.expect(200)), (pair(&domain), pair(&None)));
    }
    let (set, cleared) = domains(&member.logout().await.expect(200));
    assert_eq!(set, []);
    let each = ["access_token", "partial_token", "refresh_token"];
    assert_eq!(cleared, each.iter().flat_map(|name| [named(name, &None), named(name, &domain)]).collect::<Vec<_>>());
}

async fn two_values_of_one_cookie_expire_the_host_only_variant_where_a_domain_is_set(app: &App) {
    let wide = app.beside(|setup| setup.config.browser.cookie_domain = Some("example.com".to_owned())).await;
    let member = wide.member().logged_in().await;
    let good = member.access_token();
    let refused = member.get("/org").cookies(format!("access_token=stale; access_token={good}")).await.expect_no_session();
    let (set, cleared) = domains(&refused);
    assert_eq!(set, []);
    assert!(cleared.contains(&("access_token".to_owned(), None)), "{cleared:?}");
    assert!(cleared.iter().all(|(_, domain)| domain.is_none()), "the good one stays: {cleared:?}");
    member.get("/org").await.expect(200);
}

async fn same_site_follows_the_setting(app: &App) {
    for same_site in [SameSite::Strict, SameSite::None] {
        let other = app.beside(|setup| setup.config.browser.cookie_same_site = same_site).await;
        other.member().logged_in().await.logout().await.expect(200);
    }
}
