//! Second factors (TOTP) and recovery codes. A guarded UPDATE compares and stores a code's time step in one statement, and a
//! recovery code is deleted by the statement that accepts it: neither works twice, however many requests try at once.

use crate::{
    error::Error,
    id::UserId,
    secret::Digest,
    store::{
        Link, Tx,
        dialect::{execute, fetch_optional, fetch_scalar, row, statements},
    },
    time::Timestamp,
};

pub(crate) struct SecondFactors<L>(pub(in crate::store) L);

statements! {
    FIND = "
        SELECT secret, enabled_at
          FROM tenant_auth_second_factors
         WHERE user_id = $1";
    SET_UP = "
        INSERT INTO tenant_auth_second_factors AS f (user_id, secret, enabled_at, last_step, created_at)
        VALUES ($1, $2, NULL, 0, $3)
        ON CONFLICT (user_id) DO UPDATE
           SET secret = excluded.secret, last_step = 0, created_at = excluded.created_at
         WHERE f.enabled_at IS NULL";
    ENABLE = "
        UPDATE tenant_auth_second_factors
           SET enabled_at = $2, last_step = $3
         WHERE user_id = $1 AND secret = $4 AND enabled_at IS NULL";
    USE_STEP = "
        UPDATE tenant_auth_second_factors
           SET last_step = $2
         WHERE user_id = $1 AND last_step < $2 AND enabled_at IS NOT NULL";
    DELETE = "DELETE FROM tenant_auth_second_factors WHERE user_id = $1";
    COUNT_CODES = "SELECT COUNT(*) AS number FROM tenant_auth_recovery_codes WHERE user_id = $1";
    DELETE_CODES = "DELETE FROM tenant_auth_recovery_codes WHERE user_id = $1";
    INSERT_CODE = "INSERT INTO tenant_auth_recovery_codes (user_id, digest) VALUES ($1, $2)";
    USE_CODE = "DELETE FROM tenant_auth_recovery_codes WHERE user_id = $1 AND digest = $2";
}

row! {
    /// A second factor as it is stored; the secret is sealed.
    #[derive(Debug)]
    SecondFactorRecord {
        secret: String,
        enabled_at: Option<i64>,
    }
}

impl SecondFactorRecord {
    pub(crate) fn enabled_at(&self) -> Option<Timestamp> {
        self.enabled_at.map(Timestamp::from_millis)
    }
}

impl<L: Link> SecondFactors<L> {
    pub(crate) async fn find(mut self, user: &UserId) -> Result<Option<SecondFactorRecord>, Error> {
        fetch_optional!(self.0, SecondFactorRecord, FIND, user.as_str())
    }

    /// Whether an enabled second factor guards the account.
    pub(crate) async fn in_force(self, user: &UserId) -> Result<bool, Error> {
        Ok(self.find(user).await?.is_some_and(|factor| factor.enabled_at.is_some()))
    }

    pub(crate) async fn count_codes(mut self, user: &UserId) -> Result<i64, Error> {
        Ok(fetch_scalar!(self.0, i64, COUNT_CODES, user.as_str())?.unwrap_or(0))
    }
}

impl SecondFactors<&mut Tx> {
    /// Stores a secret that is not in force yet; `false` when a second factor is in force.
    pub(crate) async fn set_up(mut self, user: &UserId, sealed: &str) -> Result<bool, Error> {
        let now = self.0.now();
        Ok(execute!(self.0, SET_UP, user.as_str(), sealed, now.millis())? == 1)
    }

    /// Puts the secret in force; `false` when another secret was set up in the meantime, or one is in force.
    pub(crate) async fn enable(mut self, user: &UserId, sealed: &str, step: i64) -> Result<bool, Error> {
        let now = self.0.now();
        Ok(execute!(self.0, ENABLE, user.as_str(), now.millis(), step, sealed)? == 1)
    }

    /// Accepts a time step once; `false` when this step or a later one was used before (replay).
    pub(crate) async fn use_step(mut self, user: &UserId, step: i64) -> Result<bool, Error> {
        Ok(execute!(self.0, USE_STEP, user.as_str(), step)? == 1)
    }

    /// Removes the second factor with its recovery codes; `false` when there was none.
    pub(crate) async fn remove(mut self, user: &UserId) -> Result<bool, Error> {
        execute!(self.0, DELETE_CODES, user.as_str())?;
        Ok(execute!(self.0, DELETE, user.as_str())? == 1)
    }

    /// Replaces every recovery code.
    pub(crate) async fn replace_codes(mut self, user: &UserId, digests: &[Digest]) -> Result<(), Error> {
        execute!(self.0, DELETE_CODES, user.as_str())?;
        for digest in digests {
            execute!(self.0, INSERT_CODE, user.as_str(), digest.as_str())?;
        }
        Ok(())
    }

    /// Uses up a recovery code; `false` when it does not exist or was used before.
    pub(crate) async fn use_code(mut self, user: &UserId, digest: &Digest) -> Result<bool, Error> {
        Ok(execute!(self.0, USE_CODE, user.as_str(), digest.as_str())? == 1)
    }
}
