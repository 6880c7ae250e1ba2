use std::{env::var, error::Error, net::SocketAddr};

use axum::{Router, routing::get};
use tenant_auth_axum::{Auth, guard};
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
    let app = Router::new().route("/reports", get(reports)).layer(guard(&Gate::new(auth.clone())));
    let app = app.merge(tenant_auth_axum::routes(&auth)).into_make_service_with_connect_info::<SocketAddr>();
    let listener = tokio::net::TcpListener::bind(var("LISTEN")?).await?;
    println!("http://{}", listener.local_addr()?);
    Ok(axum::serve(listener, app).await?)
}
