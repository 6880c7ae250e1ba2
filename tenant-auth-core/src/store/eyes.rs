//! The eyes of a PostgreSQL store: the connections by which it is looked for changes (`change_log/`). They are beside the pool, because a busy
//! pool must not make every request wait, and end with the store all the same.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use sqlx::{Connection, PgConnection, PgPool};

/// A connection of looks; `None` once the store was closed.
pub(super) type Shared = tokio::sync::Mutex<Option<PgConnection>>;

/// The connections of the looks into one database: they are beside its pool, and end with it.
#[derive(Debug, Clone, Default)]
pub(super) struct Eyes(Arc<Mutex<Vec<Weak<Shared>>>>);

impl Eyes {
    /// Notes a connection, unless the store was closed while that was opened.
    pub(super) fn note(&self, connection: &Arc<Shared>, pool: &PgPool) -> sqlx::Result<()> {
        let mut open = self.open();
        if pool.is_closed() {
            return Err(sqlx::Error::PoolClosed);
        }
        open.retain(|connection| connection.strong_count() > 0);
        open.push(Arc::downgrade(connection));
        Ok(())
    }

    /// Ends them, each after the look that is under way. No other is opened once the pool is closed. Given up, it leaves the rest to another
    /// call.
    pub(super) async fn close(&self) {
        while let Some(newest) = self.newest() {
            if let Some(shared) = newest.upgrade() {
                let connection = shared.lock().await.take();
                if let Some(connection) = connection {
                    let _ = connection.close().await; // one that is lost cannot be told
                }
            }
            self.open().retain(|connection| !Weak::ptr_eq(connection, &newest));
        }
    }

    fn newest(&self) -> Option<Weak<Shared>> {
        self.open().last().cloned()
    }

    fn open(&self) -> MutexGuard<'_, Vec<Weak<Shared>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_close_that_is_given_up_leaves_the_rest_to_another() {
        let (first, second) = (Arc::new(Shared::new(None)), Arc::new(Shared::new(None)));
        let eyes = Eyes::default();
        eyes.open().extend([Arc::downgrade(&first), Arc::downgrade(&second)]);
        let look = second.lock().await;
        assert!(tokio::time::timeout(Duration::from_secs(1), eyes.close()).await.is_err(), "a look is under way");
        assert_eq!(eyes.open().len(), 2);
        drop(look);
        eyes.close().await;
        assert!(eyes.open().is_empty());
    }
}
