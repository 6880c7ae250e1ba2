//! How long a page of a long audit log takes to read: for each filter of `GET /org/audit` and each pair of them, from the sending of the
//! request to the last byte of the answer. Filters are chosen so that they find nearly every entry, or ten of all.

use std::time::Instant;

use tenant_auth_core::{
    Timestamp,
    ports::{Clock, SystemClock},
};

use crate::{
    Failure,
    load::Connection,
    report::{Goal, Report},
    stage::{Database, Engine, Stage, Subscribers},
    statistics::{millis, percentile},
};

/// Entries in one statement.
const BATCH: u32 = 50_000;
/// How far back the log goes, in milliseconds: 80 days, so that every context is kept.
const SPAN: i64 = 80 * 24 * 3_600 * 1_000;
/// How often each page is read, after it was read a few times.
const TIMES: usize = 20;
const BEFORE: usize = 3;

/// Somebody who did ten things.
const RARE: &str = "usr_rare0000000000000000000000";
const ENTRIES: &str = r#"
    INSERT INTO tenant_auth_events
           (id, org_id, sequence, kind, created_at, actor_type, actor_id, user_id, data, data_salt, data_digest, context, context_salt,
            context_digest, hash)
    WITH RECURSIVE numbers (n) AS (SELECT {first} UNION ALL SELECT n + 1 FROM numbers WHERE n < {last})
    SELECT 'evt_audited_' || n, '{org}', n, CASE WHEN n % {each} = 3 THEN 'org.updated' ELSE 'user.updated' END, {begin} + n * CAST({step} AS BIGINT),
           'user', CASE WHEN n % {each} = 7 THEN '{rare}' ELSE '{admin}' END, '{admin}',
           '{"user":{"id":"{admin}","name":"Person Number ' || n || '","email":"person@example.com","bio":null,"phone":null}}',
           '{hash}', '{hash}', '{"ip":"198.18.0.1","userAgent":"benchmark","sessionId":null}', '{hash}', '{hash}', '{hash}'
      FROM numbers"#;

pub(crate) async fn measure(stage: &mut Stage, report: &mut Report) -> Result<(), Failure> {
    let entries = stage.options.entries;
    report
        .heading(&format!("a page of 100 of an audit log of {entries} entries, as its admin waits for it: the median of {TIMES}"));
    for engine in stage.engines() {
        of(stage, engine, report).await?;
    }
    Ok(())
}

async fn of(stage: &Stage, engine: Engine, report: &mut Report) -> Result<(), Failure> {
    let database = stage.database(engine, "audited").await?;
    let admin = Subscribers::settle(&database, &stage.master_key, "audited", &[]).await?;
    let [middle, late] = fill(&database, &admin, stage.options.entries).await?;
    let served = stage.serve_without_hash(&database)?;
    let mut client = Connection::open(served.target.address).await?;
    let id = admin.admin();
    let (from, to) = (format!("from={middle}"), format!("to={middle}"));
    let lately = format!("from={late}");
    let [kind, rare_kind] = ["kind=user.updated", "kind=org.updated"];
    let [actor, rare_actor, user] = [format!("actor={id}"), format!("actor={RARE}"), format!("user={id}")];
    let filters: [(&str, &[&str]); 24] = [
        ("none", &[]),
        ("kind", &[kind]),
        ("a rare kind", &[rare_kind]),
        ("actor", &[&actor]),
        ("a rare actor", &[&rare_actor]),
        ("user", &[&user]),
        ("from", &[&from]),
        ("to", &[&to]),
        ("actor and kind", &[&actor, kind]),
        ("actor and a rare kind", &[&actor, rare_kind]),
        ("user and kind", &[&user, kind]),
        ("user and a rare kind", &[&user, rare_kind]),
        ("user and actor", &[&user, &actor]),
        ("user and a rare actor", &[&user, &rare_actor]),
        ("actor and from", &[&rare_actor, &from]),
        ("actor and to", &[&rare_actor, &to]),
        ("user and from", &[&user, &from]),
        ("user and to", &[&user, &to]),
        ("kind and from", &[rare_kind, &from]),
        ("kind and to", &[rare_kind, &to]),
        ("kind and lately", &[kind, &lately]),
        ("actor and lately", &[&actor, &lately]),
        ("user and kind and lately", &[&user, kind, &lately]),
        ("from and to", &[&from, &to]),
    ];
    for (name, filter) in filters {
        let request = admin.audit(&filter.join("&"));
        let (mut taken, mut found) = (Vec::new(), 0);
        for time in 0..BEFORE + TIMES {
            let asked = Instant::now();
            let answer = client.exchange(&request).await?;
            let elapsed = asked.elapsed();
            answer.expect(r#"{"status":"success","data":{"entries":["#)?;
            found = answer.body.matches(r#""sequence":"#).count();
            if time >= BEFORE {
                taken.push(elapsed);
            }
        }
        let slowest = millis(percentile(&taken, 1.0));
        let name = format!("{name}: {found} entries, {engine}");
        report.ratio(&name, millis(percentile(&taken, 0.5)), " ms", Goal::AtMost(20.0));
        if slowest > 20.0 {
            report.note(&format!("the slowest: {slowest:.1} ms"));
        }
    }
    Ok(())
}

/// Adds entries by plain SQL, and returns the times of the middle one and of one near the end. Nothing of it is chained: pages do not look at that.
async fn fill(database: &Database, admin: &Subscribers, entries: u32) -> Result<[String; 2], Failure> {
    let mut raw = database.raw().await?;
    let org = raw.texts("SELECT id FROM tenant_auth_organizations WHERE slug = 'audited'").await?;
    let org = org.into_iter().next().ok_or("an organization that was made is not there")?;
    let of_org = format!("org_id = '{org}'");
    let counted = format!("SELECT CAST(chained AS TEXT) FROM tenant_auth_event_sequences WHERE {of_org}");
    let before: u32 = raw.texts(counted).await?.first().ok_or("an organization without a log")?.parse()?;
    let (begin, step) = (SystemClock.now().millis() - SPAN, SPAN / i64::from(entries + before));
    raw.execute(format!("UPDATE tenant_auth_events SET created_at = {begin} WHERE {of_org}")).await?;
    let last = before + entries;
    for first in (before + 1..=last).step_by(BATCH as usize) {
        let values = [
            ("{first}", first.to_string()),
            ("{last}", last.min(first + BATCH - 1).to_string()),
            ("{org}", org.clone()),
            ("{each}", (entries / 10).max(10).to_string()),
            ("{begin}", begin.to_string()),
            ("{step}", step.to_string()),
            ("{rare}", RARE.to_owned()),
            ("{admin}", admin.admin().to_owned()),
            ("{hash}", "0".repeat(64)),
        ];
        let sql = values.iter().fold(ENTRIES.to_owned(), |sql, (name, value)| sql.replace(name, value));
        raw.execute(sql).await?;
    }
    let head = format!("sequence = {last}, chained = {last}, last_at = {}", begin + i64::from(last) * step);
    raw.execute(format!("UPDATE tenant_auth_event_sequences SET {head} WHERE {of_org}")).await?;
    match database.engine {
        Engine::Sqlite => raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").await?,
        Engine::Postgres => raw.execute("VACUUM (ANALYZE) tenant_auth_events").await?,
    }
    Ok([before + entries / 2, last - 5].map(|place| Timestamp::from_millis(begin + i64::from(place) * step).to_iso()))
}
