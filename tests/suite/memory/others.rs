//! What is remembered and changes without ending a right: the process that made the change shows it at once, every other one soon; a
//! token of a later generation is never refused from memory; ends are judged by the clock; and without its database a server does
//! not go on by what it remembers.

use std::time::Duration;

use serde_json::json;
use tenant_auth_conformance::{App, Request, scenarios};

use super::deployment::Deployment;

scenarios![on each database:
    a_refreshed_token_is_believed_everywhere_at_once,
    what_was_changed_here_is_shown_here_at_once_and_elsewhere_soon,
    ends_are_judged_by_the_clock,
    a_server_without_its_database_forgets,
    questions_are_answered_from_memory,
    whoever_has_lost_the_lock_reads_and_others_wait_for_who_has_it,
    one_who_ended_nothing_is_told_so_at_once,
];

async fn a_refreshed_token_is_believed_everywhere_at_once(app: &App) {
    let deployment = Deployment::of(app).await;
    let member = deployment.first.member().logged_in().await;
    for round in 0..30 {
        assert!(deployment.second.backend().finds_valid(&member.access_token()).await, "round {round}");
        let former = member.access_token();
        member.refresh().await.expect(200);
        assert!(deployment.second.backend().finds_valid(&member.access_token()).await, "the new one, round {round}");
        assert!(!deployment.first.backend().finds_valid(&former).await, "the former one here, round {round}");
    }
}

async fn what_was_changed_here_is_shown_here_at_once_and_elsewhere_soon(app: &App) {
    let deployment = Deployment::of(app).await;
    let admin = deployment.first.admin().logged_in().await;
    let token = admin.access_token();
    for round in 0..10 {
        for server in [&deployment.first, &deployment.second] {
            server.backend().verify(&token).await.expect(200);
        }
        let name = format!("Acme {round}");
        admin.patch("/org", json!({ "name": name })).await.expect(200);
        assert_eq!(deployment.first.backend().verify(&token).await.data()["org"]["name"], name.as_str());
        tokio::time::sleep(Duration::from_millis(200)).await;
        assert_eq!(deployment.second.backend().verify(&token).await.data()["org"]["name"], name.as_str());
    }
}

async fn ends_are_judged_by_the_clock(app: &App) {
    let deployment = Deployment::of(app).await;
    let server = &deployment.first;
    let member = server.member().logged_in().await;
    for _ in 0..5 {
        assert!(server.backend().finds_valid(&member.access_token()).await);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    app.clock.advance(app.config.sessions.access_token_ttl);
    assert!(!server.backend().finds_valid(&member.access_token()).await);
}

async fn a_server_without_its_database_forgets(app: &App) {
    if app.database().url().is_none() {
        return;
    }
    let deployment = Deployment::of(app).await;
    let server = &deployment.first;
    let member = server.member().logged_in().await;
    for _ in 0..20 {
        assert!(server.backend().finds_valid(&member.access_token()).await);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    app.database().set_reachable(false);
    tokio::time::sleep(Duration::from_millis(150)).await;
    server.backend().verify(&member.access_token()).may_fail().await.expect_error(503, "unavailable");
    app.database().set_reachable(true);
    assert!(server.backend().finds_valid(&member.access_token()).await);
}

/// A guard against tests that prove nothing: the first server does remember.
async fn questions_are_answered_from_memory(app: &App) {
    let deployment = Deployment::of(app).await;
    let server = &deployment.first;
    let member = server.member().logged_in().await;
    for _ in 0..50 {
        assert!(server.backend().finds_valid(&member.access_token()).await);
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let text = server.auth.metrics_text().await.expect("is written");
    let number = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("tenant_auth_{name} ")));
        line.and_then(|number| number.parse::<f64>().ok()).unwrap_or_else(|| panic!("{name} is missing in {text}"))
    };
    assert!(number("memory_hits_total") >= 60.0, "{text}");
    assert!(number("memory_entries{kind=\"sessions\"}") >= 1.0 && number("memory_bytes{kind=\"tokens\"}") > 500.0);
    assert!(number("memory_looks_total") >= 1.0);
}

async fn whoever_has_lost_the_lock_reads_and_others_wait_for_who_has_it(app: &App) {
    let files = app.database().files();
    let Some(database) = files.iter().find(|file| file.extension().is_some_and(|extension| extension == "db")) else { return };
    let deployment = Deployment::of(app).await;
    let (first, second) = (&deployment.first, &deployment.second);
    let member = first.member().logged_in().await;
    assert!(first.backend().finds_valid(&member.access_token()).await);
    std::fs::remove_file(format!("{}-memory", database.display())).expect("there is a lock");
    for round in 0..20 {
        let someone = second.member().logged_in().await;
        let token = someone.access_token();
        for server in [first, second] {
            assert!(server.backend().finds_valid(&token).await, "round {round}");
        }
        let ending = [second, first][round % 2];
        someone.via(ending).logout().await.expect(200);
        for server in [first, second] {
            assert!(!server.backend().finds_valid(&token).await, "round {round}");
        }
    }
}

async fn one_who_ended_nothing_is_told_so_at_once(app: &App) {
    let deployment = Deployment::of(app).await;
    let server = &deployment.second;
    let waits = async || {
        let text = server.auth.metrics_text().await.expect("is written");
        let count = text.lines().find_map(|line| line.strip_prefix("tenant_auth_acknowledgement_wait_seconds_count "));
        count.and_then(|count| count.parse::<u64>().ok()).expect("a number")
    };
    let member = server.member().logged_in().await;
    let before = waits().await;
    for made_up in [None, Some("x"), Some("eyJhbGciOiJFZERTQSJ9.e30.AAAA")] {
        let stranger = server.anonymous();
        let asking = |request: Request| match made_up {
            Some(token) => request.header("authorization", format!("Bearer {token}")),
            None => request,
        };
        asking(stranger.post_nothing("/auth/logout")).await.expect_error(401, "session_required");
        asking(stranger.delete("/auth/sessions/ses_x")).await.expect_error(401, "session_required");
    }
    assert_eq!(waits().await, before);
    let token = member.access_token();
    member.logout().await.expect(200);
    let after = waits().await;
    let again = server.anonymous().post_nothing("/auth/logout").header("authorization", format!("Bearer {token}"));
    again.await.expect_error(401, "session_required");
    assert!(waits().await > after, "a session that is over may have been ended by this very client");
}
