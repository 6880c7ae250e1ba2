//! What `.cargo/config.toml` asks of the C libraries is what the programs are built with.

use sqlx::{Connection, SqliteConnection};

#[tokio::test]
async fn sqlite_keeps_what_a_login_would_undo_in_memory() {
    let mut connection = SqliteConnection::connect("sqlite::memory:").await.expect("a database");
    let built: Vec<String> = sqlx::query_scalar("PRAGMA compile_options").fetch_all(&mut connection).await.expect("an answer");
    for option in ["STMTJRNL_SPILL=1048576", "DEFAULT_MEMSTATUS=0"] {
        assert!(built.iter().any(|known| known == option), "{option} is not among {built:?}");
    }
    assert!(!built.iter().any(|known| known.starts_with("ENABLE_FTS")), "full-text search is built in: {built:?}");
}
