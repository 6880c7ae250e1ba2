use std::{env::var, error::Error, net::TcpListener};

use actix_web::{App, HttpServer, web};
use tenant_auth_actix::{Auth, guard, routes};
use tenant_auth_core::{Config, MasterKeys, Member, Sqlite, TenantAuth, http::Gate, operator::NewOrganization};

async fn reports(Auth(member): Auth<Member>) -> String {
    format!("Reports for {}\n", member.user().name)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let auth = TenantAuth::builder()
        .store(Sqlite::open(&var("DATABASE")?).await?)
        .master_keys(MasterKeys::parse(&var("MASTER_KEY")?)?)
        .config(Config::new(var("PUBLIC_URL")?.parse()?))
        .build()
        .await?;
    let acme = NewOrganization::new("Acme".parse()?, "acme".parse()?, "ada@example.com".parse()?);
    if let Ok(invited) = auth.operator().create_organization(acme).await {
        println!("invite: {}", invited.token.expose());
    }
    let gate = Gate::new(auth.clone());
    let app = move || App::new().service(routes(&auth)).route("/reports", web::get().to(reports)).wrap(guard(&gate));
    let listener = TcpListener::bind(var("LISTEN")?)?;
    println!("http://{}", listener.local_addr()?);
    Ok(HttpServer::new(app).listen(listener)?.run().await?)
}
