use std::{env::var, error::Error, net::SocketAddr};

use axum::{
    Json, Router,
    body::{Body, Bytes},
    extract::{Path, Request},
    http::{Response, StatusCode},
    middleware::{Next, from_fn},
    routing::{get, put},
};
use tenant_auth_axum::{Auth, Rejection, guard, routes};
use tenant_auth_core::{
    Backend, Config, MasterKeys, OrgAdmin, Page, Principal, Sqlite, TenantAuth,
    http::{Admission, Gate, Refused, Visitor},
    id::UserId,
    model::Scope,
    value::Metadata,
};

async fn home(Auth(who): Auth<Option<Principal>>) -> String {
    who.map_or("Hello\n".to_owned(), |who| format!("Hello {}\n", who.user.name)) // None in place of 401; 403 and 503 stay refusals
}

async fn team(Auth(admin): Auth<OrgAdmin>) -> Result<String, Rejection> {
    let you = admin.as_member().map(|member| member.user().name.to_string()); // None for a deployment key and the process
    let names: Vec<_> = admin.members(&Page::default()).await?.items.into_iter().map(|one| one.name.to_string()).collect();
    Ok(format!("{} sees {}\n", you.unwrap_or_default(), names.join(", ")))
}

async fn seat(Auth(admin): Auth<OrgAdmin>, Path(id): Path<UserId>, Json(seat): Json<Metadata>) -> Result<StatusCode, Rejection> {
    admin.set_metadata(&id, seat).await?; // also: set_role, set_status, remove_member, invite …
    Ok(StatusCode::NO_CONTENT)
}

async fn usage(Auth(backend): Auth<Backend>) -> Result<String, Rejection> {
    backend.allows(Scope::UsersRead)?; // an API key in X-API-Key
    Ok(format!("Usage of {}\n", backend.organization().name))
}

struct Paying;

impl Admission for Paying {
    async fn admit(visitor: &Visitor) -> Result<Self, Refused> {
        match Principal::admit(visitor).await?.org.plan.as_str() {
            "pro" => Ok(Self),
            _ => Err(Refused::new(StatusCode::PAYMENT_REQUIRED, "plan_required", "This is part of the plan Pro.")),
        }
    }
}

fn in_our_words(refused: &Refused) -> Option<Response<Bytes>> {
    let is_ours = refused.status() == StatusCode::FORBIDDEN; // None: the JSON envelope, or the redirect to sign-in
    is_ours.then(|| Response::builder().status(refused.status()).body(format!("Sorry: {}\n", refused.message()).into()).ok())?
}

async fn log(request: Request, next: Next) -> Response<Body> {
    let asked = format!("{} {}", request.method(), request.uri().path());
    let response = next.run(request).await;
    let who = response.extensions().get::<Visitor>().and_then(Visitor::known);
    println!("{asked} {} {}", response.status(), who.map_or("-".to_owned(), |who| who.user.id.to_string()));
    response
}

fn app(gate: &Gate) -> Router {
    Router::new()
        .route("/", get(home))
        .route("/team", get(team))
        .route("/team/{id}/seat", put(seat))
        .route("/usage", get(usage))
        .route("/forecast", get(async |_: Auth<Paying>| "The forecast\n"))
        .layer(guard(&gate.clone().on_refusal(in_our_words)))
        .layer(from_fn(log)) // after the guard: it sees who was let in
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let (store, keys) = (Sqlite::open(&var("DATABASE")?).await?, MasterKeys::parse(&var("MASTER_KEY")?)?);
    let config = Config::new(var("PUBLIC_URL")?.parse()?);
    let auth = TenantAuth::builder().store(store).master_keys(keys).config(config).build().await?;
    let app = app(&Gate::new(auth.clone())).merge(routes(&auth)).into_make_service_with_connect_info::<SocketAddr>();
    Ok(axum::serve(tokio::net::TcpListener::bind(var("LISTEN")?).await?, app).await?)
}

#[cfg(test)]
mod tests {
    use tenant_auth_core::testing::{TestAuth, TestPerson};
    use tower::ServiceExt;

    use super::*;

    async fn asked(test: &TestAuth, person: &TestPerson, path: &str) -> StatusCode {
        let access = test.login(person).await.access; // a clock that stands still, mails kept; also test.person("Grace", Role::Member)
        let request =
            Request::get(path).header("X-Org-Slug", "acme").header("Authorization", format!("Bearer {}", access.expose()));
        let app = app(&Gate::new(test.auth.clone()));
        app.oneshot(request.body(Body::empty()).expect("a request")).await.expect("an answer").status()
    }

    #[tokio::test]
    async fn the_team_is_for_admins() {
        let test = TestAuth::new().await;
        assert_eq!(asked(&test, &test.admin, "/team").await, 200);
        assert_eq!(asked(&test, &test.member, "/team").await, 403);
        assert_eq!(asked(&test, &test.admin, "/forecast").await, 402);
    }
}
