//! Whatever ends or narrows a right: once it is acknowledged, no server of the deployment answers by what was before. Eight clients
//! ask a second server, which remembers, without a pause while each change is made on the first one, and on the second itself.

use std::{
    future::IntoFuture,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::json;
use tenant_auth_conformance::{App, Caller, Request, Response, scenarios};
use tenant_auth_core::{model::Status, operator::SessionsOf};
use tokio::task::JoinSet;

scenarios![on each database:
    logout_holds_at_once,
    an_ended_session_is_dead_everywhere,
    other_sessions_ended_are_dead_everywhere,
    a_members_sessions_ended_by_an_admin_are_dead_everywhere,
    an_evicted_session_is_dead_everywhere,
    a_reused_refresh_token_ends_its_session_everywhere,
    a_removed_member_is_out_everywhere,
    who_left_is_out_everywhere,
    a_suspended_member_is_suspended_everywhere,
    a_role_holds_everywhere,
    a_suspended_organization_is_closed_everywhere,
    a_new_password_ends_the_other_sessions_everywhere,
    a_revoked_key_is_dead_everywhere,
    a_key_rotated_without_overlap_is_dead_everywhere,
    revoked_sessions_are_dead_everywhere,
    a_deleted_user_is_gone_everywhere,
    compromised_signing_keys_are_dead_everywhere,
];

const CLIENTS: usize = 8;

/// Two servers over one database, both of which may remember.
pub(super) struct Deployment {
    pub(super) first: App,
    pub(super) second: App,
}

impl Deployment {
    pub(super) async fn of(app: &App) -> Self {
        let first = app.beside(|setup| setup.config.memory.mebibytes = 8).await;
        let second = app.beside(|setup| setup.config.memory.mebibytes = 8).await;
        Self { first, second }
    }
}

/// Asks both servers by itself until the answer of each comes from memory, if the server remembers at all.
async fn warm(ask: &[Request], is_old: fn(&Response) -> bool) {
    for _ in 0..20 {
        for request in ask {
            assert!(is_old(&request.clone().await), "it is so before the change");
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Makes a change while clients ask; every question that begins after the change was acknowledged is answered by what is new.
async fn holds<F: Future<Output = ()>>(ask: Vec<Request>, is_old: fn(&Response) -> bool, change: F) {
    let ask: Vec<Request> = ask.into_iter().map(Request::may_fail).collect();
    warm(&ask, is_old).await;
    let (is_told, is_over) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let asked = Arc::new(AtomicUsize::new(0));
    let mut clients = JoinSet::new();
    for client in 0..CLIENTS {
        let request = ask[client % ask.len()].clone();
        let (is_told, is_over, asked) = (Arc::clone(&is_told), Arc::clone(&is_over), Arc::clone(&asked));
        clients.spawn(async move {
            let mut stale = Vec::new();
            while !is_over.load(Ordering::SeqCst) {
                let was_told = is_told.load(Ordering::SeqCst);
                let answer = request.clone().into_future().await;
                asked.fetch_add(1, Ordering::SeqCst);
                if was_told && is_old(&answer) {
                    stale.push(answer.shown());
                }
            }
            stale
        });
    }
    tokio::time::sleep(Duration::from_millis(30)).await;
    change.await;
    is_told.store(true, Ordering::SeqCst);
    tokio::time::sleep(Duration::from_millis(60)).await;
    is_over.store(true, Ordering::SeqCst);
    let stale = clients.join_all().await.concat();
    assert!(stale.is_empty(), "{} of {} answers are stale: {}", stale.len(), asked.load(Ordering::SeqCst), stale[0]);
}

fn is_valid(answer: &Response) -> bool {
    answer.status == 200 && answer.data()["valid"] == true
}

fn is_let_in(answer: &Response) -> bool {
    answer.status == 200
}

/// The questions of a backend and of the person, at both servers.
fn questions(deployment: &Deployment, person: &Caller) -> Vec<Request> {
    let token = person.access_token();
    [&deployment.second, &deployment.first].map(|server| server.backend().verify(&token)).to_vec()
}

/// The change is made at each server in turn: last at the one that remembers on SQLite, for the other one reads new signing keys late.
async fn at_each(app: &App, change: impl AsyncFn(&Deployment, &App, Caller)) {
    let deployment = Deployment::of(app).await;
    for server in [&deployment.second, &deployment.first] {
        let person = deployment.first.org().new_member(&format!("P{} Person", server.address().port())).await.logged_in().await;
        change(&deployment, server, person).await;
    }
}

async fn logout_holds_at_once(app: &App) {
    at_each(app, async |deployment, server, person| {
        let own = person.via(&deployment.second);
        let ask = [questions(deployment, &person), vec![own.get("/org")]].concat();
        holds(ask, |answer| is_valid(answer) || (is_let_in(answer) && answer.data()["valid"].is_null()), async {
            person.copied().via(server).logout().await.expect(200);
        })
        .await;
    })
    .await;
}

async fn an_ended_session_is_dead_everywhere(app: &App) {
    at_each(app, async |deployment, server, person| {
        app.advance(1);
        let other = person.elsewhere().logged_in().await;
        let id = person.get("/auth/sessions").await.expect_ok()["sessions"][0]["id"].as_str().expect("an id").to_owned();
        holds(questions(deployment, &person), is_valid, async {
            other.via(server).delete(&format!("/auth/sessions/{id}")).await.expect(200);
        })
        .await;
    })
    .await;
}

async fn other_sessions_ended_are_dead_everywhere(app: &App) {
    at_each(app, async |deployment, server, person| {
        let other = person.elsewhere().logged_in().await;
        holds(questions(deployment, &person), is_valid, async {
            other.via(server).delete("/auth/sessions").await.expect(200);
        })
        .await;
    })
    .await;
}

async fn a_members_sessions_ended_by_an_admin_are_dead_everywhere(app: &App) {
    let admin = app.admin().logged_in().await;
    at_each(app, async |deployment, server, person| {
        holds(questions(deployment, &person), is_valid, async {
            admin.via(server).delete(&format!("/org/members/{}/sessions", person.id())).await.expect(200);
        })
        .await;
    })
    .await;
}

async fn an_evicted_session_is_dead_everywhere(app: &App) {
    let most = app.config.sessions.max_per_user;
    at_each(app, async |deployment, server, person| {
        for _ in 1..most {
            app.advance(1);
            person.elsewhere().login().await.expect(200);
        }
        holds(questions(deployment, &person), is_valid, async {
            person.elsewhere().via(server).login().await.expect(200);
        })
        .await;
    })
    .await;
}

async fn a_reused_refresh_token_ends_its_session_everywhere(app: &App) {
    at_each(app, async |deployment, server, person| {
        let old = person.refresh_token();
        person.refresh().await.expect(200);
        app.clock.advance(app.config.sessions.refresh_grace);
        holds(questions(deployment, &person), is_valid, async {
            server.anonymous().refresh_with(&old).await.expect_error(401, "session_required");
        })
        .await;
    })
    .await;
}

async fn a_removed_member_is_out_everywhere(app: &App) {
    let admin = app.admin().logged_in().await;
    at_each(app, async |deployment, server, person| {
        holds(questions(deployment, &person), is_valid, async {
            admin.via(server).remove(person.id()).await.expect(200);
        })
        .await;
    })
    .await;
}

async fn who_left_is_out_everywhere(app: &App) {
    at_each(app, async |deployment, server, person| {
        holds(questions(deployment, &person), is_valid, async {
            person.copied().via(server).post_nothing("/org/leave").await.expect(200);
        })
        .await;
    })
    .await;
}

async fn a_suspended_member_is_suspended_everywhere(app: &App) {
    let admin = app.admin().logged_in().await;
    at_each(app, async |deployment, server, person| {
        let is_active = |answer: &Response| is_valid(answer) && answer.data()["membership"]["status"] == "active";
        holds(questions(deployment, &person), is_active, async {
            admin.via(server).set_status(person.id(), "suspended").await.expect(200);
        })
        .await;
    })
    .await;
}

async fn a_role_holds_everywhere(app: &App) {
    let admin = app.admin().logged_in().await;
    at_each(app, async |deployment, server, person| {
        let is_member = |answer: &Response| is_valid(answer) && answer.data()["membership"]["role"] == "member";
        holds(questions(deployment, &person), is_member, async {
            admin.via(server).set_role(person.id(), "org_admin").await.expect(200);
        })
        .await;
        let is_admin = |answer: &Response| is_valid(answer) && answer.data()["membership"]["role"] == "org_admin";
        holds(questions(deployment, &person), is_admin, async {
            admin.via(server).set_role(person.id(), "member").await.expect(200);
        })
        .await;
    })
    .await;
}

async fn a_suspended_organization_is_closed_everywhere(app: &App) {
    at_each(app, async |deployment, server, person| {
        let slug = app.org().slug().parse().expect("a slug");
        holds(questions(deployment, &person), is_valid, async {
            server.auth.operator().set_organization_status(&slug, Status::Suspended).await.expect("it is there");
        })
        .await;
        app.org().reactivate().await;
    })
    .await;
}

async fn a_new_password_ends_the_other_sessions_everywhere(app: &App) {
    at_each(app, async |deployment, server, person| {
        let other = person.elsewhere().logged_in().await;
        holds(questions(deployment, &person), is_valid, async {
            let password = other.person().password.clone();
            other.via(server).change_password(&password, "quite-another-plinth-77").await.expect(200);
        })
        .await;
    })
    .await;
}

async fn a_revoked_key_is_dead_everywhere(app: &App) {
    let admin = app.admin().logged_in().await;
    at_each(app, async |deployment, server, person| {
        let (key, text) = admin.created_key(json!({ "name": "doomed", "scopes": ["verify"] })).await;
        let token = person.access_token();
        let ask = [&deployment.second, &deployment.first].map(|server| server.anonymous().backend_with(&text).verify(&token));
        holds(ask.to_vec(), is_valid, async {
            let id = key["id"].as_str().expect("an id");
            admin.via(server).delete(&format!("/org/api-keys/{id}")).await.expect(200);
        })
        .await;
    })
    .await;
}

async fn a_key_rotated_without_overlap_is_dead_everywhere(app: &App) {
    let admin = app.admin().logged_in().await;
    at_each(app, async |deployment, server, person| {
        let (key, text) = admin.created_key(json!({ "name": "turned", "scopes": ["verify"] })).await;
        let token = person.access_token();
        let ask = [&deployment.second, &deployment.first].map(|server| server.anonymous().backend_with(&text).verify(&token));
        holds(ask.to_vec(), is_valid, async {
            let id = key["id"].as_str().expect("an id");
            let rotating = admin.via(server).post(&format!("/org/api-keys/{id}/rotate"), json!({ "overlapSeconds": 0 }));
            assert!(rotating.await.status < 300);
        })
        .await;
    })
    .await;
}

async fn revoked_sessions_are_dead_everywhere(app: &App) {
    at_each(app, async |deployment, server, person| {
        holds(questions(deployment, &person), is_valid, async {
            let whose = SessionsOf::User(person.email().parse().expect("an address"));
            server.auth.operator().revoke_sessions(whose).await.expect("they are ended");
        })
        .await;
    })
    .await;
}

async fn a_deleted_user_is_gone_everywhere(app: &App) {
    at_each(app, async |deployment, server, person| {
        holds(questions(deployment, &person), is_valid, async {
            server.auth.operator().delete_user(&person.email().parse().expect("an address")).await.expect("there is one");
        })
        .await;
    })
    .await;
}

async fn compromised_signing_keys_are_dead_everywhere(app: &App) {
    at_each(app, async |deployment, server, person| {
        holds(questions(deployment, &person), is_valid, async {
            Box::pin(server.auth.operator().rotate_keys(true)).await.expect("they are replaced");
        })
        .await;
    })
    .await;
}
