//! Reading settings one by one, collecting every refusal on the way. The environment overrides the file; an empty value is no
//! value, because container tools pass variables they have nothing for as empty.

use std::{collections::BTreeMap, time::Duration};

use super::{
    input::Input,
    names::{SETTINGS, Shape, env_name},
    refusal::{Refusal, Refused},
};

/// Beyond a hundred years a lifetime is a typing mistake, and its arithmetic would be one too.
const MAX_SECONDS: u64 = 100 * 365 * 24 * 60 * 60;

/// The settings' texts by name, and what was found wrong so far.
#[derive(Debug)]
pub(super) struct Reading {
    values: BTreeMap<&'static str, String>,
    refusals: Vec<Refusal>,
    warnings: Vec<String>,
}

impl Reading {
    /// Merges file and environment.
    pub(super) fn of(input: &Input) -> Self {
        let mut reading = Self { values: BTreeMap::new(), refusals: Vec::new(), warnings: Vec::new() };
        if let Some(text) = &input.file {
            reading.take_file(text);
        }
        for (variable, value) in &input.env {
            let known = SETTINGS.iter().find(|(name, _)| env_name(name) == *variable);
            match known {
                Some((name, _)) => reading.put(name, value),
                None => reading.warn(format!("{variable} is no setting of this version and has no effect; check its spelling")),
            }
        }
        reading
    }

    fn take_file(&mut self, text: &str) {
        let table: toml::Table = match text.parse() {
            Ok(table) => table,
            Err(error) => {
                // Not the error's own display: it quotes the line, which may hold a secret.
                let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
                let line = before.matches('\n').count() + 1;
                return self.refusals.push(Refusal::of_file(format!("is not valid TOML at line {line}: {}", error.message())));
            }
        };
        for (key, value) in &table {
            let Some((name, shape)) = SETTINGS.iter().find(|(name, _)| name == key) else {
                self.refusals.push(Refusal::of_file(format!("holds the unknown key '{key}'; remove it or check its spelling")));
                continue;
            };
            match as_text(value, *shape) {
                Some(text) => self.put(name, &text),
                None => self.refuse(name, format!("must not be of the type '{}' in the settings file", value.type_str())),
            }
        }
    }

    fn put(&mut self, name: &'static str, value: &str) {
        // A pepper is used byte for byte.
        let value = if name == "password_pepper" { value } else { value.trim() };
        if !value.is_empty() {
            self.values.insert(name, value.to_owned());
        }
    }

    /// The text of a setting, if it was given.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.values.get(name).cloned()
    }

    /// Gives a setting a value where nobody did.
    pub(super) fn assume(&mut self, name: &'static str, value: &str) {
        self.values.entry(name).or_insert_with(|| value.to_owned());
    }

    /// The text of a setting that cannot be done without; `hint` says how to give it.
    pub(super) fn required(&mut self, name: &str, hint: &str) -> Option<String> {
        let text = self.text(name);
        if text.is_none() {
            self.refuse(name, format!("is missing: {hint}"));
        }
        text
    }

    /// A setting as a value; `parse` says what it must be when it is not.
    pub(super) fn parsed<T>(&mut self, name: &str, parse: impl FnOnce(&str) -> Result<T, String>) -> Option<T> {
        match parse(&self.text(name)?) {
            Ok(value) => Some(value),
            Err(reason) => {
                self.refuse(name, reason);
                None
            }
        }
    }

    /// Every item of a list.
    pub(super) fn list<T>(&mut self, name: &str, parse: impl Fn(&str) -> Result<T, String>) -> Option<Vec<T>> {
        self.parsed(name, |text| {
            let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
            items.map(|item| parse(item).map_err(|reason| format!("{reason}; '{item}' is not"))).collect()
        })
    }

    /// A whole number of seconds, one at least.
    pub(super) fn lifetime(&mut self, name: &str) -> Option<Duration> {
        self.number(name, 1, MAX_SECONDS).map(Duration::from_secs)
    }

    /// A whole number within bounds.
    pub(super) fn number(&mut self, name: &str, least: u64, most: u64) -> Option<u64> {
        self.parsed(name, |text| {
            let number = text.parse().ok().filter(|number| (least..=most).contains(number));
            number.ok_or_else(|| format!("must be a whole number from {least} to {most}"))
        })
    }

    /// A 32-bit count of at least one.
    pub(super) fn count(&mut self, name: &str) -> Option<u32> {
        self.number(name, 1, 1_000_000).and_then(|number| u32::try_from(number).ok())
    }

    /// One of a few words.
    pub(super) fn choice<T: Copy>(&mut self, name: &str, choices: &[(&str, T)]) -> Option<T> {
        self.parsed(name, |text| {
            let found = choices.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
            let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
            found.ok_or_else(|| format!("must be one of: {}", words.join(", ")))
        })
    }

    /// Notes that a setting cannot be used; the first reason for each is the one that helps.
    pub(super) fn refuse(&mut self, name: &str, reason: impl Into<String>) {
        if !self.refusals.iter().any(|refusal| refusal.is_about(name)) {
            self.refusals.push(Refusal::of(name, reason));
        }
    }

    /// Notes something that is worth a look and keeps nobody from starting.
    pub(super) fn warn(&mut self, warning: impl Into<String>) {
        self.warnings.push(warning.into());
    }

    /// What was worth a look so far.
    pub(super) fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }

    /// The value made of the settings, when nothing was refused.
    pub(super) fn finish<T>(self, value: Option<T>) -> Result<T, Refused> {
        match value {
            Some(value) if self.refusals.is_empty() => Ok(value),
            _ => Err(Refused(self.refusals)),
        }
    }
}

/// The text an environment variable would have had; `None` for a type that no setting has.
fn as_text(value: &toml::Value, shape: Shape) -> Option<String> {
    match value {
        toml::Value::String(text) => Some(text.clone()),
        toml::Value::Integer(number) => Some(number.to_string()),
        toml::Value::Array(items) if shape == Shape::List => {
            let items: Option<Vec<String>> = items.iter().map(|item| as_text(item, Shape::One)).collect();
            items.map(|items| items.join(","))
        }
        _ => None,
    }
}
