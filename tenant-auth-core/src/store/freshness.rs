//! The deployment's freshness, lowered: the number that processes announce only grows by itself, and every change that ends a right
//! waits for it.

use std::time::Duration;

#[cfg(feature = "postgres")]
use super::failure;
use super::{
    Engine, Store,
    sql::changes::{LOWERED, UNUSABLE},
};
use crate::error::Error;

impl Store {
    /// Lowers the deployment's freshness, which is the longest that any process ever announced; zero: no process remembers any more,
    /// and no change waits. Servers may run meanwhile: those that announced more use no more than this from their next look on, and
    /// this waits until every earlier look of theirs is too old, 1¼ × the former number, before changes stop waiting for it. A server
    /// that starts with a longer setting raises the number again.
    ///
    /// `false` when a process announced more meanwhile: nothing waits for less then.
    ///
    /// # Errors
    /// [`Error::Unavailable`]. The number is unharmed then, and this can be called again.
    pub async fn lower_freshness(&self, freshness: Duration) -> Result<bool, Error> {
        let millis = i64::try_from(freshness.as_millis()).unwrap_or(i64::MAX);
        self.set_freshness(UNUSABLE, millis).await?;
        let former = self.read().await?.changes().freshness().await?;
        if former <= millis {
            return Ok(true);
        }
        tokio::time::sleep(Duration::from_millis(u64::try_from(former).unwrap_or(0)) * 5 / 4).await;
        self.set_freshness(LOWERED, millis).await?;
        Ok(self.read().await?.changes().freshness().await? <= millis)
    }

    pub(super) async fn set_freshness(&self, statement: &'static str, millis: i64) -> Result<(), Error> {
        match &self.0 {
            #[cfg(feature = "sqlite")]
            Engine::Sqlite(sqlite) => sqlite.write(sqlx::query(statement).bind(millis)).await.map(drop),
            #[cfg(feature = "postgres")]
            Engine::Postgres(postgres) => {
                sqlx::query(statement).bind(millis).execute(postgres.pool()).await.map(drop).map_err(failure::of)
            }
        }
    }
}
