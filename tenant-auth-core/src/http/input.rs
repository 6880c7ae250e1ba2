//! The input of a request: parameters of the path, of the query, and a JSON body. Each is parsed into its final type here, after
//! the caller is known, so that an unknown caller's input is never parsed.

use std::marker::PhantomData;

use ::http::header;
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, IgnoredAny},
};
use utoipa::ToSchema;

use super::{
    Body,
    context::Context,
    error_code::ErrorCode,
    messages::WHOLE_BODY,
    nul::field_with_nul,
    openapi::{BodyFacts, InputFacts, Schemas},
    refusal::Refusal,
};
use crate::{
    id::{Id, Kind},
    org::Patch,
    secret::LinkToken,
    value::Slug,
};

/// A part of a request that a handler takes.
pub(crate) trait Input: Sized + Send {
    /// Adds the facts for the OpenAPI document.
    fn describe(facts: &mut InputFacts, schemas: &mut Schemas);

    /// The refusals of [`Input::read`].
    fn may() -> Vec<ErrorCode>;

    /// Parses the input out of a request.
    fn read(context: &Context) -> Result<Self, Refusal>;
}

impl Input for () {
    fn describe(_: &mut InputFacts, _: &mut Schemas) {}
    fn may() -> Vec<ErrorCode> {
        Vec::new()
    }
    fn read(_: &Context) -> Result<Self, Refusal> {
        Ok(())
    }
}

/// A path parameter and a further input; the path parameter is judged first.
impl<A: PathValue, B: Input> Input for (Path<A>, B) {
    fn describe(facts: &mut InputFacts, schemas: &mut Schemas) {
        Path::<A>::describe(facts, schemas);
        B::describe(facts, schemas);
    }
    fn may() -> Vec<ErrorCode> {
        [Path::<A>::may(), B::may()].concat()
    }
    fn read(context: &Context) -> Result<Self, Refusal> {
        Ok((Path::read(context)?, B::read(context)?))
    }
}

/// The parameter of a path that has one.
pub(crate) struct Path<T>(pub(crate) T);

/// The parameters of a path that has two.
pub(crate) struct Paths<A, B>(pub(crate) A, pub(crate) B);

impl<A: PathValue, B: PathValue> Input for Paths<A, B> {
    fn describe(facts: &mut InputFacts, schemas: &mut Schemas) {
        facts.path.extend([schemas.reference::<A>(), schemas.reference::<B>()]);
    }
    fn may() -> Vec<ErrorCode> {
        vec![ErrorCode::NotFound]
    }
    fn read(context: &Context) -> Result<Self, Refusal> {
        Ok(Self(A::from_segment(context.param(0))?, B::from_segment(context.param(1))?))
    }
}

/// A type that is parsed from a segment of the path.
pub(crate) trait PathValue: Sized + Send + ToSchema {
    fn from_segment(segment: &str) -> Result<Self, Refusal>;
}

/// A malformed id gets the answer of an unknown one (404): there cannot be such a resource.
impl<K: Kind> PathValue for Id<K> {
    fn from_segment(segment: &str) -> Result<Self, Refusal> {
        segment.parse().map_err(|_| Refusal::no_such_id())
    }
}

/// A malformed slug gets the answer of an unknown one (404): there cannot be such an organization.
impl PathValue for Slug {
    fn from_segment(segment: &str) -> Result<Self, Refusal> {
        segment.parse().map_err(|_| Refusal::no_such_organization())
    }
}

/// Every text is accepted as a token; the digest decides whether the token exists.
impl PathValue for LinkToken {
    fn from_segment(segment: &str) -> Result<Self, Refusal> {
        Ok(Self::new(segment))
    }
}

impl<T: PathValue> Input for Path<T> {
    fn describe(facts: &mut InputFacts, schemas: &mut Schemas) {
        facts.path.push(schemas.reference::<T>());
    }
    fn may() -> Vec<ErrorCode> {
        vec![ErrorCode::NotFound]
    }
    fn read(context: &Context) -> Result<Self, Refusal> {
        Ok(Self(T::from_segment(context.param(0))?))
    }
}

/// A JSON object.
pub(crate) struct Json<T>(pub(crate) T);

impl<T: DeserializeOwned + Send + ToSchema> Input for Json<T> {
    fn describe(facts: &mut InputFacts, schemas: &mut Schemas) {
        facts.body = Some(BodyFacts { schema: schemas.request::<T>(), required: true });
    }
    fn may() -> Vec<ErrorCode> {
        vec![ErrorCode::InvalidRequest, ErrorCode::RequestTimeout, ErrorCode::BodyTooLarge, ErrorCode::UnsupportedMediaType]
    }
    fn read(context: &Context) -> Result<Self, Refusal> {
        let body = context.body();
        let text = json_text(&body, context)?;
        let value = parse(text)?;
        refuse_nul(text, None)?;
        Ok(Self(value))
    }
}

/// A JSON object that may be left out: no bytes at all mean the default.
pub(crate) struct OptionalJson<T>(pub(crate) T);

impl<T: DeserializeOwned + Default + Send + ToSchema> Input for OptionalJson<T> {
    fn describe(facts: &mut InputFacts, schemas: &mut Schemas) {
        facts.body = Some(BodyFacts { schema: schemas.request::<T>(), required: false });
    }
    fn may() -> Vec<ErrorCode> {
        Json::<T>::may()
    }
    fn read(context: &Context) -> Result<Self, Refusal> {
        match context.body() {
            Body::Complete(bytes) if bytes.is_empty() => Ok(Self(T::default())),
            _ => Json::read(context).map(|Json(value)| Self(value)),
        }
    }
}

/// A JSON object that was read in advance, with the caller's credential in it; an empty body means none. The document shows it, and
/// nothing more is judged here: whatever is no such object was no credential.
pub(crate) struct ReadInAdvance<T>(PhantomData<fn() -> T>);

impl<T: ToSchema> Input for ReadInAdvance<T> {
    fn describe(facts: &mut InputFacts, schemas: &mut Schemas) {
        facts.body = Some(BodyFacts { schema: schemas.request::<T>(), required: false });
    }
    fn may() -> Vec<ErrorCode> {
        Vec::new()
    }
    fn read(_: &Context) -> Result<Self, Refusal> {
        Ok(Self(PhantomData))
    }
}

/// Reads the body before the caller is known, for a credential in it; `None` when it is no such JSON.
pub(super) fn read_in_advance<T: DeserializeOwned>(context: &Context) -> Option<T> {
    let body = context.body();
    parse(json_text(&body, context).ok()?).ok()
}

/// A JSON object whose field `token` may contain any text, also NUL characters: a malformed token gets the answer of an unknown
/// one.
pub(crate) struct TokenJson<T>(pub(crate) T);

impl<T: DeserializeOwned + Send + ToSchema> Input for TokenJson<T> {
    fn describe(facts: &mut InputFacts, schemas: &mut Schemas) {
        facts.body = Some(BodyFacts { schema: schemas.request_with_any_token::<T>(), required: true });
    }
    fn may() -> Vec<ErrorCode> {
        Json::<T>::may()
    }
    fn read(context: &Context) -> Result<Self, Refusal> {
        let body = context.body();
        let text = json_text(&body, context)?;
        let value = parse(text)?;
        refuse_nul(text, Some("token"))?;
        Ok(Self(value))
    }
}

/// Deserializes a field of a partial update that is present: null clears the value, anything else sets it. Use it with
/// `#[serde(default)]`, which keeps the value of an absent field.
pub(super) fn patch<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Patch<T>, D::Error> {
    Ok(Option::<T>::deserialize(deserializer)?.map_or(Patch::Clear, Patch::Set))
}

/// Deserializes a field in which only null may stand: whether it stands there. Use it with `#[serde(default)]`.
pub(super) fn null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    match Option::<IgnoredAny>::deserialize(deserializer)? {
        None => Ok(true),
        Some(_) => Err(serde::de::Error::custom("must be null")),
    }
}

/// Deserializes an optional whole number. `1.0` is one, too: JSON Schema calls it an integer, and some JSON writers produce it.
pub(super) fn whole_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    let Some(number) = Option::<f64>::deserialize(deserializer)? else { return Ok(None) };
    let is_whole = number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&number);
    if is_whole { Ok(Some(number as u32)) } else { Err(serde::de::Error::custom("must be a whole number")) }
}

/// The body as text, after its size, `Content-Encoding` and `Content-Type` were judged.
fn json_text<'a>(body: &'a Body, context: &Context) -> Result<&'a str, Refusal> {
    let bytes = match body {
        Body::Complete(bytes) => bytes,
        Body::TooLarge => return Err(Refusal::body_too_large()),
        Body::TimedOut => return Err(Refusal::request_timeout()),
        Body::Broken => return Err(Refusal::invalid(WHOLE_BODY, "did not arrive whole")),
    };
    let is_identity = |value: &str| value.trim().eq_ignore_ascii_case("identity");
    let is_json =
        |value: &str| value.split(';').next().is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json"));
    let encoded = context.headers().get_all(header::CONTENT_ENCODING).iter().any(|value| !value.to_str().is_ok_and(is_identity));
    let typed =
        context.single_header("content-type").is_ok_and(|value| value.is_some_and(|value| is_json(value) && is_utf8(value)));
    if encoded || !typed {
        return Err(Refusal::unsupported_media_type());
    }
    // Needed because serde_json does not check the UTF-8 of values that it ignores.
    str::from_utf8(bytes).map_err(|_| Refusal::invalid(WHOLE_BODY, "must be UTF-8"))
}

/// JSON is UTF-8 (RFC 8259, section 8.1); a `charset` that says otherwise is refused rather than ignored.
fn is_utf8(content_type: &str) -> bool {
    content_type.split(';').skip(1).filter_map(|parameter| parameter.split_once('=')).all(|(name, value)| {
        !name.trim().eq_ignore_ascii_case("charset") || value.trim().trim_matches('"').eq_ignore_ascii_case("utf-8")
    })
}

/// Parses a JSON object. Anything else is refused before serde sees it, because serde would also accept an array for a struct.
fn parse<T: DeserializeOwned>(text: &str) -> Result<T, Refusal> {
    if !text.trim_ascii_start().starts_with('{') {
        return Err(Refusal::invalid(WHOLE_BODY, "must be a JSON object"));
    }
    // The path to a mistake is kept only for who made one: keeping it costs as much as reading.
    if let Ok(value) = serde_json::from_str(text) {
        return Ok(value);
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let path = error.path().to_string();
        describe(&path, &error.into_inner())
    })?;
    reader.end().map_err(|error| describe(".", &error))?;
    Ok(value)
}

fn refuse_nul(text: &str, exempt: Option<&str>) -> Result<(), Refusal> {
    match field_with_nul(text, exempt).map_err(|error| describe(".", &error))? {
        Some(field) => Err(Refusal::invalid(field, "must not contain NUL characters")),
        None => Ok(()),
    }
}

/// Converts a serde error to a refusal that names the field: by the path that serde reports, or else by the name in serde's
/// message.
fn describe(path: &str, error: &serde_json::Error) -> Refusal {
    let text = error.to_string();
    let reason = text.split(" at line ").next().unwrap_or(&text);
    if !error.is_data() {
        return Refusal::invalid(WHOLE_BODY, format!("must be well-formed JSON: {reason}"));
    }
    let quoted = reason.split('`').nth(1);
    let absent = reason.starts_with("missing field") || reason.starts_with("duplicate field");
    match quoted {
        Some(field) if absent => {
            let field = if path == "." { field.to_owned() } else { format!("{path}.{field}") };
            Refusal::invalid(field, if reason.starts_with("missing") { "is required" } else { "must be given once" })
        }
        _ => Refusal::invalid(if path == "." { WHOLE_BODY } else { path }, reason),
    }
}
