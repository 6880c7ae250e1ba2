//! The context of an entry: what the service knew of the request behind it. Only the admins of the organization in which the request
//! was made see it, and it is wiped sooner than the entry.

use serde::Serialize;

use crate::{
    id::{OrgId, SessionId},
    value::Language,
};

/// How much of a `User-Agent` an entry keeps.
const MOST_USER_AGENT_BYTES: usize = 512;

/// The request that a transaction serves.
#[derive(Debug, Clone)]
pub(crate) struct RequestContext {
    /// The organization in which the request was made.
    pub(crate) org_id: OrgId,
    /// The client's address in its canonical form.
    pub(crate) ip: Option<String>,
    pub(crate) user_agent: Option<String>,
    /// The language that the client asks for, for mails; entries do not keep it.
    pub(crate) language: Option<Language>,
    /// The caller's session; at a login the opened one.
    pub(crate) session_id: Option<SessionId>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Told<'a> {
    ip: Option<&'a str>,
    user_agent: Option<&'a str>,
    session_id: Option<&'a SessionId>,
}

impl RequestContext {
    /// The context as an entry keeps it.
    pub(crate) fn to_json(&self) -> serde_json::Result<String> {
        let user_agent = self.user_agent.as_deref().map(|text| &text[..text.floor_char_boundary(MOST_USER_AGENT_BYTES)]);
        serde_json::to_string(&Told { ip: self.ip.as_deref(), user_agent, session_id: self.session_id.as_ref() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_agent_is_cut_between_characters() {
        let agent = format!("{}é", "a".repeat(MOST_USER_AGENT_BYTES - 1));
        let org_id = OrgId::from_stored("org_1");
        let context = RequestContext { org_id, ip: None, user_agent: Some(agent.clone()), language: None, session_id: None };
        let told = context.to_json().expect("is JSON");
        assert_eq!(told, format!(r#"{{"ip":null,"userAgent":"{}","sessionId":null}}"#, &agent[..MOST_USER_AGENT_BYTES - 1]));
    }
}
