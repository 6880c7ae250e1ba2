//! The host's routes on actix-web.

use std::net::TcpListener;

use actix_web::{
    App, HttpMessage, HttpResponse, HttpServer, Scope,
    body::MessageBody,
    dev::{ServiceRequest, ServiceResponse},
    http::header::{self, HeaderName},
    middleware::{Next, from_fn},
    web,
};
use tenant_auth_actix::{Auth, Rejection, guard, require};
use tenant_auth_core::{
    Backend, Member, OrgAdmin, Principal, Tenant, TenantAuth,
    http::{Gate, Visitor},
};

use crate::server::Running;

/// Actix brings its own single-threaded runtime, on a thread of its own: not the one the gate was made on.
pub(super) fn serve(gate: Gate, mounted: Option<TenantAuth>, listener: TcpListener) -> Running {
    let (started, handle) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        actix_web::rt::System::new().block_on(async move {
            let app = move || {
                App::new()
                    .configure(|config| {
                        if let Some(auth) = &mounted {
                            config.service(tenant_auth_actix::routes(auth));
                        }
                    })
                    .service(routes("/app", &gate).wrap(guard(&gate)).wrap(from_fn(log)))
                    .service(routes("/t/{slug}/app", &gate).wrap(guard(&gate)))
                    .route("/open", web::get().to(|| async { "open" }))
                    .route("/unguarded", web::get().to(async |_: Auth<Principal>| "never"))
                    .default_service(web::to(|| async { HttpResponse::NotFound().body("the host's own 404") }))
            };
            let server = HttpServer::new(app).workers(1).disable_signals().listen(listener).expect("a socket").run();
            started.send(server.handle()).expect("somebody waits");
            server.await.expect("the server runs");
        });
    });
    Running::Actix { handle: handle.recv().expect("the server starts"), thread: Some(thread) }
}

fn routes(prefix: &str, gate: &Gate) -> Scope {
    let nested = web::scope("/nested").route("/who", web::to(async |Auth(who): Auth<Principal>| super::principal(&who)));
    web::scope(prefix)
        .service(nested.wrap(guard(gate)))
        .route("/who", web::to(async |Auth(who): Auth<Principal>| super::principal(&who)))
        .route("/member", web::to(async |Auth(member): Auth<Member>| super::member(&member)))
        .route(
            "/twice",
            web::to(async |Auth(who): Auth<Principal>, Auth(member): Auth<Member>| {
                format!("{} {}", who.user.email, super::member(&member))
            }),
        )
        .route("/keys", web::get().to(async |Auth(admin): Auth<OrgAdmin>| super::keys(admin).await.map_err(Rejection::from)))
        .route("/backend", web::get().to(async |Auth(backend): Auth<Backend>| super::backend(&backend).map_err(Rejection::from)))
        .route("/tenant", web::get().to(async |Auth(tenant): Auth<Tenant>| super::tenant(&tenant)))
        .route("/greeting", web::get().to(async |Auth(who): Auth<Option<Principal>>| super::greeting(who.as_ref())))
        .route("/paid", web::get().to(async |Auth(super::Paying): Auth<super::Paying>| "paid"))
        .route("/choice", web::get().to(choice))
        .route("/cached", web::get().to(cached))
        .service(web::scope("/covered").route("/page", web::to(async || "covered")).wrap(from_fn(require::<Member, _>)))
}

/// An access log around the guard.
async fn log(request: ServiceRequest, next: Next<impl MessageBody>) -> Result<ServiceResponse<impl MessageBody>, actix_web::Error> {
    let mut response = next.call(request).await?;
    let seen = super::seen(response.request().extensions().get::<Visitor>());
    response.headers_mut().insert(HeaderName::from_static(super::SEEN), seen.parse().expect("a header's value"));
    Ok(response)
}

/// A page for everybody, with something more for those who are known.
async fn choice(who: Result<Auth<Principal>, Rejection>) -> String {
    match who {
        Ok(Auth(who)) => super::principal(&who),
        Err(Rejection(refused)) => format!("nobody: {} {}", refused.status().as_u16(), refused.code()),
    }
}

/// A page that a cache would keep.
async fn cached(Auth(_): Auth<Principal>) -> HttpResponse {
    let mut response = HttpResponse::Ok();
    response.insert_header((header::CACHE_CONTROL, "public, max-age=60")).append_header((header::SET_COOKIE, "theme=dark"));
    for name in super::CDN_CACHE_HEADERS {
        response.insert_header((name, "max-age=60"));
    }
    response.body("cached")
}
