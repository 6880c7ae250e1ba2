//! The eyes of a PostgreSQL store: the connections by which it is looked for changes (`change_log/`). They are beside the pool, because a busy
//! pool must not make every request wait, and end with the store all the same.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use sqlx::{Connection, PgConnection, PgPool};

/// A connection of looks; `None` once the store was closed.
pub(super) type Shared = tokio::sync::Mutex<Option<PgConnection>>;

/// The connections of the looks into one database: they are beside its pool, and end with it.
#[derive(Debug, Clone, Default)]
pub(super) struct Eyes(Arc<Mutex<Vec<Weak<Shared>>>>);

impl Eyes {
    /// Notes a connection, unless the store was closed while that was opened.
    pub(super) fn note(&self, connection: &Arc<Shared>, pool: &PgPool) -> sqlx::Result<()> {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if pool.is_closed() {
            return Err(sqlx::Error::PoolClosed);
        }
        open.retain(|connection| connection.strong_count() > 0);
        open.push(Arc::downgrade(connection));
        Ok(())
    }

    /// Ends them, each after the look that is under way. No other is opened once the pool is closed.
    pub(super) async fn close(&self) {
        let open = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        for shared in open.iter().filter_map(Weak::upgrade) {
            let connection = shared.lock().await.take();
            if let Some(connection) = connection {
                let _ = connection.close().await; // one that is lost cannot be told
            }
        }
    }
}
