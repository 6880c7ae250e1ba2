use std::env::var;

use tenant_auth_core::{Client, Config, Credentials, Error, Login, MasterKeys, Page, Sqlite, TenantAuth, operator};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (store, keys) = (Sqlite::open(&var("DATABASE")?).await?, MasterKeys::parse(&var("MASTER_KEY")?)?);
    let config = Config::new("https://app.example.com".parse()?);
    let auth = TenantAuth::builder().store(store).master_keys(keys).config(config).build().await?;
    let new = operator::NewOrganization::new("Acme".parse()?, "acme".parse()?, "ada@example.com".parse()?);
    match auth.operator().create_organization(new).await {
        Ok(invited) => println!("invite: {}", invited.token.expose()),
        Err(Error::SlugTaken) => {} // of an earlier start
        Err(error) => return Err(error.into()),
    }
    let acme = auth.tenant(&"acme".parse()?).await?;
    for password in ["a wrong one", "mauve-otter-plinth"] {
        let client = Client::default(); // with the person's address, wrong passwords are counted by that, too
        let typed = Credentials { email: "ada@example.com".parse()?, password: password.into(), client };
        match acme.login(typed).await {
            Ok(Login::Session(opened)) => {
                let ada = acme.authenticate(opened.tokens.access.expose()).await?;
                for one in ada.members(&Page::default()).await?.items {
                    println!("{}: {}, {}", one.name, one.membership.role, one.membership.status);
                }
            }
            Ok(_) => println!("a second factor is to come"), // `acme.waiting_login`
            Err(Error::InvalidCredentials) => println!("no such account, or a wrong password"), // nobody is told which
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
