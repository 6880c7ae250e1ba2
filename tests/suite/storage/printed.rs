//! What a store prints of itself, where a host logs it: not the password that it connects with. What else no `Debug` prints is told in
//! the core's own test (`tenant-auth-core/tests/flows/secrets`), which has no PostgreSQL.

use tenant_auth_conformance::{App, scenarios};
use tenant_auth_core::{Config, Postgres, Store, TenantAuth};

scenarios![on each database: a_store_prints_no_password];

const PASSWORD: &str = "of-the-database";

async fn a_store_prints_no_password(app: &App) {
    let Some(url) = app.database().url() else { return };
    // The test's server asks nobody for a password; the URL has one all the same.
    let url = url.replacen("postgres:///", &format!("postgres://postgres:{PASSWORD}@localhost/"), 1);
    assert!(url.contains(PASSWORD), "{url}");
    let postgres = Postgres::connect(&url).await.expect("it answers");
    let store = Store::from(postgres.clone());
    let config = Config::new("https://auth.example.com".parse().expect("a URL"));
    let builder = TenantAuth::builder().store(store.clone()).config(config);
    let printed = format!("{postgres:?} {postgres:#?} {store:?} {store:#?} {builder:?} {builder:#?}");
    assert!(!printed.contains(PASSWORD), "{printed}");
    store.close().await;
}
