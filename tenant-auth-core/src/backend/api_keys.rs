//! API keys: created by an org_admin or on the operator's command line, shown once, stored as a digest. Rotation makes a successor
//! and lets the old key work for a while, so that a backend can be redeployed in between.

use std::time::Duration;

use crate::{
    caller::{OrgAdmin, OrgWrite},
    error::{Error, InvalidValue, Thing},
    event::{ApiKeyData, EventKind, RevokeReason},
    id::ApiKeyId,
    key_text::{ORGANIZATION_PREFIX, Shown, each_once},
    mail::{self, Letter},
    model::{ApiKey, Scope},
    page::{List, Page},
    secret::ApiKeyText,
    throttle::ADMIN_CHANGES,
    time::{DAY, Timestamp},
    value::{DisplayName, SearchText},
};

/// The longest overlap of a rotated key with its successor: 30 days.
pub(crate) const LONGEST_OVERLAP: Duration = DAY.saturating_mul(30);

/// The values of a key to create.
#[derive(Debug, Clone)]
pub struct NewApiKey {
    /// For people to tell keys apart.
    pub name: DisplayName,
    /// The key's scopes; at least one.
    pub scopes: Vec<Scope>,
    /// When the key expires.
    pub expires_at: Option<Timestamp>,
}

/// A created key and its text, which is stored nowhere.
#[derive(Debug)]
#[non_exhaustive]
pub struct CreatedApiKey {
    /// The key as it is stored.
    pub api_key: ApiKey,
    /// The whole text, shown once.
    pub key: ApiKeyText,
}

impl NewApiKey {
    /// The scopes of a key for which none are given.
    pub fn default_scopes() -> Vec<Scope> {
        vec![Scope::Verify, Scope::UsersRead, Scope::MembersRead]
    }
}

impl OrgAdmin {
    /// The live keys, oldest first.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub async fn api_keys(&self, page: &Page) -> Result<List<ApiKey>, Error> {
        self.api_keys_like(None, page).await
    }

    /// The living keys whose name has this in it, oldest first.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a cursor of another search or order.
    pub async fn api_keys_like(&self, search: Option<&SearchText>, page: &Page) -> Result<List<ApiKey>, Error> {
        let auth = self.auth();
        let mut reading = page.reading(&["apiKeys", self.org_id().as_str(), search.map_or("", SearchText::as_str)])?;
        let mut reader = auth.store().read().await?;
        while let Some(bounds) = reading.wants_to_choose(search.is_some()) {
            let keys = reader.api_keys().list(self.org_id(), &bounds, auth.now()).await?;
            reading.take_those(keys, |key| search.is_none_or(|text| text.is_in(key.name.as_str())));
        }
        Ok(reading.finish())
    }

    /// Creates a key.
    ///
    /// # Errors
    /// [`Error::LimitReached`]; [`Error::Invalid`] without scopes or with an end that has passed; [`Error::ScopeOfOperators`] for
    /// [`Scope::Proxy`], which steers whom failed logins are counted against, when a member asks; [`Error::RateLimited`].
    pub async fn create_api_key(&self, new: NewApiKey) -> Result<CreatedApiKey, Error> {
        if new.scopes.contains(&Scope::Proxy) && self.as_member().is_some() {
            return Err(Error::ScopeOfOperators(Scope::Proxy.as_str()));
        }
        let mut write = ADMIN_CHANGES.begin_write_of(self).await?;
        let created = self.create_key(&mut write, new).await?;
        let data = ApiKeyData::of(&created.api_key);
        write.push(EventKind::ApiKeyCreated, &data)?;
        write.commit().await?;
        Ok(created)
    }

    /// Rotates a key: creates a successor of the same name, scopes and expiry. The old key works until `overlap` has passed, not at
    /// all when it is zero; the predecessor of the old key stops working now.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::AlreadyRotated`]; [`Error::Invalid`] for an overlap beyond 30 days;
    /// [`Error::RateLimited`].
    pub async fn rotate_api_key(&self, id: &ApiKeyId, overlap: Duration) -> Result<CreatedApiKey, Error> {
        self.auth()
            .ending(async {
                if overlap > LONGEST_OVERLAP {
                    return Err(InvalidValue::OverlapTooLong { longest: LONGEST_OVERLAP }.into());
                }
                let mut write = ADMIN_CHANGES.begin_write_of(self).await?;
                let now = write.now();
                let old = write.api_keys().find(self.org_id(), id, now).await?.ok_or(Error::NotFound(Thing::ApiKey))?;
                if old.replaced_by.is_some() {
                    return Err(Error::AlreadyRotated);
                }
                write.api_keys().delete_predecessors(&old).await?;
                let new = NewApiKey { name: old.name.clone(), scopes: old.scopes.clone(), expires_at: old.expires_at };
                let created = make(&write, new);
                write.api_keys().insert(&created.api_key, &created.key.digest()).await?;
                tell_admins(&mut write, &created.api_key).await?;
                let dies_at = now.plus(overlap);
                let dies_at = old.expires_at.map_or(dies_at, |end| end.min(dies_at));
                write.api_keys().replace(&old, &created.api_key.id, dies_at).await?;
                let data = ApiKeyData::of(&created.api_key);
                write.push(EventKind::ApiKeyRotated, &data)?;
                write.commit().await?;
                Ok(created)
            })
            .await
    }

    /// Revokes a key; it stops working at once.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub async fn revoke_api_key(&self, id: &ApiKeyId) -> Result<(), Error> {
        self.auth()
            .ending(async {
                let mut write = self.begin_write().await?;
                let now = write.now();
                let key = write.api_keys().find(self.org_id(), id, now).await?.ok_or(Error::NotFound(Thing::ApiKey))?;
                write.api_keys().delete(&key).await?;
                let data = ApiKeyData::revoked(&key, RevokeReason::Revoked);
                write.push(EventKind::ApiKeyRevoked, &data)?;
                write.commit().await
            })
            .await
    }

    /// Creates and stores a key within the organization's limit.
    async fn create_key(&self, write: &mut OrgWrite, new: NewApiKey) -> Result<CreatedApiKey, Error> {
        if new.scopes.is_empty() {
            return Err(InvalidValue::NoScopes.into());
        }
        let now = write.now();
        if new.expires_at.is_some_and(|end| end <= now) {
            return Err(InvalidValue::ExpiryPassed.into());
        }
        let limit = self.auth().config().organizations.max_api_keys;
        if write.api_keys().count(self.org_id(), now).await? >= i64::from(limit) {
            return Err(Error::LimitReached { what: Thing::ApiKey, limit });
        }
        let created = make(write, new);
        write.api_keys().insert(&created.api_key, &created.key.digest()).await?;
        tell_admins(write, &created.api_key).await?;
        Ok(created)
    }
}

async fn tell_admins(write: &mut OrgWrite, key: &ApiKey) -> Result<(), Error> {
    let notice = Letter::NewApiKey { organization: &write.org.name, name: &key.name };
    mail::tell_admins_of_deed(&mut write.tx, &write.org.id, &write.author, &notice).await
}

fn make(write: &OrgWrite, new: NewApiKey) -> CreatedApiKey {
    let OrgWrite { tx, org, author } = write;
    let id: ApiKeyId = tx.new_id();
    let key = tx.new_key_text(&format!("{ORGANIZATION_PREFIX}{}", id.body()));
    let Shown { prefix, last_four } = Shown::of(&key, ORGANIZATION_PREFIX);
    let api_key = ApiKey {
        org_id: org.id.clone(),
        name: new.name,
        prefix,
        last_four,
        scopes: each_once(new.scopes),
        created_by: author.user().map(|user| user.id.clone()),
        created_at: tx.now(),
        expires_at: new.expires_at,
        last_used_at: None,
        replaced_by: None,
        id,
    };
    CreatedApiKey { api_key, key }
}
