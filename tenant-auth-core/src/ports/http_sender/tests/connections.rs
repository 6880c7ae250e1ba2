//! Where connections lead, and how long they live.

use std::sync::atomic::AtomicUsize;

use super::*;

/// Answers 204 to every request on every connection and counts the connections.
async fn willing() -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("bound");
    let accepted = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&accepted);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            counter.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(async move {
                while read_request(&mut stream).await.is_some() {
                    let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
                    stream.write_all(answer).await.expect("written");
                }
            });
        }
    });
    (address, accepted)
}

/// A request to a name that no resolver knows, at `addresses`.
fn named(addresses: &[SocketAddr]) -> WebhookRequest {
    let port = addresses[0].port();
    let url = format!("http://receiver.invalid:{port}/hook").parse().expect("a URL");
    WebhookRequest { url, addresses: addresses.to_vec(), ..request(addresses[0]) }
}

#[tokio::test]
async fn a_name_leads_to_the_vetted_address_and_nobody_is_asked_again() {
    let (address, accepted) = willing().await;
    assert_eq!(HttpSender::new().expect("set up").send(named(&[address])).await, answered(200));
    assert_eq!(accepted.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn what_was_not_vetted_is_not_called() {
    let (address, accepted) = willing().await;
    let elsewhere: SocketAddr = format!("127.0.0.2:{}", address.port()).parse().expect("an address");
    let other_port = SocketAddr::new(address.ip(), 1);
    let sender = HttpSender::new().expect("set up");
    for (why, request) in [
        ("nothing was vetted", WebhookRequest { addresses: Vec::new(), ..named(&[address]) }),
        ("nothing was vetted for this address", WebhookRequest { addresses: Vec::new(), ..request(address) }),
        ("the host is another address", WebhookRequest { addresses: vec![elsewhere], ..request(address) }),
        ("one of two is another address", WebhookRequest { addresses: vec![address, elsewhere], ..request(address) }),
        ("the port is another", WebhookRequest { addresses: vec![other_port], ..named(&[address]) }),
    ] {
        assert_eq!(sender.send(request).await, Err(SendError::Blocked), "{why}");
    }
    assert_eq!(accepted.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_client_resolves_nothing_but_the_host_of_its_attempt() {
    let (address, accepted) = willing().await;
    let pool = HttpSender::new().expect("set up").client().expect("a client");
    let get = |host: &str| pool.client.get(format!("http://{host}:{}/", address.port())).send();
    for host in ["receiver.invalid", "localhost"] {
        assert_eq!(failure::of(get(host).await.expect_err("no attempt")), SendError::Blocked);
    }
    let attempt = Pinned::to(&named(&[address])).expect("vetted");
    let error = attempt.during(get("other.invalid")).await.expect_err("another host");
    assert_eq!(failure::of(error), SendError::Blocked);
    assert_eq!(accepted.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn attempts_at_one_name_with_different_addresses_do_not_mix() {
    let (first, accepted_by_first) = willing().await;
    // The same port at another address, as one name has it.
    let second = SocketAddr::new("127.0.0.2".parse().expect("an address"), first.port());
    let listener = TcpListener::bind(second).await.expect("the port is free there");
    let sender = HttpSender::new().expect("set up");
    let (_, accepted) =
        tokio::join!(sender.send(WebhookRequest { timeout: Duration::from_millis(300), ..named(&[second]) }), async {
            let _stream = listener.accept().await.expect("the second address is called");
            sender.send(named(&[first])).await
        });
    assert_eq!(accepted, answered(200));
    assert_eq!(accepted_by_first.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn an_address_that_refuses_leaves_the_next_one_to_be_tried() {
    let (address, accepted) = willing().await;
    let refusing = SocketAddr::new("127.0.0.3".parse().expect("an address"), address.port());
    assert_eq!(HttpSender::new().expect("set up").send(named(&[refusing, address])).await, answered(200));
    assert_eq!(accepted.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_connection_is_used_again_until_its_time_is_over() {
    let (address, accepted) = willing().await;
    let mut sender = HttpSender::new().expect("set up");
    for _ in 0..5 {
        assert_eq!(sender.send(named(&[address])).await, answered(200));
    }
    assert_eq!(accepted.load(Ordering::SeqCst), 1, "one connection served them all");
    sender.reused_for = Duration::ZERO;
    for _ in 0..5 {
        assert_eq!(sender.send(named(&[address])).await, answered(200));
    }
    assert_eq!(accepted.load(Ordering::SeqCst), 6, "each of these opened its own");
}

#[tokio::test]
async fn a_name_that_moved_is_called_where_it_is_now_once_the_old_connections_time_is_over() {
    let (first, accepted_by_first) = willing().await;
    let second = SocketAddr::new("127.0.0.2".parse().expect("an address"), first.port());
    let listener = TcpListener::bind(second).await.expect("the port is free there");
    let mut sender = HttpSender::new().expect("set up");
    assert_eq!(sender.send(named(&[first])).await, answered(200));
    sender.reused_for = Duration::ZERO;
    let (moved, called) = tokio::join!(
        sender.send(WebhookRequest { timeout: Duration::from_millis(300), ..named(&[second]) }),
        tokio::time::timeout(PATIENCE, listener.accept())
    );
    assert!(called.is_ok() && moved == Err(SendError::Timeout));
    assert_eq!(accepted_by_first.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_connection_is_counted_once_however_often_it_is_used_and_whatever_the_url_names() {
    let (address, accepted) = willing().await;
    let sender = HttpSender::new().expect("set up");
    for _ in 0..5 {
        assert_eq!(sender.send(named(&[address])).await, answered(200));
        assert_eq!(sender.send(request(address)).await, answered(200));
    }
    assert_eq!(accepted.load(Ordering::SeqCst), 2, "one for the name, one for the address");
    assert_eq!(sender.client().expect("a client").opened.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn idle_connections_are_bounded_over_all_receivers() {
    let (address, accepted) = willing().await;
    let sender = HttpSender::new().expect("set up");
    sender.client().expect("a client").opened.store(OPENED_BY_ONE_POOL - 1, Ordering::SeqCst);
    assert_eq!(sender.send(named(&[address])).await, answered(200));
    assert_eq!(sender.send(named(&[address])).await, answered(200));
    assert_eq!(accepted.load(Ordering::SeqCst), 2, "a full pool is replaced, and its connections closed with it");
    assert_eq!(sender.client().expect("a client").opened.load(Ordering::SeqCst), 1);
}
