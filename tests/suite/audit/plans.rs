//! How PostgreSQL finds a page of the audit log (SQLite's plans: a unit test beside the statements). The log may hold millions of
//! entries: each filter, and each pair that somebody would join, walks an index in the order of the page.

use tenant_auth_conformance::{App, scenarios};

scenarios![on each database: each_filter_walks_an_index];

const INDEXES: [(&str, &str); 7] = [
    ("LATEST", "tenant_auth_events_org_id_sequence_key"),
    ("OF_KIND", "tenant_auth_events_by_kind"),
    ("OF_ACTOR", "tenant_auth_events_by_actor"),
    ("OF_ACTOR_AND_KIND", "tenant_auth_events_by_actor_and_kind"),
    ("ABOUT_USER", "tenant_auth_events_by_user"),
    ("ABOUT_USER_BY_ACTOR", "tenant_auth_events_by_user_and_actor"),
    ("ABOUT_USER_AND_KIND", "tenant_auth_events_by_user_and_kind"),
];

async fn each_filter_walks_an_index(app: &App) {
    let store = app.database().store().await;
    let plans = store.plans_of_audit().await.expect("the database is there");
    assert_eq!(plans.is_empty(), app.database().url().is_none());
    for plan in &plans {
        let (name, steps) = plan.split_once('\n').expect("a name");
        assert!(!steps.contains("Seq Scan") && !steps.contains("Sort"), "{plan}");
        if let Some((_, index)) = INDEXES.iter().find(|(known, _)| *known == name) {
            let table = if name == "LATEST" { "e" } else { "n" };
            let walked = format!("Index Scan Backward using {index} on tenant_auth_events {table} (");
            assert!(steps.lines().any(|line| line.trim_start_matches([' ', '-', '>']).starts_with(&walked)), "{index}: {plan}");
        }
    }
    assert!(plans.is_empty() || INDEXES.iter().all(|(name, _)| plans.iter().any(|plan| plan.starts_with(name))));
    store.close().await;
}
