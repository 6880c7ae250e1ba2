//! Guides are read as files and as pages of rustdoc, where another guide is no file: the module that shows one says again where its
//! references lead. One that it does not say is a dead link, which otherwise the last step of CI would find.

use std::fs;

use super::repository;

#[test]
fn pages_of_guides_lead_where_their_files_do() {
    let library = fs::read_to_string(repository("tenant-auth-core/src/lib.rs")).expect("the library");
    let (mut said, mut shown) = (String::new(), 0);
    for line in library.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix("#[doc = include_str!(\"../guides/").and_then(|rest| rest.strip_suffix("\")]")) {
            let guide = fs::read_to_string(repository("tenant-auth-core/guides").join(name)).expect("a guide");
            let references = guide.lines().filter(|line| line.starts_with('[')).filter_map(|line| line.split_once("]: "));
            for (label, _) in references.filter(|(_, target)| target.contains(".md") && !target.contains("://")) {
                assert!(said.contains(&format!("{label}]: ")), "{name}: say in lib.rs where {label}] leads on the page");
            }
            shown += 1;
            said.clear();
        } else if line.starts_with("#[doc = \"") {
            said.push_str(line);
        } else {
            said.clear();
        }
    }
    assert!(shown > 5, "the guides are found");
}
