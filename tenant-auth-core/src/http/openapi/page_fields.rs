//! Schemas as tables for the documentation page: the fields of an object with their allowed values, and an example body.

use serde::Serialize;
use serde_json::{Map, Value, json};

/// A field or a parameter, as the page lists it.
#[derive(Debug, Serialize)]
pub(super) struct Field {
    name: String,
    /// Where a parameter stands; empty for fields.
    place: String,
    kind: String,
    required: bool,
    about: String,
}

/// Reads schemas of a document.
pub(super) struct Resolver<'a> {
    pub(super) document: &'a Value,
}

impl<'a> Resolver<'a> {
    /// What a reference refers to.
    pub(super) fn resolve(&self, value: &'a Value) -> &'a Value {
        let target = value["$ref"].as_str().and_then(|reference| reference.strip_prefix('#'));
        target.and_then(|pointer| self.document.pointer(pointer)).unwrap_or(value)
    }

    /// A parameter as a field.
    pub(super) fn parameter(&self, parameter: &'a Value) -> Field {
        let schema = self.resolve(&parameter["schema"]);
        let own = text(&parameter["description"]);
        Field {
            name: text(&parameter["name"]).to_owned(),
            place: text(&parameter["in"]).to_owned(),
            kind: self.kind(schema),
            required: parameter["required"] == true,
            about: if own.is_empty() { text(&schema["description"]) } else { own }.to_owned(),
        }
    }

    /// The fields of an object, those of objects within under dotted names.
    pub(super) fn fields(&self, schema: &'a Value) -> Vec<Field> {
        let mut fields = Vec::new();
        self.collect("", schema, true, &mut fields);
        fields
    }

    fn collect(&self, prefix: &str, schema: &'a Value, certain: bool, fields: &mut Vec<Field>) {
        let schema = self.resolve(schema);
        // Of alternatives, none is certain.
        for part in items(&schema["oneOf"]) {
            self.collect(prefix, part, false, fields);
        }
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let required = certain && items(&schema["required"]).any(|required| required == name);
            let held = self.resolve(property);
            let path = format!("{prefix}{name}");
            let own = text(&property["description"]);
            fields.push(Field {
                name: path.clone(),
                place: String::new(),
                kind: self.kind(property),
                required,
                about: if own.is_empty() { text(&held["description"]) } else { own }.to_owned(),
            });
            self.collect(&format!("{path}."), held, required, fields);
            self.collect(&format!("{path}[]."), self.resolve(&held["items"]), required, fields);
        }
    }

    /// What may stand there, in a few words.
    fn kind(&self, schema: &'a Value) -> String {
        let schema = self.resolve(schema);
        if let Some(only) = schema.get("const") {
            return only.to_string();
        }
        if let Some(words) = schema["enum"].as_array() {
            return words.iter().map(Value::to_string).collect::<Vec<_>>().join(" or ");
        }
        if let Some(alternatives) = schema["oneOf"].as_array() {
            return alternatives.iter().map(|either| self.kind(either)).collect::<Vec<_>>().join(" or ");
        }
        let names: Vec<&str> = match &schema["type"] {
            Value::Array(several) => several.iter().map(text).collect(),
            one => vec![one.as_str().unwrap_or("object")],
        };
        let named = |name: &&str| match *name {
            "array" => format!("list of {}{}", self.kind(&schema["items"]), range(schema, "minItems", "maxItems", " entries")),
            "string" => match schema["format"].as_str() {
                Some(format) => format!("string ({format})"),
                None => format!("string{}", range(schema, "minLength", "maxLength", " characters")),
            },
            "integer" => format!("integer{}", range(schema, "minimum", "maximum", "")),
            other => other.to_owned(),
        };
        names.iter().map(named).collect::<Vec<_>>().join(" or ")
    }

    /// A value that shows what is meant: what an object requires, or all it has where it requires nothing.
    pub(super) fn sample(&self, schema: &'a Value) -> Value {
        let schema = self.resolve(schema);
        if let Some(example) = schema["examples"].get(0).or_else(|| schema["enum"].get(0)).or_else(|| schema.get("const")) {
            return example.clone();
        }
        if let Some(first) = schema["oneOf"].get(0) {
            return self.sample(first);
        }
        let kind = schema["type"].as_str().or_else(|| schema["type"][0].as_str());
        match kind {
            Some("object") => Value::Object(self.sample_object(schema)),
            Some("array") => json!([self.sample(&schema["items"])]),
            Some("integer") => schema["maximum"].clone(),
            Some("boolean") => json!(true),
            _ => json!("…"),
        }
    }

    fn sample_object(&self, schema: &'a Value) -> Map<String, Value> {
        let required: Vec<&str> = items(&schema["required"]).map(text).collect();
        let properties = schema["properties"].as_object().into_iter().flatten();
        let wanted = properties.filter(|(name, _)| required.is_empty() || required.contains(&name.as_str()));
        wanted.map(|(name, property)| (name.clone(), self.sample(property))).collect()
    }
}

/// ` of 1 to 100 characters`, as far as there are bounds.
fn range(schema: &Value, least: &str, most: &str, of: &str) -> String {
    match (schema[least].as_u64(), schema[most].as_u64()) {
        (Some(least), Some(most)) => format!(", {least} to {most}{of}"),
        (Some(least), None) => format!(", at least {least}{of}"),
        (None, Some(most)) => format!(", at most {most}{of}"),
        (None, None) => String::new(),
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}
