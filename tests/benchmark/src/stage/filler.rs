//! Rows in bulk: people, their memberships and a session each, as weeks of use would have left them. Ids carry a time of creation
//! and are spread over those weeks; what the load asks for lies anywhere among them.

use rand::{RngExt, rngs::StdRng};
use tenant_auth_core::{
    Timestamp,
    id::{Id, MembershipId, OrgId, SessionId, UserId},
    ports::OsEntropy,
    secret::StoredPassword,
};

use super::{Engine, database::Raw};
use crate::Failure;

/// Rows in one statement.
const BATCH: u32 = 10_000;
/// How far back people's lives here go, in milliseconds: 20 days, so that no session has ended.
const WEEKS: i64 = 20 * 24 * 3_600 * 1_000;

const USERS: &str = "
    INSERT INTO tenant_auth_users
           (id, name, email, email_key, role, is_email_verified, bio, phone, password_hash, epoch, created_at)
    SELECT value ->> 0, 'Person Number ' || (value ->> 1), value ->> 2, value ->> 2, 'user', TRUE, NULL, NULL, value ->> 3, 1,
           CAST(value ->> 4 AS BIGINT)
      FROM {rows}";
const MEMBERSHIPS: &str = r#"
    INSERT INTO tenant_auth_memberships (org_id, user_id, id, role, status, metadata, joined_at)
    SELECT value ->> 0, value ->> 1, value ->> 2, 'member', 'active', '{"team":"blue"}', CAST(value ->> 3 AS BIGINT)
      FROM {rows}"#;
const SESSIONS: &str = "
    INSERT INTO tenant_auth_sessions
           (id, org_id, user_id, user_epoch, generation, amr, auth_time, refreshed_at, last_used_at, idle_until, idle_hour, expires_at,
            ip, user_agent)
    SELECT value ->> 0, value ->> 1, value ->> 2, 1, 1, 'pwd', CAST(value ->> 3 AS BIGINT), CAST(value ->> 3 AS BIGINT),
           CAST(value ->> 3 AS BIGINT), CAST(value ->> 4 AS BIGINT), CAST(value ->> 4 AS BIGINT) / 3600000,
           CAST(value ->> 4 AS BIGINT), '198.18.0.1', value ->> 5
      FROM {rows}";

/// Sessions end up in no order: those the load uses were opened one after another, and would otherwise lie side by side.
const SHUFFLE: &str = "
    CREATE TABLE benchmark_sessions AS SELECT * FROM tenant_auth_sessions ORDER BY random();
    {empty} tenant_auth_sessions;
    INSERT INTO tenant_auth_sessions SELECT * FROM benchmark_sessions;
    DROP TABLE benchmark_sessions;";

/// What browsers call themselves.
pub(crate) const USER_AGENT: &str =
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36";

/// The person's address.
pub(crate) fn email(person: usize) -> String {
    format!("person-{person}@example.com")
}

/// A time within the last weeks.
pub(crate) fn some_time(now: Timestamp, chance: &mut StdRng) -> Timestamp {
    Timestamp::from_millis(now.millis() - chance.random_range(0..WEEKS))
}

/// Adds `people`, round robin over the organizations.
pub(crate) async fn add(
    raw: &mut Raw,
    people: u32,
    orgs: &[OrgId],
    password: &StoredPassword,
    (now, chance): (Timestamp, &mut StdRng),
) -> Result<(), Failure> {
    let text = |time: Timestamp| time.millis().to_string();
    for first in (0..people).step_by(BATCH as usize) {
        let (mut users, mut memberships, mut sessions) = (Vec::new(), Vec::new(), Vec::new());
        for person in first..people.min(first + BATCH) {
            let org = orgs[person as usize % orgs.len()].as_str();
            let (born, opened) = (some_time(now, chance), some_time(now, chance));
            let user: UserId = Id::generate(born, &OsEntropy);
            let membership: MembershipId = Id::generate(born, &OsEntropy);
            let session: SessionId = Id::generate(opened, &OsEntropy);
            let end = Timestamp::from_millis(now.millis() + WEEKS);
            let user = user.as_str();
            users.push(
                [user, &person.to_string(), &email(person as usize), password.as_str(), &text(born)].map(str::to_owned).to_vec(),
            );
            memberships.push([org, user, membership.as_str(), &text(born)].map(str::to_owned).to_vec());
            sessions.push([session.as_str(), org, user, &text(opened), &text(end), USER_AGENT].map(str::to_owned).to_vec());
        }
        raw.execute("BEGIN").await?;
        raw.insert(USERS, &users).await?;
        raw.insert(MEMBERSHIPS, &memberships).await?;
        raw.insert(SESSIONS, &sessions).await?;
        raw.execute("COMMIT").await?;
    }
    Ok(())
}

/// Leaves the database as an engine that has been running for long would: nothing in order, nothing to tidy up.
pub(crate) async fn age(raw: &mut Raw, engine: Engine) -> Result<(), Failure> {
    match engine {
        Engine::Sqlite => {
            raw.execute(SHUFFLE.replace("{empty}", "DELETE FROM")).await?;
            raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").await
        }
        Engine::Postgres => {
            raw.execute(SHUFFLE.replace("{empty}", "TRUNCATE tenant_auth_superseded_generations,")).await?;
            raw.execute("VACUUM (ANALYZE)").await?;
            raw.execute("CHECKPOINT").await
        }
    }
}
