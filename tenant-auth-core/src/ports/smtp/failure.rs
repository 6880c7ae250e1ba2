//! What went wrong with a mail server: whether the mail itself was refused, and the cause in words that quote nothing of the server's.

use std::{error::Error, io};

/// What a server refused, of a mail whose sender it let pass so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// The recipient (RCPT).
    Recipient,
    /// The content, before it came or after it.
    Content,
}

/// Whether a refusal is of this mail or its recipient for good. Many servers judge the sender, the login's rights and the client only once
/// the recipient is named, or the content was sent, and answer 550, 553 or 554 as to a recipient that is unknown. An operator mends those,
/// and no mail is lost until then. So the enhanced status code decides, and without one only a refusal of the recipient is its own.
pub(super) fn is_of_the_mail(error: &lettre::transport::smtp::Error, phase: Phase) -> bool {
    let said = error.source().map(ToString::to_string).unwrap_or_default();
    error.status().is_some_and(|code| is_for_good(code.into(), &said, phase))
}

fn is_for_good(code: u16, said: &str, phase: Phase) -> bool {
    if !(550..=559).contains(&code) {
        return false;
    }
    match enhanced(said) {
        // No such address or domain, one that has moved or takes no mail; a mailbox that is closed or full; too large a mail. Beyond 5.2.4
        // a large service has codes of its own, such as 5.2.252: a login that may not send as that sender.
        Some(status) => matches!(status, (5, 1, 1 | 2 | 3 | 6 | 10) | (5, 2, 0..=4) | (5, 3, 4)),
        None => phase == Phase::Recipient && matches!(code, 550 | 551 | 553) && !tells_of_the_sender(said),
    }
}

/// The enhanced status code that an answer begins with (RFC 2034, RFC 3463), in its three parts.
fn enhanced(said: &str) -> Option<(u16, u16, u16)> {
    let mut parts = said.split_whitespace().next()?.trim_start_matches('#').split('.').map(|part| part.parse::<u16>().ok());
    let status = (parts.next()??, parts.next()??, parts.next()??);
    parts.next().is_none().then_some(status)
}

/// Servers that know no enhanced status codes say only in words that whoever sends may not ("relay not permitted").
fn tells_of_the_sender(said: &str) -> bool {
    let said = said.to_ascii_lowercase();
    ["relay", "sender"].iter().any(|word| said.contains(word))
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
    use super::{Phase, is_for_good};
    use crate::ports::{MailError, SmtpMailer};

    #[test]
    fn only_what_is_of_a_recipient_or_of_a_mail_is_for_good() {
        for (code, said) in [
            (550, "5.1.1 nobody of that name"),
            (556, "5.1.10 the domain takes no mail"),
            (552, "5.2.2 mailbox full"),
            (552, "#5.3.4 too large"),
        ] {
            assert!([Phase::Recipient, Phase::Content].iter().all(|phase| is_for_good(code, said, *phase)), "{said}");
        }
        for (code, said) in [
            (553, "5.7.1 <a@example.com>: Sender address rejected: not owned by user"),
            (554, "5.7.1 <b@example.com>: Relay access denied"),
            (550, "5.7.60 SMTP; Client does not have permissions to send as this sender"),
            (554, "5.2.252 SendAsDenied"),
            (554, "Message rejected: Email address is not verified."),
            (550, "relay not permitted"),
            (550, "Sender verify failed"),
            (535, "5.1.1 another password"),
            (451, "4.2.2 mailbox full"),
        ] {
            assert!([Phase::Recipient, Phase::Content].iter().all(|phase| !is_for_good(code, said, *phase)), "{said}");
        }
        for code in [550, 551, 553] {
            let refused_at = |phase| is_for_good(code, "no such user 5.1.1", phase);
            assert!(refused_at(Phase::Recipient) && !refused_at(Phase::Content), "{code}");
        }
        assert!(!is_for_good(554, "transaction failed", Phase::Recipient));
    }

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
