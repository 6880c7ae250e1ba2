//! What an import brings beside people: API keys with the digests of their texts, webhooks with their secrets, pending invites.

use std::collections::BTreeSet;

use super::{
    arrival::{Arrival, FormerInvite, PendingInvite},
    checks::{digest, past},
};
use crate::{
    backend::LONGEST_OVERLAP,
    error::Error,
    id::UserId,
    key_text::are_shown_of_organization_key,
    model::{ApiKey, Scope, Webhook, WebhookStatus},
    operator::moving::record::{ApiKeyRecord, InviteRecord, WebhookRecord, WebhookSecret},
    org::{Invitation, Inviter, MOST_INVITES_PER_DAY, MovedInvite, place_invite, place_moved_invite},
    store::{Actor, ImportedSecret},
    time::CLOCKS_DIFFER,
    webhooks::{SigningSecret, seal_secret},
};

/// The new secret, and the one before it while it still signs.
const MOST_SECRETS: usize = 2;
/// The most invites: as many as an organization may mail in a day (behaviour.md, B90).
const MOST_INVITES: usize = MOST_INVITES_PER_DAY as usize;

impl Arrival<'_> {
    pub(super) fn invite(&mut self, record: InviteRecord) {
        self.seen.invites += 1;
        let InviteRecord { id, email, role, invited_by, created_at, expires_at, metadata } = record;
        if expires_at <= self.tx.now() {
            return;
        }
        match past(created_at, &self.tx) {
            Ok(created_at) => {
                let former = FormerInvite { id, invited_by, created_at };
                self.invites.push(PendingInvite { email, role, former: Some(former), metadata });
            }
            Err(reason) => self.refuse(format!("invite {email}: {reason}")),
        }
    }

    /// Mails the pending invites anew, and returns their number.
    pub(super) async fn place_invites(&mut self) -> Result<u64, Error> {
        if self.invites.len() > MOST_INVITES && !self.import.trust {
            self.refuse(format!("invites: at most {MOST_INVITES} are mailed for a source that nobody vouches for (--trust)"));
            return Ok(0);
        }
        let mut placed = 0;
        for invite in std::mem::take(&mut self.invites) {
            let email = invite.email.clone();
            match self.place(invite).await {
                Ok(true) => placed += 1,
                Ok(false) => {
                    self.refuse(format!("invite {email}: the id is that of another invite here, or the file invites twice"))
                }
                Err(refusal @ (Error::AlreadyMember | Error::AlreadyInvited)) => self.refuse(format!("invite {email}: {refusal}")),
                Err(other) => return Err(other),
            }
        }
        Ok(placed)
    }

    /// `false` when another invite has its id or its address.
    async fn place(&mut self, PendingInvite { email, role, former, metadata }: PendingInvite) -> Result<bool, Error> {
        let auth = self.operator.auth.clone();
        let id = if let Some(FormerInvite { id, invited_by, created_at }) = former {
            let invited_by = self.maker(invited_by).await?;
            let moved = MovedInvite { org: &self.org, id, email, role, invited_by, created_at };
            let Some(invite) = place_moved_invite(&auth, &mut self.tx, moved).await? else { return Ok(false) };
            invite.id
        } else {
            let invitation = Invitation { org: &self.org, email: &email, role, by: Inviter::Operator(&Actor::System) };
            place_invite(&auth, &mut self.tx, &invitation).await?.0.id
        };
        if let Some(metadata) = metadata {
            self.tx.invites().set_metadata(&self.org.id, &id, &metadata).await?;
        }
        Ok(true)
    }

    pub(super) async fn api_key(&mut self, record: ApiKeyRecord) -> Result<(), Error> {
        self.seen.api_keys += 1;
        let id = record.id.clone();
        if let Err(reason) = self.take_key(record).await? {
            self.refuse(format!("API key {id}: {reason}"));
        }
        Ok(())
    }

    async fn take_key(&mut self, record: ApiKeyRecord) -> Result<Result<(), String>, Error> {
        let limit = self.operator.auth.config().organizations.max_api_keys;
        // A rotation is allowed at the limit, and each key has one predecessor at most: those that stand are counted in the end.
        if self.seen.api_keys > 2 * u64::from(limit) {
            return Ok(Err(format!("an organization has at most {limit} API keys here")));
        }
        if !are_shown_of_organization_key(&record.prefix, &record.last_four) {
            return Ok(Err("the shown parts of it are malformed".to_owned()));
        }
        if record.scopes.is_empty() {
            return Ok(Err("it has no scope".to_owned()));
        }
        // It lets a backend speak for any address, and is given by whoever runs a deployment (behaviour.md, B67).
        if record.scopes.contains(&Scope::Proxy) && !self.import.trust {
            return Ok(Err("the scope proxy is taken over from a source that somebody vouches for only (--trust)".to_owned()));
        }
        let scopes: BTreeSet<_> = record.scopes.iter().map(|scope| scope.as_str()).collect();
        if scopes.len() < record.scopes.len() {
            return Ok(Err("it holds a scope twice".to_owned()));
        }
        let digest = match record.digest.as_deref().ok_or_else(|| "it has no digest".to_owned()).and_then(digest) {
            Ok(digest) => digest,
            Err(reason) => return Ok(Err(reason)),
        };
        let created_at = match past(record.created_at, &self.tx) {
            Ok(created_at) => created_at,
            Err(reason) => return Ok(Err(reason)),
        };
        let last_used_at = match record.last_used_at.map(|time| past(time, &self.tx)).transpose() {
            Ok(last_used_at) => last_used_at,
            Err(reason) => return Ok(Err(reason)),
        };
        let key = ApiKey {
            id: record.id,
            org_id: self.org.id.clone(),
            name: record.name,
            prefix: record.prefix,
            last_four: record.last_four,
            scopes: record.scopes,
            created_by: self.maker(record.created_by).await?,
            created_at,
            expires_at: record.expires_at,
            last_used_at,
            replaced_by: record
                .replaced_by
                .filter(|_| record.expires_at.is_some_and(|end| end <= self.tx.now().plus(LONGEST_OVERLAP + CLOCKS_DIFFER))),
        };
        let is_new = self.tx.imports().api_key(&key, &digest).await?;
        Ok(if is_new { Ok(()) } else { Err("the id is that of another key here".to_owned()) })
    }

    pub(super) async fn webhook(&mut self, record: WebhookRecord) -> Result<(), Error> {
        self.seen.webhooks += 1;
        let id = record.id.clone();
        if let Err(reason) = self.take_webhook(record).await? {
            self.refuse(format!("webhook {id}: {reason}"));
        }
        Ok(())
    }

    async fn take_webhook(&mut self, record: WebhookRecord) -> Result<Result<(), String>, Error> {
        let auth = self.operator.auth.clone();
        let limit = auth.config().organizations.max_webhooks;
        if self.seen.webhooks > u64::from(limit) {
            return Ok(Err(format!("an organization has at most {limit} webhooks here")));
        }
        if auth.targets().check(&record.url).is_err() {
            return Ok(Err("deliveries may not go to its URL here".to_owned()));
        }
        let secrets = record.secrets.unwrap_or_default();
        let opened: Result<Vec<_>, _> = secrets.iter().map(|secret| SigningSecret::parse(&secret.secret)).collect();
        // One whose secrets were lost with a master key has none: it is disabled, and a rotation gives it one.
        let Some(opened) = opened.ok().filter(|opened| opened.len() <= MOST_SECRETS) else {
            return Ok(Err("its secrets are malformed".to_owned()));
        };
        let created_at = match past(record.created_at, &self.tx) {
            Ok(created_at) => created_at,
            Err(reason) => return Ok(Err(reason)),
        };
        let webhook = Webhook {
            id: record.id,
            org_id: self.org.id.clone(),
            url: record.url,
            events: record.events,
            description: record.description,
            // Its receiver hears of the same events from the source until somebody decides who tells it.
            status: WebhookStatus::Disabled,
            created_by: self.maker(record.created_by).await?,
            created_at,
            failing_since: None,
        };
        if !self.tx.imports().webhook(&webhook).await? {
            return Ok(Err("the id is that of another webhook here".to_owned()));
        }
        for (secret, WebhookSecret { created_at, expires_at, .. }) in opened.iter().zip(secrets) {
            let sealed = seal_secret(&self.tx, &webhook.org_id, secret)?;
            let secret = ImportedSecret { webhook: &webhook, id: &sealed.id, sealed: &sealed.sealed, created_at, expires_at };
            self.tx.imports().webhook_secret(&secret).await?;
        }
        Ok(Ok(()))
    }

    /// Refuses more keys than an organization may have, but for those that were rotated and are about to die.
    pub(super) async fn expect_few_keys(&mut self) -> Result<(), Error> {
        let limit = self.operator.auth.config().organizations.max_api_keys;
        if self.tx.imports().standing_keys(&self.org.id).await? > u64::from(limit) {
            self.refuse(format!("an organization has at most {limit} API keys here"));
        }
        Ok(())
    }

    /// The maker, if a member or an account here that is invited: an account of somebody who left does not come along.
    async fn maker(&mut self, user: Option<UserId>) -> Result<Option<UserId>, Error> {
        let Some(user) = user else { return Ok(None) };
        if let Some(account) = self.linked.get(&user) {
            return Ok(Some(account.clone()));
        }
        let member = self.tx.members().find(&self.org.id, &user).await?;
        Ok(member.map(|_| user))
    }
}
