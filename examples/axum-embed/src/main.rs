//! A host application on axum: its own pages at `/hello` and below `/app`, the latter for members only, beside Tenant Auth with its
//! panel at `/` and its API below `/api/v1`; one process and one SQLite file. The first start makes a demo organization and prints how
//! its admin comes in.

mod demo;
mod service;
mod stop;

use std::net::SocketAddr;

use axum::{Router, routing::get};
use clap::Parser;
use tenant_auth_axum::{Auth, Rejection, guard};
use tenant_auth_core::{
    Member, OrgAdmin, Page,
    http::{Gate, OrganizationFrom},
};
use tokio::{net::TcpListener, sync::oneshot};

use crate::{service::Options, stop::told_to_stop};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

#[tokio::main]
async fn main() -> Outcome<()> {
    let options = Options::parse();
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let listener = TcpListener::bind(options.listen).await?;
    let url = format!("http://{}", listener.local_addr()?);

    let temporary = tempfile::tempdir()?;
    let auth = service::open(&options, temporary.path(), &url).await?;
    demo::invite_first_admin(&auth, &url).await?;

    let gate = Gate::new(auth.clone()).organization(OrganizationFrom::Session).redirecting();
    let app = Router::new()
        .route("/app/me", get(me))
        .route("/app/team", get(team))
        .layer(guard(&gate)) // what is added before it knows its visitors
        .route("/hello", get(|| async { "The host application's own page.\n" }))
        .merge(tenant_auth_axum::routes(&auth))
        .merge(tenant_auth_axum::panel(&auth))
        .into_make_service_with_connect_info::<SocketAddr>(); // failed logins are counted by the client's address
    let (end_worker, ended) = oneshot::channel::<()>();
    let worker = auth.worker(); // sweeps what has expired, calls webhooks; with a mailer it also sends the mail
    let worker = tokio::spawn(async move { worker.run_until(async { drop(ended.await) }).await });
    axum::serve(listener, app).with_graceful_shutdown(told_to_stop()).await?;
    drop(end_worker); // after the last request, whose mails are sent or kept
    Ok(worker.await?)
}

/// For every active member.
async fn me(Auth(member): Auth<Member>) -> String {
    format!("{} of {}\n", member.user().name, member.organization().name)
}

/// For administrators; what the core refuses becomes the answer.
async fn team(Auth(admin): Auth<OrgAdmin>) -> Result<String, Rejection> {
    let members = admin.members(&Page::default()).await?.items;
    Ok(members.iter().map(|member| format!("{} {}\n", member.email, member.membership.role.as_str())).collect())
}
