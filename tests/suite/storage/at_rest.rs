//! What lies in the database and in the log (behaviour.md, B118): nothing that opens a door. Every credential a busy day
//! produces is looked for in everything that is stored and said.

use memchr::memmem;
use serde_json::json;
use sqlx::{AssertSqlSafe, Connection, PgConnection, Row};
use tenant_auth_conformance::{App, PASSWORD, logs, scenarios};
use tenant_auth_core::{model::DeploymentScope, operator::NewDeploymentKey};

use crate::suite::support::hooks::{Hook, RECEIVER};

scenarios![on each database:
    neither_a_dump_nor_the_log_contains_a_usable_credential,
    a_sent_mails_content_is_wiped,
];

/// Everything stored, as bytes: the files of SQLite, or every row of every table of PostgreSQL as text.
async fn dump(app: &App) -> Vec<u8> {
    let Some(url) = app.database().url() else {
        let files = app.database().files();
        return files.iter().flat_map(|file| std::fs::read(file).expect("readable")).collect();
    };
    let mut connection = PgConnection::connect(&url).await.expect("it answers");
    let tables = sqlx::query("SELECT tablename::text FROM pg_tables WHERE schemaname = 'public'")
        .fetch_all(&mut connection)
        .await
        .expect("tables");
    let mut dump = Vec::new();
    for table in tables {
        let table: String = table.get(0);
        let rows =
            sqlx::query(AssertSqlSafe(format!("SELECT t::text FROM {table} t"))).fetch_all(&mut connection).await.expect("rows");
        rows.iter().for_each(|row| dump.extend_from_slice(row.get::<String, _>(0).as_bytes()));
    }
    dump
}

fn contains(haystack: &[u8], needle: &str) -> bool {
    memmem::find(haystack, needle.as_bytes()).is_some()
}

async fn neither_a_dump_nor_the_log_contains_a_usable_credential(app: &App) {
    let (admin, member) = (app.admin().logged_in().await, app.member().logged_in().await);
    let mut secrets = vec![admin.access_token(), admin.refresh_token(), app.org().api_key().to_owned(), PASSWORD.to_owned()];
    admin.refresh().await.expect(200);
    secrets.extend([admin.access_token(), admin.refresh_token()]);
    secrets.push(app.invited(&admin, "nora@acme.example").await);
    let hook = Hook::new(&admin, RECEIVER, &["*"]).await;
    for secret in [hook.secret.clone(), hook.rotated(&admin, 3_600).await] {
        secrets.extend([secret["whs_".len()..].to_owned(), secret]);
    }
    hook.test(&admin).await;
    app.tick().await;
    assert_eq!(hook.sent(app).len(), 1, "signed with both, and logged");
    admin.invite("waiting@acme.example").await.expect(201);
    let key = admin.create_key("Back end").await.expect(201).data()["key"].as_str().expect("a key").to_owned();
    secrets.push(key["pk_live_".len() + 8..].to_owned());
    let (name, scopes) = ("The product".parse().expect("a name"), vec![DeploymentScope::Verify]);
    let new = NewDeploymentKey { name, scopes, networks: Vec::new(), expires_at: None };
    let key = app.auth.operator().create_deployment_key(new).await.expect("a key").key;
    secrets.push(key.expose()["dk_live_".len() + 8..].to_owned());
    member.change_password(PASSWORD, "velvet-anchor-93-comet").await.expect(200);
    secrets.push("velvet-anchor-93-comet".to_owned());
    let dump = dump(app).await;
    assert!(contains(&dump, "acme.example"), "the dump shows what is stored");
    assert!(contains(&dump, "$argon2id$"), "passwords as Argon2id");
    for secret in secrets {
        let (signature, whole) = (secret.rsplit('.').next().unwrap_or_default(), secret.as_str());
        assert!(!contains(&dump, whole), "{whole}");
        assert!(!contains(&dump, signature), "{signature}");
        assert!(!logs::mention(whole) && !logs::mention(signature), "logged: {signature}");
    }
    assert!(!contains(&dump, "#org=acme"), "the links of waiting mails are sealed");
    assert!(logs::mention("/org/members/invite"), "the log names routes");
    assert!(!logs::mention("waiting@acme.example"), "and no body");
}

async fn a_sent_mails_content_is_wiped(app: &App) {
    let admin = app.admin().logged_in().await;
    admin.patch("/org", json!({ "name": "Quixotic Zeppelins" })).await.expect(200);
    app.invited(&admin, "nora@acme.example").await;
    admin.patch("/org", json!({ "name": "Acme" })).await.expect(200);
    let dump = dump(app).await;
    assert!(!contains(&dump, "Join Quixotic") && !contains(&dump, "invite#org"), "no mail in the clear");
}
