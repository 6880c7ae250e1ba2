//! An organization that moves to another deployment, in a sealed file (behaviour.md, B168 and B169).

use std::sync::Arc;

use serde_json::json;
use tenant_auth_conformance::{App, Caller, Cell, Database, Engine, PASSWORD, Setup, scenarios};
use tenant_auth_core::{
    model::{Role, Status},
    operator::{
        FileError, FileKey, ImportedOrganization, NewOrganization, NewUser, OrganizationImport, OrganizationImportError,
        SealedExport,
    },
    ports::OsEntropy,
    secret::{Password, Pepper},
};

use crate::suite::support::{
    authenticator::{Authenticator, SecondFactor},
    hooks::Hook,
};

scenarios![on each database:
    an_organization_goes_on_at_another_deployment,
    what_clashes_is_listed_and_nothing_is_imported,
    a_dry_run_writes_nothing,
    only_an_operator_who_trusts_the_source_believes_it,
    people_of_other_organizations_leave_their_credentials_here,
    passwords_of_another_pepper_are_left_to_reset_links,
    a_pepper_of_the_source_may_stand_behind_the_targets,
    a_file_that_was_changed_or_has_another_key_is_refused,
];

pub(super) const NORA: &str = "nora@movers.example";
pub(super) const NILS: &str = "nils@movers.example";

/// Another deployment, on the other engine where this one is PostgreSQL's.
pub(super) async fn target(app: &App) -> App {
    target_with(app, |_| {}).await
}

pub(super) async fn target_with(app: &App, change: impl FnOnce(&mut Setup)) -> App {
    let mut setup = Setup::new();
    change(&mut setup);
    App::start(Cell { engine: Engine::Sqlite, ..app.cell }, setup, Arc::new(Database::create(Engine::Sqlite))).await
}

async fn create(app: &App, slug: &str, email: &str, role: Role) {
    let new = NewUser {
        email: email.parse().expect("an address"),
        name: email.split('@').next().expect("a name").parse().expect("a name"),
        role,
        password: Password::new(PASSWORD),
    };
    app.auth.operator().create_user(&slug.parse().expect("a slug"), new).await.expect("they are new");
}

/// The organization that moves: Nora, who administers it, and Nils.
pub(super) async fn movers(app: &App) {
    let new = NewOrganization::new(
        "Movers".parse().expect("a name"),
        "movers".parse().expect("a slug"),
        "chief@movers.example".parse().expect("an address"),
    );
    app.auth.operator().create_organization(new).await.expect("it is new");
    create(app, "movers", NORA, Role::OrgAdmin).await;
    create(app, "movers", NILS, Role::Member).await;
}

/// Somebody of this address has an account already.
pub(super) async fn known(app: &App, email: &str) {
    create(app, "acme", email, Role::Member).await;
}

pub(super) fn at(app: &App) -> Caller {
    app.anonymous().at_org("movers")
}

pub(super) async fn logged_in(app: &App, email: &str) -> Caller {
    let caller = at(app);
    caller.login_with(email, PASSWORD).await.expect(200);
    caller
}

pub(super) async fn exported(app: &App, all_credentials: bool) -> (Vec<u8>, FileKey) {
    exported_of(app, "movers", all_credentials).await
}

pub(super) async fn exported_of(app: &App, slug: &str, all_credentials: bool) -> (Vec<u8>, FileKey) {
    let (mut file, key) = (Vec::new(), FileKey::generate(&OsEntropy));
    let how = SealedExport { key: key.clone(), all_credentials, close: false };
    app.auth
        .operator()
        .export_organization(&slug.parse().expect("a slug"), &mut file, &how, &mut |_| {})
        .await
        .expect("it is there");
    (file, key)
}

pub(super) async fn import(
    app: &App,
    file: &[u8],
    how: &OrganizationImport,
) -> Result<ImportedOrganization, OrganizationImportError> {
    app.auth.operator().import_organization(file, how, &mut |_| {}).await
}

pub(super) fn reasons(outcome: Result<ImportedOrganization, OrganizationImportError>) -> Vec<String> {
    match outcome {
        Err(OrganizationImportError::Refused(reasons)) => reasons,
        other => panic!("it should be refused: {other:?}"),
    }
}

pub(super) async fn is_there(app: &App) -> bool {
    app.auth.operator().organizations().await.expect("they can be listed").iter().any(|org| org.slug.as_str() == "movers")
}

async fn an_organization_goes_on_at_another_deployment(app: &App) {
    movers(app).await;
    let nora = logged_in(app, NORA).await;
    let nils = logged_in(app, NILS).await;
    let nils_id = nils.get("/auth/profile").await.expect_ok()["user"]["id"].as_str().expect("an id").to_owned();
    let metadata = json!({ "team": "research" });
    nora.patch(&format!("/org/members/{nils_id}"), json!({ "metadata": metadata })).await.expect(200);
    let (_, key) = nora.created_key(json!({ "name": "Backend" })).await;
    let hook = Hook::new(&nora, "https://hooks.example.com/movers", &["*"]).await;
    let setup = nils.set_up(PASSWORD).await.expect_ok();
    let authenticator = Authenticator::new(&setup["secret"]);
    nils.enable(&authenticator.code(app)).await.expect(200);
    app.auth.operator().set_organization_status(&"movers".parse().expect("a slug"), Status::Suspended).await.expect("it is there");
    let (file, file_key) = exported(app, false).await;

    let target = target(app).await;
    let done = import(&target, &file, &OrganizationImport::new(file_key)).await.expect("nothing clashes");
    assert_eq!((done.members, done.api_keys, done.webhooks, done.without_password, done.source_lives), (2, 1, 1, 0, false));
    assert!(done.entries > 5, "{done:?}");
    at(&target).login_with(NORA, PASSWORD).await.expect_error(403, "suspended");
    let slug = "movers".parse().expect("a slug");
    target.auth.operator().set_organization_status(&slug, Status::Active).await.expect("it is there");

    let nora = logged_in(&target, NORA).await;
    let members = nora.members().await;
    let moved = members.iter().find(|member| member["email"] == NILS).expect("Nils");
    assert_eq!((&moved["userId"], &moved["metadata"]), (&json!(nils_id), &metadata));
    let webhooks = nora.get("/org/webhooks").await.expect_ok()["webhooks"].clone();
    assert_eq!((&webhooks[0]["id"], &webhooks[0]["status"]), (&json!(hook.id), &json!("disabled")));
    at(&target).with("X-API-Key", &key).get("/public/members").await.expect(200);
    // The code that was used at the source is good nowhere, and the authenticator is the same.
    let device = at(&target);
    assert_eq!(device.login_with(NILS, PASSWORD).await.expect_ok()["requires2FA"], true);
    device.enter(&authenticator.code(&target)).await.expect_error(401, "second_factor_failed");
    target.advance(60);
    let device = at(&target);
    device.login_with(NILS, PASSWORD).await.expect(200);
    device.enter(&authenticator.code(&target)).await.expect(200);
    target.tick().await;
    assert_eq!(target.mail_to("chief@movers.example").await.len(), 1, "the pending invite comes anew");
    nils.get("/org").await.expect_error(403, "suspended");
}

async fn what_clashes_is_listed_and_nothing_is_imported(app: &App) {
    movers(app).await;
    let (file, key) = exported(app, false).await;
    let same = reasons(import(app, &file, &OrganizationImport::new(key.clone())).await);
    assert_eq!(same, ["organization: it is here already"]);
    let target = target(app).await;
    for email in [NORA, NILS] {
        known(&target, email).await;
    }
    let clashes = reasons(import(&target, &file, &OrganizationImport::new(key.clone())).await);
    assert_eq!(clashes.len(), 2, "{clashes:?}");
    for email in [NORA, NILS] {
        assert!(clashes.contains(&format!("member {email}: the address has an account here")), "{clashes:?}");
    }
    assert!(!is_there(&target).await, "all or nothing");
    let new = NewOrganization::new(
        "Others".parse().expect("a name"),
        "movers".parse().expect("a slug"),
        NORA.parse().expect("an address"),
    );
    target.auth.operator().create_organization(new).await.expect("there is none of that slug");
    let how = OrganizationImport { dry_run: true, ..OrganizationImport::new(key) };
    let clashes = reasons(import(&target, &file, &how).await);
    assert_eq!(clashes.len(), 3, "{clashes:?}");
    assert!(clashes[0].starts_with("organization: its slug is taken here"), "{clashes:?}");
}

async fn a_dry_run_writes_nothing(app: &App) {
    movers(app).await;
    let (file, key) = exported(app, false).await;
    let target = target(app).await;
    let how = OrganizationImport { dry_run: true, ..OrganizationImport::new(key.clone()) };
    assert_eq!(import(&target, &file, &how).await.expect("nothing clashes").members, 2);
    assert!(!is_there(&target).await);
    target.tick().await;
    assert_eq!(target.mail_to("chief@movers.example").await.len(), 0);
    import(&target, &file, &OrganizationImport::new(key)).await.expect("nothing clashes still");
    assert!(is_there(&target).await);
}

async fn only_an_operator_who_trusts_the_source_believes_it(app: &App) {
    movers(app).await;
    let nora = logged_in(app, NORA).await;
    app.anonymous().at_org("movers").post("/auth/forgot-password", json!({ "email": NORA })).await.expect(200);
    drop(nora);
    app.tick().await;
    let link = app.link_token_of(NORA).await;
    at(app).post("/auth/reset-password", json!({ "token": link, "newPassword": PASSWORD })).await.expect(200);
    let (file, key) = exported(app, false).await;
    for trust in [false, true] {
        let target = target(app).await;
        import(&target, &file, &OrganizationImport { trust, ..OrganizationImport::new(key.clone()) })
            .await
            .expect("nothing clashes");
        let nora = logged_in(&target, NORA).await;
        assert_eq!(nora.get("/auth/profile").await.expect_ok()["user"]["isEmailVerified"], trust);
    }
}

async fn people_of_other_organizations_leave_their_credentials_here(app: &App) {
    movers(app).await;
    let nora = logged_in(app, NORA).await;
    nora.invite(app.member().email()).await.expect(201);
    app.tick().await;
    let token = app.link_token_of(app.member().email()).await;
    app.member().at_org("movers").accept_with_account(&token).await.expect(200);
    for (all_credentials, without) in [(false, 1), (true, 0)] {
        let (file, key) = exported(app, all_credentials).await;
        let target = target(app).await;
        // Somebody of this address and id is there from the start: out of the way, but for the log.
        let address = app.member().email().parse().expect("an address");
        target.auth.operator().delete_user(&address).await.expect("they are there");
        let how = OrganizationImport { trust: true, ..OrganizationImport::new(key) };
        let done = import(&target, &file, &how).await.expect("nothing clashes");
        assert_eq!(done.without_password, without, "{all_credentials}");
        let login = at(&target).login_with(app.member().email(), PASSWORD).await;
        assert_eq!(login.status, if all_credentials { 200 } else { 401 });
    }
}

async fn passwords_of_another_pepper_are_left_to_reset_links(app: &App) {
    movers(app).await;
    let (file, key) = exported(app, false).await;
    let peppered = target_with(app, |setup| setup.config.passwords.pepper = Some(Pepper::new("a pepper of the target"))).await;
    let refused = reasons(import(&peppered, &file, &OrganizationImport::new(key.clone())).await);
    assert!(refused[0].contains("pepper"), "{refused:?}");
    assert!(!is_there(&peppered).await);
    let how = OrganizationImport { reset_passwords: true, ..OrganizationImport::new(key) };
    assert_eq!(import(&peppered, &file, &how).await.expect("nothing clashes").without_password, 2);
    at(&peppered).login_with(NORA, PASSWORD).await.expect_error(401, "invalid_credentials");
    at(&peppered).post("/auth/forgot-password", json!({ "email": NORA })).await.expect(200);
    peppered.tick().await;
    let link = peppered.link_token_of(NORA).await;
    at(&peppered).post("/auth/reset-password", json!({ "token": link, "newPassword": PASSWORD })).await.expect(200);
    logged_in(&peppered, NORA).await;
}

async fn a_pepper_of_the_source_may_stand_behind_the_targets(app: &App) {
    movers(app).await;
    let (file, key) = exported(app, false).await;
    let peppered = |former: Vec<Pepper>| {
        target_with(app, |setup| {
            setup.config.passwords.pepper = Some(Pepper::new("a pepper of the target"));
            setup.config.passwords.former_peppers = former;
        })
    };
    // The source has none.
    let both = peppered(vec![Pepper::new("")]).await;
    assert_eq!(import(&both, &file, &OrganizationImport::new(key)).await.expect("nothing clashes").without_password, 0);
    logged_in(&both, NORA).await;
    at(&both).login_with(NORA, "not-her-otter-42").await.expect_error(401, "invalid_credentials");
    // Hers is hashed anew by now, his is not: whoever takes both over needs both peppers.
    let (file, key) = exported(&both, false).await;
    let own = peppered(Vec::new()).await;
    let refused = reasons(import(&own, &file, &OrganizationImport::new(key.clone())).await);
    assert!(refused[0].contains("pepper number 2"), "{refused:?}");
    let how = OrganizationImport { reset_passwords: true, ..OrganizationImport::new(key.clone()) };
    assert!(import(&own, &file, &how).await.expect("nothing clashes").lacks_pepper);
    logged_in(&own, NORA).await;
    at(&own).login_with(NILS, PASSWORD).await.expect_error(401, "invalid_credentials");
    let again = peppered(vec![Pepper::new("")]).await;
    import(&again, &file, &OrganizationImport::new(key)).await.expect("nothing clashes");
    for email in [NORA, NILS] {
        logged_in(&again, email).await;
    }
}

async fn a_file_that_was_changed_or_has_another_key_is_refused(app: &App) {
    movers(app).await;
    let (file, key) = exported(app, false).await;
    let target = target(app).await;
    let how = OrganizationImport::new(key);
    let other = OrganizationImport::new(FileKey::generate(&OsEntropy));
    assert!(matches!(import(&target, &file, &other).await, Err(OrganizationImportError::File(FileError::WrongKey))));
    for at in [0, 10, 30, file.len() / 2, file.len() - 1] {
        let mut changed = file.clone();
        changed[at] ^= 1;
        assert!(matches!(import(&target, &changed, &how).await, Err(OrganizationImportError::File(_))), "byte {at}");
        assert!(matches!(import(&target, &file[..at], &how).await, Err(OrganizationImportError::File(_))), "cut at {at}");
    }
    assert!(!is_there(&target).await);
    import(&target, &file, &how).await.expect("it is whole");
}
