//! `RemoteVerifier::remembering`: what a token costs in the process of a customer's backend, its questions what changed included.

use std::time::Instant;

use tenant_auth_core::{
    http::{RemoteVerifier, Verifier},
    secret::SignedToken,
};

use crate::{
    Failure,
    cpu::Watched,
    report::{Goal, Report},
    stage::{Engine, Stage},
    statistics::median,
};

/// Tokens between two looks at the clock.
const AT_ONCE: usize = 1_000;

pub(crate) async fn measure(stage: &mut Stage, report: &mut Report) -> Result<(), Failure> {
    report.heading("verify in the memory of a customer's backend");
    let people = stage.few(Engine::Sqlite).await?;
    let served = stage.serve_remembering(&people.database)?;
    let (slug, key, tokens) = people.backend();
    let verifier = RemoteVerifier::new(&format!("http://{}", served.target.address))?.remembering(None).key(slug, key)?;
    let (slug, tokens): (_, Vec<SignedToken>) = (slug.parse()?, tokens.into_iter().map(SignedToken::new).collect());
    let own = Watched { server: std::process::id(), postmaster: None };
    let mut next = tokens.iter().cycle();
    let mut costs = Vec::new();
    // The first round is not counted: it asks about each token.
    for _ in 0..=stage.options.rounds {
        let (began, before, mut count) = (Instant::now(), own.used()?, 0);
        while began.elapsed() < stage.options.round() {
            for token in next.by_ref().take(AT_ONCE) {
                verifier.verify(&slug, token).await?.ok_or("a live token is refused")?;
            }
            count += AT_ONCE;
            tokio::task::yield_now().await; // the questions what changed come from this thread, too
        }
        costs.push(own.used()?.since(&before)[0] / count as f64);
    }
    let cost = median(costs.into_iter().skip(1));
    report.ratio(&format!("a token, of {} remembered", tokens.len()), cost, " µs", Goal::AtMost(2.0));
    Ok(())
}
