//! The order of locks, on PostgreSQL, where transactions could deadlock: counters of attempts come first, in the order of their
//! keys. SQLite has one writer, and nothing to tell.

use std::{future::IntoFuture, time::Duration};

use serde_json::json;
use sqlx::{Connection, PgConnection};
use tenant_auth_conformance::{App, Caller, PASSWORD, scenarios, together};
use tenant_auth_core::{Error, model::DeploymentScope::Organizations, operator::SessionsOf};
use tokio::task::JoinHandle;

use crate::suite::{
    admin::removal::{globex, told_by},
    limits::addresses::{at, behind_proxy},
    public::deployment_keys::{made, new_key},
    support::{
        authenticator::{Authenticator, SecondFactor, guarded_member},
        chain::column,
        hooks::{run_sql, ticking},
    },
};

scenarios![
    a_write_confirmed_by_a_code_locks_its_counters_before_the_account,
    a_code_is_not_judged_after_its_reservation,
    a_reset_password_forgives_in_the_order_of_the_keys,
    the_sweep_deletes_counters_in_the_order_of_the_keys,
    a_session_that_is_held_holds_up_no_other_refresh,
    a_member_is_told_as_the_person_is_when_the_membership_is_held,
    an_account_ends_after_what_is_linked_to_it_meanwhile,
    an_invite_that_is_sent_while_an_account_ends_is_erased_with_it,
    an_invite_that_is_told_while_a_removal_ends_an_account_is_erased_with_it,
    a_removal_forgets_nothing_of_an_account_that_an_invite_keeps,
    an_account_that_got_another_address_meanwhile_is_not_called_unknown,
    the_invites_of_a_key_end_in_the_order_of_the_organizations,
    ending_all_sessions_waits_for_those_that_are_being_opened,
    a_migration_waits_for_as_long_as_it_takes,
];

pub(crate) const HOLD_ACCOUNT: &str = "SELECT id FROM tenant_auth_users WHERE id = $1 FOR UPDATE";
pub(crate) const HOLD_CHAIN: &str = "SELECT s.org_id FROM tenant_auth_event_sequences s JOIN tenant_auth_organizations o ON o.id = s.org_id WHERE o.slug = $1 FOR UPDATE OF s";
const HOLD_SESSIONS: &str = "SELECT id FROM tenant_auth_sessions WHERE user_id = $1 FOR UPDATE";
pub(crate) const HOLD_MEMBERSHIP: &str = "SELECT id FROM tenant_auth_memberships WHERE user_id = $1 FOR UPDATE";
const FREE_CODE_COUNTERS: &str =
    "SELECT key FROM tenant_auth_throttles WHERE key = 'code:' || $1 OR key = 'code-day:' || $1 FOR UPDATE SKIP LOCKED";
const PAIRS: &str = "SELECT key FROM tenant_auth_throttles WHERE key LIKE 'pair:%' AND key LIKE $1 ORDER BY key COLLATE \"C\"";
const HOLD_COUNTER: &str = "SELECT key FROM tenant_auth_throttles WHERE key = $1 FOR UPDATE";
const FREE_PAIRS: &str = "SELECT key FROM tenant_auth_throttles WHERE key LIKE 'pair:%' AND key LIKE $1 ORDER BY key COLLATE \"C\" FOR UPDATE SKIP LOCKED";
const ACCOUNT: &str = "SELECT id FROM tenant_auth_users WHERE id = $1";
const KNOWN: &str = "SELECT account_key || ip_key FROM tenant_auth_known_addresses WHERE account_key <> $1 ORDER BY 1";
const LATER_FIRST: &str = "SELECT slug FROM tenant_auth_organizations WHERE slug IN ('acme', $1) ORDER BY id DESC";
const HOLD_FIRST_INVITE: &str = "SELECT id FROM tenant_auth_invites WHERE email_key = $1 ORDER BY org_id LIMIT 1 FOR UPDATE";
const FREE_INVITES: &str = "SELECT id FROM tenant_auth_invites WHERE email_key = $1 FOR UPDATE SKIP LOCKED";
const WAITING: &str = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";

/// Longer than a request waits for a lock.
const LONG: Duration = Duration::from_secs(5);

/// A connection beside the service's.
async fn beside(url: &str) -> PgConnection {
    PgConnection::connect(url).await.expect("it answers")
}

/// Begins a transaction that holds the rows of this statement.
pub(crate) async fn holding(url: &str, sql: &'static str, parameter: &str) -> PgConnection {
    let mut connection = beside(url).await;
    sqlx::query("BEGIN").execute(&mut connection).await.expect("it begins");
    sqlx::query(sql).bind(parameter).execute(&mut connection).await.expect("the rows are free");
    connection
}

pub(crate) async fn texts(url: &str, sql: &'static str, parameter: &str) -> Vec<String> {
    sqlx::query_scalar(sql).bind(parameter).fetch_all(&mut beside(url).await).await.expect("it answers")
}

/// Until a transaction waits for a lock.
async fn somebody_waits(url: &str) {
    so_many_wait(url, 1).await;
}

/// Until so many transactions wait for locks.
pub(crate) async fn so_many_wait(url: &str, count: i64) {
    let mut connection = beside(url).await;
    while sqlx::query_scalar::<_, i64>(WAITING).fetch_one(&mut connection).await.expect("it answers") < count {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Another server is migrating a large database.
async fn a_migration_waits_for_as_long_as_it_takes(app: &App) {
    let Some(url) = app.database().url() else { return };
    let mut other = beside(&url).await;
    for statement in ["BEGIN", "LOCK TABLE tenant_auth_migrations IN ACCESS EXCLUSIVE MODE"] {
        sqlx::query(statement).execute(&mut other).await.expect("the table is free");
    }
    let store = app.database().store().await;
    let migrating = tokio::spawn(async move { store.migrate().await });
    // The look whether there is anything to do waits as any statement does; what migrates comes after it.
    somebody_waits(&url).await;
    tokio::time::sleep(2 * LONG).await;
    other.close().await.expect("the table is free");
    migrating.await.expect("no panic").expect("it has waited");
}

async fn a_write_confirmed_by_a_code_locks_its_counters_before_the_account(app: &App) {
    let Some(url) = app.database().url() else { return };
    let (member, authenticator) = guarded_member(app).await;
    app.advance(30);
    let account = holding(&url, HOLD_ACCOUNT, member.id()).await;
    let renewing = tokio::spawn(member.renew_codes(PASSWORD, &authenticator.code(app)).into_future());
    somebody_waits(&url).await;
    assert_eq!(texts(&url, FREE_CODE_COUNTERS, member.id()).await, Vec::<String>::new());
    account.close().await.expect("the account is free");
    renewing.await.expect("it was answered").expect(200);
}

/// Others hold membership and account, neither for as long as a lock is waited for. By the time the code could be judged, the
/// attempt's place under the limit may have been given to another.
async fn a_code_is_not_judged_after_its_reservation(app: &App) {
    let Some(url) = app.database().url() else { return };
    let (_, maxs) = guarded_member(app).await;
    let (ada, gus) = (app.admin().logged_in().await, app.other_org().member().logged_in().await);
    let adas = ada.guard(app).await;
    let guss = Authenticator::new(&gus.set_up(PASSWORD).await.expect_ok()["secret"]);
    app.advance(30);
    let max = app.member().waiting().await;
    let requests = || [ada.renew_codes(PASSWORD, &adas.code(app)), gus.enable(&guss.code(app)), max.enter(&maxs.code(app))];
    let (mut memberships, mut accounts) = (Vec::new(), Vec::new());
    for person in [&ada, &gus, &max] {
        memberships.push(holding(&url, HOLD_MEMBERSHIP, person.id()).await);
        accounts.push(holding(&url, HOLD_ACCOUNT, person.id()).await);
    }
    let mut answers = Vec::new();
    for (request, count) in requests().into_iter().zip(1..) {
        answers.push(tokio::spawn(request.may_fail().into_future()));
        so_many_wait(&url, count).await;
    }
    for held in [memberships, accounts] {
        tokio::time::sleep(Duration::from_millis(2_500)).await;
        for connection in held {
            connection.close().await.expect("the row is free");
        }
    }
    for answer in answers {
        answer.await.expect("it was answered").expect_error(503, "unavailable");
    }
    for request in requests() {
        request.await.expect(200);
    }
}

/// Makes three counters of the member's, the last one in order first, and holds the middle one; the last one's key.
async fn holding_the_middle_one_of_three(app: &App, url: &str) -> (PgConnection, String) {
    let proxied = behind_proxy(app).await;
    for n in [3, 2, 1] {
        let caller = at(proxied.anonymous(), &format!("203.0.113.{n}"));
        caller.login_with(app.member().email(), "not-the-password").await.expect(401);
    }
    let keys = texts(url, PAIRS, "%203.0.113.%").await;
    let [_, middle, last] = <[String; 3]>::try_from(keys).expect("three counters");
    (holding(url, HOLD_COUNTER, &middle).await, last)
}

async fn a_reset_password_forgives_in_the_order_of_the_keys(app: &App) {
    let Some(url) = app.database().url() else { return };
    app.anonymous().post("/auth/forgot-password", json!({ "email": app.member().email() })).await.expect(200);
    let token = app.link_token_of(app.member().email()).await;
    let (middle, last) = holding_the_middle_one_of_three(app, &url).await;
    let reset = json!({ "token": token, "newPassword": "velvet-anchor-93-comet" });
    let resetting = tokio::spawn(app.anonymous().post("/auth/reset-password", reset).into_future());
    somebody_waits(&url).await;
    assert_eq!(texts(&url, FREE_PAIRS, "%203.0.113.%").await, [last]);
    middle.close().await.expect("the counter is free");
    resetting.await.expect("it was answered").expect(200);
}

async fn a_member_is_told_as_the_person_is_when_the_membership_is_held(app: &App) {
    let Some(url) = app.database().url() else { return };
    let (admin, max) = (app.admin().logged_in().await, app.member());
    let mut renaming = holding(&url, HOLD_MEMBERSHIP, max.id()).await;
    let renamed = "UPDATE tenant_auth_users SET name = 'Newly Named' WHERE id = $1";
    sqlx::query(renamed).bind(max.id().to_owned()).execute(&mut renaming).await.expect("the row is free");
    let changing = tokio::spawn(admin.set_metadata(max.id(), json!({ "team": "rockets" })).into_future());
    somebody_waits(&url).await;
    sqlx::query("COMMIT").execute(&mut renaming).await.expect("it answers");
    changing.await.expect("it was answered").expect(200);
    let told = column(app, "acme", "data").await;
    assert!(told.last().expect("an event").contains("Newly Named"), "{told:?}");
}

/// As an import links it, which is not committed yet.
async fn an_account_ends_after_what_is_linked_to_it_meanwhile(app: &App) {
    let Some(url) = app.database().url() else { return };
    let member = app.member();
    let known = "UPDATE tenant_auth_events SET actor_id = 'usr_of_another_deployment'
                  WHERE org_id = (SELECT id FROM tenant_auth_organizations WHERE slug = 'globex')";
    run_sql(app, known).await;
    let link = "INSERT INTO tenant_auth_linked_people (org_id, former_id, user_id)
                SELECT id, 'usr_of_another_deployment', $1 FROM tenant_auth_organizations WHERE slug = 'globex'";
    let mut importing = holding(&url, link, member.id()).await;
    let (operator, email) = (app.auth.operator(), member.email().parse().expect("an address"));
    let ending = tokio::spawn(async move { operator.delete_user(&email).await });
    somebody_waits(&url).await;
    sqlx::query("COMMIT").execute(&mut importing).await.expect("it answers");
    ending.await.expect("no panic").expect("it waits for the import");
    let told = column(app, "globex", "data").await;
    assert!(told.last().is_some_and(|last| last.contains("usr_of_another_deployment")), "{told:?}");
}

/// The search for the address is over then.
async fn an_invite_that_is_sent_while_an_account_ends_is_erased_with_it(app: &App) {
    let Some(url) = app.database().url() else { return };
    let (member, greta) = (app.member(), app.other_org().admin().logged_in().await);
    let account = holding(&url, HOLD_ACCOUNT, member.id()).await;
    let (operator, email) = (app.auth.operator(), member.email().parse().expect("an address"));
    let ending = tokio::spawn(async move { operator.delete_user(&email).await });
    somebody_waits(&url).await;
    greta.invite(member.email()).await.expect(201);
    let told = column(app, "globex", "data").await;
    assert!(told.last().is_some_and(|last| last.contains(member.email())), "{told:?}");
    account.close().await.expect("the account is free");
    ending.await.expect("no panic").expect("it is deleted");
    let told = column(app, "globex", "data").await;
    assert!(told.iter().all(|told| !told.contains(member.email())), "{told:?}");
}

/// Begins the removal of `globex`, whose worker waits for this person's account.
async fn removal_waiting_for(app: &App, url: &str, person: &Caller) -> (PgConnection, JoinHandle<Result<(), Error>>) {
    app.auth.operator().delete_organization_now(&globex()).await.expect("it is there");
    let account = holding(url, HOLD_ACCOUNT, person.id()).await;
    let removing = ticking(app);
    somebody_waits(url).await;
    (account, removing)
}

/// The search for the address is over then.
async fn an_invite_that_is_told_while_a_removal_ends_an_account_is_erased_with_it(app: &App) {
    let Some(url) = app.database().url() else { return };
    let (admin, gus) = (app.admin().logged_in().await, app.other_org().member());
    let (account, removing) = removal_waiting_for(app, &url, &gus).await;
    told_by(&admin, gus.email()).await;
    let told = column(app, "acme", "data").await;
    assert!(told.last().is_some_and(|last| last.contains(gus.email())), "{told:?}");
    account.close().await.expect("the account is free");
    removing.await.expect("no panic").expect("the database answers");
    app.tick().await;
    assert!(texts(&url, ACCOUNT, gus.id()).await.is_empty());
    let told = column(app, "acme", "data").await;
    assert!(told.iter().all(|told| !told.contains(gus.email())), "{told:?}");
}

async fn a_removal_forgets_nothing_of_an_account_that_an_invite_keeps(app: &App) {
    let Some(url) = app.database().url() else { return };
    let (admin, gus) = (app.admin().logged_in().await, app.other_org().member());
    gus.login().await.expect(200);
    let known = async || texts(&url, KNOWN, "").await;
    let before = known().await;
    assert!(!before.is_empty());
    let (account, removing) = removal_waiting_for(app, &url, &gus).await;
    admin.invite(gus.email()).await.expect(201);
    account.close().await.expect("the account is free");
    removing.await.expect("no panic").expect("the database answers");
    app.tick().await;
    assert_eq!(texts(&url, ACCOUNT, gus.id()).await.len(), 1);
    assert_eq!(known().await, before);
}

async fn an_account_that_got_another_address_meanwhile_is_not_called_unknown(app: &App) {
    let Some(url) = app.database().url() else { return };
    let member = app.member();
    let mut moving = holding(&url, HOLD_ACCOUNT, member.id()).await;
    let moved = "UPDATE tenant_auth_users SET email = 'next@new.example', email_key = 'next@new.example' WHERE id = $1";
    sqlx::query(moved).bind(member.id().to_owned()).execute(&mut moving).await.expect("the row is held");
    let (operator, email) = (app.auth.operator(), member.email().parse().expect("an address"));
    let ending = tokio::spawn(async move { operator.delete_user(&email).await });
    somebody_waits(&url).await;
    sqlx::query("COMMIT").execute(&mut moving).await.expect("it answers");
    let ended = ending.await.expect("no panic");
    assert!(matches!(ended, Err(Error::Unavailable(_))), "{ended:?}");
}

/// In which whoever erases an address takes the invites to it.
async fn the_invites_of_a_key_end_in_the_order_of_the_organizations(app: &App) {
    let Some(url) = app.database().url() else { return };
    let (id, key) = made(app, new_key(&[Organizations])).await;
    let product = app.anonymous().without_slug().with("X-API-Key", &key);
    for slug in texts(&url, LATER_FIRST, "globex").await {
        product.post(&format!("/admin/organizations/{slug}/invites"), json!({ "email": "nora@new.example" })).await.expect(201);
    }
    let first = holding(&url, HOLD_FIRST_INVITE, "nora@new.example").await;
    let operator = app.auth.operator();
    let ending = tokio::spawn(async move { operator.revoke_deployment_key(&id).await });
    somebody_waits(&url).await;
    assert_eq!(texts(&url, FREE_INVITES, "nora@new.example").await.len(), 1, "the later one is not taken yet");
    first.close().await.expect("the invite is free");
    ending.await.expect("no panic").expect("it is there");
}

async fn ending_all_sessions_waits_for_those_that_are_being_opened(app: &App) {
    let Some(url) = app.database().url() else { return };
    let chain = holding(&url, HOLD_CHAIN, "acme").await;
    let member = app.member();
    let opening = tokio::spawn(member.login().into_future());
    somebody_waits(&url).await;
    let operator = app.auth.operator();
    let ending =
        tokio::spawn(async move { operator.revoke_sessions(SessionsOf::Organization("acme".parse().expect("a slug"))).await });
    so_many_wait(&url, 2).await;
    chain.close().await.expect("the chain is free");
    opening.await.expect("it was answered").expect(200);
    assert_eq!(ending.await.expect("no panic").expect("they can be ended"), 1);
    member.get("/org").await.expect_no_session();
}

async fn the_sweep_deletes_counters_in_the_order_of_the_keys(app: &App) {
    let Some(url) = app.database().url() else { return };
    let (middle, last) = holding_the_middle_one_of_three(app, &url).await;
    app.advance(24 * 3_600);
    let worker = app.auth.worker();
    let sweeping = tokio::spawn(async move { worker.tick().await });
    somebody_waits(&url).await;
    assert_eq!(texts(&url, FREE_PAIRS, "%203.0.113.%").await, [last]);
    middle.close().await.expect("the counter is free");
    sweeping.await.expect("no panic").expect("the database answers");
}

/// Whoever ends all sessions of a member holds them one by one: a refresh that waited for one of them while it held others could be a circle.
async fn a_session_that_is_held_holds_up_no_other_refresh(app: &App) {
    let Some(url) = app.database().url() else { return };
    let held = app.member().logged_in().await;
    let mut others = Vec::new();
    for number in 0..6 {
        others.push(app.org().new_member(&format!("Other{number}")).await.logged_in().await);
    }
    let holder = holding(&url, HOLD_SESSIONS, held.id()).await;
    let waiting = tokio::spawn(held.refresh().into_future());
    somebody_waits(&url).await;
    // Twice, and beside more questions about the session that is held: more than there are turns.
    for _ in 0..2 {
        let tab = tokio::spawn(held.copied().refresh().into_future());
        for answer in together(others.iter().map(Caller::refresh).collect()).await {
            answer.expect(200);
        }
        assert!(!waiting.is_finished() && !tab.is_finished());
        tab.abort();
    }
    holder.close().await.expect("the session is free");
    waiting.await.expect("it was answered").expect(200);
}
