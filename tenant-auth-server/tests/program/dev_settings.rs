//! `dev` and the table of settings: whatever counts for `serve` counts for `dev`, or `dev` says that it does not.

use crate::{Program, error, json, running::Running};

/// A value that no setting can have, but those that take any text.
const WRONG: &str = "=?=";
/// Those that take any text, and have an effect on `dev`.
const FREE: [&str; 2] = ["TENANT_AUTH_PRODUCT_NAME", "TENANT_AUTH_PASSWORD_PEPPER"];
const DEV: [&str; 3] = ["dev", "--listen", "127.0.0.1:0"];

/// Every setting of the table, by its variable.
fn table() -> Vec<String> {
    let printed = json(&Program::new().run(&["settings", "--json"]));
    let all = printed["settings"].as_array().expect("a list");
    all.iter().map(|setting| setting["variable"].as_str().expect("a name").to_owned()).collect()
}

fn with_wrong(names: &[String]) -> Program {
    let names = names.iter().map(|name| &*name.replacen("TENANT_AUTH_", "", 1).leak());
    names.fold(Program::without_settings(), |program, name| program.with(name, WRONG))
}

/// Those of the settings that `dev` refuses when all of them are wrong; the others.
fn refused(names: Vec<String>) -> (Vec<String>, Vec<String>) {
    let said = error(&with_wrong(&names).run(&DEV));
    let is_refused = |name: &String| said.lines().any(|line| line.starts_with(&format!("error: {name} ")));
    names.into_iter().partition(is_refused)
}

#[test]
fn each_setting_counts_for_dev_or_is_said_to_have_no_effect() {
    let all = table();
    assert!(all.len() > 50, "{all:?}");
    let (of_the_front, others) = refused(all); // where it listens and how it logs is read first
    let (of_the_service, others) = refused(others);
    let (of_the_core, others) = refused(others); // what can be read, and is judged by whoever builds the service
    for named in ["TENANT_AUTH_LISTEN", "TENANT_AUTH_CONNECTIONS", "TENANT_AUTH_LOG"] {
        assert!(of_the_front.iter().any(|name| name == named), "{named}: {of_the_front:?}");
    }
    for named in ["TENANT_AUTH_OPERATOR_ORG", "TENANT_AUTH_TRUSTED_PROXIES", "TENANT_AUTH_SIGN_UP"] {
        assert!(of_the_service.iter().any(|name| name == named), "{named}: {of_the_service:?}");
    }
    assert_eq!(of_the_core, ["TENANT_AUTH_COOKIE_DOMAIN"]);
    let program = with_wrong(&others);
    let dev = Running::start(&program, &DEV);
    let log = dev.log();
    for name in others {
        let is_said = log.contains(&format!("{name} has no effect on 'dev'"));
        assert_ne!(is_said, FREE.contains(&&*name), "{name} has an effect, or `dev` says that it has none: {log}");
    }
    assert!(dev.get("/sign-in").1.contains(WRONG), "the product's name is shown");
}

#[test]
fn what_is_read_and_has_no_effect_is_said() {
    let program = Program::without_settings().with("METRICS_LISTEN", "127.0.0.1:0").with("TRUSTED_PROXIES", "127.0.0.0/8");
    let dev = Running::start(&program, &DEV);
    assert!(dev.log().contains("TENANT_AUTH_METRICS_LISTEN has no effect on 'dev'"), "{}", dev.log());
    assert!(!dev.log().contains("TRUSTED_PROXIES"), "{}", dev.log());
}
