//! What went wrong with a mail server: whether the mail itself was refused, and the cause in words that quote nothing of the server's.

use std::{error::Error, io};

/// Whether a refusal that came once the recipient was named is of this mail or its recipient for good (RFC 5321, section 4.2.3). Other
/// permanent answers are of the session, such as to a command that the server does not know (502). An operator mends those, and no mail
/// is lost until then.
pub(super) fn is_of_the_mail(error: &lettre::transport::smtp::Error) -> bool {
    error.status().is_some_and(|code| (550..=559).contains(&u16::from(code)))
}

/// The server's status code, or the kind of failure. Never the server's text: servers quote addresses, and filters quote links.
pub(super) fn cause(error: &lettre::transport::smtp::Error) -> String {
    match error.status() {
        Some(code) => format!("the mail server answered {code}"),
        None if error.is_timeout() => "the mail server did not answer in time".to_owned(),
        None => match failure_of_tls(error) {
            Some(reason) => format!("TLS with the mail server failed: {reason}"),
            None => "the mail server could not be reached, or the connection broke off".to_owned(),
        },
    }
}

/// Why TLS failed, in rustls' words, such as that a certificate has expired or that nobody trusts it. The mail library takes it for a
/// connection that failed; what rustls refuses is invalid data there.
fn failure_of_tls(error: &(dyn Error + 'static)) -> Option<String> {
    let mut causes = std::iter::successors(error.source(), |&error| error.source());
    let cause = causes.find_map(|error| error.downcast_ref::<io::Error>())?;
    (cause.kind() == io::ErrorKind::InvalidData).then(|| cause.to_string())
}

#[cfg(test)]
mod tests {
    use crate::ports::{MailError, SmtpMailer};

    #[tokio::test]
    async fn a_certificate_that_is_not_trusted_is_told_as_such() {
        use tokio_rustls::{TlsAcceptor, rustls};

        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
        let key = rustls::pki_types::PrivateKeyDer::try_from(made.signing_key.serialize_der()).expect("a key");
        let provider = std::sync::Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(|config| config.with_no_client_auth().with_single_cert(vec![made.cert.der().clone()], key))
            .expect("settings");
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let url = format!("smtps://us:secret@localhost:{}", listener.local_addr().expect("bound").port());
        let server = tokio::spawn(async move {
            let (stream, _) = listener.accept().await.expect("somebody comes");
            TlsAcceptor::from(std::sync::Arc::new(config)).accept(stream).await.is_ok()
        });
        let mailer = SmtpMailer::from_url(&url, "a@example.com").expect("usable settings");
        let Err(MailError::Transient(reason)) = mailer.try_connecting().await else { panic!("it is not believed") };
        let at = url.trim_start_matches("smtps://us:secret@");
        assert_eq!(reason, format!("TLS with the mail server failed: invalid peer certificate: UnknownIssuer ({at})"));
        assert!(!server.await.expect("no panic"));
    }
}
