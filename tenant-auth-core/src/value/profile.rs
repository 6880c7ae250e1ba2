//! The two optional fields of a profile: any text but NUL, of a limited length.

use super::{Rejected, text_value};

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

impl Bio {
    const MAX: usize = 1_000;

    /// Checks a biography.
    ///
    /// # Errors
    /// [`Rejected`] when it is too long, or has a NUL.
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
    /// [`Rejected`] when it is too long, or has a NUL.
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
