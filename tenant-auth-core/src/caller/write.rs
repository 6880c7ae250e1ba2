//! Units of work in which the caller's right was judged again: a [`Write`] is a session's, an [`OrgWrite`] is one in an organization,
//! whoever makes it.

use std::sync::Arc;

use std::ops::{Deref, DerefMut};

use crate::{
    error::Error,
    event::EventData,
    id::DeploymentKeyId,
    model::{EventKind, Organization, User},
    store::{Actor, Event, LiveSession, Tx},
};

/// A unit of work of a session.
pub(crate) struct Write {
    /// The transaction itself, for operations that take one.
    pub(crate) tx: Tx,
    /// The caller's session, membership and organization as the transaction reads them.
    pub(crate) live: LiveSession,
}

/// A unit of work in an organization, which it locks.
pub(crate) struct OrgWrite {
    /// The transaction itself, for operations that take one.
    pub(crate) tx: Tx,
    /// The organization as the transaction reads it.
    pub(crate) org: Organization,
    pub(crate) author: Author,
}

/// Who makes a write in an organization.
#[derive(Debug, Clone)]
pub(crate) enum Author {
    /// A member, by a session.
    Member(User),
    /// The product, by a deployment key.
    Product(DeploymentKeyId),
    /// The process that runs the service.
    Process,
}

impl Author {
    /// The causer of the events.
    pub(crate) fn actor(&self) -> Actor {
        match self {
            Self::Member(user) => Actor::User(user.id.clone()),
            Self::Product(key) => Actor::DeploymentKey(key.clone()),
            Self::Process => Actor::System,
        }
    }

    /// The person, where it is one.
    pub(crate) fn user(&self) -> Option<&User> {
        match self {
            Self::Member(user) => Some(user),
            Self::Product(_) | Self::Process => None,
        }
    }
}

impl From<Write> for OrgWrite {
    fn from(Write { tx, live }: Write) -> Self {
        Self { tx, org: Arc::unwrap_or_clone(live.org), author: Author::Member(live.user) }
    }
}

impl OrgWrite {
    /// Records an event in the organization, by the author.
    pub(crate) fn push(&mut self, kind: EventKind, data: &impl EventData) -> Result<(), Error> {
        self.tx.push(Event::new(kind, &self.org, self.author.actor(), data)?);
        Ok(())
    }

    /// Commits; see [`Tx::commit`].
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub(crate) async fn commit(self) -> Result<(), Error> {
        self.tx.commit().await
    }
}

impl Write {
    /// Commits; see [`Tx::commit`].
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub(crate) async fn commit(self) -> Result<(), Error> {
        self.tx.commit().await
    }
}

/// Lets a unit of work be used as the transaction that it is.
macro_rules! transaction {
    ($write:ty) => {
        impl Deref for $write {
            type Target = Tx;

            fn deref(&self) -> &Tx {
                &self.tx
            }
        }

        impl DerefMut for $write {
            fn deref_mut(&mut self) -> &mut Tx {
                &mut self.tx
            }
        }
    };
}

transaction!(Write);
transaction!(OrgWrite);
