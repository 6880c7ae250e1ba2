//! What the audit log's chain costs a change. The product has no switch that would leave the chain out, so that its part is measured by
//! itself, beside whole changes: the hashing of an event, and what a commit's statements write for it that they would not write without.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};
use tenant_auth_core::ports::{Entropy, OsEntropy};

use super::audit_pages;
use crate::{
    Failure,
    cpu::Watched,
    load::{Connection, Round},
    report::{Goal, Report},
    stage::{Engine, Raw, Stage, Subscribers},
    statistics::median,
};

/// Changes in a round, and of what is measured by itself so many for each of them.
const CHANGES: usize = 200;
const WRITES_EACH: usize = 5;
const HASHES_EACH: usize = 50;
/// The context of a change.
const CONTEXT: &str = r#"{"ip":"198.18.0.1","userAgent":"benchmark","sessionId":"ses_00000000000000000000000000"}"#;
/// The organization that statements are measured with.
const ORG: &str = "org_benchmark0000000000000000";
const HASH: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

pub(crate) async fn measure(stage: &mut Stage, report: &mut Report) -> Result<(), Failure> {
    report.heading("the audit log's chain, beside changes of a member's metadata that nobody subscribed to");
    report
        .note("the chain's part: salts and hashes of an event, and a commit's statements with the chain's columns, less the same");
    report.note("statements with a number alone; statements are parsed anew each time here, on both sides");
    for engine in stage.engines() {
        cost(stage, engine, report).await?;
    }
    audit_pages::measure(stage, report).await
}

async fn cost(stage: &Stage, engine: Engine, report: &mut Report) -> Result<(), Failure> {
    let database = stage.database(engine, "chain").await?;
    let admin = Subscribers::settle(&database, &stage.master_key, "chain", &[]).await?;
    let served = stage.serve_without_hash(&database)?;
    let mut client = Connection::open(served.target.address).await?;
    change(&mut client, &admin, 0).await?;
    let mut raw = database.raw().await?;
    let data = raw.texts("SELECT data FROM tenant_auth_events ORDER BY created_at DESC, sequence DESC LIMIT 1").await?;
    let data = data.into_iter().next().ok_or("a change without an event")?;
    raw.execute(format!("INSERT INTO tenant_auth_event_sequences (org_id, sequence) VALUES ('{ORG}', 0)")).await?;
    let own = Watched { server: std::process::id(), postmaster: stage.postmaster(engine) };
    let mut writer = Writer { raw, engine, data: data.replace('\'', "''"), written: 0 };
    let (mut changes, mut with, mut without, mut hashes) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut counter = 0;
    for _ in 0..stage.options.rounds {
        let before = served.target.watched.used()?;
        for _ in 0..CHANGES {
            counter += 1;
            change(&mut client, &admin, counter).await?;
        }
        changes.push(round(served.target.watched.used()?.since(&before), CHANGES));
        for (rounds, is_chained) in [(&mut with, true), (&mut without, false)] {
            let before = own.used()?;
            for _ in 0..CHANGES * WRITES_EACH {
                writer.write(is_chained).await?;
            }
            rounds.push(round(own.used()?.since(&before), CHANGES * WRITES_EACH));
        }
        let before = own.used()?;
        for _ in 0..CHANGES * HASHES_EACH {
            std::hint::black_box(hashed(&data)?);
        }
        hashes.push(round([own.used()?.since(&before)[0], 0.0], CHANGES * HASHES_EACH));
    }
    report.micros(&format!("a change, {engine}"), &changes);
    report.micros("  statements of a commit with the chain", &with);
    report.micros("  the same with a number alone", &without);
    report.micros("  salts and hashes of an event", &hashes);
    let of = |rounds: &[Round]| median(rounds.iter().map(|round| round.micros));
    let chain = of(&hashes) + (of(&with) - of(&without)).max(0.0);
    report.ratio(
        &format!("CPU above that without the chain, {engine}"),
        100.0 * chain / (of(&changes) - chain),
        " %",
        Goal::AtMost(5.0),
    );
    Ok(())
}

fn round([server, of_database]: [f64; 2], times: usize) -> Round {
    let times = times as f64;
    Round { micros: (server + of_database) / times, of_database: of_database / times, rate: 0.0 }
}

async fn change(client: &mut Connection, admin: &Subscribers, counter: usize) -> Result<(), Failure> {
    client.exchange(&admin.change(counter)).await?.expect(r#"{"status":"success""#)
}

/// What the product computes for each event.
fn hashed(data: &str) -> Result<String, Failure> {
    let mut text = String::new();
    let mut digests = Vec::new();
    for part in [data, CONTEXT] {
        let mut salt = [0; 32];
        OsEntropy.fill(&mut salt);
        digests.push(sha256(&[&salt, part.as_bytes()]));
        hex(&mut text, &salt)?;
    }
    let facts = format!(
        r#"{{"sequence":1,"id":"evt_00000000000000000000000000","type":"member.updated","timestamp":"2026-01-01T00:00:00.000Z","org":"{ORG}","actor":{{"type":"user","id":"usr_00000000000000000000000000"}},"user":"usr_00000000000000000000000000"}}"#
    );
    digests.push(sha256(&[&[7; 32], facts.as_bytes(), &digests[0], &digests[1]]));
    digests.iter().try_for_each(|digest| hex(&mut text, digest))?;
    Ok(text)
}

fn sha256(pieces: &[&[u8]]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    pieces.iter().for_each(|piece| hasher.update(piece));
    hasher.finalize().into()
}

fn hex(text: &mut String, bytes: &[u8]) -> Result<(), Failure> {
    Ok(bytes.iter().try_for_each(|byte| write!(text, "{byte:02x}"))?)
}

/// Writes events as a commit does, past the service.
struct Writer {
    raw: Raw,
    engine: Engine,
    /// As it stands in SQL.
    data: String,
    written: u32,
}

impl Writer {
    async fn write(&mut self, is_chained: bool) -> Result<(), Failure> {
        self.written += 1;
        let (n, data) = (self.written, &self.data);
        let begin = if self.engine == Engine::Sqlite { "BEGIN IMMEDIATE" } else { "BEGIN" };
        let facts = format!("'{ORG}', 'evt_benchmark_{n}', {n}, 'member.updated', 0, 'user', 'usr_benchmark', 'usr_benchmark'");
        let columns = "org_id, id, sequence, kind, created_at, actor_type, actor_id, user_id";
        let statements = if is_chained {
            let lock = if self.engine == Engine::Sqlite { "" } else { "FOR NO KEY UPDATE" };
            format!(
                "SELECT sequence, chained, hash, last_at FROM tenant_auth_event_sequences WHERE org_id = '{ORG}' {lock};
                 UPDATE tenant_auth_event_sequences SET sequence = {n}, chained = {n}, hash = '{HASH}', last_at = {n}
                  WHERE org_id = '{ORG}';
                 INSERT INTO tenant_auth_events ({columns}, data, data_salt, data_digest, context, context_salt, context_digest, hash)
                 VALUES ({facts}, '{data}', '{HASH}', '{HASH}', '{CONTEXT}', '{HASH}', '{HASH}', '{HASH}')"
            )
        } else {
            format!(
                "UPDATE tenant_auth_event_sequences SET sequence = {n} WHERE org_id = '{ORG}' RETURNING sequence;
                 INSERT INTO tenant_auth_events ({columns}, data, context) VALUES ({facts}, '{data}', '{CONTEXT}')"
            )
        };
        self.raw.execute(format!("{begin}; {statements}; COMMIT")).await
    }
}
