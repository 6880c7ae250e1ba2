//! The input of the settings: the file named by `--config` and the environment. Only this file reads either; the rest is a function
//! of the [`Input`], which makes it testable.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

use super::{
    invalid::{InvalidSetting, InvalidSettings},
    row::PREFIX,
};

/// The texts found, not yet parsed.
#[derive(Debug)]
pub(crate) struct Input {
    /// The text of the settings file, if one was named.
    pub(crate) file: Option<String>,
    /// The environment variables that begin with our prefix.
    pub(crate) env: BTreeMap<String, String>,
    /// Reads a file that a setting names.
    pub(crate) read_file: fn(&Path) -> io::Result<Vec<u8>>,
    /// Lists the files of a folder that a setting names, by their names.
    pub(crate) list_folder: fn(&Path) -> io::Result<Vec<PathBuf>>,
}

impl Input {
    /// Reads the file and the environment.
    ///
    /// # Errors
    /// [`InvalidSettings`] when the file cannot be read or a variable is not UTF-8.
    pub(crate) fn gather(config: Option<&PathBuf>) -> Result<Self, InvalidSettings> {
        let file = config.map(std::fs::read_to_string).transpose().map_err(|error| {
            let path = config.map(|path| path.display().to_string()).unwrap_or_default();
            InvalidSetting::of_file(format!("names {path}, which cannot be read: {error}"))
        })?;
        let mut env = BTreeMap::new();
        for (name, value) in std::env::vars_os() {
            let Some(name) = name.to_str().filter(|name| name.starts_with(PREFIX)) else { continue };
            let value = value.into_string().map_err(|_| InvalidSetting::of_variable(name.to_owned(), "must be UTF-8 text"))?;
            env.insert(name.to_owned(), value);
        }
        let list_folder = |folder: &Path| {
            let mut files =
                std::fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>()?;
            files.sort();
            Ok(files)
        };
        Ok(Self { file, env, read_file: |path| std::fs::read(path), list_folder })
    }

    /// Whether the environment asks for log lines in JSON, for what is told before there is an input; `None` where it says nothing.
    pub(crate) fn environment_wants_json() -> Option<bool> {
        is_json(&std::env::var(log_format()).ok()?)
    }

    /// Whether log lines are to be JSON, as far as can be said before the settings are read: a refusal of them is a line, too.
    pub(crate) fn wants_json(&self) -> bool {
        let in_env = self.env.get(&log_format()).and_then(|value| is_json(value));
        in_env.or_else(|| self.file.as_deref().and_then(file_wants_json)).unwrap_or(false)
    }
}

fn log_format() -> String {
    format!("{PREFIX}LOG_FORMAT")
}

/// An empty value is none.
fn is_json(value: &str) -> Option<bool> {
    Some(value.trim()).filter(|value| !value.is_empty()).map(|value| value == "json")
}

/// A file that is no TOML is read line by line, for the line that says so may be a good one.
fn file_wants_json(text: &str) -> Option<bool> {
    let said = |part: &str| is_json(part.parse::<toml::Table>().ok()?.get("log_format")?.as_str()?);
    said(text).or_else(|| text.lines().find_map(said))
}
