//! A verifier double that accepts the tokens a test gives it, so that a host tests its own routes without a service, a database or
//! a network.

use std::{
    collections::HashMap,
    fmt,
    net::IpAddr,
    sync::{Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;

use super::{Renewed, Verifier};
use crate::{
    error::Error,
    id::Id,
    model::{AccountRole, AuthMethod, Role, Status},
    ports::{Entropy, SeededEntropy},
    principal::{Principal, PrincipalMembership, PrincipalOrg, PrincipalSession},
    secret::SignedToken,
    time::Timestamp,
    value::{DisplayName, Email, Metadata, Plan, Slug},
    view::UserView,
};

/// A test double that accepts the tokens it is given. It refreshes no session, and an unknown token has no session.
///
/// ```
/// use tenant_auth_core::{Principal, http::{Gate, TestVerifier}, model::Role};
///
/// let verifier = TestVerifier::default();
/// verifier.knows("ada-token", Principal::sample("acme", Role::OrgAdmin)); // Authorization: Bearer ada-token
/// let gate = Gate::new(verifier);
/// ```
#[derive(Default)]
pub struct TestVerifier {
    known: Mutex<HashMap<String, Principal>>,
}

impl TestVerifier {
    /// Accepts this access token as the person's.
    pub fn knows(&self, access_token: &str, principal: Principal) {
        self.known().insert(access_token.to_owned(), principal);
    }

    /// Ends the session of a token.
    pub fn forgets(&self, access_token: &str) {
        self.known().remove(access_token);
    }

    fn known(&self) -> MutexGuard<'_, HashMap<String, Principal>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Without the tokens: a test may know real ones.
impl fmt::Debug for TestVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TestVerifier({} tokens)", self.known().len())
    }
}

#[async_trait]
impl Verifier for TestVerifier {
    async fn verify(&self, org: &Slug, access_token: &SignedToken) -> Result<Option<Principal>, Error> {
        let known = self.known().get(access_token.expose()).cloned();
        match known {
            Some(principal) if principal.org.slug != *org => Err(Error::WrongOrganization),
            known => Ok(known),
        }
    }

    async fn organization_of(&self, access: Option<&SignedToken>, _refresh: Option<&SignedToken>) -> Result<Option<Slug>, Error> {
        Ok(access.and_then(|token| self.known().get(token.expose()).map(|known| known.org.slug.clone())))
    }

    async fn refresh(&self, _org: &Slug, _refresh_token: &SignedToken, _client: Option<IpAddr>) -> Result<Renewed, Error> {
        Err(Error::SessionRequired)
    }
}

impl Principal {
    /// A sample person for tests: an active member, in this role, of an organization with this slug. Change the fields that
    /// should differ.
    ///
    /// # Panics
    /// When the slug is malformed.
    pub fn sample(slug: &str, role: Role) -> Self {
        let slug = Slug::parse(slug).unwrap_or_else(|why| panic!("{slug:?} is no slug: it {why}"));
        let chance = SeededEntropy::new(slug.as_str().bytes().map(u64::from).sum());
        Self::sampled(slug, role, &chance)
    }

    fn sampled(slug: Slug, role: Role, chance: &dyn Entropy) -> Self {
        let now = Timestamp::from_secs(1_800_000_000);
        Self {
            user: UserView {
                id: Id::generate(now, chance),
                name: DisplayName::from_stored("Sam Sample".to_owned()),
                email: Email::from_stored(format!("sam@{slug}.example")),
                role: AccountRole::User,
                is_email_verified: true,
            },
            membership: PrincipalMembership { role, status: Status::Active, joined_at: now, metadata: Metadata::default() },
            org: PrincipalOrg {
                id: Id::generate(now, chance),
                name: DisplayName::from_stored(slug.to_string()),
                slug,
                plan: Plan::default(),
                status: Status::Active,
            },
            session: PrincipalSession {
                id: Id::generate(now, chance),
                amr: vec![AuthMethod::Password],
                auth_time: now,
                expires_at: Timestamp::from_secs(1_900_000_000),
            },
            token_expires_at: Timestamp::from_secs(1_900_000_000),
        }
    }
}
