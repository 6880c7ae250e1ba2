use sqlx::{ConnectOptions, Row, sqlite::SqliteConnectOptions};

use crate::store::Sqlite;

/// What a column with one of these words in its name may tell about a person.
const PERSONAL: [&str; 19] = [
    "user",
    "users",
    "email",
    "actor",
    "subject",
    "by",
    "ip",
    "account",
    "address",
    "addresses",
    "recipient",
    "context",
    "data",
    "payload",
    "content",
    "phone",
    "language",
    "person",
    "owner",
];
/// Columns that tell nothing, or nothing for long, and why.
const OTHERS: [(&str, &str); 17] = [
    ("users", "email_key"),                   // the address in lower case
    ("sessions", "user_epoch"),               // a counter
    ("pending_logins", "user_epoch"),         // a counter
    ("pending_logins", "is_ip_stated"),       // of the request, not of the person
    ("api_keys", "replaced_by"),              // another key
    ("events", "payload"),                    // of a former version, until the next event of the organization
    ("events", "data_salt"),                  // random
    ("events", "data_digest"),                // of salted data
    ("events", "context_salt"),               // random
    ("events", "context_digest"),             // of salted data
    ("users", "foreign_cost"),                // of the hash
    ("deployment_keys", "replaced_by"),       // another key
    ("invites", "invited_by_key"),            // a key
    ("deployment_entries", "data_salt"),      // random
    ("deployment_entries", "data_digest"),    // of salted data
    ("deployment_entries", "context_salt"),   // random
    ("deployment_entries", "context_digest"), // of nothing, salted
];

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty())
}

#[tokio::test]
async fn every_column_about_a_person_is_in_the_persons_export() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("person.db");
    let store = crate::Store::from(Sqlite::open(&path.display().to_string()).await.expect("opens"));
    store.migrate().await.expect("migrates");
    store.close().await;
    let mut connection = SqliteConnectOptions::new().filename(&path).connect().await.expect("a connection");
    let columns = "SELECT t.name AS table_name, c.name AS column_name
                     FROM sqlite_master t JOIN pragma_table_info(t.name) c
                    WHERE t.type = 'table' AND t.name LIKE 'tenant_auth_%'";
    let columns = sqlx::query(columns).fetch_all(&mut connection).await.expect("the schema");
    let named = |row: &sqlx::sqlite::SqliteRow| (row.get::<String, _>("table_name"), row.get::<String, _>("column_name"));
    let personal: Vec<(String, String)> =
        columns.iter().map(named).filter(|(_, column)| words(column).any(|word| PERSONAL.contains(&word))).collect();
    assert!(personal.len() > 30, "the walk sees nothing: {personal:?}");
    let is_read = |table: &str, column: &str| {
        super::ALL.iter().any(|(_, sql)| {
            let has = |name: &str| sql.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| word == name);
            has(table) && has(column)
        })
    };
    let forgotten: Vec<_> = personal
        .iter()
        .filter(|(table, column)| {
            let short = table.strip_prefix("tenant_auth_").unwrap_or(table);
            !is_read(table, column) && !OTHERS.contains(&(short, column.as_str()))
        })
        .collect();
    assert!(forgotten.is_empty(), "these may tell about a person, and `user export` does not read them: {forgotten:?}");
}
