//! Receivers that want to cost us something.

use super::*;

/// What sockets' buffers on both sides may hold beside what we read.
const BUFFERS: usize = 16 * 1024 * 1024;
const GIGABYTE: usize = 1024 * 1024 * 1024;

/// Writes `chunk` again and again until the sender hangs up or a gigabyte is gone; how much was got rid of.
async fn pour(mut stream: TcpStream, head: &[u8], chunk: &[u8]) -> usize {
    let _ = read_request(&mut stream).await;
    let mut poured = 0;
    if stream.write_all(head).await.is_ok() {
        while poured < GIGABYTE && stream.write_all(chunk).await.is_ok() {
            poured += chunk.len();
        }
    }
    poured
}

/// Writes a byte now and then until the sender hangs up; how many were got rid of.
async fn drip(mut stream: TcpStream, head: &[u8]) -> usize {
    let _ = read_request(&mut stream).await;
    stream.write_all(head).await.expect("written");
    let mut dripped = 0;
    loop {
        let mut nothing = [0];
        match tokio::time::timeout(Duration::from_millis(100), stream.read(&mut nothing)).await {
            Ok(_) => return dripped, // hung up: the client sends only the request
            Err(_) if stream.write_all(b"x").await.is_err() => return dripped,
            Err(_) => dripped += 1,
        }
    }
}

#[tokio::test]
async fn a_gigabyte_of_body_is_not_read() {
    for head in ["HTTP/1.1 200 OK\r\ncontent-length: 1073741824\r\n\r\n", "HTTP/1.0 200 OK\r\n\r\n"] {
        let (address, receiver) = receiver(async |stream| pour(stream, head.as_bytes(), &[b'x'; 65_536]).await).await;
        assert_eq!(HttpSender::new().expect("set up").send(request(address)).await, answered(200));
        let poured = seen(receiver).await;
        assert!(poured < BUFFERS, "{poured} bytes went out");
    }
}

#[tokio::test]
async fn a_gigabyte_in_chunks_is_not_read() {
    let head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    let (address, receiver) = receiver(async |stream| pour(stream, head, b"1\r\nx\r\n".repeat(10_000).as_slice()).await).await;
    assert_eq!(HttpSender::new().expect("set up").send(request(address)).await, answered(200));
    let poured = seen(receiver).await;
    assert!(poured < BUFFERS, "{poured} bytes went out");
}

#[tokio::test]
async fn endless_headers_are_hung_up_on() {
    for line in ["x-more: and more\r\n".repeat(1_000), "x".repeat(65_536)] {
        let (address, receiver) = receiver(async move |stream| pour(stream, b"HTTP/1.1 200 OK\r\n", line.as_bytes()).await).await;
        assert_eq!(HttpSender::new().expect("set up").send(request(address)).await, Err(SendError::Unreachable));
        let poured = seen(receiver).await;
        assert!(poured < BUFFERS, "{poured} bytes went out");
    }
}

#[tokio::test]
async fn garbage_is_no_answer() {
    for garbage in ["\0\u{1}\u{2}garbage\r\n\r\n", "SSH-2.0-OpenSSH_9.9\r\n", "HTTP/9.9 200 OK\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n"]
    {
        let (address, receiver) = receiver(async |stream| pour(stream, b"", garbage.as_bytes()).await).await;
        assert_eq!(HttpSender::new().expect("set up").send(request(address)).await, Err(SendError::Unreachable), "{garbage}");
        let poured = seen(receiver).await;
        assert!(poured < BUFFERS, "{poured} bytes went out");
    }
}

#[tokio::test]
async fn a_body_that_drips_is_cut_off_and_its_status_counts() {
    let head = b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n";
    let (address, receiver) = receiver(async |stream| drip(stream, head).await).await;
    assert_eq!(HttpSender::new().expect("set up").send(request(address)).await, answered(200));
    let dripped = seen(receiver).await;
    assert!(dripped < 20, "{dripped} bytes were waited for");
}

#[tokio::test]
async fn a_head_that_drips_is_no_answer_in_time() {
    let (address, receiver) = receiver(async |stream| drip(stream, b"HTTP/1.1 200 OK\r\nx-drip: ").await).await;
    assert_eq!(HttpSender::new().expect("set up").send(impatient(address)).await, Err(SendError::Timeout));
    let dripped = seen(receiver).await;
    assert!(dripped < 20, "{dripped} bytes were waited for");
}

#[tokio::test]
async fn endless_interim_answers_end_with_the_time() {
    let interim = "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(100);
    let (address, receiver) = receiver(async move |stream| pour(stream, b"", interim.as_bytes()).await).await;
    assert_eq!(HttpSender::new().expect("set up").send(impatient(address)).await, Err(SendError::Timeout));
    seen(receiver).await;
}

#[tokio::test]
async fn silence_ends_with_the_time_and_the_connection_with_it() {
    let (address, receiver) = receiver(async |mut stream| {
        let request = read_request(&mut stream).await;
        (request.is_some(), stream.read(&mut [0]).await.unwrap_or(0))
    })
    .await;
    assert_eq!(HttpSender::new().expect("set up").send(impatient(address)).await, Err(SendError::Timeout));
    assert_eq!(seen(receiver).await, (true, 0), "it got the request, and then the end");
}

#[tokio::test]
async fn a_receiver_that_does_not_read_ends_with_the_time() {
    let (address, receiver) = receiver(async |stream| {
        tokio::time::sleep(Duration::from_millis(600)).await; // the sender gives up meanwhile
        stream
    })
    .await;
    let request = WebhookRequest { body: "x".repeat(64 * 1024 * 1024), ..impatient(address) };
    assert_eq!(HttpSender::new().expect("set up").send(request).await, Err(SendError::Timeout));
    seen(receiver).await;
}

#[tokio::test]
async fn a_reset_or_an_early_end_is_unreachable() {
    let (address, receiver) = receiver(async |mut stream| {
        let _ = read_request(&mut stream).await;
        socket_reset(stream);
    })
    .await;
    assert_eq!(HttpSender::new().expect("set up").send(request(address)).await, Err(SendError::Unreachable));
    seen(receiver).await;
    let (address, _ended) = self::receiver(async |mut stream| {
        let _ = read_request(&mut stream).await;
    })
    .await;
    assert_eq!(HttpSender::new().expect("set up").send(request(address)).await, Err(SendError::Unreachable));
}

/// Closing with unread input resets the connection, and so does this, always.
fn socket_reset(stream: TcpStream) {
    stream.set_zero_linger().expect("a socket");
}

#[tokio::test]
async fn nobody_listening_is_unreachable() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("bound");
    drop(listener);
    assert_eq!(HttpSender::new().expect("set up").send(request(address)).await, Err(SendError::Unreachable));
}

#[tokio::test]
async fn a_redirect_is_an_answer_and_not_an_invitation() {
    let inside = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let target = inside.local_addr().expect("bound");
    for status in [301, 302, 303, 307, 308] {
        let answer = format!("HTTP/1.1 {status} Elsewhere\r\nlocation: http://{target}/secret\r\ncontent-length: 0\r\n\r\n");
        let (address, receiver) = receiver(async move |mut stream| {
            let _ = read_request(&mut stream).await;
            stream.write_all(answer.as_bytes()).await
        })
        .await;
        assert_eq!(HttpSender::new().expect("set up").send(request(address)).await, answered(status));
        seen(receiver).await.expect("written");
    }
    let visited = tokio::time::timeout(Duration::from_millis(50), inside.accept()).await;
    assert!(visited.is_err(), "nobody came");
}
