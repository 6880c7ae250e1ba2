//! The storage contract's mechanical half, on the real engine of the cell: every statement there is can be prepared. Races,
//! conflicts and isolation are scenarios of their own.

use tenant_auth_conformance::{App, scenarios};

scenarios![every_statement_prepares];

async fn every_statement_prepares(app: &App) {
    let store = app.database().store().await;
    assert_eq!(store.unpreparable_statements().await.expect("the database is there"), Vec::<String>::new());
    store.close().await;
}
