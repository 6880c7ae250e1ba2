//! The development mailbox: mails are kept in memory, the last 200, and shown at `/dev/mail` and `/dev/mail.json`, newest first.
//! Mails hold links that are credentials: see `local.rs` for who may read them.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use axum::{
    Extension, Router,
    extract::{RawQuery, State},
    response::Response,
    routing::get,
};
use serde::Serialize;
use serde_json::json;
use tenant_auth_core::{
    Timestamp,
    ports::{Clock, MailError, Mailer, Message},
};
use tokio::sync::watch;
use url::form_urlencoded;

use super::{
    clock::MovableClock,
    local::{Site, escaped},
};
use crate::answer;

const KEPT: usize = 200;

/// The longest `?wait=` that is honoured, in seconds.
const MAX_WAIT: u64 = 10;

/// The mails sent so far, newest first.
#[derive(Debug)]
pub(super) struct Mailbox {
    mails: Mutex<VecDeque<Mail>>,
    arrived: watch::Sender<()>,
    clock: Arc<MovableClock>,
}

#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
struct Mail {
    #[serde(flatten)]
    message: Message,
    sent_at: Timestamp,
}

/// The query of a request for mails.
#[derive(Debug, Default)]
struct Wanted {
    /// Only mails to this address.
    to: Option<String>,
    /// How long to wait for the first mail, because a mail is sent a moment after the request that caused it.
    wait: Duration,
}

#[async_trait]
impl Mailer for Mailbox {
    async fn send(&self, message: &Message) -> Result<(), MailError> {
        let mail = Mail { message: message.clone(), sent_at: self.clock.now() };
        let mut mails = self.mails();
        mails.push_front(mail);
        mails.truncate(KEPT);
        drop(mails);
        self.arrived.send_replace(());
        Ok(())
    }
}

impl Mailbox {
    pub(super) fn new(clock: Arc<MovableClock>) -> Self {
        Self { mails: Mutex::default(), arrived: watch::Sender::new(()), clock }
    }

    fn mails(&self) -> MutexGuard<'_, VecDeque<Mail>> {
        // Nothing under the lock can panic half-way.
        self.mails.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn matching(&self, to: Option<&str>) -> Vec<Mail> {
        let wanted = |mail: &&Mail| to.is_none_or(|to| mail.message.to.as_str().eq_ignore_ascii_case(to));
        self.mails().iter().filter(wanted).cloned().collect()
    }

    async fn read(&self, wanted: &Wanted) -> Vec<Mail> {
        let mut arrived = self.arrived.subscribe(); // before looking, so that nothing arrives unnoticed in between
        let first = async { while self.matching(wanted.to.as_deref()).is_empty() && arrived.changed().await.is_ok() {} };
        let _ = tokio::time::timeout(wanted.wait, first).await;
        self.matching(wanted.to.as_deref())
    }
}

impl Wanted {
    /// Reads `to=<address>&wait=<seconds>`.
    fn from_query(query: &str) -> Self {
        form_urlencoded::parse(query.as_bytes()).fold(Self::default(), |wanted, (name, value)| match &*name {
            "to" => Self { to: Some(value.into_owned()), ..wanted },
            "wait" => Self { wait: Duration::from_secs(value.parse().unwrap_or(0).min(MAX_WAIT)), ..wanted },
            _ => wanted,
        })
    }
}

/// `/dev/mail` and `/dev/mail.json`.
pub(super) fn routes(mailbox: Arc<Mailbox>) -> Router {
    Router::new().route("/dev/mail", get(page)).route("/dev/mail.json", get(list)).with_state(mailbox)
}

async fn list(State(mailbox): State<Arc<Mailbox>>, RawQuery(query): RawQuery) -> Response {
    let mails = mailbox.read(&Wanted::from_query(&query.unwrap_or_default())).await;
    answer::success(json!({ "mails": mails }))
}

async fn page(State(mailbox): State<Arc<Mailbox>>, Extension(site): Extension<Site>) -> Response {
    let mails = mailbox.matching(None);
    let shown: String = mails.iter().map(article).collect();
    let shown = if mails.is_empty() { "<p>Nothing was sent yet. Reload this page after something was.</p>" } else { &shown };
    site.page("Mails", shown)
}

fn article(mail: &Mail) -> String {
    let Message { to, subject, text, .. } = &mail.message;
    let (to, subject, text) = (escaped(to.as_str()), escaped(subject), linked(text));
    let at = mail.sent_at.to_iso();
    format!("<article><h2>{subject}</h2><p>To {to}, <time datetime=\"{at}\">{at}</time></p><pre>{text}</pre></article>")
}

/// Text as HTML, with http(s) URLs that stand alone as links.
fn linked(text: &str) -> String {
    let word = |word: &str| {
        let shown = escaped(word);
        let is_link = word.starts_with("https://") || word.starts_with("http://");
        if is_link { format!("<a href=\"{shown}\" rel=\"noreferrer\">{shown}</a>") } else { shown }
    };
    let line = |line: &str| line.split(' ').map(word).collect::<Vec<_>>().join(" ");
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(to: &str) -> Message {
        Message {
            id: String::new(),
            to: to.parse().expect("an address"),
            subject: "<b>".to_owned(),
            text: "see http://x/?a&\"b\n<i>".to_owned(),
            html: String::new(),
            logo: None,
            kind: "reset_password".to_owned(),
            language: tenant_auth_core::value::Language::ENGLISH,
            link: None,
            values: std::collections::BTreeMap::new(),
        }
    }

    #[tokio::test]
    async fn the_newest_mail_is_first_and_the_oldest_go() {
        let mailbox = Mailbox::new(Arc::default());
        for number in 0..=KEPT {
            mailbox.send(&message(&format!("{number}@example.com"))).await.expect("kept");
        }
        let mails = mailbox.read(&Wanted::default()).await;
        assert_eq!((mails.len(), mails[0].message.to.as_str()), (KEPT, "200@example.com"));
        assert!(mailbox.matching(Some("0@example.com")).is_empty());
    }

    #[tokio::test]
    async fn who_waits_gets_the_mail_when_it_comes() {
        let mailbox = Mailbox::new(Arc::default());
        let wanted = Wanted::from_query("to=a%40example.com&wait=10");
        let (mails, ()) = tokio::join!(mailbox.read(&wanted), async {
            mailbox.send(&message("b@example.com")).await.expect("kept");
            mailbox.send(&message("A@example.com")).await.expect("kept");
        });
        assert_eq!(mails.len(), 1);
    }

    #[test]
    fn a_mail_is_shown_as_text() {
        let html = article(&Mail { message: message("x'&y@example.com"), sent_at: Timestamp::from_millis(0) });
        assert!(
            html.contains("<h2>&lt;b&gt;</h2>") && html.contains("&lt;i&gt;</pre>") && html.contains("To x&#39;&amp;y@"),
            "{html}"
        );
        assert!(html.contains("<a href=\"http://x/?a&amp;&quot;b\""), "{html}");
    }
}
