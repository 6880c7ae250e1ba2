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
            let _ = write!(text, "\n### `{}`\n\n{}\n\n", row.variable(), row.meaning.replace('{', "`{").replace('}', "}`"));
            let _ = writeln!(text, "- Key in the file: `{}`{}", row.name, if row.shape.is_list() { ", a list" } else { "" });
            let _ = writeln!(text, "- Default: {}", default_words(row));
            let _ = writeln!(text, "- Refused unless it is: {}", row.must.replace('{', "`{").replace('}', "}`"));
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

fn readers(group: &Group) -> &'static str {
    match group.part {
        Part::Database => "Read by `serve`, and by every command that opens the database; `dev` has its own.",
        Part::MasterKeys => "Read by `serve`, and by every command that opens the database but `migrate`; `dev` has its own.",
        Part::Service => "Read by `serve`, by `dev`, and by every command that opens the database but `migrate`.",
        Part::Server => {
            "Read by `serve`; of these `dev` reads the address, the connections, the notice and the log, and `health` the addresses."
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
