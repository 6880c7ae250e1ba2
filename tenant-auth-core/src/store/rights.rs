//! The rights that a user of PostgreSQL has on our tables. A server without one of them would start, and answer 500 to whatever needs that
//! table, so that they are judged at the start.

use std::collections::BTreeSet;

use sqlx::PgConnection;

use super::{SchemaError, failure, migrations};
use crate::error::Error;

/// Those of these tables, in the first schema of the search path, that this user may not read and write.
const WITHHELD: &str = "
    SELECT relname::TEXT
      FROM pg_class
     WHERE relname = ANY($1)
       AND relnamespace = to_regnamespace(quote_ident(current_schema()))
       AND relkind IN ('r', 'p')
       AND NOT (has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT')
                AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE'))
     ORDER BY 1";

/// Judges the rights of the connection's user.
///
/// # Errors
/// [`Error::Internal`] with [`SchemaError::Withheld`] when one is missing; [`Error::Unavailable`] when the database is away.
pub(super) async fn judge(connection: &mut PgConnection) -> Result<(), Error> {
    let named: Vec<String> = named().into_iter().collect();
    let withheld: Vec<String> = sqlx::query_scalar(WITHHELD).bind(named).fetch_all(connection).await.map_err(failure::of)?;
    if withheld.is_empty() { Ok(()) } else { Err(Error::internal(SchemaError::Withheld(withheld.join(", ")))) }
}

/// All that the migrations name, tables among them. Not all that begins alike: in a database that is shared, others may have made such a
/// table. What was migrated is written by its owner alone.
fn named() -> BTreeSet<String> {
    let texts = migrations::STEPS.iter().map(|step| migrations::POSTGRES.text_of(step));
    let words = |text: String| -> Vec<String> {
        let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        words.filter(|word| word.starts_with("tenant_auth_")).map(str::to_owned).collect()
    };
    texts.flat_map(words).collect()
}

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn the_tables_of_the_first_and_of_later_versions_are_named() {
        let named = named();
        for table in ["tenant_auth_organizations", "tenant_auth_sessions", "tenant_auth_outbox", "tenant_auth_changes"] {
            assert!(named.contains(table), "{table}");
        }
        assert!(!named.contains("tenant_auth_migrations"), "its owner writes it");
    }
}
