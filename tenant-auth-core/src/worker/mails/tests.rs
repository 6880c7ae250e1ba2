//! Whose mail goes first to a server that many wait for.

use super::*;
use crate::{
    mail::{Letter, enqueue},
    model::Organization,
    operator::NewOrganization,
    testing::TestAuth,
    value::Email,
};

/// A service with nothing in its outbox, and three organizations, the oldest first.
async fn three() -> (TestAuth, [Organization; 3]) {
    let test = TestAuth::new().await;
    let (second, third) = (younger(&test, "second").await, younger(&test, "third").await);
    test.tick().await;
    let first = test.org.organization().clone();
    (test, [first, second, third])
}

async fn younger(test: &TestAuth, slug: &str) -> Organization {
    test.clock.advance(Duration::from_millis(1)); // organizations are ordered by their ids, and ids by their moments
    let (name, admin) = (slug.parse().expect("a name"), address(&format!("first@{slug}.example")));
    let new = NewOrganization::new(name, slug.parse().expect("a slug"), admin);
    test.auth.operator().create_organization(new).await.expect("it is new").org
}

fn address(text: &str) -> Email {
    text.parse().expect("an address")
}

async fn queue(test: &TestAuth, org: &Organization, recipients: impl IntoIterator<Item = Email>) {
    let mut tx = test.auth.begin().await.expect("a transaction");
    for recipient in recipients {
        enqueue(&mut tx, &org.id, &recipient, &Letter::PasswordChanged).await.expect("is sealed");
    }
    tx.commit().await.expect("commits");
}

/// Mails of a backlog for one server.
async fn backlog(test: &TestAuth, org: &Organization, server: &str) {
    queue(test, org, (0..50).map(|n| address(&format!("busy{n}@{server}")))).await;
}

/// Ends one attempt: its slot is free then.
async fn release(post: &mut Post) {
    let ended = post.attempts.join_next_with_id().await.expect("mails are on their way");
    post.finish(ended);
}

/// How many attempts end before the mail of the other organization is sent, which comes when all slots of the server are taken.
async fn ended_before(test: &TestAuth, busy: &Organization, other: &Organization) -> usize {
    backlog(test, busy, "crowded.example").await;
    let mut post = Post::new(&test.auth);
    assert!(post.serve().await.expect("the database is there"));
    assert_eq!(post.slots.held_by(&busy.id), SLOTS_OF_ONE, "who is alone gets all there is");
    let waits = address("waits@crowded.example");
    queue(test, other, [waits.clone()]).await;
    for ended in 0.. {
        if test.mails.sent().iter().any(|sent| sent.to == waits) {
            return ended;
        }
        post.serve().await.expect("the database is there");
        release(&mut post).await;
    }
    unreachable!("it is sent at last")
}

#[tokio::test]
async fn a_backlog_for_one_server_lets_the_mail_of_another_organization_pass() {
    for (busy, other) in [(0, 1), (1, 0)] {
        let (test, organizations) = three().await;
        let ended = ended_before(&test, &organizations[busy], &organizations[other]).await;
        assert!(ended < 8, "{ended} mails went first, those of organization {busy}");
    }
}

/// Slots of both servers are freed in turns. Who was served last, for whatever server, does not bring another's next mail forward.
#[tokio::test]
async fn backlogs_for_two_servers_let_the_mail_of_another_organization_pass() {
    let (test, [busy, other, elsewhere]) = three().await;
    backlog(&test, &elsewhere, "other.example").await;
    let ended = ended_before(&test, &busy, &other).await;
    assert!(ended < 16, "{ended} mails went first");
}

#[tokio::test]
async fn an_attempt_that_hangs_elsewhere_puts_its_organization_behind_nobody() {
    let (test, [waiting, busy, busier]) = three().await;
    let mut post = Post::new(&test.auth);
    let since = Instant::now().checked_sub(Duration::from_secs(3)).expect("the machine has run for so long");
    let hangs = Held { org: waiting.id.clone(), domain: "hangs.example".to_owned(), since };
    post.slots.take(tokio::spawn(async {}).id(), hangs);
    queue(&test, &waiting, [address("waits@crowded.example")]).await;
    for org in [&busy, &busier] {
        backlog(&test, org, "crowded.example").await;
    }
    assert!(post.serve().await.expect("the database is there"));
    assert_eq!(post.slots.held_by(&waiting.id), 2, "its mail is begun in its turn");
}
