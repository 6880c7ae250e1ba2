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

/// An address to invite, as `member` (the default) or `org_admin`. One bad line of a list costs nobody else their invite.
#[derive(Deserialize, ToSchema)]
struct RequestedInvite {
    email: String,
    role: Option<String>,
}

impl RequestedInvite {
    /// What is asked for, or the field that is at fault.
    fn parsed(&self) -> Result<(Email, Role), &'static str> {
        let email = self.email.parse().map_err(|_| "email")?;
        let role = self.role.as_deref().map_or(Some(Role::Member), Role::parse);
        Ok((email, role.ok_or("role")?))
    }
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
    /// The path of what is malformed, such as `invites[1].role`, beside `invalid_request`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    field: Option<String>,
}

pub(crate) async fn create(admin: OrgAdmin, Json(request): Json<BulkInviteRequest>) -> Outcome<BulkInviteData> {
    if !(1..=MOST).contains(&request.invites.len()) {
        return Err(Refusal::invalid("invites", "must name 1 to 100 invites"));
    }
    let mut results: Vec<InviteResult> = Vec::with_capacity(request.invites.len());
    let mut over: Option<ErrorCode> = None;
    for (index, requested) in request.invites.into_iter().enumerate() {
        let parsed = requested.parsed();
        let mut result = InviteResult { email: requested.email, invite: None, code: over, field: None };
        match parsed {
            _ if over.is_some() => {}
            Err(field) => {
                result.code = Some(ErrorCode::InvalidRequest);
                result.field = Some(format!("invites[{index}].{field}"));
            }
            Ok((email, role)) => match admin.invite(&email, role).await {
                Ok(invite) => result.invite = Some(InviteView::from(&invite)),
                Err(error) if is_of_the_invite(&error) => result.code = Some(ErrorCode::from(&error)),
                // The caller may do nothing any more, or nobody may for now. What was sent is told, so that nobody sends it again.
                Err(error) if results.iter().any(|result| result.invite.is_some()) => {
                    over = Some(ErrorCode::from(&error));
                    result.code = over;
                }
                Err(error) => return Err(error.into()),
            },
        }
        results.push(result);
    }
    Ok(BulkInviteData { results }.into())
}

/// Whether a refusal concerns this invite and says nothing of the next.
fn is_of_the_invite(error: &Error) -> bool {
    matches!(error, Error::AlreadyMember | Error::AlreadyInvited | Error::RateLimited { .. })
}
