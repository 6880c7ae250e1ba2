//! Real receivers on loopback sockets, from well-behaved to hostile. What an attempt costs is counted by the receiver: how many
//! bytes it got rid of and whether it was hung up on.

mod connections;
mod hostile;
mod tls;

use std::{future::Future, net::SocketAddr, time::Duration};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

use super::*;

/// Nothing here takes as long, unless something is broken.
const PATIENCE: Duration = Duration::from_secs(10);

/// Accepts one connection and lets `serve` have it; its result is what the receiver has seen.
async fn receiver<T, F>(serve: impl FnOnce(TcpStream) -> F + Send + 'static) -> (SocketAddr, JoinHandle<T>)
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("bound");
    let task = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.expect("a connection");
        serve(stream).await
    });
    (address, task)
}

fn request(address: SocketAddr) -> WebhookRequest {
    WebhookRequest {
        url: format!("http://{address}/hook?x=1").parse().expect("a URL"),
        headers: vec![("content-type", "application/json".to_owned()), ("webhook-id", "evt_1".to_owned())],
        body: r#"{"id":"evt_1"}"#.to_owned(),
        timeout: PATIENCE,
        addresses: vec![address],
    }
}

fn impatient(address: SocketAddr) -> WebhookRequest {
    WebhookRequest { timeout: Duration::from_millis(300), ..request(address) }
}

fn answered(status: u16) -> Result<WebhookResponse, SendError> {
    Ok(WebhookResponse { status, retry_after: None })
}

/// Reads one request, head and body; `None` when the other side hangs up first.
async fn read_request(stream: &mut (impl AsyncRead + Unpin)) -> Option<String> {
    let mut text = Vec::new();
    while !text.ends_with(br#"{"id":"evt_1"}"#) {
        if stream.read_buf(&mut text).await.ok()? == 0 {
            return None;
        }
    }
    String::from_utf8(text).ok()
}

/// What the receiver itself measured, or a failure when the sender never let go of it.
async fn seen<T>(receiver: JoinHandle<T>) -> T {
    tokio::time::timeout(PATIENCE, receiver).await.expect("the sender let go").expect("the receiver worked")
}

#[tokio::test]
async fn a_request_arrives_as_it_was_given() {
    let (address, receiver) = receiver(async |mut stream| {
        let text = read_request(&mut stream).await.expect("a request");
        let answer = "HTTP/1.1 503 Later\r\nretry-after: 120\r\nset-cookie: a=b\r\ncontent-length: 2\r\n\r\nno";
        stream.write_all(answer.as_bytes()).await.expect("written");
        text
    })
    .await;
    let answer = HttpSender::new().expect("set up").send(request(address)).await;
    assert_eq!(answer, Ok(WebhookResponse { status: 503, retry_after: Some(RetryAfter::In(Duration::from_secs(120))) }));
    let text = seen(receiver).await;
    let (head, body) = text.split_once("\r\n\r\n").expect("a head");
    let mut lines: Vec<_> = head.lines().map(str::to_owned).collect();
    assert_eq!(lines.remove(0), "POST /hook?x=1 HTTP/1.1");
    lines.sort();
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(
        lines,
        [
            "accept: */*".to_owned(),
            "content-length: 14".to_owned(),
            "content-type: application/json".to_owned(),
            format!("host: {address}"),
            format!("user-agent: tenant-auth/{version}"),
            "webhook-id: evt_1".to_owned(),
        ]
    );
    assert_eq!(body, r#"{"id":"evt_1"}"#);
}

#[tokio::test]
async fn a_header_that_is_none_is_never_sent() {
    let (address, receiver) = receiver(async |_| ()).await;
    let mut request = request(address);
    request.headers.push(("x-broken", "a\r\nhost: evil".to_owned()));
    assert_eq!(HttpSender::new().expect("set up").send(request).await, Err(SendError::Blocked));
    assert!(!receiver.is_finished());
}

/// Runs [`a_request_arrives_as_it_was_given`] in a process of its own: the environment is read once, and is everybody's.
#[test]
fn no_proxy_of_the_environment_is_used() {
    let mut again = std::process::Command::new(std::env::current_exe().expect("this program"));
    for name in ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
        again.env(name, "http://127.0.0.1:1"); // no server listens there
    }
    let test = "ports::http_sender::tests::a_request_arrives_as_it_was_given";
    let output = again.args(["--exact", test]).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}
