//! What a new password must be: contract section 2. Every broken rule is named in one answer, so that nobody has to guess twice.

use unicode_normalization::UnicodeNormalization;

use super::{DisplayName, Email, Slug};
use crate::{error::Error, secret::Password};

const MIN_CHARACTERS: usize = 8;
const MAX_CHARACTERS: usize = 256;
const MAX_BYTES: usize = 1_024;

/// Whose password it will be: their own names make poor passwords.
#[derive(Debug)]
pub(crate) struct Owner<'a> {
    /// The account's address.
    pub(crate) email: &'a Email,
    /// The person's name.
    pub(crate) name: &'a DisplayName,
    /// The organization's slug.
    pub(crate) slug: &'a Slug,
    /// The organization's name.
    pub(crate) organization: &'a DisplayName,
}

/// The form in which a password is hashed and compared: NFC (RFC 8265, section 4.2), never truncated. Nothing longer than 1,024
/// bytes is hashed at all; it cannot be anybody's password.
pub(crate) fn normalized(password: &Password) -> Option<Password> {
    if password.expose().len() > MAX_BYTES {
        return None;
    }
    Some(Password::new(password.expose().nfc().collect::<String>()))
}

/// Checks a new password against every rule; `min_score` is zxcvbn's, 0 to 4.
///
/// # Errors
/// [`Error::WeakPassword`], naming each broken rule.
pub(crate) fn check(password: &Password, owner: &Owner<'_>, min_score: u8) -> Result<Password, Error> {
    let Some(password) = normalized(password) else {
        return Err(Error::WeakPassword(vec!["must have at most 256 characters and 1,024 bytes".to_owned()]));
    };
    let broken = broken_rules(password.expose(), owner, min_score);
    if broken.is_empty() { Ok(password) } else { Err(Error::WeakPassword(broken)) }
}

fn broken_rules(text: &str, owner: &Owner<'_>, min_score: u8) -> Vec<String> {
    let mut broken = Vec::new();
    let characters = text.chars().count();
    if characters < MIN_CHARACTERS {
        broken.push("must have at least 8 characters".to_owned());
    }
    if characters > MAX_CHARACTERS || text.len() > MAX_BYTES {
        broken.push("must have at most 256 characters and 1,024 bytes".to_owned());
        return broken;
    }
    let folded = text.to_lowercase();
    let own =
        [owner.email.as_str(), owner.email.local_part(), owner.name.as_str(), owner.slug.as_str(), owner.organization.as_str()];
    if own.iter().any(|name| name.to_lowercase() == folded) {
        broken.push("must not be your email address, your name or the organization's".to_owned());
    }
    let estimate = zxcvbn::zxcvbn(text, &own);
    if is_common(&folded) {
        broken.push("must not be a commonly used password".to_owned());
    } else if u8::from(estimate.score()) < min_score {
        broken.push("must be harder to guess: use several unrelated words".to_owned());
    }
    broken
}

/// zxcvbn's list of leaked passwords is 30,000 long, and its estimate for a listed one is at most its rank plus one.
const COMMON_GUESSES: u64 = 30_001;

/// Whether the password, case folded, falls within as many guesses as the built-in list of common passwords is long.
fn is_common(folded: &str) -> bool {
    zxcvbn::zxcvbn(folded, &[]).guesses() <= COMMON_GUESSES
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(password: &str, min_score: u8) -> Vec<String> {
        let (email, name) =
            (Email::parse("grace.hopper@example.com").expect("valid"), DisplayName::parse("Grace Murray Hopper").expect("valid"));
        let (slug, organization) =
            (Slug::parse("compilers-inc").expect("valid"), DisplayName::parse("Compilers Incorporated").expect("valid"));
        let owner = Owner { email: &email, name: &name, slug: &slug, organization: &organization };
        match check(&Password::new(password), &owner, min_score) {
            Ok(_) => Vec::new(),
            Err(Error::WeakPassword(rules)) => rules,
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn common_passwords_are_refused_whatever_their_case() {
        for common in [
            "password",
            "PASSWORD1",
            "12345678",
            "aaaaaaaa",
            "qwertyuiop",
            "iloveyou",
            "baseball",
            "Sunshine",
            "letmein1",
            "trustno1",
        ] {
            assert!(judge(common, 0).iter().any(|rule| rule.contains("commonly")), "{common}");
        }
    }

    #[test]
    fn own_names_are_refused() {
        for own in ["grace.hopper@example.com", "Grace.Hopper", "grace murray hopper", "compilers-inc", "COMPILERS INCORPORATED"] {
            assert!(judge(own, 0).iter().any(|rule| rule.contains("your name")), "{own}");
        }
    }

    #[test]
    fn length_is_counted_in_code_points_and_bytes() {
        assert!(judge("x7$kQ2!", 1).iter().any(|rule| rule.contains("at least 8")));
        assert!(judge("ąęółźćżń", 1).is_empty(), "8 code points");
        assert!(judge(&"correct horse battery ".repeat(12), 1).iter().any(|rule| rule.contains("at most 256")));
        assert!(judge(&"💜".repeat(257), 1).iter().any(|rule| rule.contains("1,024 bytes")));
        assert!(judge("mauve-otter-plinth-42", 1).is_empty());
    }
}
