//! Languages, by their tags (BCP 47), and which of some languages a browser asks for.

use std::{borrow::Cow, fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize};

use super::Rejected;

/// RFC 5646, 4.4.1: a buffer for tags should hold 35 characters.
const LONGEST: usize = 35;
/// What a browser asks for is read so far; browsers send some 50 characters.
const READ: usize = 1_000;

/// A language: a tag such as `de` or `pt-BR` (BCP 47, RFC 5646), written as that recommends.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Language(Cow<'static, str>);

impl Language {
    /// English, in which everything has words; the default.
    pub const ENGLISH: Self = Self(Cow::Borrowed("en"));

    /// A tag that the database holds.
    pub(crate) fn from_stored(tag: String) -> Self {
        Self(Cow::Owned(tag))
    }

    /// Judges a tag: subtags of 1 to 8 letters and digits between hyphens, of which the first is a word of letters.
    ///
    /// # Errors
    /// [`Rejected`], saying what a tag must be.
    pub fn parse(text: &str) -> Result<Self, Rejected> {
        let is_subtag = |part: &str| (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let mut parts = text.split('-');
        let first = parts.next().filter(|first| first.len() >= 2 && first.bytes().all(|byte| byte.is_ascii_alphabetic()));
        let rest: Vec<&str> = parts.collect();
        let Some(first) =
            first.filter(|first| is_subtag(first) && rest.iter().all(|part| is_subtag(part)) && text.len() <= LONGEST)
        else {
            return Err(Rejected::because("must be a language tag such as de or pt-BR"));
        };
        let mut tag = first.to_ascii_lowercase();
        for part in rest {
            tag.push('-');
            tag.push_str(&conventional(part));
        }
        Ok(Self(Cow::Owned(tag)))
    }

    /// The tag.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Which of the languages a browser asks for by its `Accept-Language` (RFC 9110, 12.5.4): by weight, each range looked up with ever
    /// fewer of its subtags (RFC 4647, 3.4); where only a dialect of the range is there, that. `None` when it asks for none of them.
    pub fn asked_for<'a>(header: &str, of: impl Iterator<Item = &'a Self> + Clone) -> Option<&'a Self> {
        let header = &header[..header.floor_char_boundary(READ)];
        let mut ranges: Vec<(&str, u16)> = header.split(',').filter_map(range).collect();
        ranges.sort_by_key(|(_, weight)| std::cmp::Reverse(*weight)); // of equal ones the first stays the first
        let refused = |language: &Self| ranges.iter().any(|(range, weight)| *weight == 0 && language.0.eq_ignore_ascii_case(range));
        let of = of.filter(|language| !refused(language));
        // `*` asks for none in particular.
        ranges.iter().filter(|(range, weight)| *weight > 0 && *range != "*").find_map(|(range, _)| looked_up(range, &of))
    }
}

/// A range and its weight in thousandths; `None` for what is no range.
fn range(part: &str) -> Option<(&str, u16)> {
    let (range, parameter) = part.split_once(';').unwrap_or((part, "q=1"));
    let weight = parameter.trim().strip_prefix(['q', 'Q'])?.trim_start().strip_prefix('=')?.trim();
    let weight: f32 = weight.parse().ok().filter(|weight| (0.0..=1.0).contains(weight))?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 1000")]
    let thousandths = (weight * 1_000.0).round() as u16;
    Some((range.trim(), thousandths)).filter(|(range, _)| !range.is_empty())
}

fn looked_up<'a>(range: &str, of: &(impl Iterator<Item = &'a Language> + Clone)) -> Option<&'a Language> {
    let mut looked = range;
    loop {
        if let Some(found) = of.clone().find(|language| language.0.eq_ignore_ascii_case(looked)) {
            return Some(found);
        }
        match looked.rsplit_once('-') {
            Some((shorter, _)) => looked = shorter,
            None => break,
        }
    }
    let is_dialect = |language: &&Language| language.0.split_once('-').is_some_and(|(first, _)| first.eq_ignore_ascii_case(looked));
    of.clone().find(is_dialect)
}

/// How RFC 5646, 2.1.1, recommends to write a subtag that is not the first: regions in upper case, scripts with a capital.
fn conventional(subtag: &str) -> String {
    let is_word = subtag.bytes().all(|byte| byte.is_ascii_alphabetic());
    let mut written = subtag.to_ascii_lowercase();
    match subtag.len() {
        2 if is_word => written.make_ascii_uppercase(),
        4 if is_word => written[..1].make_ascii_uppercase(),
        _ => {}
    }
    written
}

impl Default for Language {
    fn default() -> Self {
        Self::ENGLISH
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Language {
    type Err = Rejected;

    fn from_str(text: &str) -> Result<Self, Rejected> {
        Self::parse(text)
    }
}

impl<'de> Deserialize<'de> for Language {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(header: &str) -> Option<String> {
        let known: Vec<Language> = ["de", "en", "es", "fr", "pt-BR"].map(|tag| tag.parse().expect("a tag")).into();
        Language::asked_for(header, known.iter()).map(ToString::to_string)
    }

    #[test]
    fn a_browser_gets_the_language_it_likes_best_of_those_that_are_there() {
        for (header, language) in [
            ("de", "de"),
            ("DE-at", "de"),
            ("de-Latn-AT, en;q=0.5", "de"),
            ("it, fr-CA;q=0.8, en;q=0.9", "en"),
            ("it-CH, fr ; Q = 0.25, es;q=0.2", "fr"),
            ("es;q=0.001", "es"),
            ("pt", "pt-BR"),
            ("pt-PT", "pt-BR"),
            ("fr, de", "fr"),
            ("*, de;q=0.1", "de"),
            ("de;q=0, en;q=0.1", "en"),
        ] {
            assert_eq!(asked(header).as_deref(), Some(language), "{header}");
        }
    }

    #[test]
    fn what_asks_for_none_of_them_or_is_no_such_header_gets_none() {
        for header in [
            "",
            ",",
            ";q=1",
            "it",
            "de;q=0",
            "*",
            "tlh, *;q=0.1",
            "en;q=0, *",
            "de;q=2",
            "de;q=x",
            "de;level=1",
            "*;q=0",
            "\u{e4}\u{f6}, -",
            "-",
        ] {
            assert_eq!(asked(header), None, "{header}");
        }
        assert_eq!(asked(&format!("{}de", "x, ".repeat(400))), None, "beyond what is read");
        assert_eq!(asked(&"\u{e4}".repeat(2_000)), None);
    }

    #[test]
    fn a_tag_is_written_as_is_recommended_and_nothing_else_is_one() {
        for (tag, written) in [("DE", "de"), ("pt-br", "pt-BR"), ("ZH-hant-tw", "zh-Hant-TW"), ("es-419", "es-419")] {
            assert_eq!(Language::parse(tag).expect("a tag").as_str(), written);
        }
        for text in ["", "d", "d1", "de_AT", "de-", "-de", "../de", "de-abcdefghi", "de--at", &"ab-".repeat(13)] {
            Language::parse(text).expect_err(text);
        }
        serde_json::from_str::<Language>("\"../x\"").expect_err("is judged when read, too");
    }
}
