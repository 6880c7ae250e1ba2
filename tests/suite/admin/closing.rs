//! An export that closes its organization (behaviour.md, B168): the file is good only where the organization is suspended after it.

use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use serde_json::json;
use sqlx::{Connection, PgConnection};
use tenant_auth_conformance::{App, Database, Engine, empty_postgres, scenarios};
use tenant_auth_core::{
    Config, Error, MasterKeys, Postgres, StoreOptions, TenantAuth,
    model::Status,
    operator::{ExportError, FileKey, OrganizationImport, SealedExport},
    ports::OsEntropy,
};
use tokio::io::{AsyncReadExt, AsyncWrite};

use super::moves::{NILS, NORA, import, logged_in, movers, target};
use crate::suite::storage::locks::texts;

scenarios![on each database:
    a_closed_organization_goes_on_at_the_target_alone,
    what_changes_while_it_is_closed_is_refused,
    an_export_that_fails_closes_nothing,
    an_export_is_whole_also_where_its_closing_is_not_answered,
    a_closing_outlasts_a_disk_that_is_slow_to_take_the_file,
    a_suspension_from_before_moves_and_can_be_closed_again,
    the_operators_own_organization_is_not_closed,
    one_connection_is_too_few_to_close,
];

async fn close(app: &App, slug: &str, sink: impl AsyncWrite + Unpin + Send) -> Result<FileKey, ExportError> {
    let key = FileKey::generate(&OsEntropy);
    let how = SealedExport { key: key.clone(), all_credentials: false, close: true };
    app.auth.operator().export_organization(&slug.parse().expect("a slug"), sink, &how, &mut |_| {}).await?;
    Ok(key)
}

async fn status(app: &App) -> Status {
    let organizations = app.auth.operator().organizations().await.expect("they can be listed");
    organizations.iter().find(|org| org.slug.as_str() == "movers").expect("it is there").status
}

async fn a_closed_organization_goes_on_at_the_target_alone(app: &App) {
    movers(app).await;
    let nora = logged_in(app, NORA).await;
    let mut file = Vec::new();
    let key = close(app, "movers", &mut file).await.expect("it is there");
    nora.get("/org").await.expect_error(403, "suspended");
    let target = target(app).await;
    let done = import(&target, &file, &OrganizationImport::new(key)).await.expect("nothing clashes");
    assert!(!done.source_lives);
    assert_eq!(done.org.status, Status::Active, "as it was before it was closed");
    logged_in(&target, NORA).await;
}

async fn what_changes_while_it_is_closed_is_refused(app: &App) {
    movers(app).await;
    let (nora, nils) = (logged_in(app, NORA).await, logged_in(app, NILS).await);
    let (sink, mut file) = tokio::io::duplex(16);
    let other = app.other_org().admin().logged_in().await;
    let closing = async {
        let closed = close(app, "movers", sink).await;
        closed.map_err(|error| error.to_string())
    };
    let reading = async {
        let mut bytes = vec![0; 40];
        file.read_exact(&mut bytes).await.expect("it has begun");
        // Both wait for the export, and find the organization closed.
        let rename = async { nora.patch("/org", json!({ "name": "Renamed" })).await.expect_error(403, "suspended") };
        let rebrand = async { nils.put("/auth/profile", json!({ "name": "Renamed" })).await.expect_error(403, "suspended") };
        let neighbour = async { other.get("/org").await.expect(200) };
        let rest = async {
            tokio::time::sleep(Duration::from_millis(500)).await;
            file.read_to_end(&mut bytes).await.expect("it goes on");
        };
        tokio::join!(rename, rebrand, neighbour, rest);
        bytes
    };
    let (closed, bytes) = tokio::join!(closing, reading);
    let how = OrganizationImport::new(closed.expect("it is there"));
    let done = import(&target(app).await, &bytes, &how).await.expect("it is whole");
    assert_eq!(done.org.name.as_str(), "Movers");
}

/// Takes so many bytes and no more.
struct Full(usize);

impl AsyncWrite for Full {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or_else(|| std::io::Error::other("the disk is full"))?;
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Err(std::io::Error::other("the disk is gone")))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        self.poll_flush(context)
    }
}

async fn an_export_that_fails_closes_nothing(app: &App) {
    movers(app).await;
    let nora = logged_in(app, NORA).await;
    // The last one takes everything, and fails to bring it to the disk.
    for room in [0, 40, 1 << 20] {
        let refused = close(app, "movers", Full(room)).await;
        assert!(matches!(refused, Err(ExportError::Unwritable(_))), "{room}: {refused:?}");
        assert_eq!(status(app).await, Status::Active);
        nora.patch("/org", json!({ "name": format!("Movers {room}") })).await.expect(200);
    }
    let kinds = nora.get("/org/audit").await.expect_ok()["entries"].to_string();
    assert!(!kinds.contains("org.exported") && !kinds.contains("org.suspended"), "{kinds}");
}

/// Takes everything. The database goes when it is on the disk.
struct Last<'a>(&'a Database);

impl AsyncWrite for Last<'_> {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        self.0.set_reachable(false);
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        self.poll_flush(context)
    }
}

async fn an_export_is_whole_also_where_its_closing_is_not_answered(app: &App) {
    if app.database().url().is_none() {
        return;
    }
    movers(app).await;
    let unanswered = close(app, "movers", Last(app.database())).await;
    app.database().set_reachable(true);
    assert!(matches!(unanswered, Err(ExportError::Unsettled(Error::Unavailable(_)))), "{unanswered:?}");
}

/// Takes everything, and has it on the disk once this has ended.
struct Slow(Pin<Box<dyn Future<Output = ()> + Send>>);

impl AsyncWrite for Slow {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        self.0.as_mut().poll(context).map(Ok)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        self.poll_flush(context)
    }
}

/// How many transactions that wait were asked something since the moment.
const STAYED: &str = "SELECT count(*) FROM pg_stat_activity
     WHERE datname = current_database() AND state = 'idle in transaction' AND query_start > $1::timestamptz";

/// On PostgreSQL, which ends a transaction in which nothing is asked: the flush ends once something was, while it went on.
async fn a_closing_outlasts_a_disk_that_is_slow_to_take_the_file(app: &App) {
    let Some(url) = app.database().url() else { return };
    movers(app).await;
    let flushed = async move {
        let begun = texts(&url, "SELECT clock_timestamp()::text || $1", "").await.remove(0);
        let mut connection = PgConnection::connect(&url).await.expect("it answers");
        let stayed = async {
            while sqlx::query_scalar::<_, i64>(STAYED).bind(&begun).fetch_one(&mut connection).await.expect("it answers") == 0 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        // Long after the transaction would have been ended.
        let _ = tokio::time::timeout(Duration::from_secs(60), stayed).await;
    };
    close(app, "movers", Slow(Box::pin(flushed))).await.expect("it is there");
    assert_eq!(status(app).await, Status::Suspended);
}

async fn a_suspension_from_before_moves_and_can_be_closed_again(app: &App) {
    movers(app).await;
    let slug = "movers".parse().expect("a slug");
    app.auth.operator().set_organization_status(&slug, Status::Suspended).await.expect("it is there");
    for _ in 0..2 {
        let mut file = Vec::new();
        let key = close(app, "movers", &mut file).await.expect("it is there");
        let done = import(&target(app).await, &file, &OrganizationImport::new(key)).await.expect("nothing clashes");
        assert_eq!((done.org.status, done.source_lives), (Status::Suspended, false));
    }
    assert_eq!(status(app).await, Status::Suspended);
}

async fn the_operators_own_organization_is_not_closed(app: &App) {
    let operators = app.beside(|setup| setup.config.organizations.operator_org = Some("acme".parse().expect("a slug"))).await;
    let refused = close(&operators, "acme", Vec::new()).await;
    assert!(matches!(refused, Err(ExportError::Service(Error::OperatorOrganization))), "{refused:?}");
    app.member().logged_in().await.get("/org").await.expect(200);
}

/// On PostgreSQL: the file would wait for the connection that holds the organization.
async fn one_connection_is_too_few_to_close(app: &App) {
    if app.cell.engine != Engine::Postgres {
        return;
    }
    let Some(url) = empty_postgres() else { return };
    let auth = TenantAuth::builder()
        .store(Postgres::connect_with(&url, StoreOptions::with_connections(1)).await.expect("it answers"))
        .master_keys(MasterKeys::parse(&MasterKeys::generate_text()).expect("master keys"))
        .config(Config::new("http://localhost".parse().expect("a URL")))
        .build()
        .await
        .expect("the service builds");
    let how = SealedExport { key: FileKey::generate(&OsEntropy), all_credentials: false, close: true };
    let slug = "movers".parse().expect("a slug");
    let refused = auth.operator().export_organization(&slug, Vec::new(), &how, &mut |_| {}).await;
    assert!(matches!(refused, Err(ExportError::TooFewConnections)), "{refused:?}");
}
