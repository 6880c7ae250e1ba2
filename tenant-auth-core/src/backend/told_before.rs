//! The answer to a question about a token that was asked before. Nothing is waited for, read or written anew: token, key and session are
//! remembered, and judged by the same functions as on the whole way. Where that does not decide at once, the question goes that way.

use bytes::Bytes;

use super::{
    key_lookup::{Found, Question},
    presented_key::PresentedKey,
    verify::counts_in,
};
use crate::{
    metrics::VerifyOutcome,
    model::{Scope, Status},
    secret::ApiKeyText,
    service::TenantAuth,
    value::Slug,
};

impl TenantAuth {
    /// What was told of this token, while it is true, to a backend that shows an organization's key with the scope `verify`. `None`
    /// says nothing.
    pub(crate) fn told_before(&self, slug: &Slug, key: &str, access_token: &str) -> Option<Bytes> {
        let view = self.memory().view_now()?;
        let known = view.told_token(access_token, &self.signer())?;
        if self.now() >= known.expires_at {
            return None;
        }
        let key = PresentedKey::parse(&ApiKeyText::new(key))?;
        let Found { key, org, .. } = self.recalled(view.uncounted(), &Question { slug, key: &key, token: None })?;
        // That the token is of the session's generation, user and organization was judged when it was remembered beside the session.
        let is_valid = counts_in(self, &org, &known.org, known.session_expires_at) && known.status == Status::Active;
        let told = is_valid.then_some(known.body).filter(|_| key.scopes.contains(&Scope::Verify))?;
        view.knew(2); // the key and the session
        self.metrics().verification(VerifyOutcome::Valid);
        self.note_key_use(&key.id, key.last_used_at);
        Some(told)
    }
}
