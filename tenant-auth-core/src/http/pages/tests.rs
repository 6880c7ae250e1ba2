//! Tests of the pages' files: all of them are served, together they are small, none of them loads code from another host or makes
//! markup of a text, and what they know of the service is true.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use super::files;
use crate::{config::Config, model::EventKind};

const MOST_BYTES: usize = 210_000;
const MOST_LINES: usize = 300;

/// Ways to run or load what is not in these files, or to make markup of a text.
const FORBIDDEN: [&str; 16] = [
    "innerHTML",
    "outerHTML",
    "insertAdjacentHTML",
    "document.write",
    "DOMParser",
    "srcdoc",
    "eval(",
    "new Function",
    "javascript:",
    "document.cookie",
    "style=",
    "<style",
    "@import",
    "url(",
    "import(",
    "sourceMappingURL",
];

/// Addresses that are names or placeholders and are never loaded.
const HARMLESS: [&str; 3] = ["http://www.w3.org/2000/svg", "https://app.example.com", "https://admin.example.com"];

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("panel")
}

/// Every file of the directory, by its path there.
fn on_disk() -> Vec<(String, String)> {
    fn walk(directory: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_dir() { walk(&path, found) } else { found.push(path) }
        }
    }
    let mut found = Vec::new();
    walk(&directory(), &mut found);
    let read = |path: PathBuf| {
        let name = path.strip_prefix(directory()).expect("inside").to_string_lossy().into_owned();
        (name, fs::read_to_string(path).expect("text"))
    };
    found.into_iter().map(read).collect()
}

#[test]
fn every_file_is_served_and_nothing_else() {
    let files = files(&Config::new("https://auth.example.com".parse().expect("a URL")));
    // Made for each deployment.
    let made = "/assets/product.css";
    assert!(files.iter().any(|file| file.path == made));
    let on_disk_too = files.iter().filter(|file| file.path != made);
    let served: BTreeSet<&str> = on_disk_too.filter_map(|file| file.path.strip_prefix("/assets/")).collect();
    let disk = on_disk();
    let assets: BTreeSet<&str> = disk.iter().map(|(name, _)| name.as_str()).filter(|name| !name.ends_with(".html")).collect();
    assert_eq!(served, assets);
    assert!(files.iter().all(|file| file.kind != "application/octet-stream"));
}

#[test]
fn together_they_are_small_and_each_is_readable() {
    let disk = on_disk();
    let total: usize = disk.iter().map(|(_, text)| text.len()).sum();
    assert!(total <= MOST_BYTES, "{total} bytes");
    for (name, text) in &disk {
        assert!(text.lines().count() < MOST_LINES, "{name} is too long");
        let tells = text.starts_with("//") || text.starts_with("/*");
        assert!(tells || !(name.ends_with(".js") || name.ends_with(".css")), "{name} does not open with its story");
    }
}

#[test]
fn no_file_brings_code_in_or_makes_markup_of_text() {
    for (name, text) in on_disk() {
        for word in FORBIDDEN {
            assert!(!text.contains(word), "{name} has {word}");
        }
        let bare = HARMLESS.iter().fold(text.clone(), |text, harmless| text.replace(harmless, ""));
        assert!(!bare.contains("http://") && !bare.contains("https://") && !bare.contains("\"//"), "{name} names another origin");
        if name.ends_with(".html") || name.ends_with(".svg") {
            assert!(!has_handler(&text), "{name} has a handler in an attribute");
            let scripts = text.matches("<script").count();
            assert_eq!(scripts, text.matches("></script>").count(), "{name} has a script of its own");
            assert_eq!(scripts, text.matches("<script type=\"module\" src=\"assets/").count(), "{name} loads another script");
        }
    }
}

/// ` onclick=` and the like.
fn has_handler(markup: &str) -> bool {
    markup
        .split(" on")
        .skip(1)
        .any(|rest| rest.split_once('=').is_some_and(|(name, _)| name.bytes().all(|b| b.is_ascii_lowercase())))
}

#[test]
fn every_module_imports_what_is_there() {
    let disk = on_disk();
    let names: BTreeSet<&str> = disk.iter().map(|(name, _)| name.as_str()).collect();
    for (name, text) in &disk {
        for line in
            text.lines().filter(|line| line.starts_with("import ") || line.starts_with("export {") || line.starts_with("export *"))
        {
            let Some(target) = line.split_once("from '").map(|(_, rest)| rest.trim_end_matches("';")) else { continue };
            let inside = name.rsplit_once('/').map_or("", |(directory, _)| directory);
            let resolved = match target.strip_prefix("../") {
                Some(above) => above.to_owned(),
                None => format!("{inside}/{}", target.trim_start_matches("./")).trim_start_matches('/').to_owned(),
            };
            assert!(names.contains(resolved.as_str()), "{name} imports {target}, which is not there");
        }
    }
}

#[test]
fn the_kinds_picker_offers_every_kind_of_event() {
    let disk = on_disk();
    let (_, text) = disk.iter().find(|(name, _)| name == "kinds.js").expect("the list");
    let group = |line: &str| {
        let (group, kinds) = line.trim().split_once(": '")?;
        let kinds = kinds.trim_end_matches("',").split(' ');
        Some(kinds.map(|kind| format!("{group}.{kind}")).collect::<Vec<_>>())
    };
    let list = text.lines().take_while(|line| *line != "};");
    let offered: Vec<String> = list.filter_map(group).flatten().collect();
    let known: Vec<&str> = EventKind::ALL.iter().map(|kind| kind.as_str()).collect();
    assert_eq!(offered, known);
}
