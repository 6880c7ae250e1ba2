//! Tests of writes that come together, on a database whose writer somebody else holds until all wait.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use tempfile::TempDir;
use tokio::task::JoinHandle;

use super::*;
use crate::{config::Config, id::Id, ports::Clock, sealed::MasterKeys, service::TenantAuth, store::Sqlite, testing::TestAuth};

/// Each look shows a later time, so that each transaction has one of its own.
#[derive(Debug)]
struct Ticking(AtomicI64);

impl Clock for Ticking {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.fetch_add(1, Ordering::Relaxed))
    }
}

async fn service(directory: &TempDir) -> TenantAuth {
    let path = directory.path().join("group.db");
    let sqlite = Sqlite::open(path.to_str().expect("a text path")).await.expect("opens");
    let keys = MasterKeys::parse(&MasterKeys::generate_text()).expect("a key");
    let builder = TenantAuth::builder().store(sqlite).master_keys(keys).clock(Arc::new(Ticking(AtomicI64::new(1_800_000_000_000))));
    builder.config(Config::new("https://auth.example.com".parse().expect("a URL"))).build().await.expect("builds")
}

/// Reserves an attempt of the one that there may be.
fn reserve(auth: &TenantAuth, key: &str) -> JoinHandle<Result<Written, Error>> {
    let (auth, limit) = (auth.clone(), Limit::of_one(key));
    tokio::spawn(async move { auth.one_statements().reserve(&limit, Duration::from_secs(60)).await })
}

/// Until so many wait for the writer.
async fn wait_for(auth: &TenantAuth, count: usize) {
    while auth.one_statements().reservations.waiting() < count {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn writes_that_come_together_share_a_transaction() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let auth = service(&directory).await;
    let writer = auth.begin().await.expect("the writer");
    // The tenth finds its one attempt reserved by the first.
    let reservations: Vec<_> = (0..10).map(|number| reserve(&auth, &format!("count:{}", number % 9))).collect();
    wait_for(&auth, 10).await;
    drop(writer);
    let mut written = Vec::new();
    for reservation in reservations {
        written.push(reservation.await.expect("no panic").expect("written"));
    }
    assert!(written.iter().all(|one| one.at == written[0].at), "one transaction: {written:?}");
    assert_eq!(written.iter().filter(|one| one.is_done).count(), 9);
    let mut reader = auth.store().read().await.expect("a reader");
    assert!(reader.throttles().state("count:8").await.expect("an answer").is_some(), "told is committed");
}

#[tokio::test]
async fn who_has_gone_wants_nothing() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let auth = service(&directory).await;
    let writer = auth.begin().await.expect("the writer");
    let first = reserve(&auth, "first");
    wait_for(&auth, 1).await;
    let other = reserve(&auth, "other");
    wait_for(&auth, 2).await;
    first.abort();
    assert!(first.await.is_err());
    drop(writer);
    assert!(other.await.expect("no panic").expect("written").is_done);
    let mut reader = auth.store().read().await.expect("a reader");
    assert!(reader.throttles().state("first").await.expect("an answer").is_none());
}

/// Two tabs, a former token, an unknown session and one that has ended, in no order.
#[tokio::test]
async fn each_rotation_has_its_own_number() {
    let test = TestAuth::new().await;
    let mut sessions = Vec::new();
    for _ in 0..4 {
        let tokens = test.login(&test.member).await;
        sessions.push(test.auth.signer().read_refresh(tokens.refresh.expose(), test.auth.now()).expect("a genuine token"));
    }
    sessions.sort_by(|one, other| other.session.as_str().cmp(one.session.as_str()));
    let [former, tab, ended, last] = <[RefreshToken; 4]>::try_from(sessions).expect("four");
    let rotation = |token: &RefreshToken| Rotation { token: token.clone(), good_for: Duration::from_secs(60) };
    let asked = async |rotations: &[Rotation]| {
        let mut tx = test.auth.begin().await.expect("the writer");
        let rotated = tx.sessions().rotate(rotations, OfHeld::Tell).await.expect("an answer");
        tx.commit().await.expect("commits");
        rotated
    };
    assert_eq!(asked(&[rotation(&former)]).await, [(0, Rotated::Done)]);
    let mut tx = test.auth.begin().await.expect("the writer");
    let org = tx.sessions().find_live(&ended.session).await.expect("an answer").expect("it lives").org.id.clone();
    tx.sessions().end(&org, &ended.session).await.expect("an answer").expect("it was live");
    tx.commit().await.expect("commits");
    let current = RefreshToken { generation: former.generation + 1, ..former.clone() };
    let unknown = RefreshToken { session: Id::from_stored("ses_00000000000000000000000000"), ..last.clone() };
    let crowd = [&former, &tab, &unknown, &ended, &tab, &current, &last].map(rotation);
    let mut rotated = asked(&crowd).await;
    rotated.sort_by_key(|(number, _)| *number);
    assert_eq!(rotated, [(1, Rotated::Done), (5, Rotated::Done), (6, Rotated::Done)]);
    for (token, generations) in [(&former, 2), (&tab, 1), (&last, 1)] {
        let mut reader = test.auth.store().read().await.expect("a reader");
        let live = reader.sessions().find_live(&token.session).await.expect("an answer").expect("it lives");
        assert_eq!(live.session.generation, token.generation + generations);
        let mut reader = test.auth.store().read().await.expect("a reader");
        assert!(reader.sessions().superseded_at(&token.session, token.generation).await.expect("an answer").is_some());
    }
}
