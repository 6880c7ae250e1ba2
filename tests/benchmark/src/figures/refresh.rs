//! A refresh against a verify, on the same database.

use crate::{
    Failure,
    load::{Load, Refreshes, Verifications},
    report::{Goal, Report},
    stage::Stage,
    statistics::ratio,
};

pub(crate) async fn measure(stage: &mut Stage, report: &mut Report) -> Result<(), Failure> {
    report.heading("refresh against verify, nothing in memory");
    for engine in stage.engines() {
        let people = stage.few(engine).await?;
        let served = stage.serve(&people.database)?;
        let (connections, round) = (stage.options.connections, stage.options.round());
        let mut verify = Load::open(served.target, Verifications::scripts(&people.verifications(), connections), round).await?;
        let mut refresh = Load::open(served.target, Refreshes::scripts(&people.refreshable(), connections), round).await?;
        let (mut verified, mut refreshed) = (Vec::new(), Vec::new());
        for _ in 0..stage.options.rounds {
            verified.push(verify.round().await?);
            refreshed.push(refresh.round().await?);
        }
        report.micros(&format!("verify, {engine}"), &verified);
        report.micros(&format!("refresh, {engine}"), &refreshed);
        report.ratio(&format!("refresh against verify, {engine}"), ratio(&refreshed, &verified), " ×", Goal::AtMost(2.5));
    }
    Ok(())
}
