//! Rules that every page obeys in every scenario: nothing unannounced on the console or in the network, and no part of a session
//! within a script's reach.

use super::{
    Page,
    journal::Journal,
    patience::{NAMES, text},
};

const REACH: &str = include_str!("reach.js");

impl Page {
    /// The service refused something on this page, as the scenario meant it to.
    pub async fn was_refused(&self, status: u16, path: &str) {
        self.session.read_logs().await;
        let times = self.session.with_journal(|journal| journal.account_for(status, path));
        assert!(
            times > 0,
            "{path} never answered {status}: {:?}",
            self.session.with_journal(|journal| journal.refusals().to_vec())
        );
    }

    /// Like [`Page::was_refused`], when nothing on the page says that the answer is there.
    pub async fn was_eventually_refused(&self, status: u16, path: &str) {
        self.eventually(
            "an answer",
            "return resting() && document.querySelector('[aria-invalid=true], [role=alert]:not(:empty)')",
            vec![],
        )
        .await;
        self.was_refused(status, path).await;
    }

    /// Announces that the session had expired, for a moment or for good: the page's requests in that time were refused.
    pub async fn was_refused_anywhere(&self, status: u16) {
        self.session.read_logs().await;
        let times = self.session.with_journal(|journal| journal.account_for_any(status));
        assert!(times > 0, "nothing was refused with {status}");
    }

    /// Nothing happened that must not: see [`super`].
    pub async fn is_calm(&self) {
        let offences = self.offences().await;
        assert!(offences.is_empty(), "{offences:#?}");
    }

    /// The end of a scenario: calm, and nothing refused that was not meant to be.
    pub(super) async fn finish(&self) {
        self.is_calm().await;
        let refusals = self.session.with_journal(|journal| journal.refusals().to_vec());
        assert!(refusals.is_empty(), "refused, but not announced: {refusals:?}");
    }

    /// The page's text and the console's lines, for the report of a failure.
    pub(super) async fn shown(&self) -> String {
        let script = "return `${location}\\n${document.title}\\n${scope(null)?.innerText}`";
        let page = self.session.client.execute(&format!("{NAMES}{script}"), vec![]).await;
        let page = page.map_or_else(|error| error.to_string(), |page| text(&page));
        let logged = self.session.with_journal(|journal| format!("{journal:#?}"));
        format!("on the page:\n{page}\n{logged}")
    }

    /// What happened that must not, and what is within reach of scripts that must not be; asked for, it is forgiven.
    pub async fn offences(&self) -> Vec<String> {
        self.session.read_logs().await;
        let mut offences = self.session.with_journal(Journal::take_complaints);
        offences.extend(self.run(REACH, vec![]).await.as_array().into_iter().flatten().map(text));
        offences
    }
}
