//! The mail as it is sent: its headers, and text and HTML as alternatives, with the logo beside the HTML that shows it.

use std::error::Error;

use lettre::message::{
    Attachment, Mailbox, MultiPart, SinglePart,
    header::{Header, HeaderName, HeaderValue},
};

use crate::ports::{MailError, Message};

/// No person wrote it, so that no absent one's program answers it (RFC 3834, section 5).
#[derive(Debug, Clone)]
struct AutoSubmitted;

impl Header for AutoSubmitted {
    fn name() -> HeaderName {
        HeaderName::new_from_ascii_str("Auto-Submitted")
    }

    fn parse(_: &str) -> Result<Self, Box<dyn Error + Send + Sync>> {
        Ok(Self)
    }

    fn display(&self) -> HeaderValue {
        HeaderValue::new(Self::name(), "auto-generated".to_owned())
    }
}

/// The mail as it is sent. Receivers refuse one without an id, and it must not tell this machine's name (RFC 5322, section 3.6.4).
pub(super) fn mail(from: &Mailbox, message: &Message) -> Result<lettre::Message, MailError> {
    let to = message.to.as_str().parse().map_err(|error| MailError::Permanent(format!("recipient: {error}")))?;
    lettre::Message::builder()
        .message_id(Some(format!("<{}@{}>", message.id, from.email.domain())))
        .header(AutoSubmitted)
        .from(from.clone())
        .to(Mailbox::new(None, to))
        .subject(message.subject.clone())
        .multipart(content(message)?)
        .map_err(|error| MailError::Permanent(error.to_string()))
}

/// The text, and the HTML with the picture that it shows (RFC 2387).
fn content(message: &Message) -> Result<MultiPart, MailError> {
    let Some(logo) = &message.logo else {
        return Ok(MultiPart::alternative_plain_html(message.text.clone(), message.html.clone()));
    };
    let kind = logo.content_type().parse().map_err(|error| MailError::Permanent(format!("logo: {error}")))?;
    let logo = Attachment::new_inline("logo".to_owned()).body(logo.as_bytes().to_vec(), kind);
    let html = MultiPart::related().singlepart(SinglePart::html(message.html.clone())).singlepart(logo);
    Ok(MultiPart::alternative().singlepart(SinglePart::plain(message.text.clone())).multipart(html))
}

#[cfg(test)]
mod tests {
    use lettre::Address;
    use proptest::prelude::*;

    use super::*;
    use crate::{
        ports::smtp::mailbox,
        value::{Email, Logo},
    };

    proptest! {
        /// A mail to an address that the mail library cannot read would be given up days after it was caused.
        #[test]
        fn every_email_is_an_address_to_the_mail_library(
            local in "[a-zA-Z0-9!#$%&'*+/=?^_`{|}~.-]{1,64}",
            domain in "[a-zA-Z0-9ü-]{1,20}(\\.[a-zA-Z0-9-]{1,63}){0,3}",
        ) {
            if let Ok(email) = Email::parse(&format!("{local}@{domain}")) {
                prop_assert!(email.as_str().parse::<Address>().is_ok(), "{email}");
            }
        }
    }

    #[test]
    fn a_mail_has_an_id_and_its_logo_inline_beside_the_html_that_shows_it() {
        let logo = Logo::parse("<svg xmlns='http://www.w3.org/2000/svg'/>").expect("an SVG");
        let to = Email::parse("a@example.com").expect("an address");
        let html = "<img src=\"cid:logo\">".to_owned();
        let message = Message {
            id: "mail_1".to_owned(),
            to,
            subject: String::new(),
            text: "Grüße".to_owned(),
            html,
            logo: Some(logo),
            kind: String::new(),
            language: crate::value::Language::ENGLISH,
            link: None,
            values: std::collections::BTreeMap::new(),
        };
        let from = mailbox("Büro <no-reply@münchen.example>").expect("a sender");
        let mail = |message: &Message| {
            let mail = super::mail(&from, message).expect("a mail");
            let sender = mail.envelope().from().map(ToString::to_string);
            assert_eq!(sender.as_deref(), Some("no-reply@xn--mnchen-3ya.example"));
            String::from_utf8(mail.formatted()).expect("UTF-8")
        };
        let written = mail(&message);
        let at = |text: &str| written.find(text).unwrap_or_else(|| panic!("{text} in {written}"));
        let order =
            ["multipart/alternative", "text/plain", "multipart/related", "text/html", "cid:logo", "Content-ID: <logo>"].map(at);
        assert!(order.is_sorted(), "{written}");
        assert!(
            written.is_ascii() && written.contains(" <no-reply@xn--mnchen-3ya.example>\r\n"),
            "no extension is needed: {written}"
        );
        assert!(written.contains("image/svg+xml") && written.contains("Content-Disposition: inline"), "{written}");
        let other = mail(&Message { logo: None, ..message });
        assert!(!other.contains("image/"));
        assert!(
            other.contains("\r\nMessage-ID: <mail_1@xn--mnchen-3ya.example>\r\n")
                || other.starts_with("Message-ID: <mail_1@xn--mnchen-3ya.example>\r\n"),
            "{other}"
        );
        assert!(other.contains("\r\nAuto-Submitted: auto-generated\r\n"), "{other}");
    }
}
