//! Asking for a link to sign up with (behaviour.md, B196).

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use serde_json::json;
use tenant_auth_conformance::{App, PASSWORD, logs, scenarios, shape};
use tenant_auth_core::{
    Client, TenantAuth,
    ports::{MailError, Mailer, Message, MockClock},
    testing::internals,
};

use super::{ask, complete, holder, newcomer, nobody, preview, sign_up_mails, sign_up_token, token_in};
use crate::suite::{
    limits::addresses::{at, behind_proxy},
    support::{hooks::run_sql, stored},
};

scenarios![
    every_address_gets_the_same_answer_and_the_same_mail,
    a_slug_sent_is_not_looked_at,
    the_link_is_good_for_a_day,
    one_request_waits_however_often_it_is_made,
    who_asks_again_while_the_mail_is_on_its_way_gets_another,
    a_mail_that_hangs_delays_no_other,
    a_stop_waits_for_a_mail_that_is_on_its_way,
    an_address_gets_three_mails_an_hour,
    a_network_may_ask_thirty_times_in_a_quarter_of_an_hour,
    a_request_nobody_fulfils_is_dropped_after_a_day,
    requests_whose_mails_cannot_be_written_hinder_no_other,
    the_links_page_can_be_the_products,
    closed_it_refuses_every_step,
    closed_meanwhile_it_mails_nothing,
    pages_of_other_origins_are_refused,
    a_preview_tells_whether_there_is_an_account,
    a_link_goes_to_the_mailbox_of_the_account_and_one_that_another_got_is_worth_nothing,
    guesses_at_links_are_counted,
    tokens_are_stored_as_digests_and_not_logged,
];

async fn every_address_gets_the_same_answer_and_the_same_mail(app: &App) {
    let known = ask(&nobody(app), app.member().email()).await.expect(200);
    assert_eq!(shape(&known.data()), ["message"]);
    let unknown = ask(&nobody(app), "rita@rockets.example").await.expect(200);
    assert_eq!(known.body, unknown.body);
    let (first, second) = (sign_up_mails(app, app.member().email()).await, sign_up_mails(app, "rita@rockets.example").await);
    let (first, second) = (&first[0], &second[0]);
    assert_eq!(first.subject, second.subject);
    assert_eq!(first.text.replace(&token_in(first), ""), second.text.replace(&token_in(second), ""));
    ask(&nobody(app), "no address").await.expect_invalid("email");
    nobody(app).post("/auth/sign-up", json!({})).await.expect_invalid("email");
}

/// Addresses that differ in case are one here, and may be two mailboxes.
async fn a_link_goes_to_the_mailbox_of_the_account_and_one_that_another_got_is_worth_nothing(app: &App) {
    let token = sign_up_token(app, "PIA@acme.example").await;
    let pia = app.org().new_member("Pia").await;
    assert_eq!(pia.email(), "pia@acme.example");
    preview(&nobody(app), &token).await.expect_error(400, "invalid_link");
    for body in [newcomer(&token, "rockets"), holder(&token, "rockets")] {
        complete(&nobody(app), body).await.expect_error(400, "invalid_link");
    }
    pia.login().await.expect(200);

    ask(&nobody(app), "Pia@acme.example").await.expect(200);
    let mails = sign_up_mails(app, pia.email()).await;
    let last = mails.last().expect("a mail");
    assert_eq!(last.to.as_str(), pia.email());
    complete(&nobody(app), newcomer(&token_in(last), "rockets")).await.expect(201);
}

async fn a_slug_sent_is_not_looked_at(app: &App) {
    for slug in ["acme", "nowhere", "NO SLUG"] {
        ask(&nobody(app).with("X-Org-Slug", slug), "rita@rockets.example").await.expect(200);
    }
}

async fn the_link_is_good_for_a_day(app: &App) {
    let token = sign_up_token(app, "rita@rockets.example").await;
    app.advance(24 * 3_600 - 1);
    preview(&nobody(app), &token).await.expect(200);
    app.advance(1);
    preview(&nobody(app), &token).await.expect_error(400, "invalid_link");
    complete(&nobody(app), newcomer(&token, "rockets")).await.expect_error(400, "invalid_link");
}

async fn one_request_waits_however_often_it_is_made(app: &App) {
    for address in ["rita@rockets.example", "RITA@rockets.example", "rita@Rockets.Example"] {
        ask(&nobody(app), address).await.expect(200);
    }
    assert_eq!(sign_up_mails(app, "rita@rockets.example").await.len(), 1);
    app.tick().await;
    assert_eq!(sign_up_mails(app, "rita@rockets.example").await.len(), 1);
}

/// A mail server at which the recipient asks for another link while the first mail is handed over.
#[derive(Debug)]
struct AskedMeanwhile {
    auth: TenantAuth,
    clock: Arc<MockClock>,
    mails: AtomicUsize,
}

#[async_trait]
impl Mailer for AskedMeanwhile {
    async fn send(&self, message: &Message) -> Result<(), MailError> {
        if self.mails.fetch_add(1, Ordering::SeqCst) == 0 {
            self.clock.advance(Duration::from_millis(1));
            self.auth.request_sign_up(&message.to, &Client::default()).await.expect("the database is there");
        }
        Ok(())
    }
}

async fn who_asks_again_while_the_mail_is_on_its_way_gets_another(app: &App) {
    let mailer = Arc::new(AskedMeanwhile { auth: app.auth.clone(), clock: Arc::clone(&app.clock), mails: AtomicUsize::default() });
    let meanwhile = app.beside(|setup| setup.mailer = Some(Arc::clone(&mailer) as Arc<dyn Mailer>)).await;
    ask(&nobody(&meanwhile), "rita@rockets.example").await.expect(200);
    meanwhile.tick().await;
    meanwhile.tick().await;
    assert_eq!(mailer.mails.load(Ordering::SeqCst), 2);
}

/// A mail server that never says whether it has the mails to one recipient.
#[derive(Debug, Default)]
struct Hanging {
    hangs: AtomicBool,
    taken: Mutex<BTreeSet<String>>,
}

#[async_trait]
impl Mailer for Hanging {
    async fn send(&self, message: &Message) -> Result<(), MailError> {
        if message.to.as_str().starts_with("hangs@") {
            self.hangs.store(true, Ordering::SeqCst);
            std::future::pending::<()>().await;
        }
        self.taken.lock().expect("nobody panics").insert(message.to.as_str().to_owned());
        Ok(())
    }

    fn time_limit(&self) -> Duration {
        Duration::from_secs(10 * 60)
    }
}

/// Waits until it is so; the limit is below the time after which a hanging mail has no place any more.
async fn until(is_so: impl Fn() -> bool) {
    let reached = async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(15), reached).await.expect("nothing that hangs delays them");
}

/// Runs a worker until the work is done, and stops it.
async fn while_running(app: &App, work: impl Future<Output = ()>) {
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let worker = app.auth.worker();
    let running = tokio::spawn(async move { worker.run_until(async { drop(stopped.await) }).await });
    work.await;
    drop(stop);
    running.await.expect("it stops");
}

async fn a_mail_that_hangs_delays_no_other(app: &App) {
    let mailer = Arc::new(Hanging::default());
    let here = app.beside(|setup| setup.mailer = Some(Arc::clone(&mailer) as Arc<dyn Mailer>)).await;
    while_running(&here, async {
        ask(&nobody(&here), "hangs@rockets.example").await.expect(200);
        until(|| mailer.hangs.load(Ordering::SeqCst)).await;
        let others: BTreeSet<String> = (0..12).map(|n| format!("waits{n}@rockets.example")).collect();
        for other in &others {
            ask(&nobody(&here), other).await.expect(200);
        }
        until(|| mailer.taken.lock().expect("nobody panics").is_superset(&others)).await;
    })
    .await;
}

/// A mail server that takes a moment to accept a mail.
#[derive(Debug, Default)]
struct Unhurried {
    asked: AtomicUsize,
    taken: AtomicUsize,
}

#[async_trait]
impl Mailer for Unhurried {
    async fn send(&self, _: &Message) -> Result<(), MailError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(500)).await;
        self.taken.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

async fn a_stop_waits_for_a_mail_that_is_on_its_way(app: &App) {
    let mailer = Arc::new(Unhurried::default());
    let here = app.beside(|setup| setup.mailer = Some(Arc::clone(&mailer) as Arc<dyn Mailer>)).await;
    while_running(&here, async {
        ask(&nobody(&here), "rita@rockets.example").await.expect(200);
        until(|| mailer.asked.load(Ordering::SeqCst) == 1).await;
    })
    .await;
    assert_eq!(mailer.taken.load(Ordering::SeqCst), 1);
    app.advance(45);
    here.tick().await;
    assert_eq!(mailer.asked.load(Ordering::SeqCst), 1, "it would arrive twice");
}

async fn an_address_gets_three_mails_an_hour(app: &App) {
    for sent in [1, 2, 3, 3] {
        ask(&nobody(app), "rita@rockets.example").await.expect(200);
        assert_eq!(sign_up_mails(app, "rita@rockets.example").await.len(), sent);
    }
    app.advance(3_600);
    ask(&nobody(app), "rita@rockets.example").await.expect(200);
    let mails = sign_up_mails(app, "rita@rockets.example").await;
    assert_eq!(mails.len(), 4);
    preview(&nobody(app), &token_in(&mails[0])).await.expect(200);
    preview(&nobody(app), &token_in(&mails[3])).await.expect(200);
}

async fn a_network_may_ask_thirty_times_in_a_quarter_of_an_hour(app: &App) {
    let app = &behind_proxy(app).await;
    for n in 0..30 {
        ask(&at(nobody(app), &format!("203.0.113.{n}")), &format!("rita{n}@rockets.example")).await.expect(200);
    }
    let refused = ask(&at(nobody(app), "203.0.113.77"), "rita@rockets.example").await.expect_error(429, "rate_limited");
    assert_eq!(refused.header("retry-after"), Some("900"));
    let known = ask(&at(nobody(app), "203.0.113.77"), app.member().email()).await.expect_error(429, "rate_limited");
    assert_eq!(known.body, refused.body);
    ask(&at(nobody(app), "203.0.114.1"), "rita@rockets.example").await.expect(200);
    app.advance(900);
    ask(&at(nobody(app), "203.0.113.77"), "rita@rockets.example").await.expect(200);
}

async fn a_request_nobody_fulfils_is_dropped_after_a_day(app: &App) {
    ask(&nobody(app), "rita@rockets.example").await.expect(200);
    app.advance(24 * 3_600);
    assert!(sign_up_mails(app, "rita@rockets.example").await.is_empty(), "nobody waits for it any more");
    ask(&nobody(app), "rita@rockets.example").await.expect(200);
    app.advance(25 * 3_600);
    internals::sweep(&app.auth).await.expect("the database is there");
    assert_eq!(stored::number(app, "SELECT COUNT(*) FROM tenant_auth_sign_up_requests").await, 0);
    sign_up_token(app, "rita@rockets.example").await;
    app.advance(25 * 3_600);
    internals::sweep(&app.auth).await.expect("the database is there");
    assert_eq!(stored::number(app, "SELECT COUNT(*) FROM tenant_auth_sign_up_links").await, 0);
}

/// As many as are mailed at once, and each to an account whose row was damaged by hand.
async fn requests_whose_mails_cannot_be_written_hinder_no_other(app: &App) {
    let mut people = Vec::new();
    for name in ["Ida", "Jan", "Kai", "Lea", "Mia", "Nils", "Ole", "Pia"] {
        people.push(app.org().new_member(name).await);
    }
    let role_of_each = async |role: &str| {
        for person in &people {
            run_sql(app, &format!("UPDATE tenant_auth_users SET role = '{role}' WHERE email = '{}'", person.email())).await;
        }
    };
    for person in &people {
        ask(&nobody(app), person.email()).await.expect(200);
    }
    role_of_each("rubbish").await;
    app.advance(1);
    ask(&nobody(app), "rita@rockets.example").await.expect(200);
    assert_eq!(sign_up_mails(app, "rita@rockets.example").await.len(), 1);
    assert!(sign_up_mails(app, people[0].email()).await.is_empty());
    role_of_each("user").await;
    app.advance(5);
    for person in &people {
        assert_eq!(sign_up_mails(app, person.email()).await.len(), 1, "it has waited");
    }
}

async fn the_links_page_can_be_the_products(app: &App) {
    let page = "https://www.rockets.example/begin?t={token}".to_owned();
    let app = app.beside(|setup| setup.config.mail_links.sign_up = Some(page)).await;
    ask(&nobody(&app), "rita@rockets.example").await.expect(200);
    let mails = app.mail_to("rita@rockets.example").await;
    assert!(mails[0].text.contains("https://www.rockets.example/begin?t="), "{}", mails[0].text);
}

async fn closed_it_refuses_every_step(app: &App) {
    let token = sign_up_token(app, "rita@rockets.example").await;
    let closed = app.beside(|setup| setup.config.sign_up.is_open = false).await;
    let closed = nobody(&closed);
    ask(&closed, "rita@rockets.example").await.expect_error(403, "sign_up_closed");
    preview(&closed, &token).await.expect_error(403, "sign_up_closed");
    complete(&closed, newcomer(&token, "rockets")).await.expect_error(403, "sign_up_closed");
    complete(&nobody(app), newcomer(&token, "rockets")).await.expect(201);
}

async fn closed_meanwhile_it_mails_nothing(app: &App) {
    ask(&nobody(app), "rita@rockets.example").await.expect(200);
    let closed = app.beside(|setup| setup.config.sign_up.is_open = false).await;
    closed.tick().await;
    assert!(sign_up_mails(app, "rita@rockets.example").await.is_empty());
}

async fn pages_of_other_origins_are_refused(app: &App) {
    let operators = "https://www.rockets.example";
    let app = &app.beside(|setup| setup.config.browser.allowed_origins = vec![operators.parse().expect("an origin")]).await;
    let admin = app.admin().logged_in().await;
    admin.patch("/org", json!({ "allowedOrigins": ["https://app.acme.example"] })).await.expect(200);
    let token = sign_up_token(app, "rita@rockets.example").await;
    for origin in ["https://evil.example", "https://app.acme.example"] {
        let caller = app.anonymous();
        ask(&caller, "x@rockets.example").from_origin(origin).await.expect_error(403, "forbidden_origin");
        preview(&caller, &token).from_origin(origin).await.expect_error(403, "forbidden_origin");
        let completion = complete(&caller, newcomer(&token, "rockets")).from_origin(origin);
        completion.await.expect_error(403, "forbidden_origin");
    }
    preview(&nobody(app), &token).from_origin("https://auth.example.com").await.expect(200);
    let caller = nobody(app);
    let made = complete(&caller, newcomer(&token, "rockets")).from_origin(operators).await.expect(201);
    assert!(made.data().get("accessToken").is_none(), "a browser has its tokens in cookies");
    caller.at_org("rockets").get("/org").await.expect(200);
}

async fn a_preview_tells_whether_there_is_an_account(app: &App) {
    let token = sign_up_token(app, "Rita@Rockets.example").await;
    let told = preview(&nobody(app), &token).await.expect_ok();
    assert_eq!(told, json!({ "email": "Rita@Rockets.example", "accountExists": false }));
    let token = sign_up_token(app, app.member().email()).await;
    let told = preview(&nobody(app), &token).await.expect_ok();
    assert_eq!(told, json!({ "email": app.member().email(), "accountExists": true }));
}

async fn guesses_at_links_are_counted(app: &App) {
    let token = sign_up_token(app, "rita@rockets.example").await;
    for n in 0..30 {
        preview(&nobody(app), &format!("guess{n}")).await.expect_error(400, "invalid_link");
    }
    complete(&nobody(app), newcomer("guess", "rockets")).await.expect_error(429, "rate_limited");
    complete(&nobody(app), newcomer(&token, "rockets")).await.expect(201);
    preview(&nobody(app), &token).await.expect_error(400, "invalid_link");
}

async fn tokens_are_stored_as_digests_and_not_logged(app: &App) {
    let token = sign_up_token(app, "rita@rockets.example").await;
    complete(&nobody(app), newcomer(&token, "rockets")).await.expect(201);
    assert!(!logs::mention(&token) && !logs::mention(PASSWORD) && !logs::mention("rita@rockets.example"));
}
