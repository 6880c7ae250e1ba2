//! `/org/members/invite/bulk`: many invites at once, each judged alone.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    caller::OrgAdmin,
    error::Error,
    http::{answer::Outcome, error_code::ErrorCode, input::Json, refusal::Refusal},
    model::Role,
    value::Email,
    view::InviteView,
};

/// How many invites a request may ask for.
const MOST: usize = 100;

#[derive(Deserialize, ToSchema)]
pub(crate) struct BulkInviteRequest {
    #[schema(min_items = 1, max_items = 100)]
    invites: Vec<RequestedInvite>,
}

/// An address to invite. Whether it is one is judged with the others, so that one bad line of a list costs nobody else their invite.
#[derive(Deserialize, ToSchema)]
struct RequestedInvite {
    email: String,
    role: Option<Role>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct BulkInviteData {
    results: Vec<InviteResult>,
}

/// What became of one of the invites: the invite, or the code of the refusal that it would have had alone.
#[derive(Serialize, ToSchema)]
struct InviteResult {
    /// The address as it was sent.
    email: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    invite: Option<InviteView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    code: Option<ErrorCode>,
}

pub(crate) async fn create(admin: OrgAdmin, Json(request): Json<BulkInviteRequest>) -> Outcome<BulkInviteData> {
    if !(1..=MOST).contains(&request.invites.len()) {
        return Err(Refusal::invalid("invites", "must name 1 to 100 invites"));
    }
    let mut results: Vec<InviteResult> = Vec::with_capacity(request.invites.len());
    let mut over: Option<ErrorCode> = None;
    for RequestedInvite { email, role } in request.invites {
        let (invite, code) = match (over, email.parse::<Email>()) {
            (Some(code), _) => (None, Some(code)),
            (None, Err(_)) => (None, Some(ErrorCode::InvalidRequest)),
            (None, Ok(address)) => match admin.invite(&address, role.unwrap_or(Role::Member)).await {
                Ok(invite) => (Some(InviteView::from(&invite)), None),
                Err(error) if is_of_the_invite(&error) => (None, Some(ErrorCode::from(&error))),
                // The caller may do nothing any more, or nobody may for now. What was sent is told, so that nobody sends it again.
                Err(error) if results.iter().any(|result| result.invite.is_some()) => {
                    (None, Some(*over.insert(ErrorCode::from(&error))))
                }
                Err(error) => return Err(error.into()),
            },
        };
        results.push(InviteResult { email, invite, code });
    }
    Ok(BulkInviteData { results }.into())
}

/// Whether a refusal concerns this invite and says nothing of the next.
fn is_of_the_invite(error: &Error) -> bool {
    matches!(error, Error::AlreadyMember | Error::AlreadyInvited | Error::RateLimited { .. })
}
