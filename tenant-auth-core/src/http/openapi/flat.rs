//! Schemas as generators of clients need them: an object that is made of parts (`allOf`) becomes one object, and a schema that
//! nothing refers to any more is left out. Generators make a type of each part otherwise, and some give up on a choice between
//! objects that are made of parts (behaviour.md, B210).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

const SCHEMAS: &str = "#/components/schemas/";

/// The schemas, each without `allOf`.
pub(super) fn flattened(schemas: &BTreeMap<String, Value>) -> Map<String, Value> {
    schemas.iter().map(|(name, schema)| (name.clone(), flat(schema, schemas))).collect()
}

fn flat(schema: &Value, all: &BTreeMap<String, Value>) -> Value {
    match schema {
        Value::Object(fields) => {
            let mut whole = Map::new();
            for part in fields.get("allOf").and_then(Value::as_array).into_iter().flatten() {
                if let Value::Object(part) = flat(resolved(part, all), all) {
                    join(&mut whole, part);
                }
            }
            let own = fields.iter().filter(|(name, _)| *name != "allOf");
            join(&mut whole, own.map(|(name, value)| (name.clone(), flat(value, all))).collect());
            only_value(&mut whole);
            Value::Object(whole)
        }
        Value::Array(items) => items.iter().map(|item| flat(item, all)).collect(),
        other => other.clone(),
    }
}

fn resolved<'a>(schema: &'a Value, all: &'a BTreeMap<String, Value>) -> &'a Value {
    let name = schema["$ref"].as_str().and_then(|reference| reference.strip_prefix(SCHEMAS));
    name.and_then(|name| all.get(name)).unwrap_or(schema)
}

/// Adds a part: its fields and what it requires beside those that are there, everything else in their place.
fn join(whole: &mut Map<String, Value>, part: Map<String, Value>) {
    for (name, value) in part {
        match (whole.get_mut(&name), value) {
            (Some(Value::Object(known)), Value::Object(more)) if name == "properties" => known.extend(more),
            (Some(Value::Array(known)), Value::Array(more)) if name == "required" => {
                let both: BTreeSet<String> = known.iter().chain(&more).filter_map(|it| it.as_str().map(str::to_owned)).collect();
                *known = both.into_iter().map(Value::from).collect();
            }
            (_, value) => drop(whole.insert(name, value)),
        }
    }
}

/// A choice of one is a constant: generators tell the alternatives of an answer by it.
fn only_value(schema: &mut Map<String, Value>) {
    let only = match schema.get("enum").and_then(Value::as_array).map(Vec::as_slice) {
        Some([only]) => only.clone(),
        _ => return,
    };
    schema.remove("enum");
    schema.insert("const".to_owned(), only);
}

/// Leaves out the schemas that nothing refers to, also those that only such schemas refer to.
pub(super) fn keep_what_is_named(document: &mut Value) {
    let schemas = document["components"]["schemas"].take();
    let mut waiting = names_in(document);
    let mut kept = Map::new();
    while let Some(name) = waiting.pop_first() {
        if let Some(schema) = schemas.get(&name)
            && !kept.contains_key(&name)
        {
            waiting.append(&mut names_in(schema));
            kept.insert(name, schema.clone());
        }
    }
    document["components"]["schemas"] = json!(kept);
}

/// The names of the schemas that are referred to.
fn names_in(value: &Value) -> BTreeSet<String> {
    match value {
        Value::Object(fields) => {
            let own = fields.get("$ref").and_then(Value::as_str).and_then(|reference| reference.strip_prefix(SCHEMAS));
            fields.values().flat_map(names_in).chain(own.map(str::to_owned)).collect()
        }
        Value::Array(items) => items.iter().flat_map(names_in).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => BTreeSet::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_become_one_object_and_what_nobody_names_is_gone() {
        let schemas = BTreeMap::from([
            ("Tokens".to_owned(), json!({ "type": "object", "properties": { "a": {} }, "required": ["a"] })),
            (
                "Whole".to_owned(),
                json!({ "description": "Both.", "allOf": [
                    { "$ref": "#/components/schemas/Tokens" },
                    { "type": "object", "properties": { "b": { "enum": [true] } }, "required": ["b"] },
                ] }),
            ),
        ]);
        let flat = flattened(&schemas);
        let whole = json!({
            "type": "object", "description": "Both.", "required": ["a", "b"],
            "properties": { "a": {}, "b": { "const": true } },
        });
        assert_eq!(flat["Whole"], whole);
        let mut document = json!({
            "paths": { "/": { "$ref": "#/components/schemas/Whole" } },
            "components": { "schemas": flat },
        });
        keep_what_is_named(&mut document);
        assert_eq!(document["components"]["schemas"], json!({ "Whole": whole }));
    }
}
