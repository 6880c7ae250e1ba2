//! The service without a framework and without a socket: what a request costs between the bytes that an adapter hands over and the
//! bytes that it is given back.

use std::time::Instant;

use tenant_auth_core::http::{Body, Request, Service};

use crate::{
    Failure,
    cpu::Watched,
    report::{Goal, Report},
    stage::{Engine, MEMORY, Stage, service::Told},
    statistics::median,
};

/// Requests between two looks at the clock.
const AT_ONCE: usize = 1_000;

pub(crate) async fn measure(stage: &mut Stage, report: &mut Report) -> Result<(), Failure> {
    report.heading("the pipeline, in process");
    let people = stage.few(Engine::Sqlite).await?;
    let told = Told {
        database: people.database.url.clone(),
        master_key: stage.master_key.clone(),
        connections: stage.options.pool,
        with_worker: false,
        with_hash: true,
        memory: MEMORY,
    };
    let service = Service::new(&told.build().await?);
    let (slug, key, tokens) = people.backend();
    let verify = tokens.into_iter().map(|token| {
        let body = format!(r#"{{"token":"{token}"}}"#);
        let request = http::Request::post("/api/v1/public/verify").header("x-org-slug", slug).header("x-api-key", key);
        request.header("content-type", "application/json").body(Body::Complete(body.into()))
    });
    let verify = verify.collect::<Result<Vec<_>, _>>()?;
    let keys = vec![http::Request::get("/api/v1/.well-known/jwks.json").body(Body::Complete(bytes::Bytes::new()))?];
    for (name, requests, goal) in [("GET /.well-known/jwks.json", keys, 2.0), ("POST /public/verify, remembered", verify, 6.0)] {
        report.ratio(name, cost(stage, &service, &requests).await?, " µs", Goal::AtMost(goal));
    }
    Ok(())
}

/// The median of what one of the requests costs, in µs. The first round, which is not counted, fills the memory.
async fn cost(stage: &Stage, service: &Service, requests: &[Request]) -> Result<f64, Failure> {
    let own = Watched { server: std::process::id(), postmaster: None };
    let mut next = requests.iter().cycle();
    let mut costs = Vec::new();
    for _ in 0..=stage.options.rounds {
        let (began, before, mut count) = (Instant::now(), own.used()?, 0);
        while began.elapsed() < stage.options.round() {
            for request in next.by_ref().take(AT_ONCE) {
                let answer = service.call(request.clone(), None).await;
                if answer.status() != 200 {
                    return Err(format!("{} instead of an answer", answer.status()).into());
                }
            }
            count += AT_ONCE;
            tokio::task::yield_now().await; // the looks at the change log come from this thread, too
        }
        costs.push(own.used()?.since(&before)[0] / count as f64);
    }
    Ok(median(costs.into_iter().skip(1)))
}
