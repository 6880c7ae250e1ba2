//! A caller: a person at one device, with an organization's slug, headers and a cookie jar that behaves like a browser's, except
//! that it sends `Secure` cookies to the plain test socket.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard},
};

use crate::{Adapter, App, BASE, CookieRules, Host, Request, cookies::Jar, setup::DEFAULTS};
use serde_json::Value;

/// Where requests go, and what the cookies of that server must look like.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    /// The socket.
    pub address: SocketAddr,
    /// Who serves there.
    pub adapter: Adapter,
    /// How its cookies must be made.
    pub cookies: CookieRules,
    /// Whether a host's own routes answer there: what they say is theirs, and the service's rules are not theirs to keep.
    pub is_host: bool,
}

/// A person as the service knows them.
#[derive(Debug, Clone)]
pub struct Person {
    /// `usr_…`
    pub id: String,
    /// Display name.
    pub name: String,
    /// Address.
    pub email: String,
    /// Password.
    pub password: String,
}

/// A sender of requests. A clone is another tab of the same browser: it shares the jar.
#[derive(Debug, Clone)]
pub struct Caller {
    pub(crate) target: Target,
    slug: Option<String>,
    headers: Vec<(String, String)>,
    jar: Arc<Mutex<Jar>>,
    person: Option<Person>,
}

impl Caller {
    pub(crate) fn new(target: Target, slug: &str) -> Self {
        Self { target, slug: Some(slug.to_owned()), headers: Vec::new(), jar: Arc::default(), person: None }
    }

    /// A caller of a server that is no scenario's, such as a process of its own.
    pub fn at(address: SocketAddr, slug: &str) -> Self {
        let cookies = CookieRules::of(&DEFAULTS);
        Self::new(Target { address, adapter: Adapter::Axum, cookies, is_host: true }, slug)
    }

    /// This caller as that person.
    pub fn named(mut self, person: Person) -> Self {
        self.person = Some(person);
        self
    }

    /// Names another organization from now on; the cookies stay.
    pub fn at_org(mut self, slug: &str) -> Self {
        self.slug = Some(slug.to_owned());
        self
    }

    /// Names no organization from now on.
    pub fn without_slug(mut self) -> Self {
        self.slug = None;
        self
    }

    /// Sends a header with every request.
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sends an access token as `Authorization: Bearer`, and no cookies.
    pub fn with_bearer(mut self, token: &str) -> Self {
        self.jar = Arc::default();
        self.with("Authorization", &format!("Bearer {token}"))
    }

    /// A new device of the same person.
    pub fn elsewhere(&self) -> Self {
        Self { jar: Arc::default(), headers: Vec::new(), ..self.clone() }
    }

    /// The same browser, served by another server of the deployment from now on.
    pub fn via(&self, app: &App) -> Self {
        Self { target: app.target(), ..self.clone() }
    }

    /// The same browser, at a host's own routes; their paths are whole, as for [`Caller::request_at`].
    pub fn at_host(&self, host: &Host) -> Self {
        self.at_address(host.address())
    }

    /// The same browser, at another address.
    pub fn at_address(&self, address: SocketAddr) -> Self {
        let target = Target { address, is_host: true, ..self.target.clone() };
        Self { target, ..self.clone() }
    }

    /// `GET` of a host's route.
    pub fn visit(&self, path: &str) -> Request {
        self.request_at("GET", path)
    }

    /// A device that holds a copy of the cookies as they are now.
    pub fn copied(&self) -> Self {
        Self { jar: Arc::new(Mutex::new(self.jar().clone())), ..self.clone() }
    }

    /// Who this is.
    #[track_caller]
    pub fn person(&self) -> &Person {
        self.person.as_ref().expect("a caller with a name")
    }

    /// `usr_…`
    #[track_caller]
    pub fn id(&self) -> &str {
        &self.person().id
    }

    /// The address.
    #[track_caller]
    pub fn email(&self) -> &str {
        &self.person().email
    }

    /// Changes what [`Caller::person`] says of the password.
    pub fn set_password(&mut self, password: &str) {
        if let Some(person) = &mut self.person {
            password.clone_into(&mut person.password);
        }
    }

    /// The jar, to look into or to tamper with.
    pub fn jar(&self) -> MutexGuard<'_, Jar> {
        self.jar.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// The access token in the jar.
    #[track_caller]
    pub fn access_token(&self) -> String {
        self.jar().value("access_token").expect("an access_token cookie")
    }

    /// The refresh token in the jar.
    #[track_caller]
    pub fn refresh_token(&self) -> String {
        self.jar().value("refresh_token").expect("a refresh_token cookie")
    }

    /// A request, to be adorned and awaited. `path` lies under [`BASE`].
    pub fn request(&self, method: &str, path: &str) -> Request {
        self.request_at(method, &format!("{BASE}{path}"))
    }

    /// A request for a path that need not lie under [`BASE`].
    pub fn request_at(&self, method: &str, path: &str) -> Request {
        let mut request = Request::new(self.clone(), method, path);
        if let Some(slug) = &self.slug {
            request = request.header("X-Org-Slug", slug);
        }
        self.headers.iter().fold(request, |request, (name, value)| request.header(name, value))
    }

    /// `GET`
    pub fn get(&self, path: &str) -> Request {
        self.request("GET", path)
    }

    /// `POST` with a JSON body.
    pub fn post(&self, path: &str, body: Value) -> Request {
        self.request("POST", path).json(&body)
    }

    /// `POST` without a body.
    pub fn post_nothing(&self, path: &str) -> Request {
        self.request("POST", path)
    }

    /// `PUT` with a JSON body.
    pub fn put(&self, path: &str, body: Value) -> Request {
        self.request("PUT", path).json(&body)
    }

    /// `PATCH` with a JSON body.
    pub fn patch(&self, path: &str, body: Value) -> Request {
        self.request("PATCH", path).json(&body)
    }

    /// `DELETE`
    pub fn delete(&self, path: &str) -> Request {
        self.request("DELETE", path)
    }
}
