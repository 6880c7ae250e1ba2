//! `/openapi.json`, `/docs`, `/docs.css` and `/docs.js`: the API's documentation, for programs and for people.

use std::marker::PhantomData;

use ::http::{HeaderMap, HeaderValue, StatusCode, header};
use bytes::Bytes;
use serde_json::{Value, json};

use super::Anyone;
use crate::http::{
    answer::IntoAnswered,
    answered::Answered,
    openapi::{AnswerFacts, Schemas, page},
    refusal::Refusal,
};

/// What is shown and what runs is ours alone: nothing is loaded from elsewhere or written into the page, no other page may frame it.
const POLICY: &str = "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'";

/// A document without the envelope.
pub(crate) struct Published<K> {
    text: Bytes,
    kind: PhantomData<fn() -> K>,
}

/// What is published.
pub(crate) trait DocumentKind {
    const CONTENT_TYPE: &'static str;

    fn schema() -> Value {
        json!({ "type": "string" })
    }
}

/// `/openapi.json`
pub(crate) enum Document {}
impl DocumentKind for Document {
    const CONTENT_TYPE: &'static str = "application/json";

    fn schema() -> Value {
        json!({ "type": "object", "required": ["openapi", "info", "paths"] })
    }
}

/// `/docs`
pub(crate) enum DocsPage {}
impl DocumentKind for DocsPage {
    const CONTENT_TYPE: &'static str = "text/html; charset=utf-8";
}

/// `/docs.css`
pub(crate) enum Style {}
impl DocumentKind for Style {
    const CONTENT_TYPE: &'static str = "text/css; charset=utf-8";
}

/// `/docs.js`
pub(crate) enum Script {}
impl DocumentKind for Script {
    const CONTENT_TYPE: &'static str = "text/javascript; charset=utf-8";
}

pub(crate) async fn document(anyone: Anyone, (): ()) -> Result<Published<Document>, Refusal> {
    Ok(Published::new(anyone.documents.rendered(anyone.auth.config())?.json.clone()))
}

pub(crate) async fn page(anyone: Anyone, (): ()) -> Result<Published<DocsPage>, Refusal> {
    Ok(Published::new(anyone.documents.rendered(anyone.auth.config())?.page.clone()))
}

pub(crate) async fn style(_: Anyone, (): ()) -> Result<Published<Style>, Refusal> {
    Ok(Published::new(Bytes::from_static(page::STYLE.as_bytes())))
}

pub(crate) async fn script(_: Anyone, (): ()) -> Result<Published<Script>, Refusal> {
    Ok(Published::new(Bytes::from_static(page::SCRIPT.as_bytes())))
}

impl<K> Published<K> {
    fn new(text: Bytes) -> Self {
        Self { text, kind: PhantomData }
    }
}

impl<K: DocumentKind> IntoAnswered for Published<K> {
    fn describe(_: &mut Schemas) -> AnswerFacts {
        AnswerFacts::Plain { content_type: K::CONTENT_TYPE, schema: K::schema() }
    }

    fn into_answered(self, status: StatusCode) -> Result<Answered, Refusal> {
        let mut headers = HeaderMap::with_capacity(8);
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(K::CONTENT_TYPE));
        headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
        headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        Ok(Answered { status, headers, body: self.text.into(), cause: None })
    }
}
