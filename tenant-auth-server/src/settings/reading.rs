//! Reading settings row by row, collecting every refusal on the way. The environment overrides the file; an empty value is no
//! value, because container tools pass variables they have nothing for as empty.

use std::collections::BTreeMap;

use tenant_auth_core::config::ConfigError;

use super::{
    input::Input,
    invalid::{InvalidSetting, InvalidSettings},
    parse::items,
    row::{Default, Row, Shape},
    table::{self, GROUPS, Part},
    values::Values,
};

/// The settings' texts, the values made of them, and what was found wrong so far.
#[derive(Debug)]
pub(super) struct Reading {
    given: BTreeMap<&'static str, Given>,
    /// What the settings say, with defaults where they say nothing.
    pub(super) values: Values,
    refusals: Vec<InvalidSetting>,
    warnings: Vec<String>,
}

/// A value as the operator gave it.
#[derive(Debug, Clone)]
pub(super) struct Given {
    pub(super) text: String,
    pub(super) source: Source,
}

/// The source of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Source {
    /// The table's default: no other value was given.
    Default,
    /// The file named by `--config`.
    File,
    /// An environment variable.
    Environment,
}

impl Reading {
    /// Merges file and environment.
    pub(super) fn of(input: &Input) -> Self {
        let values = Values::new(input);
        let mut reading = Self { given: BTreeMap::new(), values, refusals: Vec::new(), warnings: Vec::new() };
        if let Some(text) = &input.file {
            reading.take_file(text);
        }
        for (variable, value) in &input.env {
            match table::by_variable(variable) {
                Some(row) => reading.put(row, value, Source::Environment),
                None => reading.warn_of_unknown(variable),
            }
        }
        reading
    }

    fn warn_of_unknown(&mut self, variable: &str) {
        let meant = table::nearest(variable.strip_prefix(super::row::PREFIX).unwrap_or(variable));
        let hint = meant.map_or_else(|| "check its spelling".to_owned(), |row| format!("did you mean {}?", row.variable()));
        self.warn(format!("{variable} is no setting of this version and has no effect; {hint}"));
    }

    fn take_file(&mut self, text: &str) {
        let table: toml::Table = match text.parse() {
            Ok(table) => table,
            Err(error) => {
                // Not the error's own display: it quotes the line, which may hold a secret.
                let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
                let line = before.matches('\n').count() + 1;
                return self
                    .refusals
                    .push(InvalidSetting::of_file(format!("is not valid TOML at line {line}: {}", error.message())));
            }
        };
        for (key, value) in &table {
            let Some(row) = table::by_key(key) else {
                let hint = table::nearest(key).map(|row| format!("; did you mean '{}'?", row.name)).unwrap_or_default();
                let reason = format!("holds the unknown key '{key}'; remove it or check its spelling{hint}");
                self.refusals.push(InvalidSetting::of_file(reason));
                continue;
            };
            match as_text(value, row.shape) {
                Some(text) => self.put(row, &text, Source::File),
                None => self.refuse(row, format!("must not be of the type '{}' in the settings file", value.type_str())),
            }
        }
    }

    fn put(&mut self, row: &'static Row, value: &str, source: Source) {
        let text = if row.shape == Shape::Verbatim { value } else { value.trim() };
        if text.is_empty() {
            return;
        }
        let former = self.given.insert(row.name, Given { text: text.to_owned(), source });
        // Without the values: either may be a secret.
        if former.is_some_and(|former| !is_same(row.shape, &former.text, text)) {
            self.warn(format!("{} of the environment overrides '{}' of the settings file", row.variable(), row.name));
        }
    }

    /// Reads every setting that belongs to one of the parts.
    pub(super) fn read(&mut self, parts: &[Part]) {
        for row in GROUPS.iter().filter(|group| parts.contains(&group.part)).flat_map(|group| group.rows) {
            match (self.given.get(row.name), row.default) {
                (Some(given), _) => {
                    if let Err(fault) = (row.read)(&mut self.values, &given.text) {
                        self.refuse(row, row.reason(fault));
                    }
                }
                (None, Default::Required(hint)) => self.refuse(row, format!("is missing: {hint}")),
                (None, Default::Is(_) | Default::Unset(_)) => {}
            }
        }
    }

    /// What was given for a setting, if anything was.
    pub(super) fn given(&self, row: &Row) -> Option<&Given> {
        self.given.get(row.name)
    }

    /// Sets a value that the operator did not give.
    pub(super) fn assume(&mut self, row: &Row, text: &str) {
        self.given.entry(row.name).or_insert_with(|| Given { text: text.to_owned(), source: Source::Default });
    }

    /// Notes that a setting cannot be used; the first reason for each is the one that helps.
    pub(super) fn refuse(&mut self, row: &Row, reason: impl Into<String>) {
        if self.refusal(row).is_none() {
            self.refusals.push(InvalidSetting::of(row, reason));
        }
    }

    /// Notes what the core refuses.
    pub(super) fn refuse_core(&mut self, error: ConfigError) {
        match table::by_core(error.setting) {
            Some(row) => self.refuse(row, error.reason),
            None => self.refusals.push(error.into()),
        }
    }

    /// Takes a refusal back, because the setting is not needed.
    pub(super) fn forgive(&mut self, row: &Row) {
        self.refusals.retain(|refusal| !refusal.is_about(row));
    }

    /// Why a setting was refused, if it was.
    pub(super) fn refusal(&self, row: &Row) -> Option<&InvalidSetting> {
        self.refusals.iter().find(|refusal| refusal.is_about(row))
    }

    /// Notes a warning, which does not prevent the start.
    pub(super) fn warn(&mut self, warning: impl Into<String>) {
        self.warnings.push(warning.into());
    }

    /// What was worth a look so far.
    pub(super) fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }

    /// Everything that was refused so far.
    pub(super) fn refusals(&self) -> &[InvalidSetting] {
        &self.refusals
    }

    /// What `make` makes of the values, when nothing was refused.
    pub(super) fn finish<T>(self, make: impl FnOnce(Values) -> Option<T>) -> Result<T, InvalidSettings> {
        if !self.refusals.is_empty() {
            return Err(InvalidSettings(self.refusals));
        }
        make(self.values).ok_or(InvalidSettings(self.refusals))
    }
}

/// Whether two texts say the same to a setting of this shape: spaces beside a list's commas say nothing, and an array of the file has none.
fn is_same(shape: Shape, one: &str, other: &str) -> bool {
    if shape == Shape::List { items(one).eq(items(other)) } else { one == other }
}

/// The text an environment variable would have had; `None` for a type that settings of this shape have not.
fn as_text(value: &toml::Value, shape: Shape) -> Option<String> {
    match value {
        toml::Value::String(text) => Some(text.clone()),
        toml::Value::Integer(number) => Some(number.to_string()),
        toml::Value::Boolean(is_on) if shape == Shape::Switch => Some(is_on.to_string()),
        toml::Value::Array(items) if shape.is_list() => {
            let items: Option<Vec<String>> = items.iter().map(|item| as_text(item, Shape::One)).collect();
            items.map(|items| items.join(","))
        }
        _ => None,
    }
}
