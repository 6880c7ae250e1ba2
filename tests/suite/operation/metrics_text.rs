//! The metrics text that Prometheus reads: it is well-formed, tells the state of the database, and has no label with what a
//! request brought.

use std::time::{Duration, Instant};

use serde_json::json;
use tenant_auth_conformance::{App, PASSWORD, scenarios};

use super::metrics::seen;

scenarios![
    the_database_and_its_connections_are_told,
    without_its_database_it_answers_and_says_so,
    no_label_holds_what_came_with_a_request,
    the_text_is_well_formed,
];

async fn the_database_and_its_connections_are_told(app: &App) {
    app.member().logged_in().await;
    let seen = seen(app).await;
    assert_eq!(seen["database_up"], 1.0);
    let engine = if app.database().url().is_some() { "postgres" } else { "sqlite" };
    let pools: &[&str] = if engine == "postgres" { &["shared"] } else { &["readers", "writer"] };
    let of = |series: &str, labels: &str| seen.get(&format!("{series}{{{labels}}}")).copied();
    for pool in pools {
        let labels = format!("engine=\"{engine}\",pool=\"{pool}\"");
        let most = of("database_connections_max", &labels).expect("a limit");
        let state = |state: &str| of("database_connections", &format!("{labels},state=\"{state}\"")).expect("a count");
        let open = state("idle") + state("in_use");
        assert!(open >= 1.0 && open <= most, "{open} of {most}");
    }
    assert_eq!(seen.keys().filter(|series| series.starts_with("database_connections_max{")).count(), pools.len());
    assert_eq!(seen[&format!("build_info{{version=\"{}\"}}", env!("CARGO_PKG_VERSION"))], 1.0);
    assert!(seen["process_start_time_seconds"] > 1_700_000_000.0);
}

async fn without_its_database_it_answers_and_says_so(app: &App) {
    if app.database().url().is_none() {
        return;
    }
    app.member().logged_in().await;
    app.database().set_reachable(false);
    let asked = Instant::now();
    let away = seen(app).await;
    assert!(asked.elapsed() < Duration::from_secs(4), "{:?}", asked.elapsed());
    assert_eq!((away["database_up"], away["ready"]), (0.0, 0.0));
    for absent in ["mails_waiting", "mails_oldest_waiting_seconds", "reset_requests_waiting"] {
        assert!(!away.contains_key(absent), "{absent} is not known");
    }
    assert_eq!(away["logins_total{outcome=\"ok\"}"], 1.0, "what was counted is told");
    app.database().set_reachable(true);
    assert_eq!(seen(app).await["database_up"], 1.0);
}

/// A text that every value sent by a stranger or a member contains, in every place.
const MARKER: &str = "zanzibar";

async fn no_label_holds_what_came_with_a_request(app: &App) {
    let admin = app.admin().logged_in().await;
    let email = format!("{MARKER}@{MARKER}.example");
    let token = app.invited(&admin, &email).await;
    let nora = app.anonymous().with("User-Agent", MARKER);
    nora.accept(&token, MARKER).await.expect(200);
    app.anonymous().login_with(&email, PASSWORD).await.expect(200);
    app.anonymous().login_with(&email, MARKER).await.expect(401);
    app.anonymous().accept(MARKER, MARKER).await.expect(400);
    app.anonymous().at_org(MARKER).get("/org").await.expect(404);
    app.anonymous().with_bearer(MARKER).get("/org").await.expect(401);
    app.anonymous().backend_with(MARKER).verify(MARKER).await.expect(401);
    app.backend().verify(MARKER).await.expect(200);
    app.backend().get(&format!("/public/users/{MARKER}")).await.expect(404);
    admin.get(&format!("/org/members?cursor={MARKER}&{MARKER}=1")).await.expect(400);
    admin.remove(MARKER).await.expect(404);
    admin.created_key(json!({ "name": MARKER })).await;
    admin.patch("/org", json!({ "name": MARKER, "appUrl": format!("https://{MARKER}.example") })).await.expect(200);
    app.anonymous().get(&format!("/{MARKER}/{MARKER}")).await.expect(404);
    app.anonymous().request(&MARKER.to_uppercase(), "/org").await.expect(405);
    app.anonymous().request(&MARKER.to_uppercase(), &format!("/{MARKER}")).await.expect(404);
    app.tick().await;
    let text = app.auth.metrics_text().await.expect("it can be written");
    for revealing in [MARKER, "acme", "@", "usr_", "org_", "inv_", "ses_", "pk_live", &token, &admin.access_token()] {
        let found = text.lines().map(without_name).find(|line| line.to_lowercase().contains(&revealing.to_lowercase()));
        assert_eq!(found, None, "{revealing}");
    }
}

/// The labels and the value of a series: its name is the service's own, and may end like an id begins (`misses_total`).
fn without_name(line: &str) -> &str {
    line.trim_start_matches("# TYPE ")
        .trim_start_matches("# HELP ")
        .trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_')
}

async fn the_text_is_well_formed(app: &App) {
    app.member().logged_in().await.get("/org").await.expect(200);
    app.tick().await;
    let text = app.auth.metrics_text().await.expect("it can be written");
    assert!(text.ends_with("\n# EOF\n") && text.matches("# EOF").count() == 1);
    let mut typed = Vec::new();
    for line in text.lines() {
        if let Some(described) = line.strip_prefix("# TYPE ") {
            let name = described.split(' ').next().expect("a name").to_owned();
            assert!(!typed.contains(&name), "{name} comes twice");
            typed.push(name);
        } else if !line.starts_with('#') {
            let family = typed.last().expect("a type comes first");
            assert!(line.starts_with(family.as_str()), "{line} stands under {family}");
        }
    }
    let mut series: Vec<&str> = text.lines().filter_map(|line| line.rsplit_once(' ').map(|(series, _)| series)).collect();
    let count = series.len();
    series.sort_unstable();
    series.dedup();
    assert_eq!(series.len(), count, "no series comes twice");
}
