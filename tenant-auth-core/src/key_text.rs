//! The text of a key, as far as it can be read without a database: which kind of key it shows, and which id. The rest is the secret, of
//! which lists show a few characters.

use crate::{
    id::{ApiKeyId, DeploymentKeyId, Id, Kind},
    secret::ApiKeyText,
};

/// The beginning of the text of each organization's key.
pub(crate) const ORGANIZATION_PREFIX: &str = "pk_live_";
/// The beginning of each deployment key's text.
pub(crate) const DEPLOYMENT_PREFIX: &str = "dk_live_";
/// How many characters of an id stand in the text of a key.
const BODY: usize = 26;
/// How many characters after the prefix are shown in lists.
#[cfg(feature = "service")]
const SHOWN: usize = 8;
/// How many characters at the end are shown, too.
#[cfg(feature = "service")]
const LAST: usize = 4;

/// What lists show of a key's text, so that people can tell keys apart.
#[cfg(feature = "service")]
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) prefix: String,
    pub(crate) last_four: String,
}

#[cfg(feature = "service")]
impl Shown {
    /// Of a text that begins with this prefix.
    pub(crate) fn of(text: &ApiKeyText, prefix: &str) -> Self {
        let text = text.expose();
        Self {
            prefix: text.chars().take(prefix.len() + SHOWN).collect(),
            last_four: text.chars().skip(text.len() - LAST).collect(),
        }
    }
}

/// Whether lists may show these parts as those of an organization's key.
#[cfg(feature = "service")]
pub(crate) fn are_shown_of_organization_key(prefix: &str, last_four: &str) -> bool {
    let is_shown = |text: &str, length: usize| text.len() == length && text.bytes().all(|byte| byte.is_ascii_graphic());
    let is_long_enough = is_shown(prefix, ORGANIZATION_PREFIX.len() + SHOWN) && is_shown(last_four, LAST);
    prefix.starts_with(ORGANIZATION_PREFIX) && is_long_enough
}

/// The scopes of a new key, each once, in the order in which they were given.
#[cfg(feature = "service")]
pub(crate) fn each_once<S: PartialEq>(given: Vec<S>) -> Vec<S> {
    let mut scopes = Vec::new();
    for scope in given {
        if !scopes.contains(&scope) {
            scopes.push(scope);
        }
    }
    scopes
}

/// The id in `pk_live_`, the id's body, the secret.
pub(crate) fn organization_key_id(text: &ApiKeyText) -> Option<ApiKeyId> {
    id_in(text, ORGANIZATION_PREFIX)
}

/// The id in `dk_live_`, the id's body, the secret.
pub(crate) fn deployment_key_id(text: &ApiKeyText) -> Option<DeploymentKeyId> {
    id_in(text, DEPLOYMENT_PREFIX)
}

fn id_in<K: Kind>(text: &ApiKeyText, prefix: &str) -> Option<Id<K>> {
    let body = text.expose().strip_prefix(prefix)?.get(..BODY)?;
    format!("{}{body}", K::PREFIX).parse().ok()
}

#[cfg(all(test, feature = "service"))]
mod tests {
    use super::*;

    #[test]
    fn an_import_takes_the_parts_that_are_shown_of_a_new_key() {
        let text = ApiKeyText::new("pk_live_0123456789abcdefghijklmnopqrstuvwxyz");
        let Shown { prefix, last_four } = Shown::of(&text, ORGANIZATION_PREFIX);
        assert_eq!((prefix.as_str(), last_four.as_str()), ("pk_live_01234567", "wxyz"));
        assert!(are_shown_of_organization_key(&prefix, &last_four));
        for (prefix, last_four) in
            [("pk_live_0123456", "wxyz"), ("dk_live_01234567", "wxyz"), ("pk_live_01234567", "xyz"), ("pk_live_0123456 ", "wxyz")]
        {
            assert!(!are_shown_of_organization_key(prefix, last_four), "{prefix} {last_four}");
        }
    }

    #[test]
    fn a_scope_that_is_given_twice_counts_once() {
        assert_eq!(each_once(vec!["verify", "users:read", "verify"]), ["verify", "users:read"]);
    }
}
