//! A mailer that sends nothing: it keeps every message, so that the program can follow the link in one as its reader would.

use std::sync::Mutex;

use tenant_auth_core::ports::{MailError, Mailer, Message};

/// What was sent, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Mailbox(Mutex<Vec<Message>>);

#[async_trait::async_trait]
impl Mailer for Mailbox {
    async fn send(&self, message: &Message) -> Result<(), MailError> {
        self.0.lock().map_err(|error| MailError::Transient(error.to_string()))?.push(message.clone());
        Ok(())
    }
}

impl Mailbox {
    /// The token in the newest link that was mailed to an address.
    pub(crate) fn token_for(&self, address: &str) -> Option<String> {
        let mails = self.0.lock().ok()?;
        let text = &mails.iter().rfind(|mail| mail.to.as_str() == address)?.text;
        Some(text.split("token=").nth(1)?.split_whitespace().next()?.to_owned())
    }
}
