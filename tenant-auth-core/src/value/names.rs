//! Short texts people type: names, slugs, plans, and the two optional profile fields.

use super::{Rejected, text_value};

/// A name of 1 to 100 code points, trimmed, without control, direction-changing or invisible characters.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DisplayName(String);
text_value!(
    DisplayName,
    Text {
        means: "A name, without control, text-direction or invisible characters; white space around it is dropped.",
        min: Some(1),
        max: Some(Self::MAX),
        // Anything but control, text-direction and invisible characters, at least one of them no white space and no joiner.
        pattern: Some(concat!(
            r"^[^\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]*",
            r"[^\u0000-\u0020\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180e\u2000-\u200f\u2028-\u202f\u205f\u2060-\u206f\u3000\u3164\ufeff\uffa0\ufff9-\ufffb]",
            r"[^\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]*$",
        )),
        example: Some("Ada Lovelace"),
        ..Text::default()
    }
);

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

/// A person's own words, at most 1,000 code points.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Bio(String);
text_value!(
    Bio,
    Text {
        means: "A person's own words.",
        max: Some(Self::MAX),
        pattern: Some(r"^[^\u0000]*$"),
        example: Some("Wrote the first program."),
        ..Text::default()
    }
);

/// A telephone number as typed, at most 32 code points.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Phone(String);
text_value!(
    Phone,
    Text {
        means: "A telephone number as typed.",
        max: Some(Self::MAX),
        pattern: Some(r"^[^\u0000]*$"),
        example: Some("+44 20 7946 0000"),
        ..Text::default()
    }
);

/// What something is for, at most 200 code points, trimmed, without control, direction-changing or invisible characters; may be empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Description(String);
text_value!(
    Description,
    Text {
        means: "What something is for, without control, text-direction or invisible characters; white space around it is dropped; may be empty.",
        max: Some(Self::MAX),
        pattern: Some(
            r"^[^\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]*$"
        ),
        example: Some("Tells the billing system who joined"),
        ..Text::default()
    }
);

impl Description {
    const MAX: usize = 200;

    /// Checks a description.
    ///
    /// # Errors
    /// [`Rejected`], saying what it must be.
    pub fn parse(text: &str) -> Result<Self, Rejected> {
        if text.chars().count() > Self::MAX {
            return Err(Rejected::because("must have at most 200 characters"));
        }
        if text.chars().any(|c| c.is_control() || is_bidi_override(c) || is_invisible(c)) {
            return Err(Rejected::because("must not contain control, text-direction or invisible characters"));
        }
        Ok(Self(text.trim().to_owned()))
    }

    /// The description.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl DisplayName {
    const MAX: usize = 100;

    /// Checks a name.
    ///
    /// # Errors
    /// [`Rejected`], saying what a name must be.
    pub fn parse(text: &str) -> Result<Self, Rejected> {
        if !text.chars().any(is_seen) || text.chars().count() > Self::MAX {
            return Err(Rejected::because("must have 1 to 100 characters"));
        }
        if text.chars().any(|c| c.is_control() || is_bidi_override(c) || is_invisible(c)) {
            return Err(Rejected::because("must not contain control, text-direction or invisible characters"));
        }
        Ok(Self(text.trim().to_owned()))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Embeddings, overrides and isolates: they make a text read as another (Unicode TR36, section 2.5).
pub(super) fn is_bidi_override(c: char) -> bool {
    matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{200E}' | '\u{200F}' | '\u{061C}')
}

/// Characters without a shape: two names that differ in them alone look the same. The joiners U+200C and U+200D are not among them,
/// because Persian, the languages of India and emoji are written with them.
fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{00AD}' | '\u{034F}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180E}' | '\u{200B}' | '\u{2028}' | '\u{2029}' | '\u{2060}'..='\u{2065}'
            | '\u{206A}'..='\u{206F}' | '\u{3164}' | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF9}'..='\u{FFFB}'
    )
}

/// A character that can be seen by itself.
fn is_seen(c: char) -> bool {
    !c.is_whitespace() && !matches!(c, '\u{200C}' | '\u{200D}')
}

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

impl Bio {
    const MAX: usize = 1_000;

    /// Checks a biography.
    ///
    /// # Errors
    /// [`Rejected`] when it is too long.
    pub fn parse(text: &str) -> Result<Self, Rejected> {
        at_most(text, Self::MAX).map(Self)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Phone {
    const MAX: usize = 32;

    /// Checks a telephone number's length.
    ///
    /// # Errors
    /// [`Rejected`] when it is too long.
    pub fn parse(text: &str) -> Result<Self, Rejected> {
        at_most(text, Self::MAX).map(Self)
    }

    /// The number as typed.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn at_most(text: &str, limit: usize) -> Result<String, Rejected> {
    if text.contains('\0') {
        return Err(Rejected::because("must not contain NUL"));
    }
    if text.chars().count() > limit {
        Err(Rejected::because(format!("must have at most {limit} characters")))
    } else {
        Ok(text.to_owned())
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

    #[test]
    fn names_are_counted_in_code_points_and_cannot_hide_their_direction() {
        assert!(DisplayName::parse(&"é".repeat(100)).is_ok());
        for bad in
            ["", "   ", &"é".repeat(101), "a\u{202E}b", "a\u{2028}b", "a\nb", "a\0b", "a\n", &format!("{} ", "a".repeat(100))]
        {
            assert!(DisplayName::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn descriptions_are_judged_as_they_were_typed_and_kept_without_the_white_space_around_them() {
        for (typed, kept) in [(" Billing ", "Billing"), ("", ""), ("   ", ""), (&"é".repeat(200), &"é".repeat(200))] {
            assert_eq!(Description::parse(typed).expect("good").as_str(), kept);
        }
        for bad in ["a\n", "\ta", "\n", "a\u{85}", &format!("{} ", "a".repeat(200))] {
            assert!(Description::parse(bad).is_err(), "{bad:?}");
        }
    }
}
