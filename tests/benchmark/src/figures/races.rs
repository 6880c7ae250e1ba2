//! The races, on each database.

use std::time::Instant;

use crate::{
    Failure,
    child::Child,
    report::Report,
    roles::{RacesFound, RacesTold, Role},
    stage::Stage,
};

pub(crate) async fn measure(stage: &mut Stage, report: &mut Report) -> Result<(), Failure> {
    let rounds = stage.options.races;
    report.heading(&format!("two admins removing each other, {rounds} rounds"));
    for engine in stage.engines() {
        let database = stage.database(engine, "races").await?.url;
        let started = Instant::now();
        let mut child = Child::start(Role::Races, &RacesTold { database, master_key: stage.master_key.clone(), rounds })?;
        let RacesFound { violations, odd_answers, refusals } = child.hear()?;
        report.note(&format!(
            "{engine}: {violations} violations, {odd_answers} odd answers, {:.0} s; losers heard: {}",
            started.elapsed().as_secs_f64(),
            refusals.join(" / ")
        ));
    }
    Ok(())
}
