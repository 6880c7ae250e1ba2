//! The port for sending mails. The worker hands a [`Message`] over and records the outcome; the retry schedule is the worker's.

use std::{collections::BTreeMap, fmt, time::Duration};

use async_trait::async_trait;

use crate::value::{Email, Language, Logo};

/// One mail, ready to be sent, with what it was made of, for who writes mails in a way of their own.
#[derive(Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Message {
    /// Its own, and the same for each attempt to send it; fit for a `Message-ID` (RFC 5322, section 3.6.4).
    #[serde(skip)]
    pub id: String,
    /// The recipient's address.
    pub to: Email,
    /// The subject line.
    pub subject: String,
    /// The plain-text body.
    pub text: String,
    /// The HTML body, with the same content.
    pub html: String,
    /// The picture that the HTML body shows as `cid:logo`, to be attached inline with that Content-ID.
    #[serde(skip)]
    pub logo: Option<Logo>,
    /// Which mail it is, such as `reset_password`; empty for one that a former version wrote.
    #[serde(default)]
    pub kind: String,
    /// The language it is written in.
    #[serde(default)]
    pub language: Language,
    /// The link that it asks the recipient to open; it is a credential.
    #[serde(default)]
    pub link: Option<String>,
    /// What else it tells, by name, as its texts show it: in names and in unusual addresses, which people chose, nothing is taken for a
    /// link (a word joiner stands after each dot, colon and slash).
    #[serde(default)]
    pub values: BTreeMap<String, String>,
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Message([redacted])") // addresses, and links that are credentials
    }
}

/// Why a mail was not accepted.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum MailError {
    /// A permanent refusal of this mail or of its recipient (such as SMTP 550 5.1.1: no such mailbox): do not try again.
    #[error("refused for good: {0}")]
    Permanent(String),
    /// A transient failure, such as no answer, SMTP 4xx, or a refusal of whoever sends (such as 554 5.7.1: no relaying): try again later.
    #[error("not now: {0}")]
    Transient(String),
}

/// Sends mail.
#[async_trait]
pub trait Mailer: fmt::Debug + Send + Sync {
    /// Hands one message over; `Ok` once the next server has accepted it.
    ///
    /// # Errors
    /// [`MailError::Permanent`] for a refusal that will not change, [`MailError::Transient`] for everything else.
    async fn send(&self, message: &Message) -> Result<(), MailError>;

    /// The time limit of one attempt, after which the worker gives it up for the moment. The claim of a mail is renewed until then, so a
    /// long one makes nobody get a mail twice. A mailer that wraps another one returns that one's.
    fn time_limit(&self) -> Duration {
        Duration::from_secs(30)
    }
}

/// A test double: keeps the newest 1,000 messages.
#[derive(Debug, Default)]
#[cfg(feature = "testing")]
pub struct RecordingMailer(std::sync::Mutex<std::collections::VecDeque<Message>>);

#[cfg(feature = "testing")]
impl RecordingMailer {
    /// All messages so far, oldest first.
    pub fn sent(&self) -> Vec<Message> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).iter().cloned().collect()
    }
}

#[cfg(feature = "testing")]
#[async_trait]
impl Mailer for RecordingMailer {
    async fn send(&self, message: &Message) -> Result<(), MailError> {
        let mut sent = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if sent.len() == 1_000 {
            sent.pop_front();
        }
        sent.push_back(message.clone());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mail_that_a_former_version_left_in_the_outbox_is_still_read() {
        let kept = r#"{"to":"ada@acme.example","subject":"Reset your password","text":"a","html":"b"}"#;
        let message: Message = serde_json::from_str(kept).expect("a mail");
        assert_eq!((message.subject.as_str(), message.kind.as_str()), ("Reset your password", ""));
        assert_eq!((message.language, message.link, message.values), (Language::ENGLISH, None, BTreeMap::new()));
    }
}
