//! Verify with a thousand users and with many more, keys and tokens at random.

use crate::{
    Failure,
    load::{Load, Verifications},
    report::{Goal, Report},
    stage::Stage,
    statistics::ratio,
};

pub(crate) async fn measure(stage: &mut Stage, report: &mut Report) -> Result<(), Failure> {
    let users = stage.options.users;
    report.heading(&format!("growth, 1000 to {users} users"));
    for engine in stage.engines() {
        let (few, many) = (stage.few(engine).await?, stage.many(engine).await?);
        let (small, large) = (stage.serve(&few.database)?, stage.serve(&many.database)?);
        let (connections, round) = (stage.options.connections, stage.options.round());
        let mut small_load = Load::open(small.target, Verifications::scripts(&few.verifications(), connections), round).await?;
        let mut large_load = Load::open(large.target, Verifications::scripts(&many.verifications(), connections), round).await?;
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for _ in 0..stage.options.rounds {
            before.push(small_load.round().await?);
            after.push(large_load.round().await?);
        }
        report.micros(&format!("{engine}, 1000 users"), &before);
        report.micros(&format!("{engine}, {users} users"), &after);
        report.ratio(&format!("growth, {engine}"), ratio(&after, &before), " ×", Goal::AtMost(1.3));
    }
    Ok(())
}
