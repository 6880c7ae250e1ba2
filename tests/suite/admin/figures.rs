//! The deployment in figures (behaviour.md, B266): what there is, and what happened on each of the last thirty days.

use serde_json::{Value, json};
use tenant_auth_conformance::{App, Caller, scenarios, shape, together};
use tenant_auth_core::{model::DeploymentScope, ports::Clock};

use crate::suite::{
    admin::operators::operator,
    public::deployment_keys::{made, new_key},
    support::authenticator::SecondFactor,
};

scenarios![
    sign_ins_joins_and_new_organizations_are_counted_on_their_day,
    the_last_thirty_days_are_told_with_those_without_anything,
    organizations_are_counted_by_what_will_become_of_them,
    a_deployment_key_for_organizations_reads_them_and_no_other,
    sign_ins_at_once_in_two_processes_are_counted_once_each,
    what_happened_is_counted_without_a_worker_and_without_a_webhook,
];

const FIGURES: &str = "/admin/figures";
const A_DAY: u64 = 24 * 3_600;

/// Somebody with a deployment key.
async fn product(app: &App, scope: DeploymentScope) -> Caller {
    let (_, key) = made(app, new_key(&[scope])).await;
    app.anonymous().without_slug().with("X-API-Key", &key)
}

async fn figures(operator: &Caller) -> Value {
    operator.get(FIGURES).await.expect_ok().clone()
}

/// Sign-ins, joins and new organizations of the last day but so many.
fn day(figures: &Value, ago: usize) -> [i64; 3] {
    let days = figures["days"].as_array().expect("a list");
    let day = &days[days.len() - 1 - ago];
    ["signIns", "joined", "organizations"].map(|name| day[name].as_i64().expect("a number"))
}

async fn sign_ins_joins_and_new_organizations_are_counted_on_their_day(app: &App) {
    let (app, ada, _) = operator(app).await;
    let before = figures(&ada).await;
    assert_eq!(shape(&before), ["accounts", "days", "members", "organizations"]);
    app.member().logged_in().await.refresh().await.expect(200);
    app.member().login_with(app.member().email(), "quite another password").await.expect(401);
    let token = app.invited(&ada, "nora@new.example").await;
    app.anonymous().accept(&token, "Nora").await.expect(200);
    ada.post("/admin/organizations", json!({ "name": "New", "slug": "newcomers", "adminEmail": "n@new.example" }))
        .await
        .expect(201);
    let after = figures(&ada).await;
    let [sign_ins, joined, made] = day(&before, 0);
    assert_eq!(
        day(&after, 0),
        [sign_ins + 2, joined + 1, made + 1],
        "whoever joins is signed in; a refresh and a refusal are no sign-in"
    );
    for name in ["accounts", "members"] {
        assert_eq!(after[name].as_i64(), before[name].as_i64().map(|before| before + 1), "{name}");
    }
}

async fn the_last_thirty_days_are_told_with_those_without_anything(app: &App) {
    let (app, ada, authenticator) = operator(app).await;
    let today = day(&figures(&ada).await, 0);
    app.advance(3 * A_DAY);
    let ada = ada.through(&app, &authenticator).await;
    let later = figures(&ada).await;
    let days = later["days"].as_array().expect("a list");
    assert_eq!(days.len(), 30);
    assert_eq!(shape(&days[0]), ["day", "joined", "organizations", "signIns"]);
    let names: Vec<&str> = days.iter().map(|day| day["day"].as_str().expect("a day")).collect();
    assert!(names.is_sorted(), "{names:?}");
    assert!(app.clock.now().to_iso().starts_with(names[29]), "{names:?}");
    assert_eq!((day(&later, 3), day(&later, 1), day(&later, 2)), (today, [0; 3], [0; 3]));
    assert_eq!(day(&later, 0), [1, 0, 0], "the operator's own");
    app.advance(27 * A_DAY);
    app.tick().await;
    let ada = ada.through(&app, &authenticator).await;
    let last = figures(&ada).await;
    assert_eq!((day(&last, 27), day(&last, 29)), ([1, 0, 0], [0; 3]));
}

async fn organizations_are_counted_by_what_will_become_of_them(app: &App) {
    let (app, ada, _) = operator(app).await;
    let counted = async || figures(&ada).await["organizations"].clone();
    assert_eq!(counted().await, json!({ "active": 2, "suspended": 0, "deleting": 0 }));
    app.other_org().suspend().await;
    assert_eq!(counted().await, json!({ "active": 1, "suspended": 1, "deleting": 0 }));
    ada.delete("/admin/organizations/globex").await.expect(202);
    assert_eq!(counted().await, json!({ "active": 1, "suspended": 0, "deleting": 1 }));
}

async fn a_deployment_key_for_organizations_reads_them_and_no_other(app: &App) {
    let read = figures(&product(app, DeploymentScope::Organizations).await).await;
    assert_eq!(read["days"].as_array().map(Vec::len), Some(30));
    product(app, DeploymentScope::Admin).await.get(FIGURES).await.expect_error(403, "missing_scope");
    app.admin().logged_in().await.get(FIGURES).await.expect_error(403, "operator_required");
    app.anonymous().get(FIGURES).await.expect_error(401, "session_required");
}

async fn sign_ins_at_once_in_two_processes_are_counted_once_each(app: &App) {
    let (app, ada, _) = operator(app).await;
    let other = app.beside(|_| {}).await;
    let [before, ..] = day(&figures(&ada).await, 0);
    let people = [app.member(), app.other_org().member(), app.member().via(&other), app.other_org().member().via(&other)];
    for _ in 0..4 {
        together(people.iter().map(Caller::login).collect()).await.into_iter().for_each(|answer| drop(answer.expect(200)));
    }
    assert_eq!(day(&figures(&ada).await, 0)[0], before + 16);
    assert_eq!(app.auth.operator().figures().await.expect("they are told").days[29].sign_ins, before + 16);
}

async fn what_happened_is_counted_without_a_worker_and_without_a_webhook(app: &App) {
    let product = product(app, DeploymentScope::Organizations).await;
    let [before, ..] = day(&figures(&product).await, 0);
    app.member().logged_in().await;
    assert_eq!(day(&figures(&product).await, 0)[0], before + 1);
    // Swept are those that are shown no more.
    app.tick().await;
    assert_eq!(day(&figures(&product).await, 0)[0], before + 1);
}
