//! Where settings come from: the environment over the settings file, and what neither may contain.

use std::time::Duration;

use super::{
    super::{Input, for_server},
    Env,
};

fn with_file(text: &str) -> Input {
    Input { file: Some(text.to_owned()), ..Env::complete().input() }
}

#[test]
fn the_environment_overrides_the_file() {
    let file = "listen = '127.0.0.1:1'\nsession_ttl = 60\ntrusted_proxies = ['10.1.0.0/16', '10.2.0.0/16']\nargon2 = [8, 1, 1]";
    let mut input = with_file(file);
    input.env.remove("TENANT_AUTH_TRUSTED_PROXIES");
    input.env.insert("TENANT_AUTH_SESSION_TTL".to_owned(), "120".to_owned());
    let server = for_server(&input).expect("starts");
    assert_eq!(server.listen.port(), 1);
    assert_eq!(server.deployment.config.sessions.ttl, Duration::from_secs(120));
    assert_eq!(server.deployment.config.network.trusted_proxies.len(), 2);
}

/// As a variable that an image or a unit sets, which nobody sees beside the file.
#[test]
fn a_value_of_the_file_that_the_environment_overrides_is_a_warning_without_either_value() {
    let mut input = with_file("database_url = 'postgres://ada:hunter2@db/auth'\nsession_ttl = 60\nlisten = '127.0.0.1:1'");
    input.env.insert("TENANT_AUTH_SESSION_TTL".to_owned(), " 60 ".to_owned());
    input.env.insert("TENANT_AUTH_LISTEN".to_owned(), String::new());
    let server = for_server(&input).expect("starts");
    assert_eq!(server.deployment.database.url, "sqlite:auth.db");
    let warning = "TENANT_AUTH_DATABASE_URL of the environment overrides 'database_url' of the settings file";
    assert_eq!(server.deployment.warnings, [warning], "neither the same value nor an empty one replaces any");
}

#[test]
fn a_list_that_differs_in_its_spaces_alone_overrides_nothing() {
    let mut input = with_file("trusted_proxies = ['10.1.0.0/16', '10.2.0.0/16']\npassword_pepper = ['one', 'two']");
    let mut warnings = |proxies: &str, pepper: &str| {
        input.env.insert("TENANT_AUTH_TRUSTED_PROXIES".to_owned(), proxies.to_owned());
        input.env.insert("TENANT_AUTH_PASSWORD_PEPPER".to_owned(), pepper.to_owned());
        for_server(&input).expect("starts").deployment.warnings
    };
    assert!(warnings("10.1.0.0/16, 10.2.0.0/16 ,", "one,two").is_empty());
    let told = warnings("10.1.0.0/16, 10.3.0.0/16", "one, two").join("");
    assert!(told.contains("overrides 'trusted_proxies'"), "{told}");
    assert!(told.contains("overrides 'password_pepper'"), "a space there is of the pepper: {told}");
}

#[test]
fn in_a_file_a_switch_is_a_boolean_or_its_word() {
    for text in ["true", "'true'"] {
        let switches = format!("webhook_allow_private_networks = {text}\nsqlite_must_exist = {text}");
        let server = for_server(&with_file(&switches)).expect("starts");
        assert!(server.deployment.config.webhooks.allow_private_networks && server.deployment.database.must_exist, "{text}");
    }
    let refused = |text: &str| for_server(&with_file(text)).map(drop).expect_err("unusable").to_string();
    assert!(refused("webhook_allow_private_networks = 'yes'").starts_with("TENANT_AUTH_WEBHOOK_ALLOW_PRIVATE_NETWORKS "));
    assert!(refused("product_name = true").starts_with("TENANT_AUTH_PRODUCT_NAME "), "no other setting takes one");
    assert!(refused("reserved_slugs = [true]").starts_with("TENANT_AUTH_RESERVED_SLUGS "));
}

#[test]
fn a_file_that_says_what_we_do_not_understand_is_refused() {
    let refused = |text: &str| for_server(&with_file(text)).map(drop).expect_err("unusable").to_string();
    assert!(refused("lissten = '127.0.0.1:1'").contains("'lissten'"));
    assert!(refused("listen = true").starts_with("TENANT_AUTH_LISTEN "));
    assert!(refused("listen = ['127.0.0.1:1']").starts_with("TENANT_AUTH_LISTEN "));
    let broken = refused("listen = '127.0.0.1:1'\npassword_pepper = 'secret");
    assert!(broken.starts_with("--config is not valid TOML at line 2") && !broken.contains("secret"), "{broken}");
}

#[test]
fn an_unknown_variable_is_a_warning_that_names_the_nearest_setting() {
    let warnings = |name: &str| Env::complete().with(name, "x").server().expect("starts").deployment.warnings.join("");
    for (misspelt, meant) in [("LISSTEN", "LISTEN"), ("ACCESS_TOKEN_TLL", "ACCESS_TOKEN_TTL"), ("WEBHOOK_PORT", "WEBHOOK_PORTS")] {
        let warning = warnings(misspelt);
        assert!(warning.contains(&format!("TENANT_AUTH_{misspelt} is no setting")), "{warning}");
        assert!(warning.contains(&format!("did you mean TENANT_AUTH_{meant}?")), "{warning}");
    }
    assert!(warnings("COLOUR_OF_THE_SKY").contains("check its spelling"), "nothing is like it");
    let refused = for_server(&with_file("sesion_ttl = 60")).map(drop).expect_err("an unknown key").to_string();
    assert!(refused.contains("did you mean 'session_ttl'?"), "{refused}");
}
