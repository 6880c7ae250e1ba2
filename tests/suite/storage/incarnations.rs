//! Another incarnation of the database: after a crash and after a failover transaction numbers go back, so a place in the change log
//! means nothing. The reader is told that anything may have changed. A standby answers no look at all.

use std::{path::Path, time::Duration};

use tenant_auth_conformance::{App, Engine, PostgresServer, scenarios};
use tenant_auth_core::{
    Backend, Config, Error, MasterKeys, Postgres, Sqlite, Store, TenantAuth,
    backend::NewApiKey,
    model::{Scope, Status},
    operator::NewOrganization,
    scope::Verify,
    secret::ApiKeyText,
    testing::change_log::ChangeLog,
    value::Slug,
};

scenarios![on each database:
    after_a_crash_nothing_is_known,
    a_standby_answers_no_look_and_is_another_once_promoted,
    a_cursor_from_beyond_a_restored_backup_is_told_everything,
];

async fn service(server: &PostgresServer, keys: &str) -> TenantAuth {
    TenantAuth::builder()
        .store(Postgres::connect(&server.url("auth")).await.expect("it answers"))
        .master_keys(MasterKeys::parse(keys).expect("master keys"))
        .config(Config::new("http://localhost".parse().expect("a URL")))
        .build()
        .await
        .expect("the service builds")
}

async fn after_a_crash_nothing_is_known(app: &App) {
    if app.cell.engine != Engine::Postgres {
        return;
    }
    let Some(mut server) = PostgresServer::start() else { return };
    let auth = service(&server, &MasterKeys::generate_text()).await;
    let mut reader = ChangeLog::of(&auth).reader();
    let before = reader.look().await.expect("is read").incarnation;
    assert!(!reader.look().await.expect("is read").everything);
    server.crash();
    assert!(matches!(reader.look().await, Err(Error::Unavailable(_))));
    server.start_again();
    let after = reader.look().await.expect("is read");
    assert!(after.everything && after.incarnation != before, "{after:?}, and {before} before the crash");
    assert!(!reader.look().await.expect("is read").everything);
}

async fn a_standby_answers_no_look_and_is_another_once_promoted(app: &App) {
    if app.cell.engine != Engine::Postgres {
        return;
    }
    let Some(server) = PostgresServer::start() else { return };
    let keys = MasterKeys::generate_text();
    let before = ChangeLog::of(&service(&server, &keys).await).reader().look().await.expect("is read").incarnation;
    let standby = server.standby("other");
    let store = Postgres::connect(&standby.url("auth")).await.expect("it answers");
    let mut reader = ChangeLog::reader_of(store.into());
    reader.look().await.expect_err("an unlogged table cannot be read on a standby");
    standby.promote();
    let after = reader.look().await.expect("is read").incarnation;
    assert_ne!(after, before);
}

/// A process over a SQLite file, and a backend of its organization `acme`.
struct Life {
    store: Store,
    auth: TenantAuth,
    backend: Backend<Verify>,
}

impl Life {
    async fn of(file: &Path, keys: &str, key: Option<&ApiKeyText>) -> (Self, ApiKeyText) {
        let store = Store::from(Sqlite::open(file.to_str().expect("a path")).await.expect("it opens"));
        let auth = TenantAuth::builder()
            .store(store.clone())
            .master_keys(MasterKeys::parse(keys).expect("master keys"))
            .config(Config::new("http://localhost".parse().expect("a URL")))
            .build()
            .await
            .expect("the service builds");
        let acme = slug("acme");
        let key = match key {
            Some(key) => key.clone(),
            None => {
                for text in ["acme", "other"] {
                    let admin = format!("admin@{text}.example").parse().expect("an address");
                    let new = NewOrganization::new(text.parse().expect("a name"), slug(text), admin);
                    auth.operator().create_organization(new).await.expect("is made");
                }
                let new = NewApiKey { name: "backend".parse().expect("a name"), scopes: vec![Scope::Verify], expires_at: None };
                auth.operator().create_api_key(&acme, new).await.expect("is made").key
            }
        };
        let backend = auth.backend(&acme, &key).await.expect("a live key").having::<Verify>().expect("its scope");
        (Self { store, auth, backend }, key)
    }

    async fn cursor(&self) -> String {
        self.backend.changes(None, Duration::ZERO).await.expect("is told").cursor
    }

    /// Changes an organization that is not the backend's.
    async fn goes_on(&self, times: usize) {
        for turn in 0..times {
            let status = if turn % 2 == 0 { Status::Suspended } else { Status::Active };
            self.auth.operator().set_organization_status(&slug("other"), status).await.expect("is changed");
        }
    }

    async fn is_told_everything(&self, cursor: &str) -> bool {
        self.backend.changes(Some(cursor), Duration::ZERO).await.expect("is told").everything
    }
}

fn slug(text: &str) -> Slug {
    text.parse().expect("a slug")
}

async fn a_cursor_from_beyond_a_restored_backup_is_told_everything(app: &App) {
    if app.cell.engine != Engine::Sqlite {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let (file, backup) = (directory.path().join("auth.db"), directory.path().join("backup"));
    let keys = MasterKeys::generate_text();
    let (first, key) = Life::of(&file, &keys, None).await;
    let early = first.cursor().await;
    first.store.close().await;
    std::fs::copy(&file, &backup).expect("is copied");

    let (undone, _) = Life::of(&file, &keys, Some(&key)).await;
    undone.goes_on(4).await;
    assert!(!undone.is_told_everything(&early).await, "a restart is no restore");
    let late = undone.cursor().await;
    undone.store.close().await;
    std::fs::copy(&backup, &file).expect("is restored");

    let (restored, _) = Life::of(&file, &keys, Some(&key)).await;
    restored.goes_on(20).await;
    assert!(!restored.is_told_everything(&early).await, "it lies before the backup");
    assert!(restored.is_told_everything(&late).await, "what happened before it never did");
    restored.store.close().await;
}
