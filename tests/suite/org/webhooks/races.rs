//! Webhooks and those who manage them at the same moment: what an admin asked for comes before they lost the right or not at all, the
//! limit holds, and a webhook that is deleted while it is being served is no trouble.

use std::{
    future::IntoFuture,
    io,
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use serde_json::json;
use tenant_auth_conformance::{App, Caller, GatedResolver, Request, Response, hold_sql, rounds, scenarios, together};
use tenant_auth_core::ports::Resolver;
use tokio::sync::Notify;

use crate::suite::support::hooks::{ANOTHER, Hook, RECEIVER, hooking, ticking, webhooks};

scenarios![on each database:
    what_an_admin_asks_for_while_losing_the_right_comes_to_nothing,
    the_limit_of_webhooks_holds,
    two_rotations_leave_two_secrets,
    a_webhook_is_deleted_while_it_is_served,
    a_webhook_is_disabled_while_it_is_served,
    slow_names_hold_up_their_own_organization_only,
    a_neighbours_webhook_is_not_locked,
];

/// Sooner than any lookup or lock is given up.
const SOON: Duration = Duration::from_secs(3);

/// A way to lose the right: what the other admin does, the answer the request gets, and its code.
type Loss = (fn(&Caller, &Caller) -> Request, u16, &'static str);

/// The name is being resolved while the right is lost.
async fn what_an_admin_asks_for_while_losing_the_right_comes_to_nothing(app: &App) {
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, RECEIVER, &["*"]).await;
    let before = hook.shown(&admin).await;
    let names = Arc::new(GatedResolver::default());
    let gated = app.beside(|setup| setup.names = Some(Arc::clone(&names) as _)).await;
    let losses: [Loss; 4] = [
        (|admin, deputy| admin.remove(deputy.id()), 401, "session_required"),
        (|admin, deputy| admin.set_role(deputy.id(), "member"), 403, "admin_required"),
        (|admin, deputy| admin.set_status(deputy.id(), "suspended"), 403, "suspended"),
        (|_, deputy| deputy.copied().logout(), 401, "session_required"),
    ];
    for (n, (lose, status, code)) in losses.into_iter().enumerate() {
        for (m, request) in [(|deputy, _| hooking(deputy, ANOTHER, &["*"])) as fn(&Caller, &Hook) -> Request, |deputy, hook| {
            deputy.patch(&hook.path(), json!({ "url": ANOTHER }))
        }]
        .into_iter()
        .enumerate()
        {
            let deputy = app.org().new_admin(&format!("Dora{n}{m}")).await.via(&gated).logged_in().await;
            let lost = async { drop(lose(&admin, &deputy.via(app)).await.expect(200)) };
            let answer: Response = names.meanwhile(request(&deputy, &hook), lost).await;
            answer.expect_error(status, code);
        }
    }
    assert_eq!(webhooks(&admin).await, [before]);
}

async fn the_limit_of_webhooks_holds(app: &App) {
    let other = app.beside(|_| {}).await;
    let admin = app.admin().logged_in().await;
    for _ in 0..9 {
        Hook::new(&admin, RECEIVER, &["*"]).await;
    }
    for _ in 0..rounds() {
        let ask = |admin: &Caller| hooking(admin, ANOTHER, &["*"]);
        let answers = together(vec![ask(&admin), ask(&admin.via(&other)), ask(&admin)]).await;
        let mut statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
        statuses.sort_unstable();
        assert_eq!(statuses, [201, 409, 409]);
        let all = webhooks(&admin).await;
        assert_eq!(all.len(), 10);
        let made = all.iter().find(|webhook| webhook["url"] == ANOTHER).expect("the tenth");
        admin.delete(&format!("/org/webhooks/{}", made["id"].as_str().expect("an id"))).await.expect(200);
    }
}

async fn two_rotations_leave_two_secrets(app: &App) {
    let other = app.beside(|_| {}).await;
    let admin = app.admin().logged_in().await;
    let hook = Hook::new(&admin, RECEIVER, &["org.updated"]).await;
    for _ in 0..rounds().min(20) {
        let answers = together(vec![hook.rotating(&admin, 60), hook.rotating(&admin.via(&other), 60)]).await;
        let secrets = answers.into_iter().map(|answer| answer.expect_ok()["secret"].as_str().expect("a secret").to_owned());
        hook.test(&admin).await;
        app.tick().await;
        let sent = hook.sent(app).pop().expect("a delivery");
        assert_eq!(crate::suite::support::hooks::signatures(&sent), 2);
        assert!(
            secrets.into_iter().all(|secret| crate::suite::support::hooks::is_signed_with(&sent, &secret)),
            "both were shown, both sign"
        );
    }
}

/// Two workers serve, and an admin acts, all at once.
async fn while_served(app: &App, act: impl Fn(&Caller, &Hook) -> Request) -> (Caller, Vec<Hook>) {
    let other = app.beside(|_| {}).await;
    let admin = app.admin().logged_in().await;
    let mut hooks = Vec::new();
    for _ in 0..rounds() {
        let pair = [Hook::new(&admin, RECEIVER, &["org.updated"]).await, Hook::new(&admin, RECEIVER, &["org.updated"]).await];
        for n in 0..3 {
            admin.patch("/org", json!({ "name": format!("Acme {n}") })).await.expect(200);
        }
        let workers = [ticking(app), ticking(&other)];
        let answers = together(vec![act(&admin, &pair[0]), act(&admin.via(&other), &pair[1])]).await;
        answers.into_iter().for_each(|answer| drop(answer.expect(200)));
        for worker in workers {
            worker.await.expect("the worker goes on").expect("the database answers");
        }
        for hook in pair {
            let gone = admin.get(&hook.path()).await.status == 404;
            if !gone {
                for delivery in hook.log(&admin).await {
                    assert!(delivery["status"] != "pending" && delivery["nextAttemptAt"].is_null(), "{delivery}");
                }
                admin.delete(&hook.path()).await.expect(200);
            }
            hooks.push(hook);
        }
    }
    (admin, hooks)
}

async fn a_webhook_is_deleted_while_it_is_served(app: &App) {
    let (admin, hooks) = while_served(app, |admin, hook| admin.delete(&hook.path())).await;
    for hook in hooks {
        admin.get(&hook.path()).await.expect_error(404, "not_found");
    }
}

async fn a_webhook_is_disabled_while_it_is_served(app: &App) {
    while_served(app, |admin, hook| hook.switching(admin, "disabled")).await;
}

/// A name server that is silent keeps the lookups of one tenant waiting. Nine of them, more than one after another may take.
async fn slow_names_hold_up_their_own_organization_only(app: &App) {
    let names = Arc::new(SlowNames::default());
    let app = &app.beside(|setup| setup.names = Some(Arc::clone(&names) as _)).await;
    let (admin, greta) = (app.admin().logged_in().await, app.other_org().admin().logged_in().await);
    let slow: Vec<_> =
        (0..9).map(|n| tokio::spawn(hooking(&admin, &format!("https://slow-{n}.example.com/"), &["*"]).into_future())).collect();
    names.asked.notified().await;
    tokio::time::timeout(SOON, hooking(&greta, RECEIVER, &["*"])).await.expect("no wait for the neighbour").expect(201);
    names.given_up.notify_waiters();
    assert_eq!(names.most.load(Ordering::SeqCst), 1, "one at a time");
    slow.iter().for_each(tokio::task::JoinHandle::abort);
}

/// The row of another organization is locked by somebody: who names its id is answered without a wait.
async fn a_neighbours_webhook_is_not_locked(app: &App) {
    // SQLite has one lock for everything.
    let Some(url) = app.database().url() else { return };
    let (admin, greta) = (app.admin().logged_in().await, app.other_org().admin().logged_in().await);
    let theirs = Hook::new(&greta, RECEIVER, &["*"]).await;
    let lock = format!("BEGIN; SELECT id FROM tenant_auth_webhooks WHERE id = '{}' FOR UPDATE", theirs.id);
    let _held = hold_sql(&url, &lock).expect("it is locked");
    let answer = tokio::time::timeout(SOON, theirs.switching(&admin, "disabled")).await.expect("no wait");
    answer.expect_error(404, "not_found");
}

/// A resolver that never answers for names that begin with `slow`, and at once for others.
#[derive(Debug, Default)]
struct SlowNames {
    asked: Notify,
    given_up: Notify,
    now: AtomicUsize,
    most: AtomicUsize,
}

#[async_trait]
impl Resolver for SlowNames {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        if host.starts_with("slow") {
            self.most.fetch_max(self.now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            self.asked.notify_one();
            self.given_up.notified().await;
            self.now.fetch_sub(1, Ordering::SeqCst);
        }
        Ok(vec![IpAddr::from([93, 184, 215, 14])])
    }
}
