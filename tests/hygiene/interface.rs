//! The libraries below may be replaced in any release, so none of their types stands in a public signature. Stable Rust has no tool
//! that lists an interface; but every public item begins with `pub`, and a foreign type has a path or was imported by its name.

use std::{collections::BTreeSet, fs};

use super::{code, repository, sources};

const FOREIGN: [&str; 4] = ["sqlx", "reqwest", "lettre", "jsonwebtoken"];
const CRATES: [&str; 3] = ["tenant-auth-core/src", "tenant-auth-axum/src", "tenant-auth-actix/src"];

#[test]
fn no_foreign_type_stands_in_a_public_signature() {
    let files: Vec<_> = CRATES.iter().flat_map(|sources_of| sources(sources_of)).collect();
    let public: BTreeSet<String> = files.iter().flat_map(|(_, text)| public_types(text)).collect();
    assert!(public.contains("TenantAuth") && public.contains("RemoteVerifier"), "the scan sees nothing: {public:?}");
    let mut found = Vec::new();
    for (path, text) in &files {
        let text = without_tests(text);
        let foreign = imported(&text);
        for signature in signatures(&text, &public) {
            if FOREIGN.iter().any(|name| signature.contains(&format!("{name}::")))
                || words(&signature).any(|word| foreign.contains(word))
            {
                found.push(format!("{path}: {signature}"));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn the_scan_finds_what_it_looks_for() {
    let text = "use sqlx::{Pool, sqlite::SqlitePool};\npub struct Store {\n    pub pool: SqlitePool,\n    private: Pool,\n}\n\
        pub fn a(\n    x: Pool,\n) -> u8 {\n}\nimpl From<sqlx::Error> for Store {\n}\npub(crate) fn b(x: Pool) {\n}\n\
        pub enum Fault {\n    Pool(String),\n}\npub enum Leak {\n    Of(Pool),\n}\n";
    let public = BTreeSet::from(["Store".to_owned()]);
    let foreign = imported(text);
    let caught: Vec<_> = signatures(text, &public)
        .into_iter()
        .filter(|signature| signature.contains("sqlx::") || words(signature).any(|word| foreign.contains(word)))
        .collect();
    assert_eq!(caught.len(), 4, "{caught:?}");
}

/// The root is what a reader of the documentation meets first: what a program names on the way to a session, and modules for the rest.
#[test]
fn the_root_of_the_core_has_few_names() {
    let root = fs::read_to_string(repository("tenant-auth-core/src/lib.rs")).expect("the root");
    let names = names_at_the_root(&root);
    println!("interface: {} names at the root", names.len());
    assert!(names.contains(&"TenantAuth") && names.contains(&"Sqlite"), "the scan sees nothing: {names:?}");
    assert!(names.len() <= 30, "{} names at the root; give the rest to their modules: {names:?}", names.len());
    let markers: Vec<_> = names.iter().filter(|name| name.ends_with("Kind")).collect();
    assert!(markers.is_empty(), "markers belong to their modules: {markers:?}");
}

#[test]
fn the_names_at_a_root_are_counted_one_by_one() {
    let root = "pub mod id;\nuse a::Private;\npub use a::b::{One, Two};\n#[cfg(x)]\npub use c::{\n    Three,\n    d::Four,\n};\npub use e::Five as Six;\n";
    assert_eq!(names_at_the_root(root), ["One", "Two", "Three", "Four", "Six"]);
}

/// What a crate's root re-exports, by the names that its users write. What is hidden counts too: others still depend on it.
fn names_at_the_root(root: &str) -> Vec<&str> {
    let uses = root.split("\npub use ").skip(1).map(|rest| rest.split(';').next().unwrap_or_default());
    let entries = uses.flat_map(|tree| tree.split(['{', '}', ',']));
    let names = entries.filter_map(|entry| words(entry).last().filter(|_| !entry.trim_end().ends_with("::")));
    names.collect()
}

/// Unit tests come last in a file, and are part of no interface.
fn without_tests(text: &str) -> String {
    text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default().to_owned()
}

/// The types that these libraries lend to a file.
fn imported(text: &str) -> BTreeSet<&str> {
    let uses = text.split("\nuse ").flat_map(|rest| rest.strip_prefix("use ").or(Some(rest)));
    let ours = uses.filter(|rest| FOREIGN.iter().any(|name| rest.starts_with(&format!("{name}::"))));
    let names = ours.flat_map(|rest| words(rest.split(';').next().unwrap_or_default()));
    names.filter(|word| word.starts_with(|c: char| c.is_ascii_uppercase())).collect()
}

fn public_types(text: &str) -> Vec<String> {
    let named = |line: &str| {
        let rest = ["pub struct ", "pub enum ", "pub trait "].iter().find_map(|start| line.trim_start().strip_prefix(start))?;
        words(rest).next().filter(|name| name.starts_with(|c: char| c.is_ascii_uppercase())).map(str::to_owned)
    };
    code(text).filter_map(named).collect()
}

/// The public items of a file, as far as others see them: to the body of a function, to the end of anything else; and the heads of
/// trait implementations for public types.
fn signatures(text: &str, public: &BTreeSet<String>) -> Vec<String> {
    let lines: Vec<&str> = code(text).collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let start = line.trim_start();
        let is_whole_item = ["pub struct ", "pub enum ", "pub trait "].iter().any(|kind| start.starts_with(kind));
        if is_whole_item {
            found.push(fields(&lines[at..]));
        } else if ["pub fn ", "pub async fn ", "pub const ", "pub static ", "pub type "].iter().any(|kind| start.starts_with(kind))
        {
            found.push(until(&lines[at..], &['{', ';']));
        } else if start.starts_with("impl") {
            let head = until(&lines[at..], &['{']);
            let of_public = head
                .rsplit_once(" for ")
                .is_some_and(|(_, implementer)| words(implementer).next().is_some_and(|name| public.contains(name)));
            if of_public {
                found.push(head);
            }
        }
    }
    found
}

fn until(lines: &[&str], ends: &[char]) -> String {
    let text = lines.iter().take(20).copied().collect::<Vec<_>>().join(" ");
    text.split(|c| ends.contains(&c)).next().unwrap_or_default().to_owned()
}

/// What is public of a struct, what the variants of an enum hold, and all of a trait.
fn fields(lines: &[&str]) -> String {
    let head = lines[0].trim_start();
    let (is_struct, is_enum) = (head.starts_with("pub struct "), head.starts_with("pub enum "));
    if is_struct && !lines[0].trim_end().ends_with('{') {
        let tuple = lines[0].split_once('(').map_or("", |(_, fields)| fields);
        return tuple.split(',').filter(|field| field.trim_start().starts_with("pub ")).collect();
    }
    let indent = lines[0].len() - head.len();
    let inner = lines[1..].iter().take_while(|line| line.len() - line.trim_start().len() > indent);
    let seen = |line: &&str| match line.trim_start() {
        attribute if attribute.starts_with("#[") => None,
        field if is_struct => field.strip_prefix("pub ").map(str::to_owned),
        // A variant's own name is no type.
        variant if is_enum => variant.split_once(['(', '{', ':']).map(|(_, held)| held.to_owned()),
        part => Some(part.to_owned()),
    };
    inner.filter_map(seen).collect::<Vec<_>>().join(" ")
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}
