//! The storage contract's mechanical half, on the real engine of the cell: every statement there is can be prepared, and what
//! verification looks up is found by keys. Races, conflicts and isolation are scenarios of their own.

use tenant_auth_conformance::{App, scenarios};

scenarios![every_statement_prepares];
scenarios![on each database: verification_and_rotation_find_all_by_keys];

async fn every_statement_prepares(app: &App) {
    let store = app.database().store().await;
    assert_eq!(store.unpreparable_statements().await.expect("the database is there"), Vec::<String>::new());
    store.close().await;
}

// Here all tables are small and nobody has analyzed them, when PostgreSQL likes to read them through (SQLite's plans: a unit test).
async fn verification_and_rotation_find_all_by_keys(app: &App) {
    app.member().logged_in().await;
    let store = app.database().store().await;
    let lookups = store.plans_of_lookups().await.expect("the database is there");
    let rotations = store.plans_of_rotations().await.expect("the database is there");
    assert_eq!([lookups.len(), rotations.len()], if app.database().url().is_some() { [6, 2] } else { [0, 0] });
    for plan in lookups.iter().chain(&rotations) {
        let scans = |line: &&str| line.contains("Seq Scan") && !line.contains("Seq Scan on tenant_auth_incarnation");
        assert!(!plan.lines().any(|line| scans(&line)), "{plan}");
        let lines: Vec<&str> = plan.lines().collect();
        for pair in lines.windows(2).filter(|pair| pair[0].contains("Index") && pair[0].contains("Scan using")) {
            assert!(pair[1].contains("Index Cond") || pair[0].contains("tenant_auth_incarnation"), "a whole index is read: {plan}");
        }
    }
    store.close().await;
}
