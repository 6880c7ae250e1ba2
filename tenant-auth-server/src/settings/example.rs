//! A settings file to start from, made of the table. A copy is kept in `guides/tenant-auth.example.toml`; a test says when the copy
//! is stale and how to refresh it.

use std::fmt::Write as _;

use super::{
    row::{Default, Row, Shape},
    table::GROUPS,
};

/// How wide a comment in the example file may be.
const WIDTH: usize = 96;

/// A settings file in which every setting stands as a comment, with its default: read as it is, it changes nothing.
pub(crate) fn example() -> String {
    let mut text = comment(
        "Every setting of tenant-auth-server, with its default. Remove the # before those that you change, and start the server with \
         --config tenant-auth.toml. Environment variables override this file: TENANT_AUTH_ and the name in upper case. \
         'tenant-auth-server settings' shows what is in force.",
    );
    for group in GROUPS {
        let _ = writeln!(text, "\n\n# {} {}", group.title, "-".repeat(WIDTH - group.title.len() - 3));
        for row in group.rows {
            let _ = write!(text, "\n{}{}", comment(row.meaning), comment(&format!("{}.", sentence(row.must))));
            if let Default::Unset(words) | Default::Required(words) = row.default {
                let label = if matches!(row.default, Default::Required(_)) { "Required" } else { "Not set" };
                text.push_str(&comment(&format!("{label}: {words}.")));
            }
            let _ = writeln!(text, "#{} = {}", row.name, example_value(row));
        }
    }
    text
}

fn sentence(must: &str) -> String {
    format!("Must be {must}")
}

fn comment(words: &str) -> String {
    let mut lines = String::new();
    let mut line = String::from("#");
    for word in words.split_whitespace() {
        if line.len() + 1 + word.len() > WIDTH {
            let _ = writeln!(lines, "{line}");
            line = String::from("#");
        }
        line.push(' ');
        line.push_str(word);
    }
    lines + &line + "\n"
}

/// The default as TOML; where there is none, an empty value, which counts as no value.
fn example_value(row: &Row) -> String {
    let Default::Is(default) = row.default else {
        return if row.shape == Shape::List { "[]".to_owned() } else { "''".to_owned() };
    };
    let is_bare = |text: &str| row.shape == Shape::Switch || text.parse::<u64>().is_ok();
    let item = |text: &str| if is_bare(text) { text.to_owned() } else { format!("'{text}'") };
    if row.shape == Shape::List {
        format!("[{}]", default.split(',').map(item).collect::<Vec<_>>().join(", "))
    } else {
        item(default)
    }
}
