//! NUL characters in a body. PostgreSQL cannot store them in a text and people do not type them, so they are refused everywhere,
//! also in fields that no operation reads.

use std::{collections::BTreeMap, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

/// The first field of the body with NUL in any of its texts, but for the field `exempt`. NUL can only come escaped, so that most
/// bodies need no second look.
pub(super) fn field_with_nul(text: &str, exempt: Option<&str>) -> serde_json::Result<Option<String>> {
    if !text.contains("\\u0000") {
        return Ok(None);
    }
    let fields: BTreeMap<String, &RawValue> = serde_json::from_str(text)?;
    let holds_nul = |name: &str, value: &RawValue| {
        name.contains('\0') || (Some(name) != exempt && serde_json::from_str::<NulFree>(value.get()).is_err())
    };
    Ok(fields.iter().find(|(name, value)| holds_nul(name, value)).map(|(name, _)| name.replace('\0', "")))
}

/// Any JSON without NUL in its texts and keys.
struct NulFree;

impl<'de> Deserialize<'de> for NulFree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for NulFree {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON without NUL characters")
    }
    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }
    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }
    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }
    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }
    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }
    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self, E> {
        if text.contains('\0') { Err(E::custom("NUL")) } else { Ok(self) }
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self, A::Error> {
        while items.next_element::<Self>()?.is_some() {}
        Ok(self)
    }
    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self, A::Error> {
        while entries.next_entry::<Self, Self>()?.is_some() {}
        Ok(self)
    }
}
