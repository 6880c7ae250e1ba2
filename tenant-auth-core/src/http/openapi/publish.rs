//! The document, its page and the page's style, as answers: made once for a service, sent as they are.

use std::marker::PhantomData;

use ::http::{HeaderMap, HeaderValue, StatusCode, header};
use bytes::Bytes;
use serde_json::{Value, json};

use super::page;
use crate::{
    config::Config,
    error::Error,
    http::{
        answer::{Answered, IntoAnswered},
        endpoints::Anyone,
        refusal::Refusal,
    },
};

/// What is shown is ours alone: no script runs, nothing is loaded from elsewhere, no other page may frame it.
const POLICY: &str = "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'";

/// The document and its page, for one public URL.
#[derive(Debug)]
pub(crate) struct Made {
    json: Bytes,
    page: Bytes,
}

impl Made {
    fn of(config: &Config) -> Result<Self, Error> {
        let document = super::document_of(config);
        Ok(Self { json: document.to_string().into(), page: page::render(&document)?.into() })
    }
}

/// A document without the envelope.
pub(crate) struct Published<K> {
    text: Bytes,
    kind: PhantomData<fn() -> K>,
}

/// What is published.
pub(crate) trait Kind {
    const CONTENT_TYPE: &'static str;

    fn schema() -> Value {
        json!({ "type": "string" })
    }
}

/// `/openapi.json`
pub(crate) enum Document {}
impl Kind for Document {
    const CONTENT_TYPE: &'static str = "application/json";

    fn schema() -> Value {
        json!({ "type": "object", "required": ["openapi", "info", "paths"] })
    }
}

/// `/docs`
pub(crate) enum Page {}
impl Kind for Page {
    const CONTENT_TYPE: &'static str = "text/html; charset=utf-8";
}

/// `/docs.css`
pub(crate) enum Style {}
impl Kind for Style {
    const CONTENT_TYPE: &'static str = "text/css; charset=utf-8";
}

impl<K> Published<K> {
    fn new(text: Bytes) -> Self {
        Self { text, kind: PhantomData }
    }
}

impl Published<Document> {
    pub(crate) fn of(anyone: &Anyone) -> Result<Self, Refusal> {
        Ok(Self::new(made(anyone)?.json.clone()))
    }
}

impl Published<Page> {
    pub(crate) fn of(anyone: &Anyone) -> Result<Self, Refusal> {
        Ok(Self::new(made(anyone)?.page.clone()))
    }
}

impl Published<Style> {
    pub(crate) fn style() -> Self {
        Self::new(Bytes::from_static(page::STYLE.as_bytes()))
    }
}

/// Made by the first who asks.
fn made(anyone: &Anyone) -> Result<&Made, Error> {
    match anyone.documents.get() {
        Some(made) => Ok(made),
        None => {
            let made = Made::of(anyone.auth.config())?;
            Ok(anyone.documents.get_or_init(|| made))
        }
    }
}

impl<K: Kind> IntoAnswered for Published<K> {
    fn into_answered(self, status: StatusCode) -> Result<Answered, Refusal> {
        let mut headers = HeaderMap::with_capacity(8);
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(K::CONTENT_TYPE));
        headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
        headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        Ok(Answered { status, headers, body: self.text, cause: None })
    }
}
