//! The change log (what remembered answers rest on): a reader sees each committed change exactly once, whatever order transactions
//! commit in and whatever is swept meanwhile, or it is told that it may have missed some.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use sqlx::{Connection, PgConnection};
use tenant_auth_conformance::{App, Database, Engine, hold_sql, scenarios};
use tenant_auth_core::testing::change_log::{ChangeLog, ChangeReader};
use tokio::task::JoinSet;

scenarios![on each database:
    a_change_that_commits_after_a_later_one_is_seen,
    what_is_rolled_back_is_not_seen,
    of_many_writers_each_commit_is_seen_once,
    numbers_go_on_after_everything_is_swept,
    a_reader_that_slept_through_two_marks_knows_it,
    an_unfinished_reader_holds_no_look_back,
    too_many_changes_are_everything,
    a_replaced_file_is_an_error,
    a_closed_store_leaves_no_connection_of_its_looks,
];

fn ids(name: &str, count: usize) -> Vec<String> {
    (0..count).map(|number| format!("{name}_{number}")).collect()
}

async fn write(log: &ChangeLog, name: &str) {
    log.write(&[name.to_owned()]).await.expect("is written").commit().await.expect("commits");
}

/// A reader that has looked once, which always says that anything may have changed.
async fn reader(log: &ChangeLog) -> ChangeReader {
    let mut reader = log.reader();
    assert!(reader.look().await.expect("is read").everything, "nothing is known before the first look");
    reader
}

async fn seen(reader: &mut ChangeReader) -> Vec<String> {
    let look = reader.look().await.expect("is read");
    assert!(!look.everything, "the reader was told to forget");
    look.ids
}

async fn a_change_that_commits_after_a_later_one_is_seen(app: &App) {
    let log = ChangeLog::of(&app.auth);
    let mut reader = reader(&log).await;
    if app.cell.engine == Engine::Postgres {
        let first = log.write(&["first".to_owned()]).await.expect("is written");
        write(&log, "second").await;
        assert_eq!(seen(&mut reader).await, ["second"]);
        assert!(seen(&mut reader).await.is_empty());
        first.commit().await.expect("commits");
        assert_eq!(seen(&mut reader).await, ["first"]);
    } else {
        write(&log, "first").await;
        write(&log, "second").await;
        assert_eq!(seen(&mut reader).await, ["first", "second"]);
    }
    assert!(seen(&mut reader).await.is_empty(), "each is seen once");
}

async fn what_is_rolled_back_is_not_seen(app: &App) {
    let log = ChangeLog::of(&app.auth);
    let mut reader = reader(&log).await;
    drop(log.write(&["gone".to_owned()]).await.expect("is written"));
    write(&log, "there").await;
    assert_eq!(seen(&mut reader).await, ["there"]);
}

async fn of_many_writers_each_commit_is_seen_once(app: &App) {
    const WRITERS: usize = 12;
    const ROUNDS: usize = 20;
    let log = ChangeLog::of(&app.auth);
    let mut reader = reader(&log).await;
    let is_over = Arc::new(AtomicBool::new(false));
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let log = log.clone();
        writers.spawn(async move {
            let mut committed = Vec::new();
            for round in 0..ROUNDS {
                let id = format!("{writer}_{round}");
                let open = log.write(std::slice::from_ref(&id)).await.expect("is written");
                tokio::time::sleep(Duration::from_millis(((writer * 7 + round * 3) % 5) as u64)).await;
                if (writer + round) % 3 == 0 {
                    drop(open);
                } else {
                    open.commit().await.expect("commits");
                    committed.push(id);
                }
            }
            committed
        });
    }
    let (sweeper, swept_until) = (app.auth.worker(), Arc::clone(&is_over));
    let sweeper = tokio::spawn(async move {
        while !swept_until.load(Ordering::SeqCst) {
            sweeper.tick().await.expect("sweeps");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    });
    // Looks go on until the writers are done; one transaction stays open all the while on PostgreSQL.
    let open = match app.cell.engine {
        Engine::Postgres => Some(log.write(&["open".to_owned()]).await.expect("is written")),
        Engine::Sqlite => None,
    };
    let mut times: HashMap<String, usize> = HashMap::new();
    let committing = tokio::spawn(writers.join_all());
    while !committing.is_finished() {
        for id in seen(&mut reader).await {
            *times.entry(id).or_default() += 1;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let mut committed: Vec<String> = committing.await.expect("they write").concat();
    if let Some(open) = open {
        open.commit().await.expect("commits");
        committed.push("open".to_owned());
    }
    is_over.store(true, Ordering::SeqCst);
    for id in seen(&mut reader).await {
        *times.entry(id).or_default() += 1;
    }
    sweeper.await.expect("it sweeps");
    for id in &committed {
        assert_eq!(times.remove(id), Some(1), "{id} was not seen exactly once");
    }
    assert!(times.is_empty(), "{times:?} were never committed");
}

async fn numbers_go_on_after_everything_is_swept(app: &App) {
    let log = ChangeLog::of(&app.auth);
    write(&log, "swept").await;
    for _ in 0..15 {
        app.advance(60);
        app.tick().await;
    }
    let mut reader = reader(&log).await;
    write(&log, "new").await;
    assert_eq!(seen(&mut reader).await, ["new"]);
}

async fn a_reader_that_slept_through_two_marks_knows_it(app: &App) {
    let log = ChangeLog::of(&app.auth);
    app.advance(60);
    app.tick().await;
    let mut reader = reader(&log).await;
    write(&log, "kept").await;
    app.advance(60);
    app.tick().await;
    assert_eq!(seen(&mut reader).await, ["kept"], "one mark sweeps nothing that was not read");
    write(&log, "lost").await;
    app.advance(60);
    app.tick().await;
    app.advance(60);
    app.tick().await;
    assert!(reader.look().await.expect("is read").everything);
    assert!(seen(&mut reader).await.is_empty());
}

async fn an_unfinished_reader_holds_no_look_back(app: &App) {
    let log = ChangeLog::of(&app.auth);
    let mut reader = reader(&log).await;
    let url = app.database().url().unwrap_or_else(|| {
        let files = app.database().files();
        let file = files.iter().find(|file| file.extension().is_some_and(|extension| extension == "db")).expect("a file");
        format!("sqlite:{}", file.display())
    });
    let held = hold_sql(&url, "BEGIN; SELECT COUNT(*) FROM tenant_auth_changes").expect("reads");
    write(&log, "new").await;
    assert_eq!(seen(&mut reader).await, ["new"]);
    drop(held);
}

async fn too_many_changes_are_everything(app: &App) {
    let log = ChangeLog::of(&app.auth);
    let mut reader = reader(&log).await;
    log.write(&ids("one", 10_000)).await.expect("is written").commit().await.expect("commits");
    assert_eq!(seen(&mut reader).await.len(), 10_000);
    log.write(&ids("two", 10_001)).await.expect("is written").commit().await.expect("commits");
    assert!(reader.look().await.expect("is read").everything);
    assert!(seen(&mut reader).await.is_empty(), "the place is behind them");
}

async fn a_replaced_file_is_an_error(app: &App) {
    if app.cell.engine != Engine::Sqlite {
        return;
    }
    let log = ChangeLog::of(&app.auth);
    let mut reader = reader(&log).await;
    let files = app.database().files();
    let file = files.iter().find(|file| file.extension().is_some_and(|extension| extension == "db")).expect("a file");
    let copy = file.with_extension("copy");
    std::fs::copy(file, &copy).and_then(|_| std::fs::rename(&copy, file)).expect("the file can be replaced");
    reader.look().await.expect_err("what it reads is nobody's database");
}

async fn a_closed_store_leaves_no_connection_of_its_looks(app: &App) {
    // No service looks into this one.
    let idle = Database::create(app.cell.engine);
    let store = idle.store().await;
    store.migrate().await.expect("is migrated");
    let mut reader = ChangeLog::reader_of(store.clone());
    let Some(url) = idle.url() else {
        reader.look().await.expect("is read");
        store.close().await;
        assert!(reader.look().await.is_err(), "no other connection is opened");
        return;
    };
    let mut database = PgConnection::connect(&url).await.expect("it answers");
    let before = looking(&mut database).await;
    reader.look().await.expect("is read");
    let mut opened = looking(&mut database).await;
    opened.retain(|process| !before.contains(process));
    assert!(!opened.is_empty(), "a look has a connection of its own");
    store.close().await;
    assert!(reader.look().await.is_err(), "no other connection is opened");
    let ended = async {
        loop {
            let open = looking(&mut database).await;
            if opened.iter().all(|process| !open.contains(process)) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), ended).await.expect("it ends with the store");
}

/// The server processes whose last statement was a look.
async fn looking(database: &mut PgConnection) -> Vec<i32> {
    // What stands in a parameter is no part of this statement's own text.
    let looking = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query LIKE $1";
    sqlx::query_scalar(looking).bind("%FROM tenant_auth_incarnation %").fetch_all(database).await.expect("it answers")
}
