//! People who are imported with the password hashes of another system (behaviour.md, B160 and B161).

use serde_json::{Value, json};
use tenant_auth_conformance::{App, PASSWORD, scenarios};
use tenant_auth_core::operator::{ExistingPeople, ImportStep, ImportedUsers, UserImport};

use crate::suite::{
    auth::{email::verify::user, recovery::reset::reset},
    support::{
        account::{NEW, mailed_token},
        authenticator::{Authenticator, STEP, SecondFactor, recovery_codes_in},
        listener::{Listener, kinds},
    },
};

scenarios![
    an_imported_person_logs_in_with_the_password_of_before,
    each_row_is_imported_whole_or_refused_with_its_reason,
    a_second_import_makes_nothing_twice,
    an_imported_membership_has_its_role_and_metadata,
    each_imported_person_is_told_of_and_mailed_nothing,
    an_address_is_verified_only_where_the_file_is_trusted,
    an_invited_person_chooses_a_password,
    whoever_first_proves_an_imported_address_owns_the_account,
    an_import_into_no_organization_is_refused,
    somebody_of_another_organization_is_invited_to_the_rows_role_and_metadata,
    an_account_that_never_proved_its_address_is_not_invited,
    an_imported_second_factor_guards_the_login,
    a_second_factor_comes_with_a_verified_address_only,
];

/// bcrypt with Python, of "correct horse battery".
const HASH: &str = "$2b$06$T5r16lmVmHnQL5XO3.umcuiP83iRsh1pBV/d9TGjwF1MsINiFNNvG";
const TYPED: &str = "correct horse battery";
const QUIET: UserImport = UserImport { trust: false, invite: false, existing: ExistingPeople::Refuse };

async fn import(app: &App, file: &str, import: UserImport) -> (ImportedUsers, Vec<(u64, String)>) {
    import_to(app, "acme", file, import).await
}

async fn import_to(app: &App, slug: &str, file: &str, import: UserImport) -> (ImportedUsers, Vec<(u64, String)>) {
    let mut refused = Vec::new();
    let mut tell = |step: ImportStep<'_>| {
        if let ImportStep::Refused { line, reason, .. } = step {
            refused.push((line, reason.to_owned()));
        }
    };
    let slug = slug.parse().expect("a slug");
    let done = app.auth.operator().import_users(&slug, file.as_bytes(), import, &mut tell).await.expect("it is there");
    (done, refused)
}

/// Imports rows that are all good.
async fn import_all(app: &App, file: &str, how: UserImport) {
    let (done, refused) = import(app, file, how).await;
    assert_eq!((done.refused, refused), (0, Vec::new()));
    assert_eq!(done.imported, file.lines().count() as u64);
}

async fn an_imported_person_logs_in_with_the_password_of_before(app: &App) {
    let email = "nora@acme.example";
    import_all(app, &json!({ "email": email, "name": "Nora", "hash": HASH }).to_string(), QUIET).await;
    let nora = app.anonymous();
    nora.login_with(email, "correct horse batterz").await.expect_error(401, "invalid_credentials");
    app.anonymous().login_with("nobody@acme.example", TYPED).await.expect_error(401, "invalid_credentials");
    // The first login replaces the hash, and the second is judged by ours.
    for _ in 0..2 {
        let data = nora.login_with(email, TYPED).await.expect_ok();
        assert_eq!(data["user"]["name"], "Nora");
        nora.get("/org").await.expect(200);
    }
    nora.change_password(TYPED, NEW).await.expect(200);
    app.anonymous().login_with(email, NEW).await.expect(200);
    app.anonymous().login_with(email, TYPED).await.expect_error(401, "invalid_credentials");
}

async fn each_row_is_imported_whole_or_refused_with_its_reason(app: &App) {
    let file = [
        json!({ "email": "a@acme.example", "name": "A" }).to_string(),
        json!({ "email": "no address", "name": "B" }).to_string(),
        String::new(),
        json!({ "email": "c@acme.example", "name": "C", "hash": "5f4dcc3b5aa765d61d8327deb882cf99" }).to_string(),
        json!({ "email": "d@acme.example", "name": "D", "hash": HASH.replace("$06$", "$15$") }).to_string(),
        json!({ "email": "e@acme.example", "name": "E", "role": "owner" }).to_string(),
        json!({ "email": "f@acme.example", "name": "F", "metadata": [1] }).to_string(),
        json!({ "email": "g@acme.example", "name": "G", "passwordHash": HASH }).to_string(),
        json!({ "email": "h@acme.example" }).to_string(),
        json!({ "email": app.member().email().to_uppercase(), "name": "I" }).to_string(),
        json!({ "email": "A@acme.example", "name": "J" }).to_string(),
        "[1]".to_owned(),
        "{\"email\":".to_owned(),
        json!({ "email": "n@acme.example", "name": "x".repeat(70_000) }).to_string(),
        json!({ "email": "o@acme.example", "name": "O\u{0}" }).to_string(),
        json!({ "email": "p@acme.example", "name": "P", "hash": null }).to_string(),
    ];
    let admin = app.admin().logged_in().await;
    let before = admin.members().await.len();
    let (done, refused) = import(app, &file.join("\n"), QUIET).await;
    assert_eq!((done.imported, done.refused), (2, 13));
    let said: Vec<String> = refused.iter().map(|(line, reason)| format!("{line} {reason}")).collect();
    let begins = [
        "2 email: must be an email address",
        "4 hash: must be a hash of",
        "5 hash: costs more than a login may",
        "6 role: must be one of",
        "7 metadata: must be a JSON object",
        "8 passwordHash: unknown field",
        "9 missing field `name`",
        "10 account_exists: ",
        "11 account_exists: ",
        "12 must be a JSON object",
        "13 must be well-formed JSON",
        "14 has more than 65536 bytes",
        "15 name: must not contain",
    ];
    assert_eq!(said.len(), begins.len(), "{said:#?}");
    for (said, begin) in said.iter().zip(begins) {
        assert!(said.starts_with(begin), "{said}, not {begin}");
    }
    assert_eq!(admin.members().await.len(), before + 2);
}

async fn a_second_import_makes_nothing_twice(app: &App) {
    let row =
        |n: usize| json!({ "email": format!("person-{n}@acme.example"), "name": format!("Person {n}"), "hash": HASH }).to_string();
    let file: Vec<String> = (0..450).map(row).collect();
    let file = file.join("\n");
    import_all(app, &file, QUIET).await;
    let (done, refused) = import(app, &file, QUIET).await;
    assert_eq!((done.imported, done.refused), (0, 450));
    assert!(refused.iter().zip(1..).all(|((line, reason), number)| *line == number && reason.starts_with("account_exists")));
    app.anonymous().login_with("person-449@acme.example", TYPED).await.expect(200);
}

async fn an_imported_membership_has_its_role_and_metadata(app: &App) {
    let metadata = json!({ "team": "research", "big": 12345678901234567890_u64 });
    let rows = [
        json!({ "email": "nora@acme.example", "name": "Nora", "hash": HASH, "role": "org_admin", "metadata": metadata }),
        json!({ "email": "nils@acme.example", "name": "Nils", "hash": HASH }),
    ];
    import_all(app, &rows.map(|row| row.to_string()).join("\n"), QUIET).await;
    let (nora, nils) = (app.anonymous(), app.anonymous());
    nora.login_with("nora@acme.example", TYPED).await.expect(200);
    nils.login_with("nils@acme.example", TYPED).await.expect(200);
    let members = nora.members().await;
    for (email, role, metadata) in [("nora@acme.example", "org_admin", metadata), ("nils@acme.example", "member", json!({}))] {
        let member = members.iter().find(|member| member["email"] == email).expect("a member");
        assert_eq!((&member["role"], &member["metadata"]), (&json!(role), &metadata), "{email}");
    }
    nils.get("/org/invites").await.expect_error(403, "admin_required");
    nora.get("/org/invites").await.expect(200);
}

async fn each_imported_person_is_told_of_and_mailed_nothing(app: &App) {
    let admin = app.admin().logged_in().await;
    let mut listener = Listener::new(app, &admin).await;
    let mails = app.mail_to(admin.email()).await.len();
    let rows = ["nora", "nils"]
        .map(|name| json!({ "email": format!("{name}@acme.example"), "name": name, "role": "org_admin" }).to_string());
    import_all(app, &rows.join("\n"), QUIET).await;
    let events = listener.heard().await;
    assert_eq!(kinds(&events), ["member.joined"; 2]);
    assert!(events.iter().all(|event| event["actor"] == json!({ "type": "system", "id": null })));
    for address in ["nora@acme.example", "nils@acme.example"] {
        assert!(events.iter().any(|event| event["data"]["member"]["email"] == address), "{address}");
        assert_eq!(app.mail_to(address).await.len(), 0, "{address}");
    }
    assert_eq!(app.mail_to(admin.email()).await.len(), mails, "admins neither");
}

async fn an_address_is_verified_only_where_the_file_is_trusted(app: &App) {
    let row = |email: &str| json!({ "email": email, "name": "Nora", "hash": HASH, "emailVerified": true }).to_string();
    import_all(app, &row("nora@acme.example"), QUIET).await;
    import_all(app, &row("nils@acme.example"), UserImport { trust: true, ..QUIET }).await;
    for (email, is_verified) in [("nora@acme.example", false), ("nils@acme.example", true)] {
        let person = app.anonymous();
        person.login_with(email, TYPED).await.expect(200);
        assert_eq!(user(&person).await["isEmailVerified"], is_verified, "{email}");
    }
}

async fn an_invited_person_chooses_a_password(app: &App) {
    let email = "nora@acme.example";
    let row = json!({ "email": email, "name": "Nora" }).to_string();
    import_all(app, &row, UserImport { invite: true, ..QUIET }).await;
    app.anonymous().login_with(email, PASSWORD).await.expect_error(401, "invalid_credentials");
    app.tick().await;
    let link = mailed_token(app, email, "reset").await;
    app.advance(6 * 24 * 3_600);
    reset(&app.anonymous(), &link, NEW).await.expect(200);
    let nora = app.anonymous();
    nora.login_with(email, NEW).await.expect(200);
    assert_eq!(user(&nora).await["isEmailVerified"], true, "the link reached her");
    reset(&app.anonymous(), &link, PASSWORD).await.expect_error(400, "invalid_link");
}

async fn whoever_first_proves_an_imported_address_owns_the_account(app: &App) {
    let email = "nora@acme.example";
    import_all(app, &json!({ "email": email, "name": "Nora", "hash": HASH }).to_string(), QUIET).await;
    let another = app.anonymous();
    another.login_with(email, TYPED).await.expect(200);
    app.anonymous().post("/auth/forgot-password", json!({ "email": email })).await.expect(200);
    let link = mailed_token(app, email, "reset").await;
    reset(&app.anonymous(), &link, NEW).await.expect(200);
    another.get("/org").await.expect_no_session();
    app.anonymous().login_with(email, TYPED).await.expect_error(401, "invalid_credentials");
    app.anonymous().login_with(email, NEW).await.expect(200);
}

async fn an_import_into_no_organization_is_refused(app: &App) {
    let row = json!({ "email": "nora@acme.example", "name": "Nora" }).to_string();
    let slug = "nowhere".parse().expect("a slug");
    let refused = app.auth.operator().import_users(&slug, row.as_bytes(), QUIET, &mut |_| {}).await;
    assert!(matches!(refused, Err(tenant_auth_core::Error::UnknownOrganization)), "{refused:?}");
}

async fn somebody_of_another_organization_is_invited_to_the_rows_role_and_metadata(app: &App) {
    let email = "nora@acme.example";
    let metadata = json!({ "team": "research" });
    let row = |role: &str, metadata: Value| {
        json!({ "email": email, "name": "Nora", "hash": HASH, "role": role, "metadata": metadata, "emailVerified": true })
            .to_string()
    };
    import_all(app, &row("member", json!({})), UserImport { trust: true, ..QUIET }).await;
    let there = row("org_admin", metadata.clone());
    let (done, refused) = import_to(app, "globex", &there, QUIET).await;
    assert_eq!((done.imported, done.invited, done.refused), (0, 0, 1));
    assert!(refused[0].1.starts_with("account_exists: "), "{refused:?}");

    let inviting = UserImport { existing: ExistingPeople::Invite, ..QUIET };
    let (done, refused) = import_to(app, "globex", &there, inviting).await;
    assert_eq!(((done.imported, done.invited, done.refused), refused), ((0, 1, 0), Vec::new()));
    let (done, refused) = import_to(app, "globex", &there, inviting).await;
    assert_eq!((done.invited, done.refused), (0, 1));
    assert!(refused[0].1.starts_with("already_invited: "), "{refused:?}");
    let mails = app.mail_to(email).await;
    assert_eq!(mails.len(), 1, "one invite, and no mail of a row that was refused");

    let token = app.link_token_of(email).await;
    let nora = app.anonymous();
    nora.login_with(email, TYPED).await.expect(200);
    let nora = nora.at_org("globex");
    nora.accept_with_account(&token).await.expect(200);
    nora.login_with(email, TYPED).await.expect(200);
    let members = nora.members().await;
    let member = members.iter().find(|member| member["email"] == email).expect("a member");
    assert_eq!((&member["role"], &member["metadata"]), (&json!("org_admin"), &metadata));
    for (how, word) in [(QUIET, "account_exists: "), (inviting, "already_member: ")] {
        let (done, refused) = import_to(app, "globex", &there, how).await;
        assert_eq!((done.invited, done.refused), (0, 1));
        assert!(refused[0].1.starts_with(word), "{refused:?}");
    }
}

async fn an_account_that_never_proved_its_address_is_not_invited(app: &App) {
    let row = json!({ "email": "nora@acme.example", "name": "Nora", "hash": HASH }).to_string();
    import_all(app, &row, QUIET).await;
    let (done, refused) = import_to(app, "globex", &row, UserImport { existing: ExistingPeople::Invite, ..QUIET }).await;
    assert_eq!((done.invited, done.refused), (0, 1));
    assert!(refused[0].1.starts_with("account_exists: ") && refused[0].1.contains("never proved"), "{refused:?}");
    assert_eq!(app.mail_to("nora@acme.example").await.len(), 0);
}

const SECRET: &str = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP";

async fn an_imported_second_factor_guards_the_login(app: &App) {
    let email = "nora@acme.example";
    let row = json!({ "email": email, "name": "Nora", "hash": HASH, "emailVerified": true, "totpSecret": SECRET });
    import_all(app, &row.to_string(), UserImport { trust: true, ..QUIET }).await;
    let authenticator = Authenticator::new(&json!(SECRET));
    let guess = app.anonymous();
    assert_eq!(guess.login_with(email, TYPED).await.expect_ok(), json!({ "requires2FA": true }));
    guess.enter(&authenticator.wrong_code(app)).await.expect_error(401, "second_factor_failed");
    let nora = app.anonymous();
    nora.login_with(email, TYPED).await.expect(200);
    // It may have been used at the other system.
    nora.enter(&authenticator.code(app)).await.expect_error(401, "second_factor_failed");
    app.advance(STEP);
    nora.enter(&authenticator.code(app)).await.expect(200);
    let status = nora.status().await;
    assert_eq!((&status["enabled"], &status["recoveryCodesRemaining"]), (&json!(true), &json!(0)));
    app.advance(STEP);
    let renewed = nora.renew_codes(TYPED, &authenticator.code(app)).await.expect_ok();
    assert_eq!(recovery_codes_in(&renewed).len(), 10);
}

async fn a_second_factor_comes_with_a_verified_address_only(app: &App) {
    let row = |verified: bool, secret: &str| {
        json!({ "email": "nora@acme.example", "name": "Nora", "emailVerified": verified, "totpSecret": secret }).to_string()
    };
    let trusting = UserImport { trust: true, ..QUIET };
    for (row, how, begin) in [
        (row(true, SECRET), QUIET, "totpSecret: needs emailVerified true"),
        (row(false, SECRET), trusting, "totpSecret: needs emailVerified true"),
        (row(true, "JBSWY3DPEHPK3PXP"), trusting, "totpSecret: must be an authenticator's secret"),
        (row(true, "not base 32, at all!"), trusting, "totpSecret: must be an authenticator's secret"),
    ] {
        let (done, refused) = import(app, &row, how).await;
        assert_eq!((done.imported, done.refused), (0, 1), "{begin}");
        assert!(refused[0].1.starts_with(begin) && !refused[0].1.contains("JBSW"), "{refused:?}");
    }
}
