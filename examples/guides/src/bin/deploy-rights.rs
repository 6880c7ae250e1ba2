use std::{env::var, error::Error, net::SocketAddr};

use axum::{Router, http::StatusCode, routing::get};
use tenant_auth_axum::{Auth, guard};
use tenant_auth_core::{
    Principal,
    http::{Admission, Gate, Refused, RemoteVerifier, Visitor},
};

struct Admin(Principal);

impl Admission for Admin {
    async fn admit(visitor: &Visitor) -> Result<Self, Refused> {
        let person = Principal::admit(visitor).await?;
        let refusal = || Refused::new(StatusCode::FORBIDDEN, "admin_required", "Only admins may do this.");
        if person.is_admin() { Ok(Self(person)) } else { Err(refusal()) }
    }
}

struct OnPro;

impl Admission for OnPro {
    async fn admit(visitor: &Visitor) -> Result<Self, Refused> {
        match Principal::admit(visitor).await?.org.plan.as_str() {
            "pro" => Ok(Self),
            _ => Err(Refused::new(StatusCode::PAYMENT_REQUIRED, "plan_required", "This is part of the plan Pro.")),
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let remote = RemoteVerifier::new(&var("AUTH_URL")?)?.key("acme", var("API_KEY")?)?;
    let app = Router::new()
        .route("/payroll", get(async |Auth(Admin(person)): Auth<Admin>| format!("Payroll, for {}\n", person.user.name)))
        .route("/forecast", get(async |_: Auth<OnPro>| "The forecast\n"))
        .layer(guard(&Gate::new(remote)));
    let listener = tokio::net::TcpListener::bind(var("LISTEN")?).await?;
    println!("http://{}", listener.local_addr()?);
    Ok(axum::serve(listener, app.into_make_service_with_connect_info::<SocketAddr>()).await?)
}
