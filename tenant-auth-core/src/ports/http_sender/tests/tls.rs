//! TLS: whom the sender believes, and what it calls a failure.

use rustls::{ServerConfig, pki_types::PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

use super::*;

const NAME: &str = "receiver.example";

/// A receiver with a certificate of its own making for [`NAME`]; the certificate, as PEM.
async fn secured() -> (SocketAddr, JoinHandle<bool>, String) {
    let made = rcgen::generate_simple_self_signed([NAME.to_owned()]).expect("a certificate");
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).expect("a key");
    let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|config| config.with_no_client_auth().with_single_cert(vec![made.cert.der().clone()], key))
        .expect("settings");
    let (address, task) = receiver(async move |stream| {
        let Ok(mut stream) = TlsAcceptor::from(Arc::new(config)).accept(stream).await else { return false };
        let was_asked = read_request(&mut stream).await.is_some();
        let _ = stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await;
        was_asked
    })
    .await;
    (address, task, made.cert.pem())
}

fn secure(host: &str, address: SocketAddr) -> WebhookRequest {
    let url = format!("https://{host}:{}/hook", address.port()).parse().expect("a URL");
    WebhookRequest { url, ..request(address) }
}

#[tokio::test]
async fn a_certificate_of_ones_own_making_is_not_trusted() {
    let (address, receiver, _) = secured().await;
    assert_eq!(HttpSender::new().expect("set up").send(secure(NAME, address)).await, Err(SendError::Tls));
    assert!(!seen(receiver).await, "it never saw the request");
}

#[tokio::test]
async fn roots_of_the_operator_are_trusted_for_their_names() {
    let (address, receiver, pem) = secured().await;
    let sender = HttpSender::with_root_certificates(pem.as_bytes()).expect("set up");
    assert_eq!(sender.send(secure(NAME, address)).await, answered(204));
    assert!(seen(receiver).await);

    let (address, receiver, pem) = secured().await;
    let sender = HttpSender::with_root_certificates(pem.as_bytes()).expect("set up");
    assert_eq!(sender.send(secure("other.example", address)).await, Err(SendError::Tls));
    assert!(!seen(receiver).await);
}

#[tokio::test]
async fn plain_http_where_tls_was_expected_is_a_failure_of_tls() {
    let (address, _receiver) = receiver(async |mut stream| {
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        stream.read(&mut [0; 1_024]).await
    })
    .await;
    assert_eq!(HttpSender::new().expect("set up").send(secure(NAME, address)).await, Err(SendError::Tls));
}

#[tokio::test]
async fn a_handshake_that_does_not_end_is_a_timeout() {
    let (address, receiver) = receiver(async |mut stream| {
        let mut hello = Vec::new();
        stream.read_to_end(&mut hello).await.is_ok()
    })
    .await;
    let request = WebhookRequest { timeout: Duration::from_millis(300), ..secure(NAME, address) };
    assert_eq!(HttpSender::new().expect("set up").send(request).await, Err(SendError::Timeout));
    assert!(seen(receiver).await, "and the connection is gone");
}

#[test]
fn root_certificates_that_are_none_are_refused() {
    for pem in ["", "no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
        assert!(HttpSender::with_root_certificates(pem.as_bytes()).is_err(), "{pem}");
    }
}
