//! What a day of account safety leaves behind (behaviour.md, B118): second factors, resets, changes of address and keys, and
//! not one of their secrets in a dump of the database or in the log at its most talkative.

use base64::{Engine, engine::general_purpose::STANDARD};
use memchr::memmem;
use serde_json::json;
use sqlx::{AssertSqlSafe, Connection, PgConnection, Row};
use tenant_auth_conformance::{App, Caller, PASSWORD, logs, scenarios};

use crate::suite::support::{
    account::{NEW, guard, login_with_code, mailed_token},
    authenticator::{SecondFactor, recovery_codes_in},
    stored::forget_proof,
};

scenarios![on each database:
    a_full_day_leaves_no_secret_behind,
    what_waits_to_be_sent_is_sealed,
];

/// Everything stored, as bytes: the files of SQLite, or every row of every table of PostgreSQL as text.
async fn dump(app: &App) -> Vec<u8> {
    let Some(url) = app.database().url() else {
        let files = app.database().files();
        return files.iter().flat_map(|file| std::fs::read(file).expect("readable")).collect();
    };
    let mut connection = PgConnection::connect(&url).await.expect("it answers");
    let tables = sqlx::query("SELECT tablename::text FROM pg_tables WHERE schemaname = 'public'");
    let tables = tables.fetch_all(&mut connection).await.expect("tables");
    let mut dump = Vec::new();
    for table in tables.iter().map(|row| row.get::<String, _>(0)) {
        let rows = sqlx::query(AssertSqlSafe(format!("SELECT t::text FROM {table} t")));
        let rows = rows.fetch_all(&mut connection).await.expect("rows");
        rows.iter().for_each(|row| dump.extend_from_slice(row.get::<String, _>(0).as_bytes()));
    }
    dump
}

fn contains(haystack: &[u8], needle: &str) -> bool {
    !found(haystack, &[needle.to_owned()]).is_empty()
}

/// Which of these stand in the haystack.
fn found<'a>(haystack: &[u8], needles: &'a [String]) -> Vec<&'a str> {
    needles.iter().map(String::as_str).filter(|needle| memmem::find(haystack, needle.as_bytes()).is_some()).collect()
}

/// A secret as it could stand somewhere: whole, a part that is a secret by itself, or spelled otherwise.
fn spellings(secret: &str) -> Vec<String> {
    let bare: String = secret.chars().filter(|c| c.is_ascii_alphanumeric()).collect();
    let (signature, random) = (secret.rsplit('.').next(), secret.rsplit('_').next());
    let mut spellings = vec![secret.to_owned(), STANDARD.encode(secret), secret.to_uppercase(), secret.to_lowercase(), bare];
    spellings.extend([signature, random].into_iter().flatten().map(str::to_owned));
    spellings.retain(|spelling| spelling.len() >= 18);
    assert!(!spellings.is_empty(), "too short to be looked for: {secret}");
    spellings
}

fn tokens(caller: &Caller) -> [String; 2] {
    [caller.access_token(), caller.refresh_token()]
}

async fn a_full_day_leaves_no_secret_behind(app: &App) {
    let mut secrets = vec![PASSWORD.to_owned(), NEW.to_owned(), "not-the-password-97".to_owned()];
    let (admin, member) = (app.admin().logged_in().await, app.member().logged_in().await);
    secrets.extend(tokens(&admin));
    secrets.extend(tokens(&member));
    app.anonymous().login_with(member.email(), "not-the-password-97").await.expect(401);

    let guarded = guard(app, &member).await;
    secrets.push(guarded.secret.clone());
    secrets.extend(guarded.recovery_codes.clone());
    let device = app.member().waiting().await;
    secrets.push(device.partial_token());
    device.enter(&guarded.fresh_code(app)).await.expect(200);
    secrets.extend(tokens(&device));
    let renewed = recovery_codes_in(&device.renew_codes(PASSWORD, &guarded.recovery_codes[0]).await.expect_ok());
    secrets.extend(renewed.clone());

    forget_proof(app, member.id()).await;
    device.post_nothing("/auth/verify-email/send").await.expect(200);
    let verify = mailed_token(app, member.email(), "verify").await;
    device.post("/auth/verify-email", json!({ "token": verify })).await.expect(200);
    let change = json!({ "newEmail": "next@acme.example", "password": PASSWORD, "code": renewed[0] });
    device.post("/auth/change-email", change).await.expect(200);
    let confirm = mailed_token(app, "next@acme.example", "change-email").await;
    device.post("/auth/change-email/confirm", json!({ "token": confirm })).await.expect(200);
    let mut resets = Vec::new();
    for _ in 0..2 {
        app.anonymous().post("/auth/forgot-password", json!({ "email": "next@acme.example" })).await.expect(200);
        resets.push(mailed_token(app, "next@acme.example", "reset").await);
    }
    let reset = json!({ "token": resets[0], "newPassword": NEW });
    app.anonymous().post("/auth/reset-password", reset).await.expect(200);
    secrets.extend([verify, confirm]);
    secrets.extend(resets);

    let mut person = member.person().clone();
    "next@acme.example".clone_into(&mut person.email);
    let again = app.org().device_of(&person);
    login_with_code(&again, NEW, &renewed[1]).await;
    secrets.extend(tokens(&again));
    let (shown, key) = admin.created_key(json!({ "name": "Robot" })).await;
    let rotated = admin.post_nothing(&format!("/org/api-keys/{}/rotate", shown["id"].as_str().expect("an id"))).await;
    let rotated = rotated.expect(201).data()["key"].as_str().expect("a key").to_owned();
    assert!(app.key_works(&key).await && app.key_works(&rotated).await);
    secrets.extend([key, rotated]);
    app.auth.operator().rotate_keys(false).await.expect("they can be rotated");
    admin.invite("waiting@acme.example").await.expect(201);

    let dump = dump(app).await;
    assert!(contains(&dump, "next@acme.example") && contains(&dump, "$argon2id$"), "the dump shows what is stored");
    let spellings: Vec<String> = secrets.iter().flat_map(|secret| spellings(secret)).collect();
    assert_eq!(found(&dump, &spellings), [""; 0], "stored");
    let spellings: Vec<&str> = spellings.iter().map(String::as_str).collect();
    assert_eq!(logs::mentioned(&spellings), [""; 0], "logged");
    assert!(logs::mention("/auth/reset-password"), "the log names routes");
}

async fn what_waits_to_be_sent_is_sealed(app: &App) {
    let member = app.member().logged_in().await;
    forget_proof(app, member.id()).await;
    member.post_nothing("/auth/verify-email/send").await.expect(200);
    let change = json!({ "newEmail": "next@acme.example", "password": PASSWORD });
    member.post("/auth/change-email", change).await.expect(200);
    let before = dump(app).await;
    for page in ["verify#org", "change-email#org", "Verify your email", "Confirm your new"] {
        assert!(!contains(&before, page), "{page}");
    }
    assert_eq!(app.mail_to("next@acme.example").await.len(), 1);
    let after = dump(app).await;
    assert!(!contains(&after, "change-email#org"), "nor afterwards");
}
