//! The file of an organization that its people may be given (behaviour.md, B162).

use serde_json::{Value, json};
use tenant_auth_conformance::{App, PASSWORD, scenarios};
use tenant_auth_core::{
    Error,
    operator::{ExportError, ExportStep, UserImport},
};
use tokio::io::AsyncReadExt;

use crate::suite::{
    admin::moves::exported_of,
    support::{
        account::guard,
        hooks::Hook,
        listener::{Listener, data_of},
    },
};

scenarios![
    an_export_holds_the_organization_and_no_other,
    an_export_holds_nothing_that_opens_anything,
    an_export_is_of_one_moment,
    an_export_of_many_goes_page_by_page,
    an_export_is_told_of,
    no_organization_has_no_export,
];

async fn export(app: &App) -> Vec<Value> {
    let (file, steps) = exported(app).await;
    assert!(steps.iter().all(|step| step.members <= step.of));
    let records: Vec<Value> = file.lines().map(|line| serde_json::from_str(line).expect("a record")).collect();
    assert!(file.ends_with('\n'), "the last line is whole");
    records
}

async fn exported(app: &App) -> (String, Vec<ExportStep>) {
    let (mut file, mut steps) = (Vec::new(), Vec::new());
    let slug = "acme".parse().expect("a slug");
    let done = app.auth.operator().export_portable(&slug, &mut file, &mut |step| steps.push(step)).await.expect("acme is there");
    let file = String::from_utf8(file).expect("UTF-8");
    let members = file.lines().filter(|line| line.starts_with("{\"member\"")).count() as u64;
    assert_eq!(done.members, members);
    (file, steps)
}

/// The records of a kind, without their name.
fn of_kind<'a>(records: &'a [Value], kind: &str) -> Vec<&'a Value> {
    records.iter().filter_map(|record| record.get(kind)).collect()
}

async fn an_export_holds_the_organization_and_no_other(app: &App) {
    let admin = app.admin().logged_in().await;
    admin.invite("nora@acme.example").await.expect(201);
    admin.created_key(json!({ "name": "Backend" })).await;
    Hook::new(&admin, "https://hooks.example.com/acme", &["member.*"]).await;
    app.other_org().admin().logged_in().await.invite("nils@globex.example").await.expect(201);
    let metadata = json!({ "team": "research" });
    let path = format!("/org/members/{}", app.member().id());
    admin.patch(&path, json!({ "metadata": metadata })).await.expect(200);
    let records = export(app).await;
    assert_eq!(records[0]["head"]["format"], "tenant-auth-organization/1");
    assert_eq!(records[1]["organization"]["slug"], "acme");
    let members = of_kind(&records, "member");
    let max = members.iter().find(|member| member["user"]["email"] == app.member().email()).expect("Max");
    assert_eq!((&max["user"]["id"], &max["membership"]["metadata"]), (&json!(app.member().id()), &metadata));
    assert_eq!(of_kind(&records, "invite")[0]["email"], "nora@acme.example");
    assert!(of_kind(&records, "apiKey").iter().any(|key| key["name"] == "Backend"));
    assert_eq!(of_kind(&records, "webhook")[0]["url"], "https://hooks.example.com/acme");
    let count = |kind| of_kind(&records, kind).len();
    let end = json!({
        "members": count("member"), "invites": count("invite"), "apiKeys": count("apiKey"), "webhooks": count("webhook"),
        "entries": count("entry"),
    });
    assert_eq!(records.last().expect("an end")["end"], end);
    let text = json!(records).to_string();
    assert!(!text.contains("globex"), "the neighbour's");
}

async fn an_export_holds_nothing_that_opens_anything(app: &App) {
    let admin = app.admin().logged_in().await;
    let member = app.member().logged_in().await;
    let guarded = guard(app, &member).await;
    let token = app.invited(&admin, "nora@acme.example").await;
    let (_, key) = admin.created_key(json!({ "name": "Backend" })).await;
    let hook = Hook::new(&admin, "https://hooks.example.com/acme", &["*"]).await;
    let (file, _) = exported(app).await;
    let mut secrets = vec![PASSWORD.to_owned(), token, key, hook.secret.clone(), guarded.secret.clone(), member.access_token()];
    secrets.extend(guarded.recovery_codes.clone());
    for secret in secrets {
        assert!(!file.contains(&secret), "{secret}");
    }
    for mark in ["$argon2", "\"password", "\"digest\"", "secret", "whs_", "probe", "token"] {
        assert!(!file.contains(mark), "{mark}");
    }
}

async fn an_export_is_of_one_moment(app: &App) {
    let operator = app.auth.operator();
    let (sink, mut file) = tokio::io::duplex(64);
    let slug = "acme".parse().expect("a slug");
    let exporting = tokio::spawn(async move { operator.export_portable(&slug, sink, &mut |_| {}).await });
    let mut text = vec![0; 40];
    file.read_exact(&mut text).await.expect("it has begun");
    // The export waits for its reader, and nobody waits for the export.
    app.org().new_member("Nora").await;
    app.member().logged_in().await.put("/auth/profile", json!({ "name": "Maximilian" })).await.expect(200);
    file.read_to_end(&mut text).await.expect("it goes on");
    let done = exporting.await.expect("it ends").expect("it succeeds");
    let text = String::from_utf8(text).expect("UTF-8");
    assert!(!text.contains("Nora") && !text.contains("Maximilian"), "{text}");
    let records = export(app).await;
    assert_eq!(of_kind(&records, "member").len() as u64, done.members + 1);
    assert!(json!(records).to_string().contains("Maximilian"));
}

async fn an_export_of_many_goes_page_by_page(app: &App) {
    let before = export(app).await;
    let rows: Vec<String> =
        (0..1_100).map(|n| json!({ "email": format!("p{n}@acme.example"), "name": format!("P {n}") }).to_string()).collect();
    let slug = "acme".parse().expect("a slug");
    let import = UserImport::default();
    app.auth.operator().import_users(&slug, rows.join("\n").as_bytes(), import, &mut |_| {}).await.expect("they are new");
    let (file, steps) = exported(app).await;
    let whole = of_kind(&before, "member").len() as u64 + 1_100;
    assert_eq!(steps.len(), 3);
    assert_eq!(steps.last().map(|step| (step.members, step.of)), Some((whole, whole)));
    for n in [0, 499, 500, 501, 999, 1_000, 1_099] {
        assert_eq!(file.matches(&format!("\"email\":\"p{n}@acme.example\",\"isEmailVerified\"")).count(), 1, "{n}");
    }
}

async fn an_export_is_told_of(app: &App) {
    let admin = app.admin().logged_in().await;
    let mut listener = Listener::new(app, &admin).await;
    let records = export(app).await;
    let events = listener.heard().await;
    let members = of_kind(&records, "member").len();
    let told = json!({ "members": members, "isPortable": true, "credentials": "none" });
    assert_eq!(data_of(&events, "org.exported"), told);
    assert_eq!(events[0]["actor"], json!({ "type": "system", "id": null }));
    for (all_credentials, credentials) in [(false, "own"), (true, "all")] {
        exported_of(app, "acme", all_credentials).await;
        let (_, data) = listener.only("org.exported").await;
        assert_eq!((&data["isPortable"], &data["credentials"]), (&json!(false), &json!(credentials)));
    }
}

async fn no_organization_has_no_export(app: &App) {
    let slug = "nowhere".parse().expect("a slug");
    let mut file = Vec::new();
    let refused = app.auth.operator().export_portable(&slug, &mut file, &mut |_| {}).await;
    assert!(matches!(refused, Err(ExportError::Service(Error::UnknownOrganization))), "{refused:?}");
    assert_eq!(file, b"");
}
