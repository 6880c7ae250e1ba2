//! The languages of mails and pages, each a catalogue of words: flat JSON of key to text, in which `{name}` stands for a value. English, German,
//! French and Spanish are compiled in.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::{time::Timestamp, value::Language};

const BUILT_IN: [(&str, &str); 4] = [
    ("en", include_str!("../languages/en.json")),
    ("de", include_str!("../languages/de.json")),
    ("es", include_str!("../languages/es.json")),
    ("fr", include_str!("../languages/fr.json")),
];

/// How the keys of the panel's own words begin. There are many of them, and the panel is for few: a catalogue may leave them in English.
const PANEL: &str = "panel.";

/// The languages in which mails are written and pages answered. Default: English, German, French and Spanish.
#[derive(Debug, Clone)]
pub struct Languages(Arc<BTreeMap<Language, Catalogue>>);

/// The words of one language.
#[derive(Debug, Clone)]
pub(crate) struct Catalogue {
    pub(crate) language: Language,
    words: BTreeMap<String, String>,
}

impl Default for Languages {
    fn default() -> Self {
        let catalogue = |(tag, words): (&str, &str)| {
            let language = Language::parse(tag).unwrap_or_default();
            // A test reads each of them.
            let words = serde_json::from_str(words).unwrap_or_default();
            (language.clone(), Catalogue { language, words })
        };
        Self(Arc::new(BUILT_IN.into_iter().map(catalogue).collect()))
    }
}

impl Languages {
    /// These languages with the words of one more catalogue: JSON of key to text. A new language needs every word that English has; for a
    /// known one, the given words replace its own. Words of the panel, whose keys begin with `panel.`, are English where none are given.
    ///
    /// # Errors
    /// What is wrong with the catalogue, naming the key: an unknown one, one that is missing, a placeholder that English does not have.
    #[must_use = "this leaves what it is called on as it is"]
    pub fn with(&self, language: &Language, json: &str) -> Result<Self, String> {
        let given: BTreeMap<String, String> =
            serde_json::from_str(json).map_err(|error| format!("is no JSON object of key to text: {error}"))?;
        let english = self.of(None);
        for (key, text) in &given {
            let known = english.words.get(key).ok_or_else(|| format!("has the unknown key {key}"))?;
            let known = placeholders(known);
            if let Some(unknown) = placeholders(text).difference(&known).next() {
                return Err(format!("has the unknown placeholder {{{unknown}}} in {key}"));
            }
            if text.chars().any(char::is_control) {
                return Err(format!("has a control character in {key}"));
            }
        }
        let mut words = self.0.get(language).map(|catalogue| catalogue.words.clone()).unwrap_or_default();
        words.extend(given);
        for (key, text) in english.words.iter().filter(|(key, _)| key.starts_with(PANEL)) {
            words.entry(key.clone()).or_insert_with(|| text.clone());
        }
        if let Some(missing) = english.words.keys().find(|key| !words.contains_key(*key)) {
            return Err(format!("lacks the key {missing}"));
        }
        let mut all = BTreeMap::clone(&self.0);
        all.insert(language.clone(), Catalogue { language: language.clone(), words });
        Ok(Self(Arc::new(all)))
    }

    /// Each of them.
    #[cfg(feature = "panel")]
    pub(crate) fn all(&self) -> impl Iterator<Item = &Language> {
        self.0.keys()
    }

    /// Whether this is one of them.
    pub(crate) fn has(&self, language: &Language) -> bool {
        self.0.contains_key(language)
    }

    /// The language that a browser asks for by its `Accept-Language`; `None` when it asks for none of these.
    pub fn asked_for(&self, accept_language: &str) -> Option<&Language> {
        Language::asked_for(accept_language, self.0.keys())
    }

    /// The words of a language; English ones where there is no such language.
    pub(crate) fn of(&self, language: Option<&Language>) -> &Catalogue {
        let wanted = language.and_then(|language| self.0.get(language)).or_else(|| self.0.get(&Language::default()));
        wanted.unwrap_or(const { &Catalogue::EMPTY })
    }
}

impl Catalogue {
    const EMPTY: Self = Self { language: Language::ENGLISH, words: BTreeMap::new() };

    /// The words that a page carries, as a JSON object of key to text: those of every page, by what follows `page.`, and the panel's
    /// own where it is the panel.
    #[cfg(feature = "panel")]
    pub(crate) fn of_page(&self, is_panel: bool) -> String {
        let words = self.words.iter().filter_map(|(key, text)| {
            let name = if is_panel && key.starts_with(PANEL) { key } else { key.strip_prefix("page.")? };
            Some((name, text))
        });
        serde_json::to_string(&words.collect::<BTreeMap<_, _>>()).unwrap_or_default()
    }

    /// The text of a key, with the values in their places. What a value says is never read as a placeholder.
    pub(crate) fn text(&self, key: &str, values: &BTreeMap<String, String>) -> String {
        let mut rest = self.words.get(key).map_or(key, String::as_str);
        let mut text = String::with_capacity(rest.len());
        while let Some((before, after)) = rest.split_once('{') {
            text.push_str(before);
            let Some((name, beyond)) = after.split_once('}') else {
                rest = after;
                break;
            };
            text.push_str(values.get(name).map_or("", String::as_str));
            rest = beyond;
        }
        text.push_str(rest);
        text
    }

    /// A moment as people read it, to the minute, with its zone: `28 November 2026, 20:04 UTC`.
    pub(crate) fn moment(&self, at: Timestamp) -> String {
        let iso = at.to_iso();
        let (year, month, day, time) = (&iso[..4], &iso[5..7], iso[8..10].trim_start_matches('0'), &iso[11..16]);
        let none = BTreeMap::new();
        let day = if day == "1" { self.text("date.first", &none) } else { day.to_owned() };
        let month = self.text(&format!("date.month.{month}"), &none);
        let values = [("day", day), ("month", month), ("year", year.to_owned()), ("time", time.to_owned())];
        self.text("date.moment", &values.map(|(name, value)| (name.to_owned(), value)).into())
    }
}

fn placeholders(text: &str) -> BTreeSet<&str> {
    text.split('{').skip(1).filter_map(|part| part.split_once('}')).map(|(name, _)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_catalogues_have_the_same_keys_with_the_same_placeholders() {
        let languages = Languages::default();
        let english = languages.of(None);
        assert!(english.words.len() > 80, "{}", english.words.len());
        for (tag, source) in BUILT_IN {
            let catalogue = languages.of(Some(&tag.parse().expect("a tag")));
            assert_eq!(catalogue.language.as_str(), tag);
            assert!(catalogue.words.keys().eq(english.words.keys()), "{tag}");
            for (key, text) in &catalogue.words {
                assert_eq!(placeholders(text), placeholders(&english.words[key]), "{tag}: {key}");
                assert!(!text.trim().is_empty() && !text.chars().any(char::is_control), "{tag}: {key}");
                assert_eq!(source.matches(&format!("\"{key}\":")).count(), 1, "{tag}: {key} stands once");
            }
        }
    }

    /// Else a line may begin with the mark that ends its sentence.
    #[test]
    fn in_french_no_line_breaks_before_a_mark() {
        let languages = Languages::default();
        for (key, text) in &languages.of(Some(&"fr".parse().expect("a tag"))).words {
            let breaks = [" :", " ;", " !", " ?", " »", "« "].into_iter().find(|mark| text.contains(mark));
            assert_eq!(breaks, None, "{key}: {text}: a no-break space (U+00A0) stands there");
        }
    }

    #[test]
    fn a_catalogue_adds_a_language_or_replaces_words_and_is_judged() {
        let languages = Languages::default();
        let italian: Language = "it".parse().expect("a tag");
        assert_eq!(languages.with(&italian, "{}").expect_err("empty"), "lacks the key date.first");
        let added = languages.with(&italian, BUILT_IN[0].1).expect("whole");
        assert_eq!(added.asked_for("it-CH, de").map(Language::as_str), Some("it"));
        assert_eq!(languages.asked_for("it-CH, de").map(Language::as_str), Some("de"));
        let hosted: BTreeMap<&String, &String> =
            languages.of(None).words.iter().filter(|(key, _)| !key.starts_with(PANEL)).collect();
        let hosted =
            languages.with(&italian, &serde_json::to_string(&hosted).expect("JSON")).expect("the panel's words may be missing");
        assert_eq!(hosted.of(Some(&italian)).text("panel.cancel", &BTreeMap::new()), "Cancel");

        let german: Language = "de".parse().expect("a tag");
        let replaced = languages.with(&german, r#"{"mail.help": "Beistand"}"#).expect("known");
        assert_eq!(replaced.of(Some(&german)).text("mail.help", &BTreeMap::new()), "Beistand");
        for (json, fault) in [
            (r#"{"mail.helf": "x"}"#, "has the unknown key mail.helf"),
            (r#"{"mail.help": "{x}"}"#, "has the unknown placeholder {x} in mail.help"),
            (r#"{"mail.help": "a\r\nBcc: b"}"#, "has a control character in mail.help"),
        ] {
            assert_eq!(languages.with(&german, json).expect_err(json), fault);
        }
        languages.with(&german, "[]").expect_err("no object");
    }

    #[test]
    fn a_value_is_no_placeholder() {
        let values = [("who", "{organization}"), ("organization", "B")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        let text = Languages::default().of(None).text("mail.new_admin.line", &values.into());
        assert_eq!(text, "{organization} is an administrator of B now.");
    }

    #[test]
    fn moments_are_written_for_people() {
        let languages = Languages::default();
        let at = |tag: &str, text: &str| {
            languages.of(Some(&tag.parse().expect("a tag"))).moment(Timestamp::parse(text).expect("a time"))
        };
        assert_eq!(at("en", "2026-11-28T20:04:59.999Z"), "28 November 2026, 20:04 UTC");
        assert_eq!(at("de", "2026-03-01T00:04:00Z"), "1. März 2026, 00:04 Uhr UTC");
        assert_eq!(at("fr", "2026-08-01T20:04:00Z"), "1er août 2026 à 20:04 UTC");
        assert_eq!(at("es", "2026-01-09T20:04:00Z"), "9 de enero de 2026, 20:04 UTC");
        assert_eq!(languages.of(None).moment(Timestamp::from_millis(i64::MAX)), "31 December 9999, 23:59 UTC");
    }
}
