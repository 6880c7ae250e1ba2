//! A PostgreSQL database whose own order of texts is a language's and not that of the bytes: in Lithuanian y stands at i. Ids sort by time
//! there, too.

use std::{net::IpAddr, sync::Arc, time::Duration};

use tenant_auth_conformance::{App, Engine, HOOKS, empty_postgres_of, scenarios};
use tenant_auth_core::{
    Config, MasterKeys, Page, Postgres, TenantAuth, Timestamp,
    model::EventSelection,
    operator::NewOrganization,
    ports::{MockClock, RecordingMailer, RecordingSender, ScriptedResolver},
    webhooks::NewWebhook,
};

use crate::suite::support::hooks::{RECEIVER, texts_in};

scenarios![on each database:
    a_new_delivery_is_not_swept_where_ids_sort_by_a_language,
    ids_that_are_taken_for_times_sort_by_their_bytes,
];

const DAY: Duration = Duration::from_secs(24 * 3_600);

async fn service(url: &str, clock: &Arc<MockClock>) -> TenantAuth {
    let resolver = ScriptedResolver::default();
    resolver.answer(HOOKS, [IpAddr::from([93, 184, 215, 14])]);
    TenantAuth::builder()
        .store(Postgres::connect(url).await.expect("it answers"))
        .master_keys(MasterKeys::parse(&MasterKeys::generate_text()).expect("master keys"))
        .config(Config::new("https://auth.example.com".parse().expect("a URL")))
        .clock(Arc::clone(clock) as _)
        .mailer(Arc::new(RecordingMailer::default()))
        .sender(Arc::new(RecordingSender::default()))
        .resolver(Arc::new(resolver))
        .build()
        .await
        .expect("the service builds")
}

/// By that order the ids of this day, 01my…, stand before those of a month earlier, 01mv….
async fn a_new_delivery_is_not_swept_where_ids_sort_by_a_language(app: &App) {
    if app.cell.engine != Engine::Postgres {
        return;
    }
    let Some(url) = empty_postgres_of("lt") else { return };
    let clock = Arc::new(MockClock::at(Timestamp::parse("2027-08-25T00:00:00.000Z").expect("an ISO time")));
    let auth = service(&url, &clock).await;
    let (slug, name) = ("acme".parse().expect("a slug"), "Acme".parse().expect("a name"));
    let new = NewOrganization::new(name, "acme".parse().expect("a slug"), "first@acme.example".parse().expect("an address"));
    auth.operator().create_organization(new).await.expect("it is new");
    let admin = auth.operator().in_organization(&slug).await.expect("it is there");
    let events = EventSelection::parse(&["webhook.test"]).expect("a kind");
    let new = NewWebhook { url: RECEIVER.to_owned(), events, description: Default::default() };
    let hook = admin.create_webhook(new).await.expect("it may").webhook.id;
    admin.test_webhook(&hook).await.expect("it may");
    let kept = async || admin.deliveries(&hook, None, &Page::default()).await.expect("a list").items.len();
    auth.worker().tick().await.expect("the database answers");
    auth.worker().tick().await.expect("the database answers");
    assert_eq!(kept().await, 1, "it is new");
    clock.advance(31 * DAY);
    auth.worker().tick().await.expect("the database answers");
    assert_eq!(kept().await, 0, "it is old");
}

async fn ids_that_are_taken_for_times_sort_by_their_bytes(app: &App) {
    if app.cell.engine != Engine::Postgres {
        return;
    }
    let by_bytes = "SELECT table_name || '.' || column_name
                      FROM information_schema.columns
                     WHERE collation_name = 'C' AND table_name LIKE 'tenant_auth_%'
                     ORDER BY 1";
    let expected = ["tenant_auth_deliveries.id", "tenant_auth_outbox.event_id", "tenant_auth_reset_requests.id"];
    assert_eq!(texts_in(app, by_bytes).await, expected);
}
