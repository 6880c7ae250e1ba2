//! People of an import who have an account at the target (behaviour.md, B169).

use serde_json::{Value, json};
use tenant_auth_conformance::{App, Caller, PASSWORD, scenarios};
use tenant_auth_core::{
    audit::{AuditKeySet, AuditRange, AuditVerifier},
    model::Role,
    operator::{ExistingAccounts, FileKey, NewUser, OrganizationImport},
    secret::Password,
};

use super::{
    moves::{NILS, NORA, at, exported, import, logged_in, movers, reasons, target},
    round_trip::another,
};
use crate::suite::{
    storage::locks::{HOLD_ACCOUNT, holding, so_many_wait},
    support::{
        account::change_address,
        chain::{column, verified},
        hooks::{run_sql, texts_in},
    },
};

scenarios![on each database:
    who_proved_the_address_is_invited_to_what_they_were,
    the_account_stays_as_it_is,
    an_address_that_was_never_proved_refuses_the_import,
    an_id_of_another_address_refuses_the_import,
    an_id_that_another_log_knows_needs_somebody_who_vouches,
    an_id_that_the_last_of_many_logs_knows_is_found,
    an_account_that_ends_meanwhile_refuses_the_import,
    the_id_of_a_removed_organization_refuses_the_import,
    somebody_suspended_is_not_invited,
    what_waits_in_an_invite_moves_on,
    erasing_the_account_reaches_what_the_source_told,
    erasing_reaches_it_after_one_more_move,
    a_file_claims_nobodys_address_elsewhere,
];

pub(super) const OTHER: &str = "velvet-anchor-93-comet";

pub(super) fn linking(key: FileKey) -> OrganizationImport {
    OrganizationImport { existing: ExistingAccounts::Link, ..OrganizationImport::new(key) }
}

/// Nils has an account at the target, with another password.
pub(super) async fn known(target: &App, is_verified: bool) {
    let new = NewUser {
        email: NILS.parse().expect("an address"),
        name: "Nils of Acme".parse().expect("a name"),
        role: Role::Member,
        password: Password::new(OTHER),
    };
    target.auth.operator().create_user(&"acme".parse().expect("a slug"), new).await.expect("they are new");
    if is_verified {
        run_sql(target, &format!("UPDATE tenant_auth_users SET is_email_verified = TRUE WHERE email = '{NILS}'")).await;
    }
}

/// The organization with metadata of Nils and a key that he made, and his id there.
async fn moving(app: &App) -> (Caller, String) {
    movers(app).await;
    let (nora, nils) = (logged_in(app, NORA).await, logged_in(app, NILS).await);
    let id = nils.get("/auth/profile").await.expect_ok()["user"]["id"].as_str().expect("an id").to_owned();
    nora.set_role(&id, "org_admin").await.expect(200);
    nils.created_key(json!({ "name": "Of Nils" })).await;
    nora.set_metadata(&id, json!({ "team": "research" })).await.expect(200);
    (nora, id)
}

pub(super) async fn at_acme(target: &App, password: &str) -> Caller {
    let caller = target.anonymous();
    caller.login_with(NILS, password).await.expect(200);
    caller
}

fn id_of(profile: &Value) -> String {
    profile["user"]["id"].as_str().expect("an id").to_owned()
}

async fn who_proved_the_address_is_invited_to_what_they_were(app: &App) {
    let (_, old) = moving(app).await;
    let (file, key) = exported(app, false).await;
    let target = target(app).await;
    known(&target, true).await;
    let tried =
        import(&target, &file, &OrganizationImport { dry_run: true, ..linking(key.clone()) }).await.expect("nothing clashes");
    assert_eq!((tried.members, tried.linked, tried.invites), (1, 1, 2));
    import(&target, &file, &linking(key)).await.expect("nothing clashes");
    let nora = logged_in(&target, NORA).await;
    assert_eq!(nora.members().await.len(), 1, "nobody becomes a member unasked");
    at(&target).login_with(NILS, OTHER).await.expect(403);
    let nils = id_of(&at_acme(&target, OTHER).await.get("/auth/profile").await.expect_ok());
    assert_ne!(nils, old);
    assert!(nora.api_keys().await.iter().any(|key| key["createdBy"] == json!(nils)), "what he made names his account here");
    let token = target.link_token_of(NILS).await;
    at(&target).accept_with_account(&token).await.expect(200);
    let members = nora.members().await;
    let joined = members.iter().find(|member| member["email"] == NILS).expect("Nils");
    assert_eq!(
        (&joined["userId"], &joined["role"], &joined["metadata"]),
        (&json!(nils), &json!("org_admin"), &json!({ "team": "research" }))
    );
    let entries = nora.get("/org/audit").await.expect_ok()["entries"].to_string();
    assert!(entries.contains(&old), "the log keeps the old id");
}

async fn the_account_stays_as_it_is(app: &App) {
    moving(app).await;
    let (file, key) = exported(app, false).await;
    let target = target(app).await;
    known(&target, true).await;
    let before = at_acme(&target, OTHER).await.get("/auth/profile").await.expect_ok();
    import(&target, &file, &linking(key)).await.expect("nothing clashes");
    target.anonymous().login_with(NILS, PASSWORD).await.expect_error(401, "invalid_credentials");
    assert_eq!(at_acme(&target, OTHER).await.get("/auth/profile").await.expect_ok(), before);
}

async fn an_address_that_was_never_proved_refuses_the_import(app: &App) {
    moving(app).await;
    let (file, key) = exported(app, false).await;
    let target = target(app).await;
    known(&target, false).await;
    let refused = reasons(import(&target, &file, &linking(key)).await);
    assert_eq!(refused, [format!("member {NILS}: the address has an account here that never proved it")]);
}

async fn an_id_of_another_address_refuses_the_import(app: &App) {
    let (_, id) = moving(app).await;
    let (file, key) = exported(app, false).await;
    let target = target(app).await;
    known(&target, true).await;
    let taken = format!("UPDATE tenant_auth_users SET id = '{id}' WHERE id = '{}'", target.other_org().admin().id());
    run_sql(
        &target,
        "DELETE FROM tenant_auth_memberships WHERE org_id IN (SELECT id FROM tenant_auth_organizations WHERE slug = 'globex')",
    )
    .await;
    run_sql(&target, &taken).await;
    let refused = reasons(import(&target, &file, &linking(key)).await);
    assert_eq!(refused, [format!("member {NILS}: the id is that of another account here")]);
}

async fn an_id_that_another_log_knows_needs_somebody_who_vouches(app: &App) {
    let (_, nils) = moving(app).await;
    let (file, key) = exported(app, false).await;
    let acme = "(SELECT id FROM tenant_auth_organizations WHERE slug = 'acme')";
    for knowing in [
        format!("UPDATE tenant_auth_events SET user_id = '{nils}' WHERE org_id = {acme}"),
        format!("UPDATE tenant_auth_events SET actor_id = '{nils}' WHERE org_id = {acme}"),
        format!(
            "INSERT INTO tenant_auth_linked_people SELECT {acme}, '{nils}', user_id FROM tenant_auth_memberships WHERE org_id = {acme} LIMIT 1"
        ),
    ] {
        let target = target(app).await;
        target.member().logged_in().await;
        run_sql(&target, &knowing).await;
        let import =
            async |trust| import(&target, &file, &OrganizationImport { trust, ..OrganizationImport::new(key.clone()) }).await;
        let refused = reasons(import(false).await);
        assert!(matches!(&refused[..], [only] if only.contains(NILS) && only.contains("--trust")), "{knowing}: {refused:?}");
        assert_eq!(import(true).await.expect("it is vouched for").members, 2);
    }
}

/// A thousand organizations stand before the one whose log knows Nils.
const MANY: &str = "
    WITH RECURSIVE counted (number) AS (SELECT 1001 UNION ALL SELECT number + 1 FROM counted WHERE number < 2000)
    INSERT INTO tenant_auth_organizations (id, name, slug, plan, status, allowed_origins, revision, created_at)
    SELECT '00' || CAST(number AS TEXT), name, 'many-' || CAST(number AS TEXT), plan, status, allowed_origins, revision, created_at
      FROM tenant_auth_organizations CROSS JOIN counted
     WHERE slug = 'acme'";

async fn an_id_that_the_last_of_many_logs_knows_is_found(app: &App) {
    let (_, nils) = moving(app).await;
    let (file, key) = exported(app, false).await;
    let target = another(app).await;
    target.member().logged_in().await;
    let acme = "(SELECT id FROM tenant_auth_organizations WHERE slug = 'acme')";
    run_sql(&target, &format!("UPDATE tenant_auth_events SET user_id = '{nils}' WHERE org_id = {acme}")).await;
    run_sql(&target, MANY).await;
    let refused = reasons(import(&target, &file, &OrganizationImport::new(key)).await);
    assert!(matches!(&refused[..], [only] if only.contains(NILS) && only.contains("--trust")), "{refused:?}");
}

/// The account has the id that the file knows, so that nothing which the import writes refers to it. On PostgreSQL; on SQLite nobody
/// deletes anything meanwhile.
async fn an_account_that_ends_meanwhile_refuses_the_import(app: &App) {
    if app.database().url().is_none() {
        return;
    }
    movers(app).await;
    let id = texts_in(app, &format!("SELECT id FROM tenant_auth_users WHERE email = '{NILS}'")).await.remove(0);
    let (file, key) = exported(app, false).await;
    let target = another(app).await;
    let url = target.database().url().expect("it is on PostgreSQL as well");
    let account = format!(
        "INSERT INTO tenant_auth_users (id, name, email, email_key, role, is_email_verified, password_hash, epoch, created_at)
         VALUES ('{id}', 'Nils', '{NILS}', '{NILS}', 'user', TRUE, '', 1, 0)"
    );
    run_sql(&target, &account).await;
    let mut ending = holding(&url, HOLD_ACCOUNT, &id).await;
    let auth = target.auth.clone();
    let importing = tokio::spawn(async move { auth.operator().import_organization(&file[..], &linking(key), &mut |_| {}).await });
    so_many_wait(&url, 1).await;
    sqlx::query("DELETE FROM tenant_auth_users WHERE id = $1").bind(&id).execute(&mut ending).await.expect("it is deleted");
    sqlx::query("COMMIT").execute(&mut ending).await.expect("it answers");
    let refused = reasons(importing.await.expect("no panic"));
    assert!(matches!(&refused[..], [only] if only.contains("deleted meanwhile")), "{refused:?}");
}

async fn the_id_of_a_removed_organization_refuses_the_import(app: &App) {
    moving(app).await;
    let id = texts_in(app, "SELECT id FROM tenant_auth_organizations WHERE slug = 'movers'").await.remove(0);
    let (file, key) = exported(app, false).await;
    let target = target(app).await;
    run_sql(
        &target,
        &format!("INSERT INTO tenant_auth_former_slugs (digest, id, removed_at) VALUES ('of another slug', '{id}', 0)"),
    )
    .await;
    let how = OrganizationImport { trust: true, ..OrganizationImport::new(key) };
    let refused = reasons(import(&target, &file, &how).await);
    assert!(matches!(&refused[..], [only] if only.contains("removed here")), "{refused:?}");
}

async fn somebody_suspended_is_not_invited(app: &App) {
    let (nora, id) = moving(app).await;
    nora.set_status(&id, "suspended").await.expect(200);
    let (file, key) = exported(app, false).await;
    let target = target(app).await;
    known(&target, true).await;
    let done = import(&target, &file, &linking(key)).await.expect("nothing clashes");
    assert_eq!((done.linked, done.invites), (1, 1), "the chief's alone");
    target.tick().await;
    assert_eq!(target.mail_to(NILS).await.len(), 0);
}

async fn what_waits_in_an_invite_moves_on(app: &App) {
    moving(app).await;
    let (file, key) = exported(app, false).await;
    let there = target(app).await;
    known(&there, true).await;
    import(&there, &file, &linking(key)).await.expect("nothing clashes");
    let (file, key) = exported(&there, false).await;
    let last = target(app).await;
    import(&last, &file, &linking(key)).await.expect("nothing clashes");
    let token = last.link_token_of(NILS).await;
    at(&last).accept(&token, "Nils").await.expect(200);
    let members = logged_in(&last, NORA).await.members().await;
    let joined = members.iter().find(|member| member["email"] == NILS).expect("Nils");
    assert_eq!((&joined["role"], &joined["metadata"]), (&json!("org_admin"), &json!({ "team": "research" })));
}

/// Nothing tells of Nils any more, by whichever id, and the log holds.
async fn expect_erased(target: &App, former: &str) {
    let told = [column(target, "movers", "data").await, column(target, "movers", "context").await].concat().concat();
    for trace in [NILS, "research"] {
        assert!(!told.contains(trace), "{trace} is still told");
    }
    assert!(told.contains(NORA), "of others, all");
    let about = logged_in(target, NORA).await.get(&format!("/org/audit?limit=200&user={former}")).await.expect_ok();
    let about = about["entries"].as_array().expect("a list");
    assert!(about.len() > 3, "{about:#?}");
    assert_eq!((&about[0]["type"], &about[0]["data"]), (&json!("user.deleted"), &json!({ "user": { "id": former } })));
    assert!(about[1..].iter().all(|entry| entry["erased"] == true), "{about:#?}");
    verified(target, "movers").await;
    let slug = "movers".parse().expect("a slug");
    let mut file = Vec::new();
    let export = target.auth.operator().export_audit(&slug, AuditRange::default()).await.expect("it begins");
    export.write(&mut file).await.expect("written");
    let keys = target.anonymous().without_slug().get("/.well-known/audit-keys.json").await.expect(200).body;
    let judged = AuditVerifier::new(&AuditKeySet::parse(&keys).expect("keys")).verify(&*file).expect("an audit file");
    assert!(judged.is_good(), "{judged:#?}");
}

async fn erasing_the_account_reaches_what_the_source_told(app: &App) {
    let (_, old) = moving(app).await;
    let (file, key) = exported(app, false).await;
    let target = target(app).await;
    known(&target, true).await;
    import(&target, &file, &linking(key)).await.expect("nothing clashes");
    let document = target.auth.operator().export_person(&NILS.parse().expect("an address")).await.expect("the database answers");
    let document = json!(document.as_json());
    assert_eq!(document["formerIds"], json!([{ "org": "movers", "id": old }]));
    assert!(document["entries"].to_string().contains("research"), "he is given what the source told of him: {document:#}");
    target.auth.operator().delete_user(&NILS.parse().expect("an address")).await.expect("he is there");
    expect_erased(&target, &old).await;
}

async fn erasing_reaches_it_after_one_more_move(app: &App) {
    let (_, old) = moving(app).await;
    let (file, key) = exported(app, false).await;
    let there = target(app).await;
    known(&there, true).await;
    import(&there, &file, &linking(key)).await.expect("nothing clashes");
    let token = there.link_token_of(NILS).await;
    at_acme(&there, OTHER).await.at_org("movers").accept_with_account(&token).await.expect(200);
    let (file, key) = exported(&there, true).await;
    // Once he is new there, and once he has an account.
    let (new, linked) = (another(app).await, another(app).await);
    known(&linked, true).await;
    for last in [new, linked] {
        import(&last, &file, &linking(key.clone())).await.expect("nothing clashes");
        last.auth.operator().delete_user(&NILS.parse().expect("an address")).await.expect("he is there");
        expect_erased(&last, &old).await;
    }
}

async fn a_file_claims_nobodys_address_elsewhere(app: &App) {
    const NEXT: &str = "nils.next@movers.example";
    movers(app).await;
    app.advance(3_600);
    let nils = logged_in(app, NILS).await;
    change_address(app, &nils, NEXT).await;
    let (file, key) = exported(app, false).await;
    let target = target(app).await;
    // By the file the address was his for an hour more.
    let admin = target.admin().logged_in().await;
    admin.invite(NILS).await.expect(201);
    known(&target, true).await;
    run_sql(&target, &format!("UPDATE tenant_auth_users SET email = '{NEXT}', email_key = '{NEXT}' WHERE email = '{NILS}'")).await;
    target.advance(7_200);
    import(&target, &file, &linking(key)).await.expect("nothing clashes");
    target.auth.operator().delete_user(&NEXT.parse().expect("an address")).await.expect("he is there");
    let told = target.admin().logged_in().await.get("/org/audit?kind=invite.created").await.expect_ok()["entries"].clone();
    assert_eq!((&told[0]["data"]["invite"]["email"], &told[0]["erased"]), (&json!(NILS), &json!(false)));
}
