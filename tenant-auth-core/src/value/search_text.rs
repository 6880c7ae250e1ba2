//! A text to search for: a literal part of a name or an address, without wildcards.

use super::Rejected;

/// A search text of 1 to 100 code points, compared by the Unicode lower case of each character.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchText {
    folded: String,
}

impl SearchText {
    pub(crate) const MAX: usize = 100;

    /// Checks a search text.
    ///
    /// # Errors
    /// [`Rejected`], saying what it must be.
    pub fn parse(text: &str) -> Result<Self, Rejected> {
        if text.is_empty() || text.chars().count() > Self::MAX {
            return Err(Rejected::because("must have 1 to 100 characters"));
        }
        if text.contains('\0') {
            return Err(Rejected::because("must not contain NUL characters"));
        }
        Ok(Self { folded: folded(text) })
    }

    /// Whether `text` contains the search text.
    pub fn is_in(&self, text: &str) -> bool {
        folded(text).contains(&self.folded)
    }

    /// The text in the form in which it is compared.
    pub fn as_str(&self) -> &str {
        &self.folded
    }
}

/// The lower case, character by character: `str::to_lowercase` writes a sigma at the end of a word differently, so that a part of a
/// word would not be found in the word.
fn folded(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finds(search: &str, text: &str) -> bool {
        SearchText::parse(search).expect("valid").is_in(text)
    }

    #[test]
    fn case_does_not_matter_in_any_script() {
        for (search, text) in [("ADA", "ada lovelace"), ("öz", "ÖZGE"), ("ΟΔΥΣ", "Οδυσσεύς"), ("жан", "ЖАННА"), ("ΣΟΦΟΣ", "σοφοσ")]
        {
            assert!(finds(search, text), "{search} in {text}");
        }
        assert!(!finds("ada", "Adele"));
    }

    #[test]
    fn wildcards_are_letters_like_others() {
        assert!(finds("100%", "100% Ada"));
        for wildcard in ["%", "_", "*", "a%a", "\\"] {
            assert!(!finds(wildcard, "Ada Lovelace"), "{wildcard}");
        }
    }

    #[test]
    fn the_length_is_counted_in_code_points() {
        assert!(SearchText::parse(&"ö".repeat(100)).is_ok());
        for bad in ["", &"ö".repeat(101), "a\0"] {
            assert!(SearchText::parse(bad).is_err(), "{bad}");
        }
    }
}
