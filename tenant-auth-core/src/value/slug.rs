//! Texts that machines read: an organization's slug, the name of its plan.

use super::{Rejected, text_value};

/// An organization's address in `X-Org-Slug`: 2–63 characters of `[a-z0-9]` joined by single hyphens.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slug(String);
text_value!(
    Slug,
    Text {
        means: "An organization's name in `X-Org-Slug`.",
        min: Some(Self::MIN),
        max: Some(Self::MAX),
        pattern: Some("^[a-z0-9]+(-[a-z0-9]+)*$"),
        example: Some("acme"),
        ..Text::default()
    }
);

/// The plan an organization is on: 1–32 characters of `[a-z0-9_-]`; the service does not interpret it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Plan(String);
text_value!(
    Plan,
    Text {
        means: "An organization's plan; not interpreted by the service.",
        min: Some(1),
        max: Some(Self::MAX),
        pattern: Some("^[a-z0-9_-]+$"),
        example: Some("free"),
        ..Text::default()
    }
);

impl Slug {
    const MIN: usize = 2;
    const MAX: usize = 63;

    /// Checks a slug; it is never folded or repaired.
    ///
    /// # Errors
    /// [`Rejected`], saying what a slug must be.
    pub fn parse(text: &str) -> Result<Self, Rejected> {
        let of_slug = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
        let well_formed = (Self::MIN..=Self::MAX).contains(&text.len())
            && text.split('-').all(|part| !part.is_empty() && part.bytes().all(of_slug));
        if !well_formed {
            return Err(Rejected::because("must have 2 to 63 characters a-z, 0-9 and single hyphens between them"));
        }
        Ok(Self(text.to_owned()))
    }

    /// The slug.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Plan {
    const MAX: usize = 32;

    /// Checks a plan's name.
    ///
    /// # Errors
    /// [`Rejected`], saying what it must be.
    pub fn parse(text: &str) -> Result<Self, Rejected> {
        let of_plan = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'-';
        if !(1..=Self::MAX).contains(&text.len()) || !text.bytes().all(of_plan) {
            return Err(Rejected::because("must have 1 to 32 characters a-z, 0-9, _ and -"));
        }
        Ok(Self(text.to_owned()))
    }

    /// The plan.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for Plan {
    fn default() -> Self {
        Self("free".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_are_exact() {
        for good in ["ab", "acme", "a-b", "a1-2b-3", &"a".repeat(63)] {
            assert!(Slug::parse(good).is_ok(), "{good}");
        }
        for bad in ["", "a", "-a", "a-", "a--b", "Acme", "ac me", "ac_me", "acmé", &"a".repeat(64)] {
            assert!(Slug::parse(bad).is_err(), "{bad}");
        }
    }
}
