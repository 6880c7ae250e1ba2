//! The deletion of an organization as it is ordered, cancelled and told (behaviour.md, B190 and B191). What is removed in the end stands
//! in `removal.rs`.

use serde_json::{Value, json};
use tenant_auth_conformance::{App, Caller, Response, scenarios, shape};
use tenant_auth_core::{
    Error, Timestamp,
    model::{DeploymentScope::Organizations, Status},
    operator::NewOrganization,
    ports::Clock,
    value::{DisplayName, Email},
};

use crate::suite::{
    admin::{operators::operator, removal::id_of_globex},
    public::deployment_keys::{made, new_key},
    support::{
        account::expect_no_link,
        hooks::{run_sql, ticking},
        stored,
    },
};

scenarios![
    an_order_suspends_at_once_and_says_when,
    an_order_given_again_keeps_the_first_time,
    a_cancelled_deletion_leaves_it_suspended,
    it_is_not_reopened_before_the_deletion_is_cancelled,
    what_a_former_version_reopened_lives_when_it_is_suspended_again,
    the_operators_own_outlives_an_order_given_before,
    null_is_the_only_time_that_can_be_set,
    the_operators_own_is_never_deleted,
    the_product_deletes_twenty_in_a_day,
    the_admins_are_told_of_the_order_and_of_its_end,
    the_admins_are_reminded_once_three_days_before,
    an_organization_whose_admins_cannot_be_reminded_delays_no_other,
    who_orders_is_told_in_the_log,
];

const GLOBEX: &str = "/admin/organizations/globex";
const DAY: u64 = 24 * 3_600;

fn org(answer: Response) -> Value {
    let data = answer.data();
    assert_eq!(shape(&data), ["org"]);
    data["org"].clone()
}

/// The organization as one answer shows it that was asked for it alone.
fn read(answer: Response) -> Value {
    let data = answer.data();
    assert_eq!(shape(&data), ["createdBy", "figures", "org"]);
    data["org"].clone()
}

async fn ordered(caller: &Caller) -> Value {
    org(caller.delete(GLOBEX).await.expect(202))
}

/// The subjects of the mails to the admin of `globex`.
async fn subjects(app: &App) -> Vec<String> {
    app.mail_to(app.other_org().admin().email()).await.into_iter().map(|mail| mail.subject).collect()
}

async fn an_order_suspends_at_once_and_says_when(app: &App) {
    let (app, ada, _) = operator(app).await;
    let gus = app.other_org().member().logged_in().await;
    let before = read(ada.get(GLOBEX).await.expect(200));
    assert_eq!(shape(&before), ["appUrl", "createdAt", "deletesAt", "id", "name", "plan", "slug", "status", "trusted"]);
    assert_eq!((&before["status"], &before["deletesAt"]), (&"active".into(), &Value::Null));
    let after = ordered(&ada).await;
    let at = app.clock.now().plus(std::time::Duration::from_secs(30 * DAY)).to_iso();
    assert_eq!((&after["status"], &after["deletesAt"]), (&"suspended".into(), &at.into()));
    assert_eq!(read(ada.get(GLOBEX).await.expect(200)), after);
    let listed = ada.get("/admin/organizations").await.expect_ok();
    let listed = listed["organizations"].as_array().expect("a list").clone();
    assert!(listed.contains(&after), "{listed:?}");
    assert!(listed.iter().any(|org| org["slug"] == "acme" && org["deletesAt"].is_null()));
    gus.get("/org").await.expect_error(403, "suspended");
    assert!(!app.other_org().backend().finds_valid(&gus.access_token()).await);
}

async fn an_order_given_again_keeps_the_first_time(app: &App) {
    let (app, ada, _) = operator(app).await;
    let first = ordered(&ada).await;
    let (told, mailed) = (stored::events_of(&app, "globex").await, subjects(&app).await);
    app.advance(600);
    assert_eq!(ordered(&ada).await, first);
    let slug = "globex".parse().expect("a slug");
    let by_command = app.auth.operator().delete_organization(&slug).await.expect("it is there");
    assert_eq!(by_command.deletes_at.map(Timestamp::to_iso), first["deletesAt"].as_str().map(str::to_owned));
    assert_eq!(stored::events_of(&app, "globex").await, told);
    assert_eq!(subjects(&app).await, mailed);
}

async fn a_cancelled_deletion_leaves_it_suspended(app: &App) {
    let (app, ada, _) = operator(app).await;
    let gus = app.other_org().member().logged_in().await;
    ordered(&ada).await;
    let kept = org(ada.patch(GLOBEX, json!({ "deletesAt": null })).await.expect(200));
    assert_eq!((&kept["status"], &kept["deletesAt"]), (&"suspended".into(), &Value::Null));
    gus.get("/org").await.expect_error(403, "suspended");
    let told = stored::events_of(&app, "globex").await;
    // Once more changes nothing.
    ada.patch(GLOBEX, json!({ "deletesAt": null })).await.expect(200);
    assert_eq!(stored::events_of(&app, "globex").await, told);
    app.advance(31 * DAY);
    app.tick().await;
    app.other_org().reactivate().await;
    app.other_org().member().login().await.expect(200);
    let by_command = app.auth.operator();
    let slug = "globex".parse().expect("a slug");
    by_command.delete_organization(&slug).await.expect("it is there");
    let kept = by_command.cancel_deletion(&slug).await.expect("it is there still");
    assert_eq!((kept.deletes_at, kept.status.as_str()), (None, "suspended"));
}

async fn it_is_not_reopened_before_the_deletion_is_cancelled(app: &App) {
    let (app, ada, _) = operator(app).await;
    ordered(&ada).await;
    ada.patch(GLOBEX, json!({ "status": "active" })).await.expect_error(409, "deletion_scheduled");
    ada.patch(GLOBEX, json!({ "status": "active", "deletesAt": null })).await.expect_error(409, "deletion_scheduled");
    let slug = "globex".parse().expect("a slug");
    let by_command = app.auth.operator().set_organization_status(&slug, Status::Active).await;
    assert!(matches!(by_command, Err(Error::DeletionScheduled)), "{by_command:?}");
    let changed = org(ada.patch(GLOBEX, json!({ "plan": "late", "status": "suspended" })).await.expect(200));
    assert_eq!((&changed["plan"], &changed["status"]), (&"late".into(), &"suspended".into()));
    assert!(changed["deletesAt"].is_string(), "{changed}");
    ada.patch(GLOBEX, json!({ "deletesAt": null })).await.expect(200);
    assert_eq!(org(ada.patch(GLOBEX, json!({ "status": "active" })).await.expect(200))["status"], "active");
}

async fn what_a_former_version_reopened_lives_when_it_is_suspended_again(app: &App) {
    let (app, ada, _) = operator(app).await;
    ordered(&ada).await;
    assert_eq!(subjects(&app).await.len(), 1, "the order is told");
    run_sql(&app, "UPDATE tenant_auth_organizations SET status = 'active' WHERE slug = 'globex'").await;
    let reopened = read(ada.get(GLOBEX).await.expect(200));
    assert_eq!((&reopened["status"], &reopened["deletesAt"]), (&"active".into(), &Value::Null));
    app.advance(28 * DAY);
    app.tick().await;
    assert_eq!(subjects(&app).await.len(), 1, "nobody is reminded");
    let by_command = app.auth.operator();
    let slug = "globex".parse().expect("a slug");
    by_command.set_organization_status(&slug, Status::Suspended).await.expect("it is there");
    app.advance(31 * DAY);
    app.tick().await;
    let kept = by_command.set_organization_status(&slug, Status::Active).await.expect("it lives");
    assert_eq!((kept.deletes_at, kept.status), (None, Status::Active));
}

async fn the_operators_own_outlives_an_order_given_before(app: &App) {
    let slug = "globex".parse().expect("a slug");
    app.auth.operator().delete_organization(&slug).await.expect("it is there");
    let own = app.beside(|setup| setup.config.organizations.operator_org = Some("globex".parse().expect("a slug"))).await;
    own.advance(31 * DAY);
    own.tick().await;
    own.auth.operator().cancel_deletion(&slug).await.expect("it is there still");
}

async fn null_is_the_only_time_that_can_be_set(app: &App) {
    let (_app, ada, _) = operator(app).await;
    let before = ordered(&ada).await;
    for value in [json!("2027-01-01T00:00:00.000Z"), json!(0), json!(false), json!({}), json!([]), json!("")] {
        ada.patch(GLOBEX, json!({ "deletesAt": value })).await.expect_invalid("deletesAt");
    }
    assert_eq!(read(ada.get(GLOBEX).await.expect(200)), before);
}

async fn the_operators_own_is_never_deleted(app: &App) {
    let (app, ada, _) = operator(app).await;
    ada.delete("/admin/organizations/acme").await.expect_error(400, "operator_organization");
    let product = app.anonymous().without_slug().with("X-API-Key", &made(&app, new_key(&[Organizations])).await.1);
    product.delete("/admin/organizations/acme").await.expect_error(404, "not_found");
    product.get("/admin/organizations/acme").await.expect_error(404, "not_found");
    let (by_command, slug) = (app.auth.operator(), "acme".parse().expect("a slug"));
    for refused in [by_command.delete_organization(&slug).await, by_command.delete_organization_now(&slug).await] {
        assert!(refused.is_err_and(|error| error.to_string().contains("locked out")));
    }
    ada.get("/org").await.expect(200);
}

async fn the_product_deletes_twenty_in_a_day(app: &App) {
    let product = app.anonymous().without_slug().with("X-API-Key", &made(app, new_key(&[Organizations])).await.1);
    let another = app.anonymous().without_slug().with("X-API-Key", &made(app, new_key(&[Organizations])).await.1);
    let (name, email): (DisplayName, Email) = ("Many".parse().expect("a name"), "many@new.example".parse().expect("an address"));
    for number in 0..22 {
        let slug = format!("many-{number}").parse().expect("a slug");
        app.auth.operator().create_organization(NewOrganization::new(name.clone(), slug, email.clone())).await.expect("it is new");
    }
    let delete = async |caller: &Caller, number: u32| caller.delete(&format!("/admin/organizations/many-{number}")).await;
    for number in 0..20 {
        let caller = if number % 2 == 0 { &product } else { &another };
        delete(caller, number).await.expect(202);
        delete(caller, number).await.expect(202);
    }
    let refused = delete(&product, 20).await.expect_error(429, "rate_limited");
    assert_eq!(refused.header("retry-after"), Some("86400"));
    delete(&another, 20).await.expect_error(429, "rate_limited");
    let left = product.get("/admin/organizations/many-20").await.expect_ok();
    assert_eq!((&left["org"]["status"], &left["org"]["deletesAt"]), (&"active".into(), &Value::Null));
    delete(&product, 3).await.expect(202);
    let slug = "many-20".parse().expect("a slug");
    app.auth.operator().delete_organization(&slug).await.expect("operators are not counted");
    app.advance(DAY);
    delete(&product, 21).await.expect(202);
}

async fn the_admins_are_told_of_the_order_and_of_its_end(app: &App) {
    let (app, ada, _) = operator(app).await;
    let at = ordered(&ada).await["deletesAt"].as_str().expect("a time").to_owned();
    ada.patch(GLOBEX, json!({ "deletesAt": null })).await.expect(200);
    let mails = app.mail_to(app.other_org().admin().email()).await;
    let mut subjects: Vec<&str> = mails.iter().map(|mail| mail.subject.as_str()).collect();
    subjects.sort_unstable();
    assert_eq!(subjects, ["Your organization is going to be deleted", "Your organization will not be deleted"]);
    let ordered = mails.iter().find(|mail| mail.kind == "deletion_scheduled").expect("told of the order");
    let (year, time) = (&at[..4], &at[11..16]);
    assert!(ordered.values["at"].ends_with(&format!(" {year}, {time} UTC")), "{at}: {:?}", ordered.values);
    assert!(ordered.text.contains(&ordered.values["at"]) && ordered.text.contains("Globex Corporation"), "{}", ordered.text);
    for mail in &mails {
        expect_no_link(mail);
    }
    assert!(app.mail_to(app.other_org().member().email()).await.is_empty());
}

async fn the_admins_are_reminded_once_three_days_before(app: &App) {
    let (app, ada, _) = operator(app).await;
    let other = app.beside(|_| {}).await;
    ordered(&ada).await;
    app.tick().await;
    app.advance(27 * DAY - 1);
    app.tick().await;
    assert_eq!(subjects(&app).await.len(), 1);
    app.advance(1);
    let (one, two) = tokio::join!(ticking(&app), ticking(&other));
    one.expect("it ran").and(two.expect("it ran")).expect("both work");
    for server in [&app, &other, &app] {
        server.advance(3_600);
        server.tick().await;
    }
    let reminded = subjects(&app).await;
    assert_eq!(reminded.iter().filter(|subject| subject.contains("soon")).count(), 1, "{reminded:?}");
    assert_eq!(reminded.len(), 2);
    // An order that leaves three days or less says all there is to say.
    let app = app.beside(|setup| setup.config.organizations.purge_after_days = 3).await;
    app.auth.operator().cancel_deletion(&"globex".parse().expect("a slug")).await.expect("it is there");
    app.auth.operator().delete_organization(&"globex".parse().expect("a slug")).await.expect("it is there");
    app.tick().await;
    app.advance(3_600);
    app.tick().await;
    assert_eq!(subjects(&app).await.iter().filter(|subject| subject.contains("soon")).count(), 1);
}

/// The database takes no mail of it any more.
async fn an_organization_whose_admins_cannot_be_reminded_delays_no_other(app: &App) {
    let (app, ada, _) = operator(app).await;
    ordered(&ada).await;
    let (name, email): (DisplayName, Email) = ("Late".parse().expect("a name"), "late@new.example".parse().expect("an address"));
    let (by_command, late) = (app.auth.operator(), "late".parse().expect("a slug"));
    by_command.create_organization(NewOrganization::new(name, "late".parse().expect("a slug"), email)).await.expect("it is new");
    app.advance(1);
    by_command.delete_organization(&late).await.expect("it is there");
    app.tick().await; // what tells of the orders
    let globex = id_of_globex(&app).await;
    let refuse = match app.database().url() {
        Some(_) => format!("ALTER TABLE tenant_auth_mails ADD CHECK (org_id <> '{globex}') NOT VALID"),
        None => format!(
            "CREATE TRIGGER refuse BEFORE INSERT ON tenant_auth_mails WHEN NEW.org_id = '{globex}'
             BEGIN SELECT RAISE(ABORT, 'refused'); END"
        ),
    };
    run_sql(&app, &refuse).await;
    app.advance(28 * DAY);
    app.tick().await;
    let reminded = "SELECT COUNT(*) FROM tenant_auth_organizations WHERE is_reminded AND slug IN ('globex', 'late')";
    assert_eq!(stored::number(&app, reminded).await, 1, "the one that was ordered later");
}

async fn who_orders_is_told_in_the_log(app: &App) {
    let (id, key) = made(app, new_key(&[Organizations])).await;
    let product = app.anonymous().without_slug().with("X-API-Key", &key);
    let at = ordered(&product).await["deletesAt"].clone();
    product.patch(GLOBEX, json!({ "deletesAt": null })).await.expect(200);
    let told = stored::events_of(app, "globex").await;
    let kinds: Vec<&str> = told.iter().map(|event| event["type"].as_str().expect("a kind")).collect();
    assert_eq!(kinds[kinds.len() - 3..], ["org.suspended", "org.deletion_scheduled", "org.deletion_cancelled"]);
    for event in &told[told.len() - 3..] {
        assert_eq!(event["actor"], json!({ "type": "deployment_key", "id": id.as_str() }));
    }
    let [scheduled, cancelled] = &told[told.len() - 2..] else { unreachable!("two") };
    assert_eq!(shape(&scheduled["data"]), ["deletesAt", "org"]);
    assert_eq!((&scheduled["data"]["deletesAt"], &scheduled["data"]["org"]["status"]), (&at, &"suspended".into()));
    assert_eq!(shape(&cancelled["data"]), ["org"]);
}
