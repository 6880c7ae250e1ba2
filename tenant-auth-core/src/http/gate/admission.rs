//! Admissions that any verifier can grant: a [`Principal`] says who the person is, and an option lets in those, too, of whom that is not
//! known. The rights of the service are in `rights.rs`.

use ::http::StatusCode;

use super::{Admission, Refused, Visitor, session::PresentedSession};
use crate::{error::Error, principal::Principal};

/// An active member, as the gate's verifier describes the person.
impl Admission for Principal {
    async fn admit(visitor: &Visitor) -> Result<Self, Refused> {
        if let Some(principal) = visitor.known() {
            return Ok(principal);
        }
        let mut session = PresentedSession::read(visitor).await?;
        let principal = loop {
            if let Some(token) = session.token()
                && let Some(principal) = visitor.gate().parts.verifier.verify(&session.org, token).await?
            {
                break principal;
            }
            if let Some(principal) = session.renew().await? {
                break principal;
            }
        };
        if !principal.is_active() {
            return Err(Error::Suspended.into());
        }
        visitor.remember(principal.clone());
        Ok(principal)
    }
}

/// Somebody who is admitted as a `C`, or whom `C` would answer with 401: without a session, with one that is over or another
/// organization's, or without a key. Cookies of a session that is over are cleared all the same.
///
/// ```
/// use tenant_auth_core::{Principal, http::{Refused, Visitor}};
///
/// async fn greeting(visitor: &Visitor) -> Result<String, Refused> {
///     let who: Option<Principal> = visitor.admit().await?; // in a handler: `Auth(who): Auth<Option<Principal>>`
///     Ok(who.map_or("Hello".to_owned(), |who| format!("Hello {}", who.user.name)))
/// }
/// ```
impl<C: Admission> Admission for Option<C> {
    async fn admit(visitor: &Visitor) -> Result<Self, Refused> {
        match C::admit(visitor).await {
            Ok(admitted) => Ok(Some(admitted)),
            Err(mut refused) if refused.status() == StatusCode::UNAUTHORIZED => {
                visitor.leave_with(&mut refused);
                Ok(None)
            }
            Err(refused) => Err(refused),
        }
    }
}
