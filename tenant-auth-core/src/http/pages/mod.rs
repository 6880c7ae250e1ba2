//! The admin panel and the hosted pages: static files from `panel/`, compiled into the program and served at a fixed list of paths
//! below the public URL's. This code knows no session: the pages are a client of the JSON API like any other. What must stay true:
//! no file runs code that is not served from here, and no page can be framed (clickjacking).

mod product;

use std::sync::Arc;

use ::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, header};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use bytes::Bytes;
use sha2::{Digest, Sha256};

use crate::{
    config::{Config, Languages},
    service::TenantAuth,
    value::Language,
};

/// What every answer carries. A page loads from its own origin only, and tells nobody where a link was followed.
const HEADERS: [(HeaderName, &str); 8] = [
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
    // Kept, but asked about each time: pages and scripts of two versions never meet.
    (header::CACHE_CONTROL, "no-cache"),
];

/// The pages behind an adapter. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Pages {
    /// The path of the public URL, without a trailing slash.
    prefix: Arc<str>,
    files: Arc<[File]>,
    languages: Languages,
}

impl Pages {
    /// The pages of `auth`'s public URL.
    pub fn new(auth: &TenantAuth) -> Self {
        let config = auth.config();
        Self { prefix: config.public_path().into(), files: files(config).into(), languages: config.languages.clone() }
    }

    /// Every path that is answered, in full and exact; there is no other. A public URL with a path of its own, such as `/auth`,
    /// leads from there to the panel at `/auth/`.
    pub fn paths(&self) -> Vec<String> {
        let bare = (!self.prefix.is_empty()).then(|| self.prefix.to_string());
        let mut paths: Vec<&str> = self.files.iter().map(|file| file.path).collect();
        paths.sort_unstable();
        paths.dedup();
        bare.into_iter().chain(paths.into_iter().map(|path| format!("{}{path}", self.prefix))).collect()
    }

    /// Answers a request for one of [`Pages::paths`].
    pub fn answer<B>(&self, request: &Request<B>) -> Response<Bytes> {
        let mut response = match request.uri().path().strip_prefix(&*self.prefix) {
            _ if !matches!(*request.method(), Method::GET | Method::HEAD) => wrong_method(),
            Some("") => self.to_panel(),
            Some(path) => match self.file(path, request.headers()) {
                Some(file) => file.answer(request.headers()),
                None => plain(StatusCode::NOT_FOUND, "There is no such page.\n"),
            },
            None => plain(StatusCode::NOT_FOUND, "There is no such page.\n"),
        };
        for (name, value) in HEADERS {
            response.headers_mut().insert(name, HeaderValue::from_static(value));
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
        let wanted = self.languages.asked_for(&ranges.join(",")).unwrap_or(&Language::ENGLISH);
        found.find(|file| file.language.as_ref() == Some(wanted)).or(Some(first))
    }

    fn to_panel(&self) -> Response<Bytes> {
        let mut response = plain(StatusCode::PERMANENT_REDIRECT, "The panel is one slash further.\n");
        if let Ok(location) = HeaderValue::from_str(&format!("{}/", self.prefix)) {
            response.headers_mut().insert(header::LOCATION, location);
        }
        response
    }
}

/// A file and the validator of its bytes.
#[derive(Debug)]
struct File {
    path: &'static str,
    kind: &'static str,
    bytes: Bytes,
    etag: HeaderValue,
    /// The language of a page that there is in several.
    language: Option<Language>,
}

impl File {
    fn new(path: &'static str, name: &str, bytes: impl Into<Bytes>) -> Self {
        let bytes: Bytes = bytes.into();
        let kind = match name.rsplit('.').next() {
            Some("html") => "text/html; charset=utf-8",
            Some("js") => "text/javascript; charset=utf-8",
            Some("css") => "text/css; charset=utf-8",
            Some("svg") => "image/svg+xml",
            _ => "application/octet-stream",
        };
        let digest = URL_SAFE_NO_PAD.encode(Sha256::digest(&bytes));
        let etag = HeaderValue::from_str(&format!("\"{digest:.22}\"")).unwrap_or(HeaderValue::from_static("\"\""));
        Self { path, kind, bytes, etag, language: None }
    }

    /// A page that there is in other languages, too.
    fn page(path: &'static str, bytes: &Bytes, language: &Language) -> Self {
        Self { language: Some(language.clone()), ..Self::new(path, "page.html", bytes.clone()) }
    }

    /// The file, unless the client says that it has it. A HEAD is given the body of its GET: every HTTP server keeps it to
    /// itself and sends its length.
    fn answer(&self, headers: &HeaderMap) -> Response<Bytes> {
        let mut response = if self.is_known(headers) {
            let mut unchanged = Response::new(Bytes::new());
            *unchanged.status_mut() = StatusCode::NOT_MODIFIED;
            unchanged
        } else {
            let mut whole = Response::new(self.bytes.clone());
            whole.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(self.kind));
            whole
        };
        response.headers_mut().insert(header::ETAG, self.etag.clone());
        if let Some(language) = self.language.as_ref().and_then(|language| HeaderValue::from_str(language.as_str()).ok()) {
            response.headers_mut().insert(header::CONTENT_LANGUAGE, language);
            response.headers_mut().insert(header::VARY, HeaderValue::from_static("Accept-Language"));
        }
        response
    }

    /// `If-None-Match` (RFC 9110, section 13.1.2), where weak and strong compare alike.
    fn is_known(&self, headers: &HeaderMap) -> bool {
        let tags = headers.get_all(header::IF_NONE_MATCH).iter().flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
        let mut tags = tags.map(<[u8]>::trim_ascii);
        tags.any(|tag| tag == b"*" || tag.strip_prefix(b"W/").unwrap_or(tag) == self.etag.as_bytes())
    }
}

fn wrong_method() -> Response<Bytes> {
    let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, "This page answers only: GET, HEAD.\n");
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
    response
}

fn plain(status: StatusCode, text: &'static str) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from_static(text.as_bytes()));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}

macro_rules! files {
    (pages: $($path:literal,)* assets: $($asset:literal,)*) => {
        /// Every file as this deployment serves it: each page is one and the same, in the product's name and colours, in every language.
        /// The panel speaks English.
        fn files(config: &Config) -> Vec<File> {
            let mut files = vec![
                File::new("/", "page.html", product::page(config, config.languages.of(None))),
                File::new("/assets/product.css", "product.css", product::style(&config.product)),
                $(File::new(concat!("/assets/", $asset), $asset, &include_bytes!(concat!("../../../panel/", $asset))[..]),)*
            ];
            for catalogue in config.languages.catalogues() {
                let page = product::page(config, catalogue);
                files.extend([$(File::page($path, &page, &catalogue.language)),*]);
            }
            files
        }
    };
}

files! {
    pages:
    "/sign-in",
    "/invite",
    "/forgot",
    "/reset",
    "/verify",
    "/change-email",
    "/sign-up",
    assets:
    "api.js",
    "app.js",
    "base.css",
    "csv.js",
    "curl.js",
    "dialogs.js",
    "dom.js",
    "fields.js",
    "focus.js",
    "form.js",
    "format.js",
    "guard.js",
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
    "layout.css",
    "listing.js",
    "logo.svg",
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

#[cfg(test)]
mod tests;
