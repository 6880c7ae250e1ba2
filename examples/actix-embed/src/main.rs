//! A host application on actix-web: its own pages at `/hello` and below `/app`, the latter for members only, beside Tenant Auth with its
//! panel at `/` and its API below `/api/v1`; one process and one SQLite file. The first start makes a demo organization and prints how
//! its admin comes in.

mod demo;
mod service;
mod stop;

use std::net::TcpListener;

use actix_web::{App, HttpServer, web};
use clap::Parser;
use tenant_auth_actix::{Auth, Rejection, guard};
use tenant_auth_core::{
    Member, OrgAdmin, Page,
    http::{Gate, OrganizationFrom},
};
use tokio::sync::oneshot;

use crate::{service::Options, stop::told_to_stop};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

// Under tokio's runtime and not actix's own: the service runs on the runtime it was built on, and that one uses every core.
#[tokio::main]
async fn main() -> Outcome<()> {
    let options = Options::parse();
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let listener = TcpListener::bind(options.listen)?;
    let url = format!("http://{}", listener.local_addr()?);

    let temporary = tempfile::tempdir()?;
    let auth = service::open(&options, temporary.path(), &url).await?;
    demo::invite_first_admin(&auth, &url).await?;

    let (end_worker, ended) = oneshot::channel::<()>();
    let worker = auth.worker(); // sweeps what has expired, calls webhooks; with a mailer it also sends the mail
    let worker = tokio::spawn(async move { worker.run_until(async { drop(ended.await) }).await });
    let gate = Gate::new(auth.clone()).organization(OrganizationFrom::Session).redirecting();
    let app = move || {
        let members = web::scope("/app").route("/me", web::get().to(me)).route("/team", web::get().to(team));
        App::new()
            .service(members.wrap(guard(&gate)))
            .route("/hello", web::get().to(|| async { "The host application's own page.\n" }))
            .service(tenant_auth_actix::routes(&auth))
            .service(tenant_auth_actix::panel(&auth))
    };
    HttpServer::new(app).shutdown_signal(told_to_stop()).listen(listener)?.run().await?;
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
