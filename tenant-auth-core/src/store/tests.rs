//! Tests of the schema: every statement prepares on each engine, and the engines' schemas agree.

use sqlx::{Row, SqliteConnection};

use super::*;

#[cfg(feature = "sqlite")]
#[tokio::test]
async fn every_statement_prepares_on_sqlite() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("store.db");
    let sqlite = Sqlite::open(path.to_str().expect("a text path")).await.expect("opens");
    Store::from(sqlite.clone()).migrate().await.expect("migrates");
    Store::from(sqlite.clone()).migrate().await.expect("migrates again to nothing");
    assert_eq!(Store::from(sqlite.clone()).unpreparable_statements().await.expect("a connection"), Vec::<String>::new());
    let mut connection = sqlite.readers().acquire().await.expect("a connection");
    for (name, lookup) in [sql::lookups::sqlite::ALL, sql::rotation::sqlite::ALL].concat() {
        let plan = plan_of(&mut connection, lookup).await;
        let scans = plan.lines().filter(|step| step.contains("SCAN") && !step.contains("SCAN a VIRTUAL TABLE INDEX"));
        // The one row of the incarnation is the whole of its table.
        let scans: Vec<_> = scans.filter(|step| !step.contains("SCAN tenant_auth_incarnation")).collect();
        assert!(scans.is_empty(), "verification must find everything by index: {name}\n{plan}");
    }
}

#[cfg(feature = "sqlite")]
#[tokio::test]
async fn commits_are_on_the_disk_and_files_are_their_owners() {
    use std::os::unix::fs::PermissionsExt;

    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("store.db");
    std::fs::write(&path, "").expect("a file that anybody may read");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).expect("rights can be set");
    let sqlite = Sqlite::open(path.to_str().expect("a text path")).await.expect("opens");
    Store::from(sqlite.clone()).migrate().await.expect("migrates");
    for name in ["store.db", "store.db-wal", "store.db-shm"] {
        let mode = directory.path().join(name).metadata().expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    let full: i64 = sqlx::query_scalar("PRAGMA synchronous").fetch_one(sqlite.writer()).await.expect("an answer");
    assert_eq!(full, 2, "FULL: a told commit survives a power cut");
    sqlite.try_writing().await.expect("takes writes");
    assert_eq!(std::fs::read_dir(directory.path()).expect("is there").count(), 3, "nothing is left behind");
    std::fs::remove_file(&path).expect("it is there");
    sqlite.try_writing().await.expect_err("the file is gone");
    sqlite.begin().await.expect_err("a change would be lost with it");
    let store = Store::from(sqlite.clone());
    assert!(
        store.read().await.is_err() && sqlite.begin_snapshot().await.is_err(),
        "what is read would be of a file that nobody sees"
    );
    std::fs::write(&path, "").expect("another file");
    store.replaced().await;
}

#[cfg(feature = "sqlite")]
#[tokio::test]
async fn what_is_deleted_is_not_left_in_the_file() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("store.db");
    let sqlite = Sqlite::open(path.to_str().expect("a text path")).await.expect("opens");
    let mut writer = sqlite.writer().acquire().await.expect("a connection");
    let kept = "CREATE TABLE people (email TEXT); INSERT INTO people VALUES ('ada@acme.example'), ('bob@acme.example')";
    for statements in [kept, "DELETE FROM people WHERE email LIKE 'ada%'"] {
        sqlx::raw_sql(statements).execute(&mut *writer).await.expect("it is done");
        sqlx::raw_sql("PRAGMA wal_checkpoint(TRUNCATE)").execute(&mut *writer).await.expect("it is done");
    }
    let file = std::fs::read(&path).expect("it is there");
    let holds = |text: &str| file.windows(text.len()).any(|bytes| bytes == text.as_bytes());
    assert!(holds("bob@acme.example") && !holds("ada@acme.example"));
}

#[cfg(feature = "sqlite")]
#[tokio::test]
async fn migrating_waits_for_no_writer_where_nothing_is_to_do() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("store.db");
    let path = path.to_str().expect("a text path");
    let sqlite = Sqlite::open(path).await.expect("opens");
    Store::from(sqlite.clone()).migrate().await.expect("migrates");
    let _writing = sqlite.begin().await.expect("nobody else writes");
    Store::from(Sqlite::open(path).await.expect("opens")).migrate().await.expect("has nothing to write");
}

#[cfg(feature = "sqlite")]
async fn plan_of(connection: &mut SqliteConnection, sql: &'static str) -> String {
    let explain = sqlx::AssertSqlSafe(format!("EXPLAIN QUERY PLAN {sql}"));
    let rows = sqlx::query(explain).bind("key_x").bind("ses_x").fetch_all(connection).await.expect("a plan");
    rows.iter().map(|row| row.get::<String, _>("detail")).collect::<Vec<_>>().join("\n")
}

/// Table, column and nullability, out of the text of a migration.
fn columns(sql: &str) -> Vec<String> {
    let mut table = "";
    let mut found = Vec::new();
    for line in sql.lines().map(str::trim) {
        if let Some(rest) = line.strip_prefix("CREATE TABLE ").or_else(|| line.strip_prefix("CREATE UNLOGGED TABLE ")) {
            table = rest.split(' ').next().unwrap_or_default();
        } else if let Some((altered, column)) = line.strip_prefix("ALTER TABLE ").and_then(|rest| rest.split_once(" ADD COLUMN ")) {
            found.push(format!("{altered}.{column}"));
        } else if line.split(' ').next().is_some_and(|word| word.starts_with(char::is_lowercase)) {
            found.push(format!("{table}.{}", line.split(' ').next().unwrap_or_default()));
        } else if line.starts_with("CREATE") {
            found.push(line.to_owned());
        }
    }
    found
}

#[cfg(all(feature = "sqlite", feature = "postgres"))]
#[test]
fn both_engines_have_the_same_versions_tables_columns_and_indexes() {
    for step in migrations::STEPS {
        let (lite, pg) = (columns(&migrations::SQLITE.text_of(step)), columns(&migrations::POSTGRES.text_of(step)));
        if step.version == 42 {
            assert!(lite.is_empty() && pg.is_empty(), "the order of texts is PostgreSQL's alone");
            continue;
        }
        assert!(!lite.is_empty());
        if step.version == 8 {
            // The place of a row in the log: its own number, or its transaction's, which is no key.
            let place = |column: &str| format!("tenant_auth_changes.{column}");
            let rest = |all: &[String], own: &[String]| all.iter().filter(|one| !own.contains(one)).cloned().collect::<Vec<_>>();
            let of_lite = [place("seq")];
            let of_pg = [place("xid"), "CREATE INDEX tenant_auth_changes_by_xid ON tenant_auth_changes (xid);".to_owned()];
            assert!(lite.contains(&of_lite[0]) && of_pg.iter().all(|own| pg.contains(own)));
            assert_eq!(rest(&lite, &of_lite), rest(&pg, &of_pg));
        } else if step.version == 10 {
            let index = |place: &str| format!("CREATE INDEX tenant_auth_changes_by_org ON tenant_auth_changes (org_id, {place});");
            assert!(lite.contains(&index("seq")) && pg.contains(&index("xid")));
            assert_eq!(lite[1..], pg[1..]);
        } else if step.version == 14 {
            assert!(pg.is_empty(), "the lives of a file are SQLite's alone");
        } else if step.version == 33 {
            // A table without its reference: on SQLite another one of the same name.
            assert_eq!(lite[lite.len() - pg.len()..], pg);
        } else if step.version == 11 {
            // A column that may be NULL from now on: on SQLite another one of the same name.
            assert_eq!(lite[0], "tenant_auth_events.payload TEXT;");
            assert_eq!(lite[1..], pg);
        } else {
            assert_eq!(lite, pg);
        }
    }
}
