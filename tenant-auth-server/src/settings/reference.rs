//! The reference of all settings, made of the table and kept in `guides/settings.md`. A test makes it, compares it with the kept
//! file, and says how to refresh that.

use std::fmt::Write as _;

use super::{
    row::{Default, Disclosure, Row},
    table::{self, GROUPS, Group, Part},
};

/// The reference: every setting by group.
pub(super) fn reference() -> String {
    let mut text = format!(
        "# Settings of tenant-auth-server\n\n\
         <!-- Made from the table in src/settings/table/: change the rows there, then refresh this file as the failing test says. -->\n\n\
         A setting is an environment variable, or a key in the TOML file named by `--config`; the environment overrides the file. Lists \
         are comma-separated, in the file also arrays. An empty value is no value. A value that is refused keeps the server from \
         starting, and all refusals are printed at once.\n\n\
         - `tenant-auth-server settings` shows the value of each setting and where it comes from, without secrets; `--json` for \
         programs. Its exit code is 1 where a value is refused.\n\
         - `tenant-auth-server settings --example` prints a settings file with every setting as a comment; a copy is \
         [tenant-auth.example.toml](tenant-auth.example.toml).\n\n\
         Required: {}.\n",
        rows_of(|row| matches!(row.default, Default::Required(_)))
    );
    for group in GROUPS {
        let _ = write!(text, "\n## {}\n\n{}\n", group.title, readers(group));
        for row in group.rows {
            let _ = write!(text, "\n### `{}`\n\n{}\n\n", row.variable(), with_code(row.meaning));
            let _ = writeln!(text, "- Key in the file: `{}`{}", row.name, if row.shape.is_list() { ", a list" } else { "" });
            let _ = writeln!(text, "- Default: {}", default_words(row));
            let _ = writeln!(text, "- Refused unless it is: {}", with_code(row.must));
            match row.disclosure {
                Disclosure::Whole => {}
                Disclosure::UrlWithoutSecrets => {
                    let _ = writeln!(text, "- Printed without user name, password and query");
                }
                Disclosure::Hidden => {
                    let _ = writeln!(text, "- Secret: never printed");
                }
            }
        }
    }
    text
}

fn rows_of(which: impl Fn(&Row) -> bool) -> String {
    let names = table::rows().filter(|row| which(row)).map(|row| format!("`{}`", row.variable()));
    names.collect::<Vec<_>>().join(", ")
}

/// The words, with each that has a placeholder in it as code, whole.
fn with_code(words: &str) -> String {
    let word = |word: &str| {
        let code = word.trim_end_matches(['.', ',', ';', ':']);
        if word.contains('{') { format!("`{code}`{}", &word[code.len()..]) } else { word.to_owned() }
    };
    words.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

fn readers(group: &Group) -> String {
    let words = match group.part {
        Part::Database => "Read by `serve`, and by every command that opens the database; `dev` has its own.",
        Part::MasterKeys => "Read by `serve`, and by every command that opens the database but `migrate`; `dev` has its own.",
        Part::Service => "Read by `serve`, by `dev`, and by every command that opens the database but `migrate`.",
        Part::Server => return readers_of_server(group),
    };
    words.to_owned()
}

fn readers_of_server(group: &Group) -> String {
    let unread = table::rows_without_effect_on_dev().filter(|row| group.rows.iter().any(|own| own.name == row.name));
    let unread: Vec<_> = unread.map(Row::variable).collect();
    match unread.len() {
        0 => "Read by `serve` and by `dev`.".to_owned(),
        all if all == group.rows.len() => "Read by `serve` alone.".to_owned(),
        _ => {
            let (unread, listen) = (unread.join("`, `"), table::LISTEN.variable());
            format!("Read by `serve`, and by `dev` but for `{unread}`; `health` asks at `{listen}`.")
        }
    }
}

fn default_words(row: &Row) -> String {
    match row.default {
        Default::Is(text) => format!("`{text}`"),
        Default::Unset(words) if words.starts_with('{') => format!("`{words}`"),
        Default::Unset(words) => format!("not set: {words}"),
        Default::Required(words) => format!("none, required: {words}"),
    }
}
