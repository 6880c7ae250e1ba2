//! NUL characters in a body. PostgreSQL cannot store them in a text and people do not type them, so they are refused everywhere,
//! also in fields that no operation reads.

use std::fmt::{self, Write};

use serde::{
    Deserializer,
    de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor},
};

/// The path of the first text or key of the body with NUL in it (`keys[1]`), but for what the field `exempt` holds. NUL can only come
/// escaped, so that most bodies need no second look.
pub(super) fn field_with_nul(text: &str, exempt: Option<&str>) -> serde_json::Result<Option<String>> {
    if !text.contains("\\u0000") {
        return Ok(None);
    }
    let mut search = Search { exempt, path: String::new(), found: None };
    let read = search.deserialize(&mut serde_json::Deserializer::from_str(text));
    // What is found stays found, whatever stands after it.
    if search.found.is_none() {
        read?;
    }
    Ok(search.found)
}

/// A walk through any JSON. Each entry of an object is looked at, also one whose name comes again: no map is made of them, in which
/// the last would hide the others.
struct Search<'a> {
    /// The field whose content may have NUL.
    exempt: Option<&'a str>,
    /// Where the walk is.
    path: String,
    /// The first place with NUL.
    found: Option<String>,
}

impl Search<'_> {
    /// Does something one step further down.
    fn below<T>(&mut self, step: fmt::Arguments<'_>, look: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        // Writing to a string does not fail.
        let _ = self.path.write_fmt(step);
        let looked = look(self);
        self.path.truncate(length);
        looked
    }

    fn look_at(&mut self, text: &str) {
        if text.contains('\0') && self.found.is_none() {
            self.found = Some(self.path.clone());
        }
    }
}

impl<'de> DeserializeSeed<'de> for &mut Search<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for &mut Search<'_> {
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
    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.look_at(text);
        Ok(())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let mut index = 0;
        while self.below(format_args!("[{index}]"), |search| items.next_element_seed(search))?.is_some() {
            index += 1;
        }
        Ok(())
    }
    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        // The outermost object's alone.
        let exempt = self.exempt.take();
        while let Some(name) = entries.next_key::<String>()? {
            let (dot, shown) = (if self.path.is_empty() { "" } else { "." }, name.replace('\0', ""));
            self.below(format_args!("{dot}{shown}"), |search| {
                search.look_at(&name);
                if Some(&*name) == exempt { entries.next_value::<IgnoredAny>().map(drop) } else { entries.next_value_seed(search) }
            })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Option<String> {
        field_with_nul(text, Some("token")).expect("JSON")
    }

    #[test]
    fn the_first_place_is_named_by_its_whole_path() {
        for (text, field) in [
            (r#"{"keys":["a","b\u0000"]}"#, "keys[1]"),
            (r#"{"a":{"b":[1,null,{"c":"\u0000"}]},"d":"\u0000"}"#, "a.b[2].c"),
            (r#"{"a":{"b\u0000c":1.5}}"#, "a.bc"),
            (r#"{"a\u0000":true}"#, "a"),
            (r#"{"token":1,"a":{"token":"\u0000"}}"#, "a.token"),
            (r#"{"":{"token":"\u0000"}}"#, "token"),
        ] {
            assert_eq!(found(text).as_deref(), Some(field), "{text}");
        }
    }

    #[test]
    fn a_field_that_comes_again_hides_nothing() {
        assert_eq!(found(r#"{"x":"\u0000","x":"a"}"#).as_deref(), Some("x"));
        assert_eq!(found(r#"{"x":"a","x":["\u0000"],"x":"a"}"#).as_deref(), Some("x[0]"));
        assert_eq!(found(r#"{"x":{"y":"\u0000","y":1}}"#).as_deref(), Some("x.y"));
    }

    #[test]
    fn what_only_looks_like_one_and_the_exempt_field_are_let_by() {
        for text in [r#"{"a":"\\u0000"}"#, r#"{"token":"\u0000"}"#, r#"{"token":["\u0000"],"a":"\\u0000"}"#] {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
