//! Membership metadata: the customer's own JSON object, which the service stores but does not interpret. It is validated and kept
//! as text, so that big integers and exponents come back exactly as they were sent.

use std::{
    collections::HashSet,
    fmt,
    hash::{Hash, Hasher},
    str::FromStr,
};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{DeserializeSeed, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

use super::Rejected;

/// The most bytes of compact JSON.
const MAX_BYTES: usize = 16 * 1024;
/// The deepest nesting; the object itself is 1.
const MAX_DEPTH: usize = 32;

/// A JSON object of at most 16 KiB and 32 levels, without duplicate keys, every number finite as a double.
#[derive(Clone)]
pub struct Metadata(Box<RawValue>);

impl Metadata {
    /// Checks a JSON text.
    ///
    /// # Errors
    /// [`Rejected`], saying which rule is broken.
    pub fn parse(json: &str) -> Result<Self, Rejected> {
        if !json.trim_start().starts_with('{') {
            return Err(Rejected::because("must be a JSON object"));
        }
        let compact = compact(json);
        if compact.len() > MAX_BYTES {
            return Err(Rejected::because("must be at most 16 KiB of JSON"));
        }
        // As it came: without white space, `1 2` would be one number.
        let mut reader = serde_json::Deserializer::from_str(json);
        Checked { depth: 1 }
            .deserialize(&mut reader)
            .and_then(|()| reader.end())
            .map_err(|error| Rejected::because(describe(&error)))?;
        RawValue::from_string(compact).map(Self).map_err(|error| Rejected::because(error.to_string()))
    }

    /// The object as compact JSON.
    pub fn as_json(&self) -> &str {
        self.0.get()
    }

    /// Reads metadata that another service states and has validated, without validating it again.
    pub(crate) fn stated<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(Self)
    }

    /// Reads a text that [`Metadata::parse`] wrote to our own database, without validating it again.
    pub(crate) fn from_stored(json: String) -> Result<Self, serde_json::Error> {
        RawValue::from_string(json).map(Self)
    }
}

impl Default for Metadata {
    /// `{}`.
    fn default() -> Self {
        Self(RawValue::from_string("{}".to_owned()).unwrap_or_else(|_| RawValue::NULL.to_owned()))
    }
}

/// serde_json appends a position that means nothing to the caller, who sees only the field.
fn describe(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or(&text).to_owned()
}

/// The text without insignificant white space.
fn compact(json: &str) -> String {
    let (mut inside, mut escaped) = (false, false);
    json.chars()
        .filter(|&c| {
            if inside {
                (inside, escaped) = (escaped || c != '"', !escaped && c == '\\');
                return true;
            }
            inside = c == '"';
            !matches!(c, ' ' | '\t' | '\r' | '\n')
        })
        .collect()
}

/// A validator that walks a value and fails where a rule is broken.
struct Checked {
    depth: usize,
}

impl<'de> DeserializeSeed<'de> for Checked {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Checked {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }
    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }
    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }
    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }
    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }
    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<(), E> {
        if text.contains('\0') { Err(E::custom("must not contain NUL")) } else { Ok(()) }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        within(self.depth)?;
        while items.next_element_seed(Checked { depth: self.depth + 1 })?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        within(self.depth)?;
        let mut seen = HashSet::new();
        while let Some(key) = entries.next_key::<String>()? {
            if key.contains('\0') {
                return Err(serde::de::Error::custom("must not contain NUL"));
            }
            if !seen.insert(key) {
                return Err(serde::de::Error::custom("must not contain a key twice"));
            }
            entries.next_value_seed(Checked { depth: self.depth + 1 })?;
        }
        Ok(())
    }
}

fn within<E: serde::de::Error>(depth: usize) -> Result<(), E> {
    if depth > MAX_DEPTH { Err(E::custom("must be nested at most 32 levels deep")) } else { Ok(()) }
}

impl<'de> Deserialize<'de> for Metadata {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Self::parse(raw.get()).map_err(serde::de::Error::custom)
    }
}

impl Serialize for Metadata {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl PartialEq for Metadata {
    fn eq(&self, other: &Self) -> bool {
        self.as_json() == other.as_json()
    }
}

impl Eq for Metadata {}

impl Hash for Metadata {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_json().hash(state);
    }
}

impl FromStr for Metadata {
    type Err = Rejected;

    /// Judges as the API does; see [`Metadata::parse`].
    fn from_str(json: &str) -> Result<Self, Rejected> {
        Self::parse(json)
    }
}

/// The JSON text, for a column or a file of the host's.
impl fmt::Display for Metadata {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_json())
    }
}

impl fmt::Debug for Metadata {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_json())
    }
}

#[cfg(feature = "http")]
mod schema {
    use serde_json::json;
    use utoipa::{
        PartialSchema, ToSchema,
        openapi::{
            ObjectBuilder, RefOr, Schema,
            schema::{AdditionalProperties, SchemaType, Type},
        },
    };

    use super::{MAX_BYTES, MAX_DEPTH, Metadata};

    impl PartialSchema for Metadata {
        fn schema() -> RefOr<Schema> {
            let means = format!(
                "The customer's own JSON object, returned equal to what was sent: at most {} KiB and {MAX_DEPTH} levels, no key twice, \
                 numbers finite as a double, no NUL.",
                MAX_BYTES / 1024
            );
            ObjectBuilder::new()
                .schema_type(SchemaType::Type(Type::Object))
                .description(Some(means))
                .additional_properties(Some(AdditionalProperties::FreeForm(true)))
                .examples([json!({ "department": "engineering" })])
                .into()
        }
    }

    impl ToSchema for Metadata {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(levels: usize) -> String {
        format!("{}1{}", "{\"a\":".repeat(levels), "}".repeat(levels))
    }

    #[test]
    fn numbers_and_order_come_back_as_they_were_sent() {
        let json = r#"{"z":123456789012345678901234567890,"a":1.50E+3,"s":" \" { "}"#;
        assert_eq!(Metadata::parse(json).expect("valid").as_json(), json);
        assert_eq!(Metadata::parse("{ \"a\" : [ 1 , 2 ] }").expect("valid").as_json(), r#"{"a":[1,2]}"#);
        assert_eq!(Metadata::default().as_json(), "{}");
    }

    #[test]
    fn each_rule_is_named_when_it_is_broken() {
        let big = format!("{{\"a\":\"{}\"}}", "x".repeat(MAX_BYTES));
        for (json, reason) in [
            ("[1]", "object"),
            ("null", "object"),
            (r#"{"a":1,"a":2}"#, "twice"),
            (r#"{"a":{"b":1,"b":2}}"#, "twice"),
            (r#"{"a":1e400}"#, "out of range"),
            ("{\"a\":1 2}", "expected `,`"),
            (r#"{"a":"\u0000"}"#, "NUL"),
            (&big, "16 KiB"),
            (&nested(33), "32 levels"),
        ] {
            let error = Metadata::parse(json).expect_err(json).to_string();
            assert!(error.contains(reason), "{error}");
        }
        assert!(Metadata::parse(&nested(32)).is_ok());
    }
}
