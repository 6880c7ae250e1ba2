//! A session in the form in which it is remembered: its texts and numbers packed, its organization and its user agent shared with other
//! sessions. That is a fifth of what the model's own form takes, and there may be a hundred thousand of them. The token that was found
//! genuine for the session stands beside it (`kept_token.rs`).

use std::{cmp::Ordering, fmt, sync::Arc};

use super::{
    alike::{Alike, UserAgent},
    bytes,
    kept_token::KeptToken,
    packed::{Packer, Unpacker},
    part::Keyed,
};
use crate::{
    id::Id,
    model::{AccountRole, AuthMethod, Membership, Organization, Profile, Role, Session, Status, User},
    store::LiveSession,
    time::Timestamp,
    token::AccessToken,
    value::{Bio, DisplayName, Email, Metadata, Phone},
};

/// A remembered session. Nothing in it changes: what is learned of it makes another one.
#[derive(Clone)]
pub(super) struct KeptSession {
    pub(super) org: Arc<Organization>,
    user_agent: Option<Arc<UserAgent>>,
    /// The session, the user and the membership.
    packed: Box<[u8]>,
    pub(super) token: Option<KeptToken>,
}

/// What memory says of an access token.
#[derive(Debug)]
pub(crate) enum Recalled {
    /// Its session lives, of an active member of an active organization.
    Live(Arc<LiveSession>),
    /// A later token of its session was issued.
    Superseded,
    /// Nothing that decides: the database is asked.
    Unknown,
}

/// What judges a caller, which stands first; the rest follows.
pub(super) struct Head<'a> {
    pub(super) session: &'a str,
    pub(super) generation: i64,
    user_epoch: i64,
    pub(super) expires_at: Timestamp,
    pub(super) status: Status,
    /// The id of the user, without its prefix.
    pub(super) user: &'a str,
    rest: Unpacker<'a>,
}

impl KeptSession {
    /// The session, and what it holds beyond its own size: the footing of its user included, and what of its organization and its user
    /// agent is not shared.
    pub(super) fn of(live: &LiveSession, alike: &mut Alike) -> (Self, usize) {
        let (org, of_org) = alike.organizations.shared(Arc::clone(&live.org));
        let user_agent = live.session.user_agent.as_deref().map(|text| alike.user_agents.shared(Arc::new(text.into())));
        let (user_agent, of_user_agent) = user_agent.unzip();
        let packed = pack(live);
        let held = packed.len() + bytes::FOOTING + of_org + of_user_agent.unwrap_or_default();
        (Self { org, user_agent, packed, token: None }, held)
    }

    /// The same session beside this token.
    pub(super) fn beside(&self, token: KeptToken) -> Self {
        Self { token: Some(token), ..self.clone() }
    }

    /// Whether it was made of this.
    #[cfg(feature = "http")]
    pub(super) fn is_of(&self, live: &LiveSession) -> bool {
        self.packed == pack(live) && self.user_agent() == live.session.user_agent.as_deref() && self.org == live.org
    }

    fn user_agent(&self) -> Option<&str> {
        self.user_agent.as_ref().map(|text| &***text)
    }

    pub(super) fn head(&self) -> Option<Head<'_>> {
        let mut rest = Unpacker::new(&self.packed);
        Some(Head {
            session: rest.text()?,
            generation: rest.number()?,
            user_epoch: rest.number()?,
            expires_at: Timestamp::from_millis(rest.number()?),
            status: Status::parse(rest.word(Status::WORDS)?)?,
            user: rest.text()?,
            rest,
        })
    }

    /// What it says of a token of this session. `None`: nothing that decides.
    pub(super) fn recall(&self, token: &AccessToken, now: Timestamp) -> Option<Recalled> {
        let head = self.head()?;
        if token.user.body() != head.user || token.org != self.org.id {
            return None;
        }
        let is_admitted = now < head.expires_at && head.status == Status::Active && self.org.status == Status::Active;
        match token.generation.cmp(&head.generation) {
            Ordering::Less => Some(Recalled::Superseded),
            Ordering::Equal if is_admitted => self.live().map(Arc::new).map(Recalled::Live),
            Ordering::Equal | Ordering::Greater => None,
        }
    }

    /// What it was made of.
    pub(super) fn live(&self) -> Option<LiveSession> {
        let Head { session, generation, user_epoch, expires_at, status, user, mut rest } = self.head()?;
        let (user_id, org_id): (Id<_>, _) = (Id::of_body(user), self.org.id.clone());
        let mut time = || rest.number().map(Timestamp::from_millis);
        let (auth_time, refreshed_at, last_used_at, joined_at) = (time()?, time()?, time()?, time()?);
        let session = Session {
            id: Id::from_stored(session),
            org_id: org_id.clone(),
            user_id: user_id.clone(),
            user_epoch,
            generation,
            amr: (0..rest.count()?).map(|_| AuthMethod::parse(rest.word(AuthMethod::WORDS)?)).collect::<Option<_>>()?,
            auth_time,
            refreshed_at,
            last_used_at,
            expires_at,
            ip: rest.optional()?.map(str::to_owned),
            user_agent: self.user_agent().map(str::to_owned),
        };
        let user = User {
            id: user_id.clone(),
            name: DisplayName::from_stored(rest.text()?.to_owned()),
            email: Email::from_stored(rest.text()?.to_owned()),
            role: AccountRole::parse(rest.word(AccountRole::WORDS)?)?,
            is_email_verified: rest.count()? == 1,
            profile: Profile {
                bio: rest.optional()?.map(|bio| Bio::from_stored(bio.to_owned())),
                phone: rest.optional()?.map(|phone| Phone::from_stored(phone.to_owned())),
            },
        };
        let membership = Membership {
            id: Id::of_body(rest.text()?),
            org_id,
            user_id,
            role: Role::parse(rest.word(Role::WORDS)?)?,
            status,
            joined_at,
            metadata: Metadata::from_stored(rest.text()?.to_owned()).ok()?,
        };
        Some(LiveSession { session, user, membership, org: Arc::clone(&self.org) })
    }
}

/// Writes what [`KeptSession::head`] and [`KeptSession::live`] read.
fn pack(live: &LiveSession) -> Box<[u8]> {
    let LiveSession { session, user, membership, org: _ } = live;
    let mut packer = Packer::new();
    packer.text(session.id.as_str());
    packer.number(session.generation);
    packer.number(session.user_epoch);
    packer.number(session.expires_at.millis());
    packer.word(Status::WORDS, membership.status.as_str());
    packer.text(user.id.body());
    for time in [session.auth_time, session.refreshed_at, session.last_used_at, membership.joined_at] {
        packer.number(time.millis());
    }
    packer.count(session.amr.len());
    session.amr.iter().for_each(|method| packer.word(AuthMethod::WORDS, method.as_str()));
    packer.optional(session.ip.as_deref());
    packer.text(user.name.as_str());
    packer.text(user.email.as_str());
    packer.word(AccountRole::WORDS, user.role.as_str());
    packer.count(usize::from(user.is_email_verified));
    packer.optional(user.profile.bio.as_ref().map(Bio::as_str));
    packer.optional(user.profile.phone.as_ref().map(Phone::as_str));
    packer.text(membership.id.body());
    packer.word(Role::WORDS, membership.role.as_str());
    packer.text(membership.metadata.as_json());
    packer.done()
}

impl Keyed for KeptSession {
    fn key(&self) -> &[u8] {
        Unpacker::new(&self.packed).bytes().unwrap_or_default()
    }

    fn of_token(&self) -> Option<usize> {
        self.token.as_ref().map(KeptToken::bytes)
    }
}

/// Without what is packed: it says who somebody is.
impl fmt::Debug for KeptSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeptSession").field("session", &self.head().map(|head| head.session)).finish_non_exhaustive()
    }
}
