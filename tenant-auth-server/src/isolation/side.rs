//! One side of the isolation check: an organization with live credentials of its own.

use serde_json::{Value, json};

use super::{
    ask::{Ask, Service},
    credentials::{Credentials, Person},
};
use crate::failure::Failure;

/// An organization, entered.
pub(super) struct Side {
    pub(super) slug: String,
    pub(super) admin: Session,
    pub(super) member: Option<Session>,
    pub(super) api_key: String,
    /// The name of the access token's cookie at this deployment.
    cookie: String,
}

/// A person's session there.
pub(super) struct Session {
    pub(super) token: String,
    /// The refresh token, where this check logged in.
    refresh: Option<String>,
}

/// One way to show who one is.
#[derive(Debug, Clone)]
pub(super) struct Shown {
    /// For the report: `org_admin, Bearer`.
    pub(super) name: &'static str,
    pub(super) headers: Vec<(String, String)>,
    pub(super) is_key: bool,
}

impl Side {
    /// Logs in where a password was given, and makes sure that each credential is good here.
    ///
    /// # Errors
    /// [`Failure::Unchecked`] when one is not.
    pub(super) async fn enter(service: &Service, given: Credentials) -> Result<Self, Failure> {
        let Credentials { slug, admin, member, api_key } = given;
        let admin = Session::of(service, &slug, admin).await?;
        let member = match member {
            Some(member) => Some(Session::of(service, &slug, member).await?),
            None => None,
        };
        let side = Self { cookie: cookie_name(service).await?, slug, admin, member, api_key };
        let slug = &side.slug;
        let invites = side.at_home(Ask::new("GET", "/org/invites"), &side.admin);
        service.data(&invites, &format!("{slug}: GET /org/invites with the session of its org_admin")).await?;
        if let Some(member) = &side.member {
            let org = side.at_home(Ask::new("GET", "/org"), member);
            service.data(&org, &format!("{slug}: GET /org with the session of its member")).await?;
        }
        let verify = Ask::new("POST", "/public/verify").with("X-Org-Slug", slug).with("X-API-Key", &side.api_key);
        let verify = verify.json(Some(json!({ "token": side.admin.token })));
        let data = service.data(&verify, &format!("{slug}: POST /public/verify with its API key")).await?;
        if data["valid"] != json!(true) {
            return Err(Failure::Unchecked(format!("{slug}: its API key does not find the session of its org_admin valid")));
        }
        Ok(side)
    }

    /// Ends the sessions that [`Side::enter`] opened.
    pub(super) async fn leave(&self, service: &Service) {
        for session in [Some(&self.admin), self.member.as_ref()].into_iter().flatten().filter(|session| session.refresh.is_some()) {
            // One that does not end so ends by itself.
            let _ = service.answer(&self.at_home(Ask::new("POST", "/auth/logout"), session)).await;
        }
    }

    /// A request of a person in their own organization.
    pub(super) fn at_home(&self, ask: Ask, session: &Session) -> Ask {
        ask.with("X-Org-Slug", &self.slug).with("Authorization", format!("Bearer {}", session.token))
    }

    /// Every way to show who one is.
    pub(super) fn shown(&self) -> Vec<Shown> {
        let mut all = Vec::new();
        let people = [(Some(&self.admin), ["org_admin, Bearer", "org_admin, cookie"])];
        let people = people.into_iter().chain([(self.member.as_ref(), ["member, Bearer", "member, cookie"])]);
        for (session, [bearer, cookie]) in people {
            let Some(Session { token, .. }) = session else { continue };
            let header = |name: &str, value: String| vec![(name.to_owned(), value)];
            all.push(Shown { name: bearer, headers: header("Authorization", format!("Bearer {token}")), is_key: false });
            all.push(Shown { name: cookie, headers: header("Cookie", format!("{}={token}", self.cookie)), is_key: false });
        }
        let headers = vec![("X-API-Key".to_owned(), self.api_key.clone())];
        all.push(Shown { name: "API key", headers, is_key: true });
        all
    }
}

impl Session {
    async fn of(service: &Service, slug: &str, person: Person) -> Result<Self, Failure> {
        let (email, password, code) = match person {
            Person::Token(token) => return Ok(Self { token, refresh: None }),
            Person::Login { email, password, code } => (email, password, code),
        };
        let unchecked = |why: &str| Failure::Unchecked(format!("{slug}: {email} is not logged in: {why}"));
        let login = Ask::new("POST", "/auth/login").with("X-Org-Slug", slug);
        let login = login.json(Some(json!({ "email": email, "password": password })));
        let mut answer = service.answer(&login).await.map_err(|reason| unchecked(&reason))?;
        if answer.data()["requires2FA"] == json!(true) {
            let code = code.ok_or_else(|| unchecked("a second factor is in force, and no code was given"))?;
            let cookies = answer.cookies.iter().filter_map(|cookie| cookie.split(';').next()).collect::<Vec<_>>().join("; ");
            let verify = Ask::new("POST", "/auth/verify-2fa").with("X-Org-Slug", slug).with("Cookie", cookies);
            answer = service.answer(&verify.json(Some(json!({ "code": code })))).await.map_err(|reason| unchecked(&reason))?;
        }
        let data = answer.data();
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let token = text(&data["accessToken"]).ok_or_else(|| unchecked(&format!("{} {}", answer.status, answer.code)))?;
        Ok(Self { token, refresh: text(&data["refreshToken"]) })
    }
}

/// The name that the deployment's own document gives the cookie.
async fn cookie_name(service: &Service) -> Result<String, Failure> {
    let document = super::operations::document(service).await?;
    let name = document["components"]["securitySchemes"]["accessCookie"]["name"].as_str();
    Ok(name.unwrap_or("access_token").to_owned())
}
