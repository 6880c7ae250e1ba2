//! The server's settings table names every setting. A name that is written a second time goes on naming a setting that was renamed.

use super::{code, sources};

#[test]
fn no_setting_is_named_beside_the_table() {
    let files = sources("tenant-auth-server/src").into_iter().filter(|(path, _)| !path.contains("/settings/tests/"));
    let is_name = |rest: &str| rest.starts_with(|c: char| c.is_ascii_uppercase());
    let mut found = Vec::new();
    for (path, text) in files {
        let naming = code(&text).filter(|line| line.split("TENANT_AUTH_").skip(1).any(is_name));
        found.extend(naming.map(|line| format!("{path}: {}", line.trim())));
    }
    assert!(found.is_empty(), "take the name from the row (`Row::variable`): {found:#?}");
}
