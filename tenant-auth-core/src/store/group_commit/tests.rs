//! Tests of the group commit, on a database whose writer somebody else holds until all wait.

use std::sync::atomic::{AtomicI64, Ordering};

use async_trait::async_trait;
use tempfile::TempDir;
use tokio::task::JoinHandle;

use super::*;
use crate::{config::Config, ports::Clock, sealed::MasterKeys, service::TenantAuth, store::Sqlite, time::Timestamp};

/// Each look shows a later time, so that each transaction has one of its own.
#[derive(Debug)]
struct Ticking(AtomicI64);

impl Clock for Ticking {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.fetch_add(1, Ordering::Relaxed))
    }
}

/// Counts one row, under a name of its own.
struct Count(String);

/// Fails.
struct Fault;

#[async_trait]
impl OneWrite for Count {
    async fn run(&self, tx: &mut Tx) -> Result<bool, Error> {
        let until = tx.now().plus(std::time::Duration::from_secs(60));
        tx.throttles().spend(&self.0, until, 1).await
    }
}

#[async_trait]
impl OneWrite for Fault {
    async fn run(&self, _: &mut Tx) -> Result<bool, Error> {
        Err(Error::internal("a fault"))
    }
}

async fn service(directory: &TempDir) -> TenantAuth {
    let path = directory.path().join("group.db");
    let sqlite = Sqlite::open(path.to_str().expect("a text path")).await.expect("opens");
    let keys = MasterKeys::parse(&MasterKeys::generate_text()).expect("a key");
    let builder = TenantAuth::builder().store(sqlite).master_keys(keys).clock(Arc::new(Ticking(AtomicI64::new(1_800_000_000_000))));
    builder.config(Config::new("https://auth.example.com".parse().expect("a URL"))).build().await.expect("builds")
}

fn write(auth: &TenantAuth, write: impl OneWrite + 'static) -> JoinHandle<Result<Written, Error>> {
    let auth = auth.clone();
    tokio::spawn(async move { auth.one_statements().on_disk().write(Arc::new(write)).await })
}

/// Until so many wait for the writer.
async fn wait_for(auth: &TenantAuth, count: usize) {
    while auth.one_statements().on_disk().waiting().len() < count {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn writes_that_come_together_share_a_transaction() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let auth = service(&directory).await;
    let writer = auth.begin().await.expect("the writer");
    // The tenth finds its row counted by the first.
    let names = (0..10).map(|number| format!("count:{}", number % 9));
    let writes: Vec<_> = names.map(|name| write(&auth, Count(name))).collect();
    wait_for(&auth, 10).await;
    drop(writer);
    let mut written = Vec::new();
    for write in writes {
        written.push(write.await.expect("no panic").expect("written"));
    }
    assert!(written.iter().all(|one| one.at == written[0].at), "one transaction: {written:?}");
    assert_eq!(written.iter().filter(|one| one.is_done).count(), 9);
    let mut reader = auth.store().read().await.expect("a reader");
    assert!(reader.throttles().state("count:8").await.expect("an answer").is_some(), "told is committed");
}

#[tokio::test]
async fn a_fault_is_its_own_writes_alone() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let auth = service(&directory).await;
    let writer = auth.begin().await.expect("the writer");
    let before = write(&auth, Count("before".to_owned()));
    wait_for(&auth, 1).await;
    let fault = write(&auth, Fault);
    wait_for(&auth, 2).await;
    let after = write(&auth, Count("after".to_owned()));
    wait_for(&auth, 3).await;
    drop(writer);
    assert!(fault.await.expect("no panic").is_err());
    for write in [before, after] {
        assert!(write.await.expect("no panic").expect("another's fault").is_done);
    }
}

#[tokio::test]
async fn who_leads_may_go() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let auth = service(&directory).await;
    let writer = auth.begin().await.expect("the writer");
    let leader = write(&auth, Count("leader".to_owned()));
    wait_for(&auth, 1).await;
    let other = write(&auth, Count("other".to_owned()));
    wait_for(&auth, 2).await;
    leader.abort();
    assert!(leader.await.is_err());
    drop(writer);
    assert!(other.await.expect("no panic").expect("written").is_done);
    let mut reader = auth.store().read().await.expect("a reader");
    assert!(reader.throttles().state("leader").await.expect("an answer").is_none(), "who has gone wants nothing");
}
