//! The storage contract's mechanical half, on the real engine of the cell: every statement there is can be prepared, and what
//! verification looks up is found by keys. Races, conflicts and isolation are scenarios of their own.

use tenant_auth_conformance::{App, scenarios};

scenarios![every_statement_prepares];
scenarios![on each database: verification_finds_all_by_keys];

async fn every_statement_prepares(app: &App) {
    let store = app.database().store().await;
    assert_eq!(store.unpreparable_statements().await.expect("the database is there"), Vec::<String>::new());
    store.close().await;
}

// Here all tables are small and nobody has analyzed them, when PostgreSQL likes to read them through (SQLite's plans: a unit test).
async fn verification_finds_all_by_keys(app: &App) {
    app.member().logged_in().await;
    let store = app.database().store().await;
    let plans = store.plans_of_lookups().await.expect("the database is there");
    assert_eq!(plans.len(), if app.database().url().is_some() { 6 } else { 0 });
    for plan in &plans {
        let scanned: Vec<_> = plan.lines().filter(|line| line.contains("Seq Scan")).collect();
        assert!(scanned.iter().all(|line| line.contains("Seq Scan on tenant_auth_incarnation")), "{plan}");
        assert!(!plan.contains("Hash"), "{plan}");
    }
    store.close().await;
}
