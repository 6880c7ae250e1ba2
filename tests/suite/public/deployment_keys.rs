//! Deployment keys: the credential of the product that runs the deployment, on `/public` of every organization, and nowhere else.

use std::{future::IntoFuture, time::Duration};

use serde_json::json;
use tenant_auth_conformance::{App, Caller, Request, Response, Setup, routes, scenarios};
use tenant_auth_core::{
    id::DeploymentKeyId,
    model::{DeploymentKey, DeploymentScope, Scope},
    operator::{NewDeploymentKey, NewOrganization},
    ports::Clock,
};

scenarios![
    one_key_opens_every_organization,
    it_says_what_an_organizations_key_says,
    an_unknown_organization_is_404_and_no_guess,
    a_key_without_the_scope_is_403,
    a_false_one_is_401_and_a_guess,
    it_lives_like_an_api_key,
    it_counts_from_its_networks_only,
    it_reads_a_suspended_organization,
    the_operators_organization_is_unknown_to_it,
    it_is_never_shown_by_a_browser,
    it_is_no_caller_anywhere_else,
    a_session_beside_a_key_is_judged_alone,
    it_steers_no_clients_address,
    one_that_is_reported_as_leaked_is_dead,
    sixteen_questions_about_each_organization_may_wait,
];
scenarios![on each database: the_last_use_is_known_within_a_minute,];

const ALL: [DeploymentScope; 4] =
    [DeploymentScope::Verify, DeploymentScope::UsersRead, DeploymentScope::MembersRead, DeploymentScope::EventsRead];

pub(crate) fn new_key(scopes: &[DeploymentScope]) -> NewDeploymentKey {
    let name = "The product".parse().expect("a name");
    NewDeploymentKey { name, scopes: scopes.to_vec(), networks: Vec::new(), expires_at: None }
}

pub(crate) async fn made(app: &App, new: NewDeploymentKey) -> (DeploymentKeyId, String) {
    let created = app.auth.operator().create_deployment_key(new).await.expect("a key");
    (created.deployment_key.id, created.key.expose().to_owned())
}

/// The product's backend, with a key that may do everything.
async fn product(app: &App) -> Caller {
    app.anonymous().backend_with(&made(app, new_key(&ALL)).await.1)
}

/// The questions of a backend about a member, one for each row below `/public`.
fn questions(backend: &Caller, member: &Caller) -> Vec<Request> {
    let rows = routes::table().iter().filter(|row| row.is_public());
    let ask = |row: &routes::Route| match row.template.as_str() {
        "/public/verify" => backend.verify(&member.access_token()),
        _ => backend.request(&row.method, &row.plausible_path(member.id())),
    };
    rows.map(ask).collect()
}

async fn one_key_opens_every_organization(app: &App) {
    let product = product(app).await;
    for org in [app.org(), app.other_org()] {
        let member = org.member().logged_in().await;
        let product = product.clone().at_org(org.slug());
        assert!(product.finds_valid(&member.access_token()).await);
        for question in questions(&product, &member) {
            question.await.expect(200);
        }
    }
    let stranger = app.other_org().member().logged_in().await;
    assert!(!product.finds_valid(&stranger.access_token()).await, "a token counts in its own organization");
    product.get(&format!("/public/members/{}", stranger.id())).await.expect_error(404, "not_found");
    let (name, slug, admin) = ("Later".parse().expect("a name"), "later".parse().expect("a slug"), "ada@later.example".parse());
    let later = NewOrganization::new(name, slug, admin.expect("an address"));
    app.auth.operator().create_organization(later).await.expect("it is new");
    product.at_org("later").get("/public/members").await.expect(200);
}

async fn it_says_what_an_organizations_key_says(app: &App) {
    let member = app.member().logged_in().await;
    let every = [Scope::Verify, Scope::UsersRead, Scope::MembersRead, Scope::EventsRead];
    let own = app.anonymous().backend_with(&app.org().operators_key(&every).await);
    let product = product(app).await;
    for (one, other) in questions(&own, &member).into_iter().zip(questions(&product, &member)) {
        let (one, other) = (one.await.expect_ok(), other.await.expect_ok());
        if one.get("cursor").is_none() {
            assert_eq!(one, other);
        }
    }
}

async fn an_unknown_organization_is_404_and_no_guess(app: &App) {
    let product = product(app).await.at_org("nowhere");
    for row in routes::table().iter().filter(|row| row.is_public()) {
        for _ in 0..10 {
            product.request(&row.method, &row.path_with("x")).await.expect_error(404, "unknown_organization");
        }
    }
    app.anonymous().backend_with("pk_live_rubbish").verify("x").await.expect_error(401, "invalid_api_key");
}

async fn a_key_without_the_scope_is_403(app: &App) {
    let member = app.member().logged_in().await;
    for scope in ALL {
        let product = app.anonymous().backend_with(&made(app, new_key(&[scope])).await.1);
        let mut let_in = 0;
        for question in questions(&product, &member) {
            let answer = question.await;
            if answer.status == 200 {
                let_in += 1;
            } else {
                answer.expect_error(403, "missing_scope");
            }
        }
        assert!((1..=3).contains(&let_in), "{scope:?}: {let_in}");
    }
    let none = app.auth.operator().create_deployment_key(new_key(&[])).await;
    assert!(none.is_err(), "there is no default");
}

async fn a_false_one_is_401_and_a_guess(app: &App) {
    let (_, key) = made(app, new_key(&ALL)).await;
    let false_ones = [
        format!("{}A", &key[..key.len() - 1]),
        format!("{}B", &key[..key.len() - 1]),
        key.replace("dk_live_", "pk_live_"),
        app.org().api_key().replace("pk_live_", "dk_live_"),
        format!("{key}x"),
        "dk_live_".to_owned(),
        "dk_live_ÄÖ".to_owned(),
    ];
    let bad = app.anonymous().backend_with("rubbish").verify("x").await.expect_error(401, "invalid_api_key").body;
    for false_one in false_ones.iter().filter(|false_one| **false_one != key) {
        for slug in ["acme", "nowhere"] {
            let answer = app.anonymous().at_org(slug).backend_with(false_one).verify("x").await;
            assert_eq!(answer.expect_error(401, "invalid_api_key").body, bad, "{false_one}");
        }
    }
    let guess = app.anonymous().backend_with(&false_ones[4]);
    let mut answers = Vec::new();
    for _ in 0..30 {
        answers.push(guess.verify("x").await.status);
    }
    assert_eq!(answers.last(), Some(&429), "{answers:?}");
    assert_eq!(app.anonymous().backend_with(&key).verify("x").await.status, 200, "a good one is never kept out");
}

async fn it_lives_like_an_api_key(app: &App) {
    let operator = app.auth.operator();
    let expires_at = Some(app.clock.now().plus(Duration::from_secs(60)));
    let (_, short) = made(app, NewDeploymentKey { expires_at, ..new_key(&ALL) }).await;
    assert!(app.key_works(&short).await);
    app.advance(60);
    assert!(!app.key_works(&short).await);
    assert!(operator.create_deployment_key(NewDeploymentKey { expires_at, ..new_key(&ALL) }).await.is_err(), "it has passed");

    let (first, first_key) = made(app, new_key(&ALL)).await;
    let second = operator.rotate_deployment_key(&first, Duration::from_secs(60)).await.expect("a successor");
    assert!(app.key_works(&first_key).await && app.key_works(second.key.expose()).await);
    operator.rotate_deployment_key(&first, Duration::ZERO).await.expect_err("it has a successor");
    let third = operator.rotate_deployment_key(&second.deployment_key.id, Duration::from_secs(60)).await.expect("another");
    assert!(!app.key_works(&first_key).await, "of a key and those before it, two live");
    app.advance(60);
    assert!(!app.key_works(second.key.expose()).await && app.key_works(third.key.expose()).await);
    let month = Duration::from_secs(30 * 86_400 + 1);
    operator.rotate_deployment_key(&third.deployment_key.id, month).await.expect_err("too long");

    let expires_at = Some(app.clock.now().plus(Duration::from_secs(60)));
    let (ending, ending_key) = made(app, NewDeploymentKey { expires_at, ..new_key(&ALL) }).await;
    let successor = operator.rotate_deployment_key(&ending, Duration::from_secs(3_600)).await.expect("a successor");
    assert_eq!(successor.deployment_key.expires_at, expires_at, "a rotation prolongs nothing");
    assert!(app.key_works(&ending_key).await && app.key_works(successor.key.expose()).await);
    app.advance(60);
    assert!(!app.key_works(&ending_key).await);
    assert!(!app.key_works(successor.key.expose()).await);

    let of = |keys: Vec<DeploymentKey>| keys.into_iter().map(|key| key.id).collect::<Vec<_>>();
    assert_eq!(of(operator.deployment_keys().await.expect("a list")), std::slice::from_ref(&third.deployment_key.id));
    operator.revoke_deployment_key(&third.deployment_key.id).await.expect("it lives");
    assert!(!app.key_works(third.key.expose()).await);
    operator.revoke_deployment_key(&third.deployment_key.id).await.expect_err("it is gone");
}

async fn it_counts_from_its_networks_only(app: &App) {
    let behind = app.beside(|setup: &mut Setup| {
        setup.config.network.trusted_proxies = vec!["127.0.0.0/8".parse().expect("a network")];
    });
    let behind = behind.await;
    let networks = ["203.0.113.0/24", "2001:db8::/32"].map(|network| network.parse().expect("a network")).to_vec();
    let (_, key) = made(app, NewDeploymentKey { networks, ..new_key(&ALL) }).await;
    let verify = |address: &str| behind.anonymous().backend_with(&key).verify("x").header("X-Forwarded-For", address);
    let bad = app.anonymous().backend_with("rubbish").verify("x").await.expect_error(401, "invalid_api_key").body;
    for address in ["203.0.113.9", "2001:db8::7", "::ffff:203.0.113.1"] {
        verify(address).await.expect(200);
    }
    for _ in 0..40 {
        // The service made the key, so that this is no guess.
        let refused = verify("198.51.100.7").await.expect_error(401, "invalid_api_key");
        assert_eq!(refused.body, bad);
    }
    app.anonymous().backend_with(&key).verify("x").await.expect_error(401, "invalid_api_key");
    verify("203.0.113.9").header("X-Client-IP", "203.0.113.9").await.expect_error(403, "forbidden_origin");
}

async fn it_reads_a_suspended_organization(app: &App) {
    let (product, member) = (product(app).await, app.member().logged_in().await);
    app.org().suspend().await;
    for question in questions(&product, &member) {
        question.await.expect(200);
    }
    assert!(!product.finds_valid(&member.access_token()).await);
    assert_eq!(product.get("/public/members").await.expect_ok()["members"].as_array().map(Vec::len), Some(2));
    app.org().reactivate().await;
}

async fn the_operators_organization_is_unknown_to_it(app: &App) {
    let app = app.beside(|setup: &mut Setup| setup.config.organizations.operator_org = Some("acme".parse().expect("a slug"))).await;
    let (product, member) = (product(&app).await, app.member().logged_in().await);
    for _ in 0..2 {
        for question in questions(&product, &member) {
            question.await.expect_error(404, "unknown_organization");
        }
    }
    product.at_org("globex").get("/public/members").await.expect(200);
}

const OF_BROWSERS: [(&str, &str); 5] = [
    ("Origin", "http://localhost:8080"),
    ("Origin", "null"),
    ("Sec-Fetch-Site", "same-origin"),
    ("X-Client-IP", "203.0.113.9"),
    ("X-Client-IP", "rubbish"),
];

async fn it_is_never_shown_by_a_browser(app: &App) {
    let (product, member) = (product(app).await, app.member().logged_in().await);
    for (name, value) in OF_BROWSERS {
        for key in [&product, &app.anonymous().backend_with("dk_live_rubbish")] {
            for question in questions(key, &member) {
                let refused = question.header(name, value).await.expect_error(403, "forbidden_origin");
                assert!(refused.header("Access-Control-Allow-Origin").is_none(), "{}", refused.shown());
            }
        }
        product.clone().without_slug().verify("x").header(name, value).await.expect_error(400, "invalid_slug");
    }
}

/// The keys that are shown where none counts.
async fn keys(app: &App) -> Vec<String> {
    let expired = Some(app.clock.now().plus(Duration::from_secs(1)));
    let (_, expired) = made(app, NewDeploymentKey { expires_at: expired, ..new_key(&ALL) }).await;
    app.advance(1);
    vec![made(app, new_key(&ALL)).await.1, expired, app.org().api_key().to_owned(), "dk_live_rubbish".to_owned()]
}

/// The rows where a session counts, or nothing does.
fn of_sessions() -> impl Iterator<Item = &'static routes::Route> {
    let is_elsewhere = |row: &&routes::Route| row.is_public() || row.template.starts_with("/admin/");
    routes::table().iter().filter(move |row| !is_elsewhere(row) && !row.is_exempt())
}

/// Where a key is no caller, each request is answered as if there were no key: no session is 401 `session_required`.
async fn it_is_no_caller_anywhere_else(app: &App) {
    let mut keys = keys(app).await;
    keys.push(made(app, new_key(&[DeploymentScope::Admin, DeploymentScope::Organizations])).await.1);
    for row in of_sessions().filter(|row| !row.is_for_admins_by_key()) {
        for (name, value) in [("X-Nothing", "x"), ("Sec-Fetch-Site", "same-origin"), ("Origin", "http://localhost:8080")] {
            let path = row.plausible_path("usr_00000000000000000000000000");
            let ask = || app.anonymous().request(&row.method, &path).text("{").header(name, value);
            let bare = ask().await;
            for key in &keys {
                let beside = ask().header("X-API-Key", key.as_str()).await;
                assert_eq!((beside.status, &beside.body), (bare.status, &bare.body), "{} {}", row.method, row.template);
            }
            if bare.status == 401 && !row.template.starts_with("/auth/") {
                assert_eq!(bare.code(), "session_required", "{} {}", row.method, row.template);
            }
        }
    }
}

/// The status, and the code of a refusal.
fn outcome(answer: &Response) -> (u16, &str) {
    (answer.status, if answer.status < 400 { "" } else { answer.code() })
}

/// A session decides alone, good or not; on `/public` the key does.
async fn a_session_beside_a_key_is_judged_alone(app: &App) {
    let (member, keys) = (app.member().logged_in().await, keys(app).await);
    let (token, cookies) = (member.access_token(), member.refresh_token());
    let devices = [
        member.copied(),
        member.elsewhere().with_bearer(&token),
        member.elsewhere().with_bearer("rubbish"),
        member.elsewhere().with("Cookie", "access_token=rubbish"),
        member.elsewhere().with("Cookie", &format!("refresh_token={cookies}")),
        app.other_org().member().logged_in().await.at_org("acme"),
    ];
    // What a session may change is asked for with a body that none takes: the caller is judged before it.
    let reading = |row: &&routes::Route| row.method == "GET" || matches!(row.method.as_str(), "PATCH" | "PUT");
    for row in of_sessions().filter(|row| !row.template.starts_with("/auth/")).filter(reading) {
        for device in &devices {
            let ask = || device.request(&row.method, &row.plausible_path(member.id()));
            let ask = || if row.method == "GET" { ask() } else { ask().text("{") };
            let bare = ask().await;
            for key in &keys {
                let beside = ask().header("X-API-Key", key.as_str()).await;
                assert_eq!(outcome(&beside), outcome(&bare), "{} {}", row.method, row.template);
            }
        }
    }
    for device in &devices {
        for (key, status) in keys.iter().zip([200, 401, 200, 401]) {
            let backend = device.elsewhere().with("X-API-Key", key).verify(&token);
            assert_eq!(backend.await.status, status);
            let beside = device.verify(&token).header("X-API-Key", key.as_str());
            assert_eq!(beside.await.status, status, "a session beside a key does not count on /public");
        }
    }
}

/// A deployment key is no proxy's: a stated address beside it is not believed, and steers nobody's count.
async fn it_steers_no_clients_address(app: &App) {
    let (_, key) = made(app, new_key(&ALL)).await;
    let member = app.member();
    let login = member.login().header("X-API-Key", key.as_str()).header("X-Client-IP", "203.0.113.9");
    login.await.expect(200);
    let sessions = member.get("/auth/sessions").await.expect_ok();
    assert_eq!(sessions["sessions"][0]["ip"], "127.0.0.1");
    // A key that this service made is no guess, however often it is shown.
    for _ in 0..40 {
        let profile = member.get("/auth/profile").header("X-API-Key", key.as_str()).header("X-Client-IP", "203.0.113.9");
        profile.await.expect(200);
    }
}

async fn one_that_is_reported_as_leaked_is_dead(app: &App) {
    let ((_, key), (_, other)) = (made(app, new_key(&ALL)).await, made(app, new_key(&ALL)).await);
    let report =
        app.anonymous().without_slug().post("/keys/leaked", json!({ "keys": [key, app.org().api_key(), "dk_live_rubbish"] }));
    report.await.expect(200);
    assert!(!app.key_works(&key).await && !app.key_works(app.org().api_key()).await && app.key_works(&other).await);
    assert!(!tenant_auth_conformance::logs::mention(&key), "the log names its id");

    let operated = app.beside(|setup| setup.config.organizations.operator_org = Some("acme".parse().expect("a slug"))).await;
    let told = async || {
        let mails = operated.mail_to(operated.admin().email()).await;
        mails.iter().filter(|mail| mail.subject.contains("deployment key") && mail.text.contains("The product")).count()
    };
    assert_eq!(told().await, 0);
    for _ in 0..2 {
        operated.anonymous().without_slug().post("/keys/leaked", json!({ "key": other })).await.expect(200);
    }
    assert!(!operated.key_works(&other).await);
    assert_eq!(told().await, 1, "the operators' admins are told once");
}

/// A verifier with one key asks about each organization apart.
async fn sixteen_questions_about_each_organization_may_wait(app: &App) {
    let product = product(app).await;
    let mut waiting = tokio::task::JoinSet::new();
    for slug in ["acme", "globex"] {
        let product = product.clone().at_org(slug);
        let cursor = product.get("/public/changes").await.expect_ok()["cursor"].as_str().expect("a cursor").to_owned();
        let newest = product.get("/public/events").await.expect_ok()["newest"].clone();
        for path in [format!("/public/changes?wait=1000&after={cursor}"), format!("/public/events?wait=1000&after={newest}")] {
            for _ in 0..16 {
                waiting.spawn(product.get(&path).into_future());
            }
        }
    }
    while let Some(answer) = waiting.join_next().await {
        answer.expect("it is answered").expect(200);
    }
}

async fn the_last_use_is_known_within_a_minute(app: &App) {
    let (id, key) = made(app, new_key(&ALL)).await;
    assert!(app.key_works(&key).await);
    let used = tokio::time::timeout(Duration::from_secs(20), async {
        loop {
            let keys = app.auth.operator().deployment_keys().await.expect("a list");
            let key = keys.into_iter().find(|key| key.id == id).expect("it lives");
            if let Some(at) = key.last_used_at {
                return at;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    });
    assert_eq!(used.await.expect("it is written soon"), app.clock.now());
}
