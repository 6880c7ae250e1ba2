//! A file of the pages as it is sent: whole or packed (gzip), unless the browser has it.

use std::{
    io::Write,
    sync::{Arc, LazyLock, OnceLock},
};

use ::http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use sha2::{Digest, Sha256};

use crate::value::Language;

/// A file and the validators of its bytes. Its forms are made by the first who takes them, and shared by clones: no start waits for a
/// page, or for one to be packed.
#[derive(Debug, Clone)]
pub(super) struct File {
    pub(super) path: String,
    pub(super) kind: &'static str,
    whole: Arc<LazyLock<Form, Making>>,
    packed: Arc<OnceLock<Form>>,
    /// The language of a page that there is in several.
    pub(super) language: Option<Language>,
    version: Option<String>,
}

/// The bytes of a file in one encoding.
#[derive(Debug, Clone)]
struct Form {
    bytes: Bytes,
    etag: HeaderValue,
}

type Making = Box<dyn FnOnce() -> Form + Send>;

impl Form {
    fn new(bytes: Bytes) -> Self {
        let etag = HeaderValue::from_str(&format!("\"{}\"", digest(&bytes))).unwrap_or(HeaderValue::from_static("\"\""));
        Self { bytes, etag }
    }

    /// `If-None-Match` (RFC 9110, section 13.1.2), where weak and strong compare alike.
    fn is_known(&self, headers: &HeaderMap) -> bool {
        let tags = headers.get_all(header::IF_NONE_MATCH).iter().flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
        let mut tags = tags.map(<[u8]>::trim_ascii);
        tags.any(|tag| tag == b"*" || tag.strip_prefix(b"W/").unwrap_or(tag) == self.etag.as_bytes())
    }
}

impl File {
    /// A file at a path that it keeps, whatever it says: asked about each time.
    pub(super) fn new(path: impl Into<String>, bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        Self::written(path, || bytes)
    }

    /// The same, written when somebody asks for it.
    pub(super) fn written(path: impl Into<String>, write: impl FnOnce() -> Bytes + Send + 'static) -> Self {
        let path = path.into();
        let kind = match path.rsplit_once('.') {
            None => "text/html; charset=utf-8",
            Some((_, "js")) => "text/javascript; charset=utf-8",
            Some((_, "css")) => "text/css; charset=utf-8",
            Some((_, "svg")) => "image/svg+xml",
            Some(_) => "application/octet-stream",
        };
        let make: Making = Box::new(|| Form::new(write()));
        Self { path, kind, whole: Arc::new(LazyLock::new(make)), packed: Arc::default(), language: None, version: None }
    }

    pub(super) fn bytes(&self) -> &Bytes {
        &self.whole.bytes
    }

    /// An asset that pages name with the digest of what it holds, so that a browser may keep it for good.
    pub(super) fn named_by_digest(path: &str, bytes: impl Into<Bytes>) -> Self {
        let file = Self::new(path, bytes);
        let version = digest(file.bytes());
        Self { version: Some(version), ..file }
    }

    /// How a page beside it names it.
    pub(super) fn address(&self) -> String {
        let path = self.path.trim_start_matches('/');
        self.version.as_ref().map_or_else(|| path.to_owned(), |version| format!("{path}?v={version}"))
    }

    /// How long it may be kept. Whoever asks for another version, such as a page of a server that is newer, gets this one, and keeps it
    /// no longer than until it asks again: pages load while versions change.
    fn caching(&self, query: Option<&str>) -> &'static str {
        let is_this =
            self.version.as_ref().is_some_and(|version| query.and_then(|query| query.strip_prefix("v=")) == Some(version));
        if is_this { "public, max-age=31536000, immutable" } else { "no-cache" }
    }

    /// The same file at another path, in a language.
    pub(super) fn at(&self, path: &str, language: Option<&Language>) -> Self {
        Self { path: path.to_owned(), language: language.cloned(), ..self.clone() }
    }

    /// The file, unless the client says that it has it. A HEAD is given the body of its GET: every HTTP server keeps it to
    /// itself and sends its length.
    pub(super) fn answer(&self, asked: &HeaderMap, query: Option<&str>) -> Response<Bytes> {
        let is_packed = takes_gzip(asked);
        let pack = || Form::new(packed(self.bytes()));
        let form = if is_packed { self.packed.get_or_init(pack) } else { &self.whole };
        let mut response = Response::new(Bytes::new());
        if form.is_known(asked) {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
        } else {
            *response.body_mut() = form.bytes.clone();
            response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(self.kind));
            if is_packed {
                response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            }
        }
        let headers = response.headers_mut();
        headers.insert(header::ETAG, form.etag.clone());
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(self.caching(query)));
        let by = if self.language.is_some() { "Accept-Language, Accept-Encoding" } else { "Accept-Encoding" };
        headers.insert(header::VARY, HeaderValue::from_static(by));
        if let Some(language) = self.language.as_ref().and_then(|language| HeaderValue::from_str(language.as_str()).ok()) {
            headers.insert(header::CONTENT_LANGUAGE, language);
        }
        response
    }
}

/// 132 bits of a SHA-256, as a validator and in an address.
fn digest(bytes: &[u8]) -> String {
    format!("{:.22}", URL_SAFE_NO_PAD.encode(Sha256::digest(bytes)))
}

fn packed(bytes: &[u8]) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    // Memory takes everything that is written to it.
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default().into()
}

/// Whether `Accept-Encoding` takes gzip (RFC 9110, section 12.5.3): by its name, or by `*` where its name is not there.
fn takes_gzip(headers: &HeaderMap) -> bool {
    let weight = |name: &str| {
        let values = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
        let mut codings = values.flat_map(|value| value.split(',')).map(|coding| coding.split_once(';').unwrap_or((coding, "")));
        let (_, parameter) = codings.find(|(coding, _)| coding.trim().eq_ignore_ascii_case(name))?;
        let weight = parameter.trim().strip_prefix("q=").or_else(|| parameter.trim().strip_prefix("Q="));
        Some(weight.is_none_or(|weight| weight.trim().parse::<f32>().is_ok_and(|weight| weight > 0.0)))
    };
    weight("gzip").or_else(|| weight("*")).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_taken_where_it_is_named_and_not_refused() {
        let takes =
            |value: &'static str| takes_gzip(&HeaderMap::from_iter([(header::ACCEPT_ENCODING, HeaderValue::from_static(value))]));
        for value in ["gzip", "gzip, deflate, br", "br;q=1, GZIP;q=0.5", "*", "*;q=0.1", "*;q=0, gzip"] {
            assert!(takes(value), "{value}");
        }
        for value in ["", "br", "gzip;q=0", "gzip;q=0.0, *", "identity", "*;q=0", "gzip;q=x", "xgzip"] {
            assert!(!takes(value), "{value}");
        }
        assert!(!takes_gzip(&HeaderMap::new()), "who does not ask may not unpack");
    }
}
