//! Another incarnation of the database: after a crash and after a failover transaction numbers go back, so a place in the change log
//! means nothing. The reader is told that anything may have changed. A standby answers no look at all.

use tenant_auth_conformance::{App, Engine, PostgresServer, scenarios};
use tenant_auth_core::{Config, Error, MasterKeys, Postgres, TenantAuth, testing::change_log::ChangeLog};

scenarios![on each database:
    after_a_crash_nothing_is_known,
    a_standby_answers_no_look_and_is_another_once_promoted,
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
