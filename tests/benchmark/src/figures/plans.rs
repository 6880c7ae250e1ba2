//! How each database finds what verify asks for: by keys, never by reading a table through.

use crate::{
    Failure,
    report::Report,
    stage::{Engine, Stage},
};

/// The statement as the service has it, and not a copy that would age.
const SOURCE: &str = include_str!("../../../../tenant-auth-core/src/store/sql/api_keys.rs");

pub(crate) async fn show(stage: &mut Stage, report: &mut Report) -> Result<(), Failure> {
    let statement = SOURCE.split("ASKING = \"").nth(1).and_then(|rest| rest.split('"').next());
    let statement = statement.ok_or("the statement ASKING is no longer where it was")?;
    report.heading(&format!("plans of the verify statement, {} users", stage.options.users));
    for engine in stage.engines() {
        let mut raw = stage.many(engine).await?.database.raw().await?;
        let plan = match engine {
            Engine::Sqlite => raw.texts(format!("EXPLAIN QUERY PLAN {statement}")).await?,
            Engine::Postgres => {
                // The plan that serves every key, as a prepared statement in long use has it.
                raw.execute("SET plan_cache_mode = force_generic_plan").await?;
                raw.execute(format!("PREPARE asking (TEXT, TEXT) AS {statement}")).await?;
                raw.texts("EXPLAIN (COSTS OFF) EXECUTE asking ('key_', 'ses_')").await?
            }
        };
        for line in &plan {
            report.note(&format!("{engine}: {line}"));
        }
        let scans = plan.iter().any(|line| line.contains("Seq Scan") || line.starts_with("SCAN"));
        report.note(&format!("{engine}: {}", if scans { "A TABLE IS READ THROUGH" } else { "index lookups only" }));
    }
    Ok(())
}
