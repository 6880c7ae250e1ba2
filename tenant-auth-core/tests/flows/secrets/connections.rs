//! What connects to other machines, each with a password or a key of the operator's, and the errors when it cannot.

use tenant_auth_core::{
    Config, MasterKeys, Postgres, Sqlite, Store, TenantAuth,
    http::RemoteVerifier,
    ports::{HttpSender, SmtpMailer},
};

use super::Printed;

/// Passwords as they stand in a URL, some as somebody would misspell the rest of it.
const IN_URLS: [&str; 4] = ["of-the-database", "of-the-mail-server", "of-the-remote-server", "of-a-misspelt-url"];
const API_KEY: &str = "pk_live_01k9f3s8v6q2w4x7y9z0a1b2c3secretsecretsecret";
const FROM: &str = "Acme <no-reply@acme.example>";

pub(super) async fn walk(printed: &mut Printed) {
    let [database, mail_server, remote_server, misspelt] = IN_URLS;
    IN_URLS.iter().chain([&API_KEY]).for_each(|secret| printed.secret(secret));
    // Port 9 discards, and nothing listens there.
    for url in [
        format!("postgres://auth:{database}@127.0.0.1:9/auth"),
        format!("postgres://auth:{misspelt}@127.0.0.1:port/auth"),
        format!("postgres://auth:a?{misspelt}@127.0.0.1:9/auth"),
        format!("mysql://auth:{misspelt}@127.0.0.1/auth"),
    ] {
        let error = Store::open(&url).await.expect_err("there is no such server");
        printed.print_error(&error);
        if let Err(error) = Postgres::connect(&url).await {
            printed.print_error(&error);
        }
    }
    let mailer = SmtpMailer::from_url(&format!("smtps://auth:{mail_server}@mail.acme.example:465"), FROM);
    printed.print(&mailer.expect("usable settings"));
    for url in [format!("smtp://auth:{misspelt}@mail.acme.example:port"), format!("http://auth:{misspelt}@mail.acme.example")] {
        printed.print_error(&SmtpMailer::from_url(&url, FROM).expect_err("it is misspelt"));
    }
    let remote = RemoteVerifier::new("https://auth.acme.example").and_then(|remote| remote.key("acme", API_KEY));
    printed.print(&remote.expect("a well-formed key"));
    for url in
        [format!("https://auth:{remote_server}@auth.acme.example"), format!("https://auth:{misspelt}@auth.acme.example:port")]
    {
        printed.print_error(&RemoteVerifier::new(&url).expect_err("keys are no part of it"));
    }
    printed.print(&HttpSender::new().expect("TLS is there"));
    let (first, second) = (MasterKeys::generate_text(), MasterKeys::generate_text());
    let keys = MasterKeys::parse(&format!("{first},{second}")).expect("generated keys");
    for key in [first, second] {
        printed.secret(&key);
        printed.print_error(&MasterKeys::parse(&format!("{key}{key}")).expect_err("too long"));
    }
    printed.print(&keys);
    let directory = tempfile::tempdir().expect("a temporary directory");
    let sqlite = Sqlite::open(&directory.path().join("auth.db").to_string_lossy()).await.expect("it opens");
    printed.print(&sqlite);
    printed.print(&Store::from(sqlite));
    let config = Config::new("https://auth.acme.example".parse().expect("a URL"));
    printed.print(&TenantAuth::builder().master_keys(keys).config(config));
}
