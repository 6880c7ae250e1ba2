//! A webhook's selection of event kinds: kinds by name, all kinds of a group (`member.*`), or all (`*`); what is done to webhooks by name
//! alone.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::EventKind;
use crate::value::Rejected;

/// A selection of event kinds, at least one pattern and none of them unknown.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EventSelection(Vec<String>);

impl EventSelection {
    /// Checks patterns: a kind such as `member.joined`, a group such as `member.*`, or `*`. Repetitions are dropped.
    ///
    /// # Errors
    /// [`Rejected`] without a pattern, and for one that selects nothing, with the list of known kinds.
    pub fn parse<T: AsRef<str>>(patterns: &[T]) -> Result<Self, Rejected> {
        let mut selected: Vec<String> = Vec::new();
        for pattern in patterns.iter().map(AsRef::as_ref) {
            check(pattern)?;
            if !selected.iter().any(|known| known == pattern) {
                selected.push(pattern.to_owned());
            }
        }
        if selected.is_empty() { Err(Rejected::because("must name at least one kind of event, or *")) } else { Ok(Self(selected)) }
    }

    /// Whether events of this kind are selected. The kind is a text, for a newer version may have stored it. What is done to the
    /// organization's webhooks is selected by its name alone: not everybody who receives everything is to know the others' receivers.
    pub fn includes(&self, kind: &str) -> bool {
        let is_by_name = EventKind::parse(kind).is_some_and(EventKind::is_of_a_webhooks_life);
        self.0.iter().any(|pattern| if is_by_name { pattern == kind } else { selects(pattern, kind) })
    }

    /// The patterns, as they were given.
    pub fn patterns(&self) -> &[String] {
        &self.0
    }

    /// The known kinds that any of these patterns selects; unknown patterns select none.
    pub(crate) fn kinds_of(patterns: &[String]) -> Vec<EventKind> {
        let is_selected = |kind: &EventKind| patterns.iter().any(|pattern| selects(pattern, kind.as_str()));
        EventKind::ALL.iter().copied().filter(is_selected).collect()
    }

    pub(crate) fn from_stored(text: &str) -> Self {
        Self(text.split(' ').map(str::to_owned).collect())
    }

    pub(crate) fn to_stored(&self) -> String {
        self.0.join(" ")
    }
}

fn selects(pattern: &str, kind: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some("") => true,
        Some(group) => group.ends_with('.') && kind.split_inclusive('.').next() == Some(group),
        None => pattern == kind,
    }
}

fn check(pattern: &str) -> Result<(), Rejected> {
    let is_known = EventKind::ALL.iter().any(|kind| selects(pattern, kind.as_str()));
    if is_known { Ok(()) } else { Err(unknown(pattern)) }
}

fn unknown(pattern: &str) -> Rejected {
    let known: Vec<&str> = EventKind::ALL.iter().map(|kind| kind.as_str()).collect();
    let shown: String = pattern.chars().filter(|c| c.is_ascii_graphic()).take(40).collect();
    Rejected::because(format!("no event is called '{shown}'; known are {}, a group such as member.*, and *", known.join(", ")))
}

/// A pattern that selects something, judged where it stands, so that a refusal can name its place.
struct Pattern(String);

impl AsRef<str> for Pattern {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        check(&text).map_err(D::Error::custom)?;
        Ok(Self(text))
    }
}

impl<'de> Deserialize<'de> for EventSelection {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let patterns = Vec::<Pattern>::deserialize(deserializer)?;
        Self::parse(&patterns).map_err(D::Error::custom)
    }
}

impl Serialize for EventSelection {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(&self.0)
    }
}

#[cfg(feature = "http")]
mod schema {
    use std::collections::BTreeSet;

    use utoipa::{
        PartialSchema, ToSchema,
        openapi::{ArrayBuilder, RefOr, Schema},
    };

    use super::{EventKind, EventSelection};
    use crate::schema::string;

    impl PartialSchema for EventSelection {
        fn schema() -> RefOr<Schema> {
            let kinds = EventKind::ALL.iter().map(|kind| kind.as_str());
            let groups: BTreeSet<String> =
                kinds.clone().filter_map(|kind| Some(format!("{}.*", kind.split_once('.')?.0))).collect();
            let patterns: Vec<String> = ["*".to_owned()].into_iter().chain(groups).chain(kinds.map(str::to_owned)).collect();
            ArrayBuilder::new()
                .items(string("A kind of event, all kinds of a group, or all.").enum_values(Some(patterns)))
                .min_items(Some(1))
                .description(Some("Which events a webhook gets."))
                .into()
        }
    }

    impl ToSchema for EventSelection {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_selects_its_kinds_and_no_others() {
        let selection = EventSelection::parse(&["member.*", "user.updated", "member.*"]).expect("known");
        assert_eq!(selection.patterns(), ["member.*", "user.updated"]);
        assert!(selection.includes("member.joined") && selection.includes("user.updated"));
        assert!(!selection.includes("user.email_verified") && !selection.includes("session.created"));
        let everything = EventSelection::parse(&["*"]).expect("known");
        let left_out: Vec<&str> =
            EventKind::ALL.iter().map(|kind| kind.as_str()).filter(|kind| !everything.includes(kind)).collect();
        assert_eq!(left_out, ["webhook.created", "webhook.updated", "webhook.deleted", "webhook.secret_rotated"]);
    }

    #[test]
    fn what_is_done_to_webhooks_is_selected_by_name_alone() {
        let group = EventSelection::parse(&["webhook.*"]).expect("known");
        assert!(group.includes("webhook.disabled") && !group.includes("webhook.deleted"));
        let named = EventSelection::parse(&["*", "webhook.deleted"]).expect("known");
        assert!(named.includes("webhook.deleted") && !named.includes("webhook.created") && named.includes("org.updated"));
    }

    #[test]
    fn patterns_that_select_nothing_are_refused_with_the_known_kinds() {
        for pattern in
            ["member", "member.", "member.left", "mem*", "membe.*", "*.joined", "**", "", " *", "Member.joined", "member.joined.*"]
        {
            let refusal = EventSelection::parse(&[pattern]).expect_err(pattern).to_string();
            assert!(refusal.contains("member.joined") && refusal.contains("webhook.test"), "{refusal}");
        }
        assert!(EventSelection::parse::<&str>(&[]).is_err());
    }
}
