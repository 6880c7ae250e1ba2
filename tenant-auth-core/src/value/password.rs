//! Rules for new passwords (behaviour.md, B28). Every broken rule is named in one answer, so that a person sees them all at once.

use unicode_normalization::UnicodeNormalization;

use super::{DisplayName, Email, Slug};
use crate::{error::Error, secret::Password};

const MIN_CHARACTERS: usize = 8;
const MAX_CHARACTERS: usize = 256;
const MAX_BYTES: usize = 1_024;

/// The names of the password's owner, which make poor passwords.
#[derive(Debug, Clone, Copy)]
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

impl Owner<'_> {
    /// The names in the form of a normalised password.
    pub(crate) fn names(&self) -> Vec<String> {
        let names =
            [self.email.as_str(), self.email.local_part(), self.name.as_str(), self.slug.as_str(), self.organization.as_str()];
        names.iter().map(|name| name.nfc().collect()).collect()
    }
}

/// The form in which a password is hashed and compared: NFC (RFC 8265, section 4.2), never truncated. A text longer than 1,024
/// bytes is not hashed at all: no stored password is that long.
pub(crate) fn normalized(password: &Password) -> Option<Password> {
    if password.expose().len() > MAX_BYTES {
        return None;
    }
    Some(Password::new(password.expose().nfc().collect::<String>()))
}

/// Checks a new password against every rule, and returns it in the form that is hashed. It keeps a core busy for milliseconds.
///
/// # Errors
/// [`Error::WeakPassword`], naming each broken rule.
pub(crate) fn judge(password: &Password, own: &[String], min_score: u8) -> Result<Password, Error> {
    let Some(password) = normalized(password) else {
        let beginning: String = password.expose().chars().take(MAX_CHARACTERS).nfc().collect();
        let others = broken_rules(&beginning, own, min_score).into_iter().filter(|rule| rule != TOO_LONG);
        return Err(Error::WeakPassword(std::iter::once(TOO_LONG.to_owned()).chain(others).collect()));
    };
    let broken = broken_rules(password.expose(), own, min_score);
    if broken.is_empty() { Ok(password) } else { Err(Error::WeakPassword(broken)) }
}

fn broken_rules(text: &str, own: &[String], min_score: u8) -> Vec<String> {
    let mut broken = Vec::new();
    let characters = text.chars().count();
    if characters < MIN_CHARACTERS {
        broken.push("must have at least 8 characters".to_owned());
    }
    if characters > MAX_CHARACTERS || text.len() > MAX_BYTES {
        broken.push(TOO_LONG.to_owned());
    }
    let folded = text.to_lowercase();
    if own.iter().any(|name| name.to_lowercase() == folded) {
        broken.push("must not be your email address, your name or the organization's".to_owned());
    }
    let own: Vec<&str> = own.iter().map(String::as_str).collect();
    let characters: Vec<char> = text.chars().take(MAX_CHARACTERS).collect();
    let estimate = |part: &[char]| zxcvbn::zxcvbn(&part.iter().collect::<String>(), &own);
    let (first, others) = characters.split_at(characters.len().min(ESTIMATED));
    let beginning = estimate(first);
    if others.is_empty() && beginning.guesses_log10() < COMMON_AT_MOST && is_common(&folded) {
        broken.push("must not be a commonly used password".to_owned());
    }
    let is_hard = |score: zxcvbn::Score| u8::from(score) >= min_score;
    if !is_hard(beginning.score()) && !others.chunks(ESTIMATED).any(|part| is_hard(estimate(part).score())) {
        broken.push("must be harder to guess: use several unrelated words".to_owned());
    }
    broken
}

const TOO_LONG: &str = "must have at most 256 characters and 1,024 bytes";

/// How many characters the estimator reads at a time, for its cost grows with their cube. A password is as hard to guess as the hardest of
/// its parts at least.
const ESTIMATED: usize = 32;

/// Upper case multiplies the guesses of a listed password, by less than this (decimal logarithm).
const COMMON_AT_MOST: f64 = 12.0;

/// zxcvbn's list of leaked passwords is 30,000 long, and its estimate for a listed one is at most its rank plus one.
const COMMON_GUESSES: u64 = 30_001;

/// Whether the password, case folded, falls within as many guesses as the built-in list of common passwords is long.
fn is_common(folded: &str) -> bool {
    zxcvbn::zxcvbn(folded, &[]).guesses() <= COMMON_GUESSES
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(password: &str, min_score: u8) -> Vec<String> {
        let (email, name) =
            (Email::parse("grace.hopper@example.com").expect("valid"), DisplayName::parse("Grace Murray Hopper").expect("valid"));
        let (slug, organization) =
            (Slug::parse("compilers-inc").expect("valid"), DisplayName::parse("Compilers Incorporated").expect("valid"));
        let owner = Owner { email: &email, name: &name, slug: &slug, organization: &organization };
        match judge(&Password::new(password), &owner.names(), min_score) {
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
            assert!(rules(common, 0).iter().any(|rule| rule.contains("commonly")), "{common}");
        }
    }

    #[test]
    fn every_broken_rule_is_named() {
        let named =
            |password: &str, min_score: u8| rules(password, min_score).iter().map(|rule| rule[..12].to_owned()).collect::<Vec<_>>();
        assert_eq!(named("1234", 1), ["must have at", "must not be ", "must be hard"], "short, common and easy to guess");
        assert_eq!(named("password", 0), ["must not be "]);
        assert_eq!(named("password", 1), ["must not be ", "must be hard"]);
        assert_eq!(named("compilers-inc", 4), ["must not be ", "must be hard"]);
    }

    #[test]
    fn a_password_is_as_hard_as_its_hardest_part() {
        let beginning = "a".repeat(32);
        assert_eq!(rules(&format!("{beginning}mauve-otter-plinth-42"), 3), Vec::<String>::new());
        assert_eq!(rules(&format!("{beginning}aaaaaaaaaaaaaaaa"), 1), ["must be harder to guess: use several unrelated words"]);
    }

    #[test]
    fn what_is_too_long_is_told_what_else_it_breaks() {
        for text in ["a".repeat(300), "a".repeat(2_000)] {
            let told = ["must have at most 256 characters and 1,024 bytes", "must be harder to guess: use several unrelated words"];
            assert_eq!(rules(&text, 1), told, "{} characters", text.len());
        }
    }

    #[test]
    fn own_names_are_refused() {
        for own in ["grace.hopper@example.com", "Grace.Hopper", "grace murray hopper", "compilers-inc", "COMPILERS INCORPORATED"] {
            assert!(rules(own, 0).iter().any(|rule| rule.contains("your name")), "{own}");
        }
    }

    #[test]
    fn length_is_counted_in_code_points_and_bytes() {
        assert!(rules("x7$kQ2!", 1).iter().any(|rule| rule.contains("at least 8")));
        assert!(rules("ąęółźćżń", 1).is_empty(), "8 code points");
        assert!(rules(&"correct horse battery ".repeat(12), 1).iter().any(|rule| rule.contains("at most 256")));
        assert!(rules(&"💜".repeat(257), 1).iter().any(|rule| rule.contains("1,024 bytes")));
        assert!(rules("mauve-otter-plinth-42", 1).is_empty());
    }
}
