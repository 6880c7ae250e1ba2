//! Short texts that others read: names and descriptions, and which characters they may have.

use super::{Rejected, text_value};

/// What a name has none of, as part of a pattern: control, text-direction and invisible characters.
#[cfg(feature = "http")]
macro_rules! unwritten {
    () => {
        r"\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb"
    };
}

/// What a name may have and is not seen by itself, as part of a pattern: white space, joiners, selectors of variations. Of such beyond
/// U+FFFF the pattern is silent: a range of them is no expression to programs that read one without JavaScript's flag `u`.
#[cfg(feature = "http")]
macro_rules! unseen {
    () => {
        r"\u0020\u00a0\u1680\u180b-\u180f\u2000-\u200f\u202f\u205f\u2800\u3000\ufe00-\ufe0f\ufff0-\ufff8"
    };
}

/// A name of 1 to 100 code points, trimmed, without control, direction-changing or invisible characters.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DisplayName(String);
text_value!(
    DisplayName,
    Text {
        means: "A name, without control, text-direction or invisible characters; white space around it is dropped.",
        min: Some(1),
        max: Some(Self::MAX),
        pattern: Some(concat!("^[^", unwritten!(), "]*[^", unwritten!(), unseen!(), "][^", unwritten!(), "]*$")),
        example: Some("Ada Lovelace"),
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
        pattern: Some(concat!("^[^", unwritten!(), "]*$")),
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
        if text.chars().any(is_unwritten) {
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
        if text.chars().any(is_unwritten) {
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

/// What a name has none of.
fn is_unwritten(c: char) -> bool {
    c.is_control() || is_bidi_override(c) || is_invisible(c)
}

/// Characters without a shape: two names that differ in them alone look the same. The joiners U+200C and U+200D are not among them, nor
/// tags and what selects a variation, because Persian, Mongolian, Japanese, the languages of India and emoji are written with them.
fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{00AD}' | '\u{034F}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180E}' | '\u{200B}' | '\u{2028}' | '\u{2029}' | '\u{2060}'..='\u{2065}'
            | '\u{206A}'..='\u{206F}' | '\u{3164}' | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF9}'..='\u{FFFB}'
    )
}

/// A character that can be seen by itself: no white space, no blank of Braille, and none of those that only change what stands beside
/// them (Unicode's `Default_Ignorable_Code_Point`).
fn is_seen(c: char) -> bool {
    !c.is_whitespace()
        && !matches!(
            c,
            '\u{200C}' | '\u{200D}' | '\u{180B}'..='\u{180D}' | '\u{180F}' | '\u{2800}' | '\u{FE00}'..='\u{FE0F}' | '\u{FFF0}'..='\u{FFF8}'
                | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_name_can_be_seen() {
        let scotland = "🏴\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}";
        for good in [scotland, "\u{2764}\u{FE0F}", "葛\u{E0100}城", "\u{2801}\u{2800}\u{2803}", "علی\u{200C}رضا", "👩\u{200D}💻"]
        {
            assert!(DisplayName::parse(good).is_ok(), "{good:?}");
        }
        for bad in
            ["\u{2800}", "\u{FE0F}\u{E0100}", "\u{200D}", "\u{180B}", "\u{E0061}", "\u{E0041}\u{E0064}", "\u{1D173}", "\u{FFF0}"]
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
