//! The endpoint that everything is compared with: axum parses the same request, and the same bytes go back. It looks nothing up.

use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode},
    response::{IntoResponse, Response},
    routing::post,
};
use serde::{Deserialize, Serialize};

use crate::Failure;

/// The answer to give, as the service gave it once.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Told {
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

#[derive(Clone)]
struct Prepared {
    headers: HeaderMap,
    body: Bytes,
}

#[derive(Deserialize)]
struct TokenBody {
    token: String,
}

pub(super) async fn play() -> Result<(), Failure> {
    let Told { headers, body } = super::told()?;
    let mut prepared = Prepared { headers: HeaderMap::new(), body: body.into() };
    for (name, value) in headers {
        prepared.headers.append(name.parse::<HeaderName>()?, value.parse::<HeaderValue>()?);
    }
    super::serve(Router::new().route("/api/v1/public/verify", post(verify)).with_state(prepared)).await
}

/// Everything is looked at, so that nothing can be left unparsed.
async fn verify(State(prepared): State<Prepared>, headers: HeaderMap, body: Bytes) -> Response {
    let named = |name| headers.get(name).and_then(|value| value.to_str().ok());
    match (named("x-org-slug"), named("x-api-key"), serde_json::from_slice::<TokenBody>(&body)) {
        (Some(_), Some(_), Ok(asked)) if !asked.token.is_empty() => (prepared.headers, prepared.body).into_response(),
        _ => StatusCode::BAD_REQUEST.into_response(),
    }
}
