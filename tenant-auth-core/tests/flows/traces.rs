//! Traces: each span of ours lies below the span that its caller is in, through every task and thread that is started on the way.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Debug,
    net::Ipv4Addr,
    sync::{Mutex, MutexGuard, Once, PoisonError},
};

use tenant_auth_core::{
    Verification,
    http::{Admission, Body, Gate, Refused, Service, Visitor},
    model::{EventSelection, Role, Scope},
    operator::NewOrganization,
    testing::{PASSWORD, SLUG, TestAuth},
    value::Description,
    webhooks::NewWebhook,
};
use tracing::{
    Instrument, Span, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
};
use tracing_subscriber::{
    Layer,
    layer::{Context, SubscriberExt},
    registry::LookupSpan,
};

use crate::value;

const URL: &str = "https://hooks.acme.example/inbox?key=of-the-receiver";

/// Every span of this process, in the order in which they began.
static SPANS: Mutex<Vec<Seen>> = Mutex::new(Vec::new());

/// A span as it was seen.
#[derive(Clone, Debug)]
struct Seen {
    /// The subscriber's number, which it gives out again when the span has ended.
    id: u64,
    name: &'static str,
    /// Where the parent stands in [`SPANS`].
    parent: Option<usize>,
    fields: Fields,
    /// The names of the threads that worked in it.
    threads: BTreeSet<String>,
}

#[derive(Clone, Debug, Default)]
struct Fields(BTreeMap<&'static str, String>);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name(), format!("{value:?}").trim_matches('"').to_owned());
    }
}

/// The subscriber that fills [`SPANS`].
struct Recorder;

impl<S: Subscriber + for<'l> LookupSpan<'l>> Layer<S> for Recorder {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let parent = context.span(id).and_then(|span| span.parent()).and_then(|parent| latest(parent.id().into_u64()));
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        let (id, name) = (id.into_u64(), attributes.metadata().name());
        spans().push(Seen { id, name, parent, fields, threads: BTreeSet::new() });
    }

    fn on_record(&self, id: &Id, record: &Record<'_>, _: Context<'_, S>) {
        if let (Some(at), mut spans) = (latest(id.into_u64()), spans()) {
            record.record(&mut spans[at].fields);
        }
    }

    fn on_enter(&self, id: &Id, _: Context<'_, S>) {
        if let (Some(at), mut spans) = (latest(id.into_u64()), spans()) {
            spans[at].threads.extend(std::thread::current().name().map(str::to_owned));
        }
    }
}

fn spans() -> MutexGuard<'static, Vec<Seen>> {
    SPANS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where the span stands that has this number now.
fn latest(id: u64) -> Option<usize> {
    spans().iter().rposition(|seen| seen.id == id)
}

/// A host's own span, recorded from now on.
fn host() -> Span {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let subscriber = tracing_subscriber::registry().with(Recorder);
        tracing::subscriber::set_global_default(subscriber).expect("nobody else records");
    });
    tracing::info_span!("host")
}

/// The spans with this name whose parent is `host`.
fn children(host: &Span, name: &str) -> Vec<Seen> {
    let host = latest(host.id().expect("recorded").into_u64());
    spans().iter().filter(|seen| seen.parent == host && seen.name == name).cloned().collect()
}

#[tokio::test]
async fn a_request_is_a_child_of_the_hosts_span_down_to_its_hash_and_statements() {
    let host = host();
    let test = TestAuth::new().await;
    let service = Service::new(&test.auth);
    let body = format!(r#"{{"email":"{}","password":"{PASSWORD}"}}"#, test.member.email);
    let request = http::Request::post("/api/v1/auth/login?hidden=in-the-path")
        .header("x-org-slug", "acme")
        .header("content-type", "application/json")
        .body(Body::Complete(body.into()))
        .expect("a request");
    let answer = service.call(request, None).instrument(host.clone()).await;
    assert_eq!(answer.status(), 200);

    let requests = children(&host, "request");
    let [request] = requests.as_slice() else { panic!("one request: {requests:?}") };
    let id = answer.headers()["x-request-id"].to_str().expect("a text");
    let told = [("method", "POST"), ("organization", "acme"), ("request_id", id), ("route", "/auth/login"), ("status", "200")];
    let shown: Vec<_> = request.fields.0.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert_eq!(shown, told, "and nothing else");
    assert!(request.threads.contains("tenant-auth-hash"), "{:?}", request.threads);
    let at = spans().iter().position(|seen| seen.fields.0.get("request_id").is_some_and(|value| value == id));
    assert!(spans().iter().any(|seen| seen.parent == at && seen.name == "statement"), "statements lie below their request");
}

#[tokio::test]
async fn what_is_mailed_and_delivered_is_a_child_of_the_workers_span() {
    let host = host();
    let test = TestAuth::new().await;
    let admin = test.org_admin().await;
    test.resolver.answer("hooks.acme.example", [Ipv4Addr::new(93, 184, 216, 34).into()]);
    let events = EventSelection::parse(&["invite.*"]).expect("kinds there are");
    admin.create_webhook(NewWebhook { url: URL.to_owned(), events, description: Description::default() }).await.expect("is made");
    test.tick().await;
    admin.invite(&value("nora@acme.example"), Role::Member).await.expect("nobody has this address");
    test.auth.worker().tick().instrument(host.clone()).await.expect("the database is there");

    let (mails, deliveries) = (children(&host, "mail"), children(&host, "delivery"));
    let ([mail], [delivery]) = (mails.as_slice(), deliveries.as_slice()) else { panic!("{mails:?} {deliveries:?}") };
    assert_eq!((mail.fields.0["outcome"].as_str(), mail.fields.0["attempt"].as_str()), ("sent", "1"));
    assert_eq!((delivery.fields.0["outcome"].as_str(), delivery.fields.0["status"].as_str()), ("succeeded", "200"));
    for value in mail.fields.0.values().chain(delivery.fields.0.values()) {
        assert!(!value.contains("nora") && !value.contains("hooks.acme"), "{value}");
    }
}

/// Whoever comes, with the span in which they were let in.
struct Anybody(Option<Id>);

impl Admission for Anybody {
    async fn admit(_: &Visitor) -> Result<Self, Refused> {
        Ok(Self(Span::current().id()))
    }
}

#[tokio::test]
async fn a_visitor_is_let_in_within_the_hosts_span() {
    let host = host();
    let test = TestAuth::new().await;
    let visitor = Gate::new(test.auth.clone()).visitor(http::Request::new(()), None);
    let Anybody(span) = visitor.admit().instrument(host.clone()).await.unwrap_or_else(|refused| panic!("{refused}"));
    assert_eq!(span, host.id());
}

#[tokio::test]
async fn a_verification_reads_once() {
    let host = host();
    let test = TestAuth::new().await;
    let key = test.api_key(&[Scope::Verify]).await;
    let tokens = test.login(&test.member).await;
    let slug = value(SLUG);
    let asking = test.auth.verify_with_key(&slug, &key, tokens.access.expose());
    let answer = asking.instrument(host.clone()).await.expect("a live key");
    assert!(matches!(answer, Verification::Valid(_)));
    let mut run: Vec<_> = children(&host, "statement").iter().map(|seen| seen.fields.0["name"].clone()).collect();
    run.retain(|name| !name.contains("MARK_USED")); // beside the request
    assert!(matches!(run.as_slice(), [one] if one.contains("OF_API_KEY")), "{run:?}");
}

/// Each organization has a mail for the same domain, which takes four at once. One statement tells who has none but such mails.
#[tokio::test]
async fn organizations_that_wait_for_a_full_domain_are_not_looked_at_one_by_one() {
    const ORGANIZATIONS: usize = 40;
    let host = host();
    let test = TestAuth::new().await;
    test.tick().await;
    for n in 0..ORGANIZATIONS {
        let new =
            NewOrganization::new(value(&format!("Tenant {n}")), value(&format!("tenant-{n}")), value("first@crowded.example"));
        test.auth.operator().create_organization(new).await.expect("it is new");
    }
    let before = test.mails.sent().len();
    test.auth.worker().tick().instrument(host.clone()).await.expect("the database is there");
    assert_eq!(test.mails.sent().len() - before, ORGANIZATIONS);
    let statements = children(&host, "statement");
    let looks = statements.iter().filter(|seen| seen.fields.0.get("name").is_some_and(|name| name == "mail_queue::DUE")).count();
    assert!((ORGANIZATIONS..=2 * ORGANIZATIONS).contains(&looks), "{looks} looks at {ORGANIZATIONS} organizations");
}
