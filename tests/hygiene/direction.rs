//! Imports of the core point one way. The floors below are its architecture: a file may import from its own floor and from those
//! under it, never from one above, and no files import each other in a circle. `cargo test -p tenant-auth-conformance --test hygiene
//! -- --nocapture direction` prints both counts.

use std::{collections::BTreeSet, fs};

use super::{
    code,
    imports::{Modules, circles},
    repository, sources,
};

const CORE: &str = "tenant-auth-core/src/";

/// From the roof to the ground. A module stands where its longest name in this list stands.
const FLOORS: &[(&str, &[&str])] = &[
    ("the service for a host's tests", &["testing"]),
    ("the service as HTTP, and the gate before a host's routes", &["http"]),
    ("putting a service together", &["builder"]),
    ("background work", &["worker"]),
    ("the operator's flows", &["operator"]),
    ("flows of an organization and of its backends", &["org", "backend", "webhooks", "feed", "audit"]),
    ("flows of a person's account", &["account"]),
    ("mail, which flows leave in the outbox", &["mail"]),
    ("limits on attempts", &["throttle"]),
    ("callers and their rights, and what is told of them", &["caller", "principal"]),
    ("the running service", &["service"]),
    (
        "what the running service holds",
        &[
            "clock_watch",
            "keys",
            "audit_keys",
            "memory",
            "readiness",
            "budget",
            "in_flight",
            "unsent",
            "account::given_up",
            "backend::key_uses",
            "feed::waits",
            "feed::told",
            "webhooks::target",
        ],
    ),
    ("storage", &["store"]),
    (
        "what storage, tokens and settings are made of",
        &[
            "token",
            "sealed",
            "issued",
            "config",
            "languages",
            "page",
            "event",
            "throttle::gates",
            "throttle::guesses",
            "throttle::noted",
            "turns",
        ],
    ),
    ("resources as JSON", &["view"]),
    ("ports to the outside world", &["ports"]),
    ("work on threads of its own", &["bounded"]),
    ("the model", &["model", "scope", "audit::chain", "audit::context"]),
    ("checked values, errors, counters", &["value", "error", "config::error", "metrics"]),
    (
        "the ground",
        &["id", "secret", "key_text", "hex", "time", "schema", "deadline", "one_task", "ports::entropy", "ports::clock"],
    ),
];

/// Where a module stands, counted from the roof.
fn floor(module: &str) -> usize {
    let stands = |name: &str| module.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"));
    let named = FLOORS.iter().enumerate().flat_map(|(floor, (_, names))| names.iter().map(move |name| (name.len(), floor, *name)));
    let longest = named.filter(|(_, _, name)| stands(name)).max();
    longest.unwrap_or_else(|| panic!("{module} stands on no floor: give it one in tests/hygiene/direction.rs")).1
}

fn core_modules() -> Modules {
    let files = sources(CORE);
    let below = |path: &str| path.rsplit_once(CORE).map_or_else(|| path.to_owned(), |(_, below)| below.to_owned());
    let files: Vec<_> = files.iter().map(|(path, text)| (below(path), text)).collect();
    Modules::read(files.iter().map(|(path, text)| (path.as_str(), text.as_str())))
}

/// The arrows that run upward.
fn upward(arrows: &BTreeSet<(String, String)>) -> Vec<String> {
    let up = arrows.iter().filter(|(importer, imported)| floor(importer) > floor(imported));
    up.map(|(importer, imported)| format!("{importer} -> {imported}")).collect()
}

#[test]
fn imports_of_the_core_point_one_way() {
    let arrows = core_modules().arrows();
    assert!(arrows.len() > 500, "the scan sees nothing: {}", arrows.len());
    let upward = upward(&arrows);
    println!("direction: {} arrows, {} against the direction", arrows.len(), upward.len());
    assert!(upward.is_empty(), "these imports run upward:\n{}", upward.join("\n"));
}

#[test]
fn the_guide_shows_these_floors() {
    let guide = fs::read_to_string(repository("tenant-auth-core/guides/architecture.md")).expect("the guide");
    for (floor, modules) in FLOORS {
        let modules: Vec<String> = modules.iter().map(|module| format!("`{module}`")).collect();
        let row = format!("| {floor} | {} |", modules.join(" "));
        assert!(guide.contains(&row), "architecture.md lacks the row {row}");
    }
}

#[test]
fn no_files_of_the_core_import_each_other_in_a_circle() {
    let circles = circles(&core_modules().arrows());
    println!("direction: {} circles among files", circles.len());
    assert!(circles.is_empty(), "these files import each other in a circle: {circles:#?}");
}

#[test]
fn the_core_has_one_style_of_modules() {
    let files: BTreeSet<String> = sources(CORE).into_iter().map(|(path, _)| path).collect();
    let folders: BTreeSet<&str> = files.iter().filter_map(|path| path.rsplit_once('/')).map(|(folder, _)| folder).collect();
    let twice: Vec<_> = folders.iter().filter(|folder| files.contains(&format!("{folder}.rs"))).collect();
    println!("direction: {} folders with a file beside them instead of a mod.rs", twice.len());
    assert!(twice.is_empty(), "these have a file beside them instead of a mod.rs: {twice:?}");
}

#[test]
fn the_scan_follows_imports_to_the_file_that_has_the_item() {
    let modules = Modules::read([
        ("lib.rs", "pub use a::Public;\nmod a;\nmod b;\n"),
        ("a/mod.rs", "mod inner;\npub use inner::Public;\npub(crate) fn shared() {}\n"),
        ("a/inner.rs", "use super::shared;\nuse crate::{\n    b::{self, Thing as Other},\n};\npub struct Public;\n"),
        (
            "b.rs",
            "// use crate::c;\nconst TEXT: &str = \"crate::c\";\nfn f() { crate::Public::new(); }\n#[cfg(test)]\nmod tests {\n use crate::c; }",
        ),
        ("c.rs", "use std::fmt;\nuse super::a::shared;\n"),
    ]);
    let arrows = modules.arrows();
    let pairs: Vec<(&str, &str)> = arrows.iter().map(|(from, to)| (from.as_str(), to.as_str())).collect();
    assert_eq!(pairs, [("a::inner", "b"), ("b", "a::inner"), ("c", "a")]);
    assert_eq!(circles(&arrows), BTreeSet::from([BTreeSet::from(["a::inner".to_owned(), "b".to_owned()])]));
}

#[test]
fn a_library_is_named_only_where_it_may_be_replaced() {
    let allowed: [(&str, &[&str]); 3] =
        [("sqlx", &["store/"]), ("lettre", &["ports/smtp/"]), ("reqwest", &["ports/http_sender/", "http/gate/remote/"])];
    for (path, text) in sources(CORE) {
        let path = path.rsplit_once(CORE).map_or(path.clone(), |(_, below)| below.to_owned());
        for (library, places) in allowed {
            let names = code(&text).any(|line| line.contains(&format!("{library}::")));
            assert!(!names || places.iter().any(|place| path.starts_with(place)), "{path} names {library}");
        }
    }
}
