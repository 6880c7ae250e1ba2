//! What holds for every request, whatever it asks: the bound on requests in flight and the deadline.

use std::{future::pending, net::IpAddr, sync::Arc, time::Duration};

use ::http::{StatusCode, header};
use async_trait::async_trait;
use bytes::Bytes;

use super::*;
use crate::{
    Config, Credentials, Error, MasterKeys, Principal, Sqlite, TenantAuth,
    bounded::PoolSize,
    deadline::wait_in_request,
    error::Overload,
    operator::NewOrganization,
    ports::{EvenVerdict, ForeignCost, PasswordHasher, QueueShare, Verdict},
    secret::{Password, StoredPassword},
    testing::{SLUG, TestAuth},
    value::{Metadata, Origin, Plan},
};

/// So long a test waits for what must come at once.
const AT_ONCE: Duration = Duration::from_secs(10);

fn get_keys() -> Request {
    let uri = "/api/v1/.well-known/jwks.json";
    ::http::Request::get(uri).body(Body::Complete(Bytes::new())).expect("a request")
}

/// Takes every place there is, from as many networks as that needs.
fn crowd(auth: &TenantAuth) -> Vec<crate::budget::Permit> {
    let networks = (0..=u8::MAX).map(|network| IpAddr::from([198, 18, network, 1]));
    networks.flat_map(|client| std::iter::from_fn(move || auth.in_flight().take(Some(client)).ok())).collect()
}

#[tokio::test]
async fn beyond_the_bound_a_request_is_503_before_it_begins() {
    let test = TestAuth::new().await;
    let (service, gate) = (Service::new(&test.auth), Gate::new(test.auth.clone()));
    let peer = Some(IpAddr::from([203, 0, 113, 7]));
    let crowd = crowd(&test.auth);
    let refused = service.call(get_keys(), peer).await;
    assert_eq!(refused.status(), 503);
    assert_eq!(refused.headers()[header::RETRY_AFTER], "2");
    assert!(refused.headers().contains_key("x-request-id"));
    let own = Origin::of(&test.auth.config().public_url).as_str().to_owned();
    for (origin, path, read_by) in [
        (own.as_str(), "/api/v1/org", Some(own.as_str())),
        (own.as_str(), "/api/v1/public/verify", None),
        ("https://evil.example", "/api/v1/org", None),
    ] {
        let asked = ::http::Request::get(path).header(header::ORIGIN, origin).body(Body::Complete(Bytes::new()));
        let refused = service.call(asked.expect("a request"), peer).await;
        let allowed = refused.headers().get(header::ACCESS_CONTROL_ALLOW_ORIGIN).and_then(|value| value.to_str().ok());
        assert_eq!((refused.status().as_u16(), allowed), (503, read_by), "{origin} at {path}");
    }
    let visit = ::http::Request::get("/").header("x-org-slug", SLUG).body(()).expect("a request");
    let visitor = gate.visitor(visit, peer);
    assert_eq!(visitor.admit::<Principal>().await.expect_err("no place").status(), 503);
    assert_refused_for_load(&test.auth, "in_flight", 5).await;
    drop(crowd);
    assert_eq!(service.call(get_keys(), peer).await.status(), 200);
    assert_eq!(visitor.admit::<Principal>().await.expect_err("no session").status(), 401);
}

/// Nothing but the metrics tells of such refusals.
async fn assert_refused_for_load(auth: &TenantAuth, what: &str, times: u32) {
    let metrics = auth.metrics_text().await.expect("is written");
    let line = format!("\ntenant_auth_overload_refused_total{{what=\"{what}\"}} {times}\n");
    assert!(metrics.contains(&line), "{line} is not in {metrics}");
}

/// Logins have an alert of their own, which counts hashes: what refuses new passwords must not hide behind it.
#[tokio::test]
async fn new_passwords_that_cannot_be_estimated_are_told_apart_from_hashes() {
    let test = TestAuth::new().await;
    let share = QueueShare::new(&format!("org_{:026}", 1).parse().expect("an id"), None);
    let (release, held) = std::sync::mpsc::channel::<()>();
    let held = Arc::new(std::sync::Mutex::new(held));
    let (begin, mut begun) = tokio::sync::mpsc::unbounded_channel::<()>();
    let occupy = |jobs: usize| {
        for _ in 0..jobs {
            let (auth, share, held, begin) = (test.auth.clone(), share.clone(), Arc::clone(&held), begin.clone());
            let hold = move || {
                let _ = begin.send(());
                let _ = held.lock().expect("nobody panics with it").recv();
                Ok(())
            };
            tokio::spawn(async move { auth.estimates().run(&share, hold).await });
        }
    };
    let PoolSize { threads, places } = PoolSize::default();
    occupy(threads);
    for _ in 0..threads {
        begun.recv().await.expect("each thread begins a job");
    }
    occupy(places);
    for _ in 0..places {
        tokio::task::yield_now().await; // the scheduler runs some sixty tasks between two looks at this one
    }
    let newcomer = test.auth.estimates().run(&share, || Ok(()));
    let refused = tokio::time::timeout(Duration::ZERO, newcomer).await.expect("at once").expect_err("there is no place");
    assert_eq!(refused.overload(), Some(Overload::Estimates));
    drop(release);
}

/// Takes all the bytes that answers to this client may wait with.
fn hoard(auth: &TenantAuth, client: Option<IpAddr>) -> Vec<Bytes> {
    let sizes = [1 << 20, crate::unsent::SMALL + 1];
    sizes.into_iter().flat_map(|size| std::iter::from_fn(move || auth.unsent().count(vec![0; size].into(), client).ok())).collect()
}

#[tokio::test]
async fn large_answers_that_nobody_takes_are_bounded() {
    let test = TestAuth::new().await;
    let service = Service::new(&test.auth);
    let metadata = format!(r#"{{"notes":"{}"}}"#, "x".repeat(16_300));
    let metadata = Metadata::parse(&metadata).expect("metadata");
    test.org_admin().await.set_metadata(&test.member.id, metadata).await.expect("the admin may");
    let token = test.login(&test.member).await.access;
    let [peer, other] = [[203, 0, 113, 7], [198, 51, 100, 1]].map(|address| Some(IpAddr::from(address)));
    let get = async |path: &str, peer| {
        let request = ::http::Request::get(format!("/api/v1{path}")).header("x-org-slug", SLUG);
        let request = request.header("authorization", format!("Bearer {}", token.expose()));
        service.call(request.body(Body::Complete(Bytes::new())).expect("a request"), peer).await
    };
    let hoarded = hoard(&test.auth, peer);
    let refused = get("/org/members", peer).await;
    assert_eq!(
        (refused.status(), &refused.headers()[header::RETRY_AFTER]),
        (StatusCode::SERVICE_UNAVAILABLE, &"2".parse().expect("a value"))
    );
    assert_refused_for_load(&test.auth, "large_answers", 1).await;
    assert_eq!(get("/org", peer).await.status(), 200, "a small answer");
    assert_eq!(get("/openapi.json", peer).await.status(), 200, "a document that all share");
    let waiting = get("/org/members", other).await;
    assert_eq!(waiting.status(), 200, "another network");
    assert!(matches!(waiting.body(), AnswerBody::Whole(bytes) if bytes.len() > crate::unsent::SMALL));
    drop(hoarded);
    assert_eq!(get("/org/members", peer).await.status(), 200);
}

/// A file holds what is read ahead of its client, and waits in the same bound.
#[tokio::test]
async fn files_that_nobody_takes_are_bounded() {
    let test = TestAuth::new().await;
    let service = Service::new(&test.auth);
    let token = test.login(&test.admin).await.access;
    let [peer, other] = [[203, 0, 113, 7], [198, 51, 100, 1]].map(|address| Some(IpAddr::from(address)));
    let export = async |peer| {
        let request = ::http::Request::post("/api/v1/org/audit/export").header("x-org-slug", SLUG);
        let request = request.header("authorization", format!("Bearer {}", token.expose()));
        service.call(request.body(Body::Complete(Bytes::new())).expect("a request"), peer).await
    };
    let hoarded = hoard(&test.auth, peer);
    assert_eq!(export(peer).await.status(), 503);
    drop(hoarded);
    let waiting = loop {
        // The one that was refused gives up its claim in its own time.
        let answer = export(other).await;
        if answer.status() != 429 {
            break answer;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    };
    assert_eq!(waiting.status(), 200);
    let free = hoard(&test.auth, peer).iter().map(Bytes::len).sum::<usize>();
    drop(waiting);
    let all = hoard(&test.auth, peer).iter().map(Bytes::len).sum::<usize>();
    assert!(free < all, "the file that waits has its part of {all}: {free}");
}

/// Waits for ever where there is no deadline.
#[derive(Debug)]
struct Waiting;

#[async_trait]
impl PasswordHasher for Waiting {
    async fn hash(&self, _: &Password, _: &QueueShare) -> Result<StoredPassword, Error> {
        Ok(StoredPassword::new("nothing"))
    }

    async fn verify(&self, _: &Password, _: Option<&StoredPassword>, _: &QueueShare) -> Result<Verdict, Error> {
        wait_in_request(Duration::ZERO, pending()).await.map_err(Error::unavailable)
    }
}

/// Finds every password wrong, and has each refusal wait for an hour.
#[derive(Debug)]
struct SlowToRefuse;

#[async_trait]
impl PasswordHasher for SlowToRefuse {
    async fn hash(&self, _: &Password, _: &QueueShare) -> Result<StoredPassword, Error> {
        Ok(StoredPassword::new("nothing"))
    }

    async fn verify(&self, _: &Password, _: Option<&StoredPassword>, _: &QueueShare) -> Result<Verdict, Error> {
        Ok(Verdict::Mismatch)
    }

    async fn verify_evenly(
        &self,
        _: &Password,
        _: Option<&StoredPassword>,
        _: &[ForeignCost],
        _: &QueueShare,
    ) -> Result<EvenVerdict, Error> {
        Ok(EvenVerdict { verdict: Verdict::Mismatch, wait: Duration::from_secs(3_600) })
    }
}

async fn service_with(hasher: impl PasswordHasher + 'static, database: &str) -> TenantAuth {
    let auth = TenantAuth::builder()
        .store(Sqlite::open(database).await.expect("SQLite opens"))
        .master_keys(MasterKeys::parse(&MasterKeys::generate_text()).expect("a generated key"))
        .config(Config::new("http://localhost".parse().expect("a URL")))
        .hasher(Arc::new(hasher));
    let auth = auth.build().await.expect("the service can be built");
    let new = NewOrganization {
        name: "Acme Rockets".parse().expect("a name"),
        slug: SLUG.parse().expect("a slug"),
        plan: Plan::default(),
        app_url: None,
        admin_email: "first@acme.example".parse().expect("an address"),
    };
    auth.operator().create_organization(new).await.expect("the organization is new");
    auth
}

impl Admission for Waiting {
    async fn admit(_: &Visitor) -> Result<Self, Refused> {
        Ok(wait_in_request(Duration::ZERO, pending()).await.map_err(Error::unavailable)?)
    }
}

#[tokio::test]
async fn a_request_and_a_visit_have_a_deadline() {
    let file = tempfile::tempdir().expect("a temporary directory");
    let auth = service_with(Waiting, &file.path().join("auth.db").to_string_lossy()).await;
    let login = ::http::Request::post("/api/v1/auth/login").header("content-type", "application/json").header("x-org-slug", SLUG);
    let body = Bytes::from_static(br#"{"email":"nobody@acme.example","password":"mauve-otter-plinth-42"}"#);
    let login = login.body(Body::Complete(body)).expect("a request");
    let answer = tokio::time::timeout(AT_ONCE, Service::new(&auth).call(login, None)).await.expect("the wait ended");
    assert_eq!(answer.status(), 503);

    let visitor = Gate::new(auth).visitor(::http::Request::get("/").body(()).expect("a request"), None);
    let refused = tokio::time::timeout(AT_ONCE, visitor.admit::<Waiting>()).await.expect("the wait ended");
    assert_eq!(refused.expect_err("late").status(), 503);
}

/// However long a refusal waits, and whoever gives up meanwhile: the guess is counted.
#[tokio::test]
async fn a_wrong_password_is_counted_before_its_refusal_waits() {
    let file = tempfile::tempdir().expect("a temporary directory");
    let auth = service_with(SlowToRefuse, &file.path().join("auth.db").to_string_lossy()).await;
    let acme = auth.tenant(&SLUG.parse().expect("a slug")).await.expect("it is there");
    let guess = || {
        let email = "nobody@acme.example".parse().expect("an address");
        let client = crate::Client { ip: Some(IpAddr::from([203, 0, 113, 7])), ..crate::Client::default() };
        acme.login(Credentials { email, password: Password::new("mauve-otter-plinth-42"), client })
    };
    for number in 0..5 {
        let given_up = tokio::time::timeout(Duration::from_secs(2), guess()).await;
        assert!(given_up.is_err(), "guess {number} is not refused yet");
    }
    let refused = tokio::time::timeout(AT_ONCE, guess()).await.expect("it is refused at once");
    assert!(matches!(refused, Err(Error::RateLimited { .. })), "{refused:?}");
}
