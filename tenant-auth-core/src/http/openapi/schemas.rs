//! The schemas of the OpenAPI document: collected from types, and finished by direction. Requests may hold unknown fields and no
//! NUL; answers always have their nullable fields (behaviour.md, B15).

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use utoipa::{
    ToSchema,
    openapi::{Ref, RefOr, Schema},
};

/// What any text of a request must look like.
const NO_NUL: &str = r"^[^\u0000]*$";

/// Schemas by name.
#[derive(Default)]
pub(crate) struct Schemas {
    components: BTreeMap<String, Value>,
    /// Names that stood for two different schemas.
    conflicts: Vec<String>,
}

impl Schemas {
    /// A reference to a type that is the same either way, such as an id.
    pub(crate) fn reference<T: ToSchema>(&mut self) -> RefOr<Schema> {
        self.collect::<T>(|_| ())
    }

    /// A reference to the type of a body that comes in.
    pub(crate) fn request<T: ToSchema>(&mut self) -> RefOr<Schema> {
        self.collect::<T>(|schema| tolerate(schema, None))
    }

    /// The same, whose `token` may be any text at all.
    pub(crate) fn request_with_any_token<T: ToSchema>(&mut self) -> RefOr<Schema> {
        self.collect::<T>(|schema| tolerate(schema, Some("token")))
    }

    /// A reference to the type of what goes out.
    pub(crate) fn answer<T: ToSchema>(&mut self) -> RefOr<Schema> {
        self.collect::<T>(require_nullable)
    }

    /// Adds another's.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.conflicts.extend_from_slice(&other.conflicts);
        for (name, schema) in &other.components {
            self.add(name.clone(), schema.clone());
        }
    }

    /// All of them, and the names that stand for two.
    pub(crate) fn finish(self) -> (BTreeMap<String, Value>, Vec<String>) {
        (self.components, self.conflicts)
    }

    fn collect<T: ToSchema>(&mut self, finish: impl Fn(&mut Value)) -> RefOr<Schema> {
        let mut found = vec![(T::name().into_owned(), T::schema())];
        T::schemas(&mut found);
        for (name, schema) in found {
            let mut schema = json!(schema);
            finish(&mut schema);
            self.add(name, schema);
        }
        RefOr::Ref(Ref::from_schema_name(T::name()))
    }

    /// Adds a schema by name.
    pub(super) fn add(&mut self, name: String, schema: Value) {
        match self.components.get(&name) {
            Some(known) if *known != schema => self.conflicts.push(name),
            Some(_) => {}
            None => drop(self.components.insert(name, schema)),
        }
    }
}

/// Unknown fields are ignored; texts that nothing else is said of must be free of NUL, but for the field `exempt`.
fn tolerate(schema: &mut Value, exempt: Option<&str>) {
    each_object(schema, &mut |object| {
        object.entry("additionalProperties").or_insert(json!(true));
        let Some(Value::Object(properties)) = object.get_mut("properties") else { return };
        for (_, property) in properties.iter_mut().filter(|(name, _)| exempt != Some(name.as_str())) {
            if let Value::Object(property) = property
                && is(property, "string")
                && !["pattern", "enum", "format"].iter().any(|known| property.contains_key(*known))
            {
                property.insert("pattern".to_owned(), json!(NO_NUL));
            }
        }
    });
}

/// What can be null is there.
fn require_nullable(schema: &mut Value) {
    each_object(schema, &mut |object| {
        let Some(Value::Object(properties)) = object.get("properties") else { return };
        let nullable = properties.iter().filter(|(_, property)| may_be_null(property)).map(|(name, _)| name.clone());
        let mut required: Vec<String> = nullable.collect();
        if let Some(Value::Array(known)) = object.get("required") {
            required.extend(known.iter().filter_map(|name| name.as_str().map(str::to_owned)));
        }
        required.sort();
        required.dedup();
        if !required.is_empty() {
            object.insert("required".to_owned(), json!(required));
        }
    });
}

fn may_be_null(schema: &Value) -> bool {
    let alternatives = schema["oneOf"].as_array();
    schema.as_object().is_some_and(|schema| is(schema, "null"))
        || alternatives.is_some_and(|alternatives| alternatives.iter().any(may_be_null))
}

fn is(schema: &Map<String, Value>, kind: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(one)) => one == kind,
        Some(Value::Array(several)) => several.iter().any(|one| one == kind),
        _ => false,
    }
}

/// Visits the schemas of objects, those within others too.
fn each_object(schema: &mut Value, visit: &mut impl FnMut(&mut Map<String, Value>)) {
    match schema {
        Value::Object(object) => {
            object.values_mut().for_each(|inner| each_object(inner, visit));
            if is(object, "object") {
                visit(object);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|inner| each_object(inner, visit)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
