//! Races about sessions: refreshing, logging in and out, changing the password.

use std::time::Duration;

use tenant_auth_conformance::{App, Caller, PASSWORD, jwt, rounds, scenarios, together, together_until_decided};

use super::second_server;

scenarios![on each database:
    parallel_refreshes_agree_on_one_generation,
    a_logout_beats_every_refresh,
    a_login_in_flight_during_a_password_change_comes_to_nothing,
    of_two_password_changes_one_wins,
    parallel_logins_never_exceed_the_limit,
    a_removed_member_is_out_even_if_they_log_in_meanwhile,
    a_suspended_member_is_out_even_if_they_log_in_meanwhile,
];

/// Of sessions that began at one moment, the limit ends any; between rounds it should know which is the oldest.
fn a_moment_passes(app: &App) {
    app.clock.advance(Duration::from_millis(1));
}

async fn parallel_refreshes_agree_on_one_generation(app: &App) {
    let other = second_server(app).await;
    let member = app.member().logged_in().await;
    for _ in 0..rounds() {
        let before = jwt::claims(&member.access_token())["gen"].as_i64().expect("a number");
        let tabs: Vec<Caller> = (0..6).map(|n| if n % 2 == 0 { member.copied() } else { member.copied().via(&other) }).collect();
        for answer in together(tabs.iter().map(Caller::refresh).collect()).await {
            answer.expect(200);
        }
        for tab in &tabs {
            assert_eq!(jwt::claims(&tab.access_token())["gen"], before + 1);
            tab.get("/org").await.expect(200);
        }
        member.jar().put("access_token", &tabs[0].access_token());
        member.jar().put("refresh_token", &tabs[0].refresh_token());
        app.advance(31);
    }
}

async fn a_logout_beats_every_refresh(app: &App) {
    let other = second_server(app).await;
    for _ in 0..rounds() {
        let member = app.member().logged_in().await;
        let tabs = [member.copied(), member.copied().via(&other), member.copied()];
        together(vec![member.logout(), tabs[0].refresh(), tabs[1].refresh(), tabs[2].refresh()]).await.remove(0).expect(200);
        for tab in &tabs {
            tab.get("/org").await.expect_no_session();
            tab.refresh().await.expect_no_session();
        }
    }
}

async fn a_login_in_flight_during_a_password_change_comes_to_nothing(app: &App) {
    let other = second_server(app).await;
    let passwords = [PASSWORD, "velvet-anchor-93-comet"];
    let owner = app.member().logged_in().await;
    for round in 0..rounds() {
        let (old, new) = (passwords[round % 2], passwords[(round + 1) % 2]);
        let thieves = [app.member(), app.member().via(&other)];
        let logins = thieves.iter().map(|thief| thief.login_with(owner.email(), old));
        let change = owner.change_password(old, new);
        let mut answers = together(logins.chain([change]).collect()).await;
        answers.pop().expect("the change").expect(200);
        for (thief, answer) in thieves.iter().zip(answers) {
            if answer.status == 200 {
                thief.get("/org").await.expect_no_session();
                thief.refresh().await.expect_no_session();
            } else {
                answer.expect(401);
            }
        }
        app.member().via(&other).login_with(owner.email(), old).await.expect(401);
        owner.get("/org").await.expect(200);
        owner.refresh().await.expect(200);
        // A completed login also forgets the failed ones, which would be throttled otherwise.
        app.anonymous().login_with(owner.email(), new).await.expect(200);
    }
}

async fn of_two_password_changes_one_wins(app: &App) {
    let other = second_server(app).await;
    let mut current = PASSWORD.to_owned();
    for round in 0..rounds() {
        let devices = [app.member(), app.member().via(&other)];
        for device in &devices {
            device.login_with(device.email(), &current).await.expect(200);
        }
        let chosen = [format!("velvet-anchor-{round}-comet"), format!("mauve-gantry-{round}-plinth")];
        let answers =
            together(vec![devices[0].change_password(&current, &chosen[0]), devices[1].change_password(&current, &chosen[1])])
                .await;
        let won: Vec<usize> = (0..2).filter(|n| answers[*n].status == 200).collect();
        assert_eq!(won.len(), 1, "{:?}", answers.iter().map(|answer| answer.shown()).collect::<Vec<_>>());
        let (winner, loser) = (won[0], 1 - won[0]);
        answers[loser].clone().expect(401);
        devices[winner].get("/org").await.expect(200);
        devices[loser].get("/org").await.expect_no_session();
        app.anonymous().login_with(devices[0].email(), &chosen[loser]).await.expect(401);
        current.clone_from(&chosen[winner]);
    }
}

async fn parallel_logins_never_exceed_the_limit(app: &App) {
    let other = second_server(app).await;
    for _ in 0..rounds().div_ceil(10) {
        a_moment_passes(app);
        let devices: Vec<Caller> = (0..30).map(|n| if n % 2 == 0 { app.member() } else { app.member().via(&other) }).collect();
        for answer in together_until_decided(devices.iter().map(Caller::login).collect()).await {
            answer.expect(200);
        }
        let mut alive = 0;
        for device in &devices {
            alive += usize::from(device.get("/org").await.status == 200);
        }
        assert_eq!(alive, 20);
    }
}

async fn a_removed_member_is_out_even_if_they_log_in_meanwhile(app: &App) {
    let other = second_server(app).await;
    let admin = app.admin().logged_in().await;
    for round in 0..rounds() {
        let member = app.org().new_member(&format!("Pat{round}")).await.via(&other);
        let mut answers = together(vec![admin.remove(member.id()), member.login()]).await;
        let login = answers.pop().expect("the login");
        answers.pop().expect("the removal").expect(200);
        if login.status == 200 {
            member.get("/org").await.expect_no_session();
            member.refresh().await.expect_no_session();
        } else {
            login.expect(403);
        }
        member.login().await.expect_error(403, "not_a_member");
        assert!(admin.member_entry(member.id()).await.is_none());
    }
}

async fn a_suspended_member_is_out_even_if_they_log_in_meanwhile(app: &App) {
    let other = second_server(app).await;
    let admin = app.admin().logged_in().await;
    for _ in 0..rounds() {
        a_moment_passes(app);
        let member = app.member().via(&other);
        let mut answers = together(vec![admin.set_status(member.id(), "suspended"), member.login()]).await;
        let login = answers.pop().expect("the login");
        answers.pop().expect("the suspension").expect(200);
        if login.status == 200 {
            member.get("/org").await.expect_error(403, "suspended");
            member.refresh().await.expect(401);
        } else {
            login.expect_error(403, "suspended");
        }
        app.member().login().await.expect_error(403, "suspended");
        admin.set_status(member.id(), "active").await.expect(200);
    }
}
