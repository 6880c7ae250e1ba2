//! Every file of scenarios runs: a file without its `mod` line would be silence, not a failure.

use std::{fs, path::Path};

use super::sources;

#[test]
fn every_file_of_scenarios_has_its_mod_line() {
    for (path, _) in sources("tests/suite") {
        let path = Path::new(&path);
        let folder = path.parent().expect("a folder");
        // A `mod.rs` is named by the folder above it; the topmost one by tests/conformance.rs, or nothing would compile.
        let (name, parent) = match path.file_stem().and_then(|stem| stem.to_str()).expect("a name") {
            "mod" if folder.ends_with("suite") => continue,
            "mod" => (folder.file_name().and_then(|name| name.to_str()).expect("a name"), folder.parent().expect("a folder")),
            stem => (stem, folder),
        };
        let siblings = fs::read_to_string(parent.join("mod.rs")).expect("a mod.rs in each folder");
        let declares = |line: &str| line.trim_start_matches("pub(crate) ") == format!("mod {name};");
        assert!(siblings.lines().any(declares), "{} is in no module: add `mod {name};` beside it", path.display());
    }
}
