use std::{env::var, error::Error, sync::Arc, sync::mpsc};

use tenant_auth_core::ports::{MailError, Mailer, Message};
use tenant_auth_core::{Client, Config, MasterKeys, Sqlite, TenantAuth, http, org::SignUpCompletion, secret::LinkToken};

/// Your mail service; here a box that the program itself looks into.
#[derive(Debug)]
struct Mailbox(mpsc::Sender<String>);

#[async_trait::async_trait]
impl Mailer for Mailbox {
    async fn send(&self, message: &Message) -> Result<(), MailError> {
        self.0.send(message.text.clone()).map_err(|error| MailError::Transient(error.to_string()))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let (store, keys) = (Sqlite::open(&var("DATABASE")?).await?, MasterKeys::parse(&var("MASTER_KEY")?)?);
    let ((mailbox, mails), mut config) = (mpsc::channel(), Config::new("https://app.example.com".parse()?));
    config.sign_up.is_open = true;
    let setup = TenantAuth::builder().store(store).master_keys(keys).config(config).mailer(Arc::new(Mailbox(mailbox)));
    let auth = setup.build().await?;
    // With the person's address, `Client { ip: Some(address), ..Client::default() }`, both steps are limited by client network, too.
    // Your form's first page: the answer is the same for every address.
    auth.request_sign_up(&"ada@example.com".parse()?, &Client::default()).await?;
    auth.worker().tick().await?; // in a server, a task beside it runs the worker
    let (mail, acme) = (mails.recv()?, ("Acme".parse()?, "acme".parse()?));
    let token = LinkToken::new(mail.split("token=").nth(1).and_then(|rest| rest.split_whitespace().next()).unwrap_or_default());
    // Its second page, which the link leads to.
    let (name, password) = (Some("Ada".parse()?), Some("mauve-otter-plinth".into()));
    let sign_up = SignUpCompletion { token, organization: acme.0, slug: acme.1, name, password, code: None };
    let opened = auth.complete_sign_up(sign_up, Client::default()).await?;
    let cookies = http::session_cookies(&auth, &opened.tokens);
    println!("{} has {} cookies for {}", opened.user().name, cookies.len(), opened.organization().name);
    Ok(())
}
