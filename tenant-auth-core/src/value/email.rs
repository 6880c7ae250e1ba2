//! Email addresses: trimmed, NFKC, an ASCII local part and an IDNA domain, at most 254 bytes. Shown as typed, compared lower-cased.

use std::hash::{Hash, Hasher};

use unicode_normalization::UnicodeNormalization;

use super::{Rejected, text_value};

const MAX_BYTES: usize = 254;

/// Longer texts are refused before they are normalised and encoded, which takes a core some 40 ms for 64 KiB. A character has at
/// most four bytes, so hardly an address of 254 characters is this long as typed.
const MAX_TYPED_BYTES: usize = 1_000;

/// A well-formed email address (RFC 5321 without quoted local parts and address literals).
#[derive(Debug, Clone)]
pub struct Email(String);
text_value!(
    Email,
    Text {
        means: "An email address: ASCII local part, IDNA domain; compared without case.",
        max: Some(MAX_BYTES),
        // Labels of the domain may not begin or end with a hyphen, and the last one is no number.
        pattern: Some(concat!(
            r"^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@([A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?\.)*",
            r"([A-Za-z]|[A-Za-z0-9][A-Za-z0-9-]*[A-Za-z]|[A-Za-z][A-Za-z0-9-]*[0-9]|[0-9][A-Za-z0-9-]*[A-Za-z-][A-Za-z0-9-]*[0-9])$",
        )),
        format: Some(utoipa::openapi::KnownFormat::Email),
        example: Some("ada@acme.example"),
        ..Text::default()
    }
);

impl Email {
    /// Checks and normalises an address.
    ///
    /// # Errors
    /// [`Rejected`] when no mailbox can have this address.
    pub fn parse(text: &str) -> Result<Self, Rejected> {
        let reject = || Rejected::because("must be an email address");
        // Normalising can make a text eighteen times as long.
        let is_short = |text: &str| text.len() <= MAX_TYPED_BYTES;
        let text = Some(text.trim()).filter(|text| is_short(text)).ok_or_else(reject)?;
        let text = Some(text.nfkc().collect::<String>()).filter(|text| is_short(text)).ok_or_else(reject)?;
        let (local, domain) = text.rsplit_once('@').ok_or_else(reject)?;
        let domain = idna::domain_to_ascii_strict(domain).map_err(|_| reject())?;
        let shown_domain = text.rsplit_once('@').map_or("", |(_, domain)| domain);
        // An ASCII domain is shown as typed; any other is kept in the form mail servers understand.
        let shown_domain = if shown_domain.is_ascii() { shown_domain.to_owned() } else { domain.clone() };
        let address = format!("{local}@{shown_domain}");
        if address.len() > MAX_BYTES || !is_local_part(local) || !is_domain(&domain) {
            return Err(reject());
        }
        Ok(Self(address))
    }

    /// The address as it is shown and mailed to.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether both are written alike, and so are one mailbox to every mail server. Such as differ in case are one address here, and may be
    /// two mailboxes there (RFC 5321, section 2.4).
    #[cfg(feature = "service")]
    pub(crate) fn is_written_as(&self, other: &Self) -> bool {
        self.0 == other.0
    }

    /// What identifies the mailbox: the address in lower case.
    pub(crate) fn key(&self) -> String {
        self.0.to_ascii_lowercase()
    }

    /// The part after the `@`, in lower case.
    pub(crate) fn domain(&self) -> String {
        self.0.rsplit_once('@').map(|(_, domain)| domain.to_ascii_lowercase()).unwrap_or_default()
    }

    /// The part before the `@`.
    pub(crate) fn local_part(&self) -> &str {
        self.0.rsplit_once('@').map_or(self.0.as_str(), |(local, _)| local)
    }
}

impl PartialEq for Email {
    /// Addresses are compared lower-cased.
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Email {}

/// As it is compared: in lower case.
impl Hash for Email {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

/// RFC 5321 `Dot-string` of at most 64 bytes.
fn is_local_part(local: &str) -> bool {
    let of_atom = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&b);
    (1..=64).contains(&local.len()) && local.split('.').all(|atom| !atom.is_empty() && atom.bytes().all(of_atom))
}

fn is_domain(domain: &str) -> bool {
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    domain.len() <= 253
        && domain.split('.').all(is_label)
        && !domain.rsplit('.').next().is_some_and(|top| top.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_trimmed_folded_for_comparison_and_shown_as_typed() {
        let email = Email::parse("  Ada.Lovelace@Example.COM ").expect("an address");
        assert_eq!(email.as_str(), "Ada.Lovelace@Example.COM");
        assert_eq!(email.key(), "ada.lovelace@example.com");
        assert_eq!(email, Email::parse("ada.lovelace@example.com").expect("an address"));
    }

    #[test]
    fn look_alikes_become_what_they_look_like_or_are_refused() {
        assert_eq!(
            Email::parse("ｂｏｂ@example.com").map(|e| e.key()).ok().as_deref(),
            Some("bob@example.com"),
            "full-width letters"
        );
        assert_eq!(Email::parse("bob@münchen.de").map(|e| e.key()).ok().as_deref(), Some("bob@xn--mnchen-3ya.de"));
        assert!(Email::parse("bоb@example.com").is_err(), "a Cyrillic o in the local part");
    }

    #[test]
    fn what_is_typed_far_too_long_is_refused_before_it_is_normalised() {
        // Soft hyphens mean nothing in a domain name.
        let typed = |hyphens: usize| format!("a@ex{}ample.com", "\u{ad}".repeat(hyphens));
        assert_eq!(Email::parse(&typed(400)).map(|email| email.key()).ok().as_deref(), Some("a@example.com"));
        assert!(Email::parse(&typed(500)).is_err(), "{} bytes", typed(500).len());
        let growing = format!("a@{}.com", "\u{fdfa}".repeat(300));
        assert!(growing.len() < MAX_TYPED_BYTES && Email::parse(&growing).is_err(), "it grows eighteen-fold");
    }

    #[test]
    fn what_is_no_mailbox_is_refused() {
        let long = format!("{}@example.com", "a".repeat(65));
        for bad in [
            "",
            "a",
            "@example.com",
            "a@",
            "a b@example.com",
            "a@b c.com",
            "a..b@example.com",
            ".a@example.com",
            "a@-x.com",
            "a@example..com",
            "a\0@example.com",
            "a@[127.0.0.1]",
            "a@127.0.0.1",
            "a@b@c.com",
            "\"a b\"@example.com",
            &long,
        ] {
            assert!(Email::parse(bad).is_err(), "{bad:?}");
        }
    }
}
