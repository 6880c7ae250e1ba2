//! Login with a password. An unknown address and a wrong password cost the same time and get the same answer; membership is judged
//! only after a correct password: so without the password an answer reveals neither accounts nor members. The password is compared
//! before the transaction begins; the transaction holds the account at the epoch that was read then, so that a login in flight with
//! an old password fails.

use std::{pin::pin, time::Duration};

use tokio::time::Instant;

use crate::{
    account::{Entrant, Opening, open_session, wait_for_second_factor},
    bounded::QueueShare,
    caller::{Client, Tenant},
    deadline,
    error::Error,
    metrics::LoginOutcome,
    model::{AuthMethod, Membership, Organization, Session, Status, User},
    ports::{EvenVerdict, Verdict},
    secret::Password,
    store::{Entry, Event, Known, LiveSession, Tx},
    throttle::{Attempt, Whose, log_refused},
    time::Timestamp,
    token::{PartialToken, Tokens},
    value::{Email, password},
};

/// How long after the making of an organization a visit counts as the one in which it was made.
const FIRST_VISIT: Duration = Duration::from_secs(3_600);

/// The credentials of a login: address, password, and the client of the request.
#[derive(Debug)]
pub struct Credentials {
    /// The account's address.
    pub email: Email,
    /// The password as typed.
    pub password: Password,
    /// The client of the request; the rate limiter counts failures by its address.
    pub client: Client,
}

/// The result of a login's first step: a session, or a partial token where the second factor is still to come.
#[derive(Debug)]
#[non_exhaustive]
pub enum Login {
    /// The login is complete.
    Session(Box<Opened>),
    /// The password was right, and the account has a second factor. Pass the partial token to [`Tenant::waiting_login`].
    SecondFactor(PartialToken),
}

/// A session that was just opened.
#[derive(Debug)]
pub struct Opened {
    /// The session's first access and refresh token.
    pub tokens: Tokens,
    pub(crate) live: LiveSession,
}

impl Opened {
    /// The person.
    pub fn user(&self) -> &User {
        &self.live.user
    }

    /// The person's membership in the organization.
    pub fn membership(&self) -> &Membership {
        &self.live.membership
    }

    /// The organization.
    pub fn organization(&self) -> &Organization {
        &self.live.org
    }

    /// The session.
    pub fn session(&self) -> &Session {
        &self.live.session
    }
}

/// An account whose password was verified.
struct Proved {
    known: Known,
    /// Whether the stored hash is weaker than the settings demand now, so that the password is hashed again.
    is_outdated: bool,
}

/// A wrong password, which is told when every other would be.
struct Refused {
    told_at: Instant,
}

impl Tenant {
    /// Performs the first step of a login to this organization: verifies the password and judges the membership.
    ///
    /// # Errors
    /// [`Error::InvalidCredentials`]; after a correct password [`Error::NotAMember`] or [`Error::Suspended`];
    /// [`Error::RateLimited`] after too many failures; [`Error::Unavailable`] when too many logins wait.
    pub async fn login(&self, credentials: Credentials) -> Result<Login, Error> {
        let (client, whose) = (credentials.client.clone(), Whose::Address(credentials.email.clone()));
        let login = self.attempt_login(credentials).await;
        if let Err(refusal) = &login {
            log_refused(refusal, &self.org.id, &client);
            self.note_blocked(refusal, whose, &client).await;
        }
        self.auth.metrics().login(LoginOutcome::of_password(&login));
        login
    }

    async fn attempt_login(&self, credentials: Credentials) -> Result<Login, Error> {
        let attempt = self.auth.password_attempt(&credentials.email, &credentials.client).await?;
        let judging = async {
            let mut reader = self.auth.store().read().await?;
            let mut entry = reader.logins().find(&credentials.email).await?;
            drop(reader);
            entry.known = entry.known.filter(|_| attempt.may_be_judged);
            self.prove(entry, &credentials).await
        };
        let login = match attempt.judged(judging).await {
            Ok(Ok(proved)) => self.admit(proved, &attempt, credentials).await,
            Ok(Err(Refused { told_at })) => {
                attempt.failed().await?;
                let rest = told_at.saturating_duration_since(Instant::now());
                // Cut by the end of the request's time: then it is late as any other.
                let _ = deadline::wait_in_request(rest, pin!(tokio::time::sleep(rest))).await;
                return Err(Error::InvalidCredentials);
            }
            Err(unjudged) => Err(unjudged),
        };
        if login.is_err() {
            // Neither a right password that is refused nor a password that was never judged is a guess, so neither is counted.
            attempt.withdrawn().await;
        }
        login
    }

    /// Verifies the password. Returns the account, or when to tell that the password is wrong or that there is no account.
    async fn prove(&self, entry: Entry, credentials: &Credentials) -> Result<Result<Proved, Refused>, Error> {
        // A text too long for a password is replaced by an empty one and compared too, so that its answer takes as long as any
        // other.
        let typed = password::normalized(&credentials.password).unwrap_or_else(|| Password::new(""));
        let stored = entry.known.as_ref().and_then(|known| known.account.comparable_password());
        let share = self.queue_share(&credentials.client);
        let EvenVerdict { verdict, wait } = self.auth.hasher().verify_evenly(&typed, stored, &entry.dearest, &share).await?;
        let proved = |is_outdated| entry.known.map(|known| Proved { known, is_outdated });
        let proved = match verdict {
            Verdict::Match => proved(false),
            Verdict::MatchOutdated => proved(true),
            Verdict::Mismatch => None,
        };
        Ok(proved.ok_or_else(|| Refused { told_at: Instant::now() + wait }))
    }

    async fn admit(&self, proved: Proved, attempt: &Attempt, credentials: Credentials) -> Result<Login, Error> {
        if self.org.status == Status::Suspended {
            return Err(Error::Suspended);
        }
        // What is known of the second factor holds as long as the epoch does, which is held below.
        let Proved { known: Known { account, has_second_factor }, is_outdated } = proved;
        let stronger = match password::normalized(&credentials.password) {
            Some(password) if is_outdated => {
                Some(self.auth.hasher().hash(&password, &self.queue_share(&credentials.client)).await?)
            }
            _ => None,
        };

        let mut tx = self.auth.begin().await?;
        if has_second_factor {
            attempt.released(&mut tx).await?;
        } else {
            attempt.completed(&mut tx).await?;
        }
        if self.is_proven_by(tx.now()) {
            tx.organizations().prove(&self.org.id).await?;
        }
        let (membership, epoch) = tx.logins().hold(&self.org.id, &account.user.id).await?.ok_or(Error::NotAMember)?;
        if membership.status == Status::Suspended {
            return Err(Error::Suspended);
        }
        // Race: the epoch has moved on when the password was changed after it was compared above.
        if epoch != account.epoch {
            return Err(Error::InvalidCredentials);
        }
        if let Some(stronger) = stronger {
            tx.users().rehash(&account.user.id, &account.password, &stronger).await?;
        }
        let opening = Opening {
            id: None,
            methods: vec![AuthMethod::Password],
            request: credentials.client.clone(),
            client: credentials.client,
        };
        let entrant = Entrant { account, membership, opening };
        if has_second_factor { self.wait_if_open(tx, entrant).await } else { self.enter(tx, entrant).await.map(Login::from) }
    }

    /// The first step of a two-step login, unless the organization was suspended meanwhile: opening a session asks by itself.
    async fn wait_if_open(&self, mut tx: Tx, entrant: Entrant) -> Result<Login, Error> {
        match tx.organizations().find(&self.org.id).await?.ok_or(Error::UnknownOrganization)?.status {
            Status::Suspended => Err(Error::Suspended),
            Status::Active => self.wait_for_code(tx, entrant).await,
        }
    }

    /// Whether somebody who comes now proves that an organization that sign-up made is wanted: the hour in which it was made is no coming
    /// back (behaviour.md, B202).
    pub(super) fn is_proven_by(&self, now: Timestamp) -> bool {
        self.org.unproven_until.is_some() && now >= self.org.created_at.plus(FIRST_VISIT)
    }

    /// The client's share of the hashing queue.
    pub(crate) fn queue_share(&self, client: &Client) -> QueueShare {
        client.queue_share(&self.org.id)
    }

    /// Completes a login: opens the session, commits, and issues the session's first tokens.
    pub(crate) async fn enter(&self, tx: Tx, entrant: Entrant) -> Result<Opened, Error> {
        self.enter_telling(tx, entrant, Vec::new()).await
    }

    /// The same, and tells these events after those of the session.
    pub(crate) async fn enter_telling(&self, mut tx: Tx, entrant: Entrant, then: Vec<Event>) -> Result<Opened, Error> {
        let live = open_session(&mut tx, self, entrant, &then).await?;
        then.into_iter().for_each(|event| tx.push(event));
        tx.commit().await?;
        let tokens = self.auth.signer().issue(&live.session)?;
        Ok(Opened { tokens, live })
    }

    /// Completes the first step of a two-step login: stores the login as pending until the second factor comes, and commits.
    pub(crate) async fn wait_for_code(&self, mut tx: Tx, entrant: Entrant) -> Result<Login, Error> {
        let partial = wait_for_second_factor(&mut tx, self, entrant).await?;
        tx.commit().await?;
        Ok(Login::SecondFactor(partial))
    }
}

impl From<Opened> for Login {
    fn from(opened: Opened) -> Self {
        Self::Session(Box::new(opened))
    }
}

impl LoginOutcome {
    /// The metrics outcome of a login's first step.
    pub(super) fn of_password(login: &Result<Login, Error>) -> Self {
        match login {
            Ok(Login::Session(_)) => Self::Ok,
            Ok(Login::SecondFactor(_)) => Self::SecondFactor,
            Err(error) => Self::of_refusal(error),
        }
    }

    /// The metrics outcome of a login's second step.
    pub(super) fn of_code<T>(opened: &Result<T, Error>) -> Self {
        opened.as_ref().map_or_else(Self::of_refusal, |_| Self::Ok)
    }

    fn of_refusal(error: &Error) -> Self {
        match error {
            Error::InvalidCredentials | Error::SecondFactorFailed => Self::Wrong,
            Error::RateLimited { .. } => Self::Throttled,
            Error::Unavailable(_) | Error::Internal(_) => Self::Unavailable,
            _ => Self::Refused,
        }
    }
}
