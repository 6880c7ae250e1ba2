//! The admin panel and the hosted pages: static files from `panel/`, compiled into the program and served at a fixed list of paths
//! below the public URL's. This code knows no session: the pages are a client of the JSON API like any other. What must stay true:
//! no file runs code that is not served from here, and no page can be framed (clickjacking).

mod file;
mod joined;
mod product;

use std::sync::{Arc, LazyLock};

use ::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, header};
use bytes::Bytes;
use file::File;

use super::{answered::Answered, refusal::RoutingError, request_id};
use crate::{config::Config, service::TenantAuth, value::Language};

/// What every answer carries. A page loads from its own origin only, and tells nobody where a link was followed.
const HEADERS: [(HeaderName, &str); 7] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'; object-src 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (HeaderName::from_static("permissions-policy"), "camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// The pages behind an adapter. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Pages {
    auth: TenantAuth,
    /// The path of the public URL, without a trailing slash.
    prefix: Arc<str>,
    files: Arc<[File]>,
}

impl Pages {
    /// The pages of `auth`'s public URL.
    pub fn new(auth: &TenantAuth) -> Self {
        let config = auth.shared_config();
        Self { auth: auth.clone(), prefix: config.public_path().into(), files: files(config).into() }
    }

    /// Every path that is answered, in full and exact; there is no other. A public URL with a path of its own, such as `/auth`,
    /// leads from there to the panel at `/auth/`.
    pub fn paths(&self) -> Vec<String> {
        let bare = (!self.prefix.is_empty()).then(|| self.prefix.to_string());
        let mut paths: Vec<&str> = self.files.iter().map(|file| file.path.as_str()).collect();
        paths.sort_unstable();
        paths.dedup();
        bare.into_iter().chain(paths.into_iter().map(|path| format!("{}{path}", self.prefix))).collect()
    }

    /// Answers a request for one of [`Pages::paths`]. A refusal is the API's envelope.
    pub fn answer<B>(&self, request: &Request<B>) -> Response<Bytes> {
        let mut response = match request.uri().path().strip_prefix(&*self.prefix) {
            _ if !METHODS.contains(request.method()) => refused(RoutingError::WrongMethod { path: "", methods: METHODS.to_vec() }),
            Some("") => self.to_panel(),
            Some(path) => match self.file(path, request.headers()) {
                Some(file) => file.answer(request.headers(), request.uri().query()),
                None => refused(RoutingError::NoSuchPath),
            },
            None => refused(RoutingError::NoSuchPath),
        };
        for (name, value) in HEADERS {
            response.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        if let Ok(id) = HeaderValue::from_str(&request_id(self.auth.entropy())) {
            response.headers_mut().insert("x-request-id", id);
        }
        response
    }

    /// The file of a path: of a page that there is in several languages, the one that the browser asks for, else the English one.
    fn file(&self, path: &str, headers: &HeaderMap) -> Option<&File> {
        let mut found = self.files.iter().filter(|file| file.path == path);
        let first = found.clone().next()?;
        if first.language.is_none() {
            return Some(first);
        }
        let ranges: Vec<&str> = headers.get_all(header::ACCEPT_LANGUAGE).iter().filter_map(|value| value.to_str().ok()).collect();
        let wanted = self.auth.config().languages.asked_for(&ranges.join(",")).unwrap_or(&Language::ENGLISH);
        found.find(|file| file.language.as_ref() == Some(wanted)).or(Some(first))
    }

    fn to_panel(&self) -> Response<Bytes> {
        let mut response = Response::new(Bytes::from_static(b"The panel is one slash further.\n"));
        *response.status_mut() = StatusCode::PERMANENT_REDIRECT;
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
        // A browser would keep a permanent redirect for good.
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        if let Ok(location) = HeaderValue::from_str(&format!("{}/", self.prefix)) {
            response.headers_mut().insert(header::LOCATION, location);
        }
        response
    }
}

/// The methods that every page answers.
const METHODS: [Method; 2] = [Method::GET, Method::HEAD];

fn refused(error: RoutingError) -> Response<Bytes> {
    let Answered { status, headers, body, .. } = error.into();
    let mut response = Response::new(body.into_bytes());
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// The hosted pages. The panel lies at `/`.
const HOSTED: [&str; 7] = ["/sign-in", "/invite", "/forgot", "/reset", "/verify", "/change-email", "/sign-up"];

macro_rules! sources {
    ($($name:literal,)*) => {
        /// The modules, each with its text.
        const SOURCES: &[(&str, &str)] = &[$(($name, include_str!(concat!("../../../panel/", $name)))),*];
    };
}

sources! {
    "api.js",
    "app.js",
    "chart.js",
    "csv.js",
    "curl.js",
    "dialogs.js",
    "dom.js",
    "fields.js",
    "focus.js",
    "form.js",
    "format.js",
    "hosted.js",
    "hosted/invite.js",
    "hosted/links.js",
    "hosted/next.js",
    "hosted/password.js",
    "hosted/sign-in.js",
    "hosted/sign-up.js",
    "json.js",
    "kinds.js",
    "kit.js",
    "listing.js",
    "live.js",
    "main.js",
    "place.js",
    "product.js",
    "rows.js",
    "secrets.js",
    "shell.js",
    "stops.js",
    "store.js",
    "text.js",
    "toast.js",
    "ui.js",
    "unsaved.js",
    "views.js",
    "views/audit.js",
    "views/bulk.js",
    "views/deliveries.js",
    "views/figures.js",
    "views/invites.js",
    "views/keys.js",
    "views/member-doings.js",
    "views/member.js",
    "views/members.js",
    "views/operator.js",
    "views/profile.js",
    "views/security.js",
    "views/sessions.js",
    "views/settings.js",
    "views/two-factor.js",
    "views/webhook.js",
    "views/webhooks.js",
    "words.js",
}

const STYLES: [&str; 2] = [include_str!("../../../panel/base.css"), include_str!("../../../panel/layout.css")];

/// What is the same for every deployment, made once: the modules as one script, the guard, and the logo of who has none.
static COMMON: LazyLock<[File; 3]> = LazyLock::new(|| {
    // A test joins them.
    let script = joined::joined("main.js", SOURCES).unwrap_or_default();
    [
        File::named_by_digest("/assets/panel.js", script),
        File::named_by_digest("/assets/guard.js", include_str!("../../../panel/guard.js")),
        File::new("/assets/logo.svg", include_str!("../../../panel/logo.svg")),
    ]
});

/// Every file as this deployment serves it: each page is one and the same, in the product's name and colours, in every language.
/// The panel's carries more words.
fn files(config: &Arc<Config>) -> Vec<File> {
    let [script, guard, logo] = &*COMMON;
    let style = format!("{}{}", STYLES.concat(), product::style(&config.product));
    let style = File::named_by_digest("/assets/panel.css", style);
    let page = |language: &Language, is_panel| {
        let (config, language) = (Arc::clone(config), language.clone());
        let addresses = [&style, guard, script].map(File::address);
        File::written("/", move || product::page(&config, config.languages.of(Some(&language)), is_panel, addresses))
    };
    let mut files = vec![style.clone(), guard.clone(), script.clone(), logo.clone()];
    for language in config.languages.all() {
        let (panel, hosted) = (page(language, true), page(language, false));
        files.push(panel.at("/", Some(language)));
        files.extend(HOSTED.map(|path| hosted.at(path, Some(language))));
    }
    files
}

#[cfg(test)]
mod tests;
