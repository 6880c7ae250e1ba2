//! Tests of the source itself: promises that no scenario can see. No type of a library we use stands in our interface, the adapters
//! only translate, a host compiles only the framework it asked for, examples stay short, and C libraries are built as they should be.

mod adapters;
mod built;
mod citations;
mod direction;
mod findings;
mod guides;
mod imports;
mod interface;
mod patterns;
mod scenarios;
mod settings;
mod trees;

use std::{
    fs,
    path::{Path, PathBuf},
};

/// A path in the repository.
fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

/// Every Rust file under a directory of the repository, with its text.
fn sources(directory: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut waiting = vec![repository(directory)];
    while let Some(directory) = waiting.pop() {
        for entry in fs::read_dir(&directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display())) {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                waiting.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push((path.display().to_string(), fs::read_to_string(&path).expect("it can be read")));
            }
        }
    }
    assert!(!found.is_empty(), "{directory} has no sources");
    found
}

/// The lines that are code: no blank ones, no comments.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with("//"))
}

#[test]
fn an_example_fits_on_a_page() {
    for example in ["axum-embed", "actix-embed", "direct", "protected-backend"] {
        let text = fs::read_to_string(repository(&format!("examples/{example}/src/main.rs"))).expect("an example");
        assert!(text.lines().count() < 80, "{example}");
    }
}
