//! One HTTP exchange with the remote server: the wait and the body are limited. A question without an answer is `Unavailable`, with
//! the reason as its cause.

use std::{net::IpAddr, time::Duration};

use bytes::Bytes;
use reqwest::{
    RequestBuilder, Response,
    header::{self, HeaderMap, HeaderValue},
};
use serde::Serialize;

use super::RemoteVerifier;
use crate::{
    error::Error,
    secret::{ApiKeyText, SignedToken},
    value::Slug,
};

/// The size limit of an answer. The server's longest answer contains 16 KiB of metadata and a few names.
const LONGEST: usize = 256 * 1024;

/// A complete answer of the server.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

#[derive(Serialize)]
struct Question<'a> {
    token: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<&'a str>,
}

impl RemoteVerifier {
    /// `POST /public/verify`; `after`: the cursor held, where answers are remembered.
    pub(super) async fn ask_about(&self, org: &Slug, token: &SignedToken, after: Option<&str>) -> Result<Answer, Error> {
        let key = self.key_of(org)?;
        let body = serde_json::to_vec(&Question { token: token.expose(), after }).map_err(Error::internal)?;
        let pool = self.server.pool();
        let question = pool.client.post(format!("{}/public/verify", self.base)).header(header::CONTENT_TYPE, "application/json");
        let question = question.header("x-org-slug", org.as_str()).header("x-api-key", secret_header(key)?).body(body);
        self.server.ask(&pool, question, self.patience).await
    }

    /// `POST /auth/refresh`
    pub(super) async fn ask_for_next(
        &self,
        org: &Slug,
        presented: HeaderValue,
        stated: Option<(&ApiKeyText, IpAddr)>,
    ) -> Result<Answer, Error> {
        let pool = self.server.pool();
        let question = pool.client.post(format!("{}/auth/refresh", self.base)).header(header::CONTENT_LENGTH, 0);
        let mut question = question.header("x-org-slug", org.as_str()).header(header::COOKIE, presented);
        if let Some((key, client)) = stated {
            question = question.header("x-api-key", secret_header(key)?).header("x-client-ip", client.to_string());
        }
        self.server.ask(&pool, question, self.patience).await
    }
}

/// Why a question has no clear answer.
pub(super) enum Failed {
    /// Nothing, or not all of it, came in time.
    Hung,
    /// At once: no connection, no HTTP, or too much.
    Unclear(String),
}

impl From<Failed> for Error {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Hung => unavailable("no answer in time"),
            Failed::Unclear(why) => unavailable(&why),
        }
    }
}

impl From<reqwest::Error> for Failed {
    fn from(error: reqwest::Error) -> Self {
        if error.is_timeout() { Self::Hung } else { Self::Unclear(reason(&error)) }
    }
}

/// Sends a request, and reads its answer in time.
pub(super) async fn exchanged(question: RequestBuilder, patience: Duration) -> Result<Answer, Failed> {
    let asking = async {
        let response = question.send().await?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        Ok(Answer { status, headers, body: read(response).await? })
    };
    tokio::time::timeout(patience, asking).await.unwrap_or(Err(Failed::Hung))
}

async fn read(mut response: Response) -> Result<Bytes, Failed> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > LONGEST {
            return Err(Failed::Unclear("the answer is too long".to_owned()));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body.into())
}

/// The error for an unclear answer. The cause is for the log; the client of the host gets 503 and may try again.
pub(super) fn unavailable(why: &str) -> Error {
    Error::unavailable(format!("the Tenant Auth server gave no clear answer: {why}"))
}

pub(super) fn secret_header(key: &ApiKeyText) -> Result<HeaderValue, Error> {
    let mut value = HeaderValue::from_str(key.expose()).map_err(Error::internal)?;
    value.set_sensitive(true);
    Ok(value)
}

/// The innermost cause of an error; reqwest's own message only repeats the URL.
fn reason(error: &reqwest::Error) -> String {
    let mut deepest: &dyn std::error::Error = error;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    deepest.to_string()
}
