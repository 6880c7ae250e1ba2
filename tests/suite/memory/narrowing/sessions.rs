//! Sessions that end.

use tenant_auth_conformance::{App, Response};
use tenant_auth_core::operator::SessionsOf;

use super::rows;
use crate::suite::memory::deployment::{Question, at_each, at_each_and_by_command, is_valid, status, status_of};

rows! {
    logout_holds_at_once: SessionEnded;
    an_ended_session_is_dead_everywhere: SessionEnded;
    ones_own_session_ended_is_dead_everywhere: SessionEnded;
    other_sessions_ended_are_dead_everywhere: SessionEnded;
    a_members_sessions_ended_by_an_admin_are_dead_everywhere: SessionEnded;
    a_members_session_ended_by_an_admin_is_dead_everywhere: SessionEnded;
    an_admins_own_sessions_ended_are_dead_everywhere: SessionEnded;
    an_evicted_session_is_dead_everywhere: SessionEnded;
    a_reused_refresh_token_ends_its_session_everywhere: SessionEnded;
    revoked_sessions_are_dead_everywhere: SessionEnded;
    an_organizations_revoked_sessions_are_dead_everywhere: SessionEnded;
    all_revoked_sessions_are_dead_everywhere: SessionEnded;
}

fn is_let_in(answer: &Response) -> bool {
    is_valid(answer) || (answer.status == 200 && answer.data()["valid"].is_null())
}

async fn logout_holds_at_once(app: &App) {
    at_each(app, async |site| {
        let own = site.person.via(&site.deployment.second);
        let ask = [site.verifying(), vec![own.get("/org")]].concat();
        let logout = async || status_of(site.person.copied().via(site.server).logout()).await;
        site.holds(Question { ask, is_old: is_let_in }, 200, logout).await;
    })
    .await;
}

async fn an_ended_session_is_dead_everywhere(app: &App) {
    at_each(app, async |site| {
        app.advance(1);
        let other = site.person.elsewhere().logged_in().await;
        let id = site.person.get("/auth/sessions").await.expect_ok()["sessions"][0]["id"].as_str().expect("an id").to_owned();
        site.ends(async || status_of(other.via(site.server).delete(&format!("/auth/sessions/{id}"))).await).await;
    })
    .await;
}

async fn ones_own_session_ended_is_dead_everywhere(app: &App) {
    at_each(app, async |site| {
        let id = site.person.get("/auth/sessions").await.expect_ok()["sessions"][0]["id"].as_str().expect("an id").to_owned();
        let own = || site.person.copied().via(site.server).delete(&format!("/auth/sessions/{id}"));
        site.ends(async || status_of(own()).await).await;
    })
    .await;
}

async fn other_sessions_ended_are_dead_everywhere(app: &App) {
    at_each(app, async |site| {
        let other = site.person.elsewhere().logged_in().await;
        site.ends(async || status_of(other.via(site.server).delete("/auth/sessions")).await).await;
    })
    .await;
}

async fn a_members_sessions_ended_by_an_admin_are_dead_everywhere(app: &App) {
    at_each(app, async |site| {
        let admin = app.admin().logged_in().await;
        let path = format!("/org/members/{}/sessions", site.person.id());
        site.ends(async || status_of(admin.via(site.server).delete(&path)).await).await;
    })
    .await;
}

async fn a_members_session_ended_by_an_admin_is_dead_everywhere(app: &App) {
    at_each(app, async |site| {
        let admin = app.admin().logged_in().await;
        let sessions = format!("/org/members/{}/sessions", site.person.id());
        let shown = admin.get(&format!("{sessions}?order=desc&limit=1")).await.expect_ok();
        let path = format!("{sessions}/{}", shown["sessions"][0]["id"].as_str().expect("an id"));
        site.ends(async || status_of(admin.via(site.server).delete(&path)).await).await;
    })
    .await;
}

async fn an_admins_own_sessions_ended_are_dead_everywhere(app: &App) {
    at_each(app, async |site| {
        let admin = app.admin().logged_in().await;
        admin.set_role(site.person.id(), "org_admin").await.expect(200);
        let path = format!("/org/members/{}/sessions", site.person.id());
        site.ends(async || status_of(site.person.copied().via(site.server).delete(&path)).await).await;
    })
    .await;
}

async fn an_evicted_session_is_dead_everywhere(app: &App) {
    let most = app.config.sessions.max_per_user;
    at_each(app, async |site| {
        for _ in 1..most {
            app.advance(1);
            site.person.elsewhere().login().await.expect(200);
        }
        site.ends(async || status_of(site.person.elsewhere().via(site.server).login()).await).await;
    })
    .await;
}

async fn a_reused_refresh_token_ends_its_session_everywhere(app: &App) {
    at_each(app, async |site| {
        let old = site.person.refresh_token();
        site.person.refresh().await.expect(200);
        app.clock.advance(app.config.sessions.refresh_grace);
        let question = Question { ask: site.verifying(), is_old: is_valid };
        site.holds(question, 401, async || status_of(site.server.anonymous().refresh_with(&old)).await).await;
    })
    .await;
}

async fn revoked_sessions_are_dead_everywhere(app: &App) {
    at_each_and_by_command(app, async |site| {
        let whose = SessionsOf::User(site.person.email().parse().expect("an address"));
        site.ends(async || status(site.server.auth.operator().revoke_sessions(whose.clone()).await)).await;
    })
    .await;
}

async fn an_organizations_revoked_sessions_are_dead_everywhere(app: &App) {
    at_each_and_by_command(app, async |site| {
        let whose = SessionsOf::Organization(app.org().slug().parse().expect("a slug"));
        site.ends(async || status(site.server.auth.operator().revoke_sessions(whose.clone()).await)).await;
    })
    .await;
}

async fn all_revoked_sessions_are_dead_everywhere(app: &App) {
    at_each_and_by_command(app, async |site| {
        site.ends(async || status(site.server.auth.operator().revoke_sessions(SessionsOf::All).await)).await;
    })
    .await;
}
