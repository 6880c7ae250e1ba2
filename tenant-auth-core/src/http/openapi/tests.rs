//! Tests of the OpenAPI document: against the route table, and against itself.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{derived, document, page};
use crate::http::{route::Describing, routes, table::table};

/// Where the document is kept for readers and for generators of clients.
const KEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/openapi.json");
const REFRESH: &str =
    "Refresh it:\n  TENANT_AUTH_REFRESH_GUIDES=1 cargo test -p tenant-auth-core --all-features --lib kept_document";

fn whole() -> Value {
    derived("/api/v1")
}

#[test]
fn every_operation_has_an_id_of_its_own_and_something_to_say() {
    let mut ids = BTreeSet::new();
    for row in routes() {
        let words = row.words();
        assert!(ids.insert(words.id), "{row:?}: the operationId {} stands for two operations", words.id);
        assert!(![words.id, words.summary, words.description].contains(&""), "{row:?} says nothing of itself");
    }
}

#[test]
fn no_two_types_share_a_name() {
    let (_, conflicts) = document::operations(&table::<Describing>()).schemas.finish();
    assert!(conflicts.is_empty(), "rename one of each pair of types, or do not use one for requests and answers: {conflicts:?}");
}

/// As openapi-python-client, openapi-typescript and @hey-api/openapi-ts form the names of an operation's own types.
#[test]
fn no_schema_has_the_name_of_a_type_that_generators_make_of_an_operation() {
    let document = whole();
    let mut ids = Vec::new();
    visit(&document, &mut |value| ids.extend(value["operationId"].as_str().map(str::to_lowercase)));
    let suffixes = ["", "data", "body", "error", "errors", "response", "responses", "response200", "response201", "response202"];
    for name in document["components"]["schemas"].as_object().into_iter().flatten().map(|(name, _)| name.to_lowercase()) {
        let taken = |id: &&String| name.strip_prefix(id.as_str()).is_some_and(|rest| suffixes.contains(&rest));
        assert_eq!(ids.iter().find(taken), None, "{name}: give the type another name with #[schema(as = …)]");
    }
}

#[test]
fn every_object_is_flat_and_every_choice_has_names() {
    let document = whole();
    visit(&document, &mut |value| assert!(value.get("allOf").is_none(), "{value}"));
    for (name, schema) in document["components"]["schemas"].as_object().into_iter().flatten() {
        for either in schema["oneOf"].as_array().into_iter().flatten() {
            assert!(either["$ref"].is_string(), "{name}: {either}");
        }
    }
}

#[test]
fn every_reference_leads_somewhere_and_nothing_is_kept_for_nobody() {
    let document = whole();
    let mut references = BTreeSet::new();
    visit(&document, &mut |value| {
        references.extend(value["$ref"].as_str().map(str::to_owned));
    });
    for reference in &references {
        let pointer = reference.trim_start_matches('#');
        assert!(document.pointer(pointer).is_some(), "{reference} leads nowhere: derive ToSchema for what it names");
    }
    for kind in ["schemas", "responses", "parameters", "headers"] {
        for name in document["components"][kind].as_object().into_iter().flatten().map(|(name, _)| name) {
            let reference = format!("#/components/{kind}/{name}");
            assert!(references.contains(&reference), "nothing refers to {reference}");
        }
    }
}

#[test]
fn every_parameter_of_a_path_is_described() {
    let document = whole();
    for row in routes() {
        let operation = &document["paths"][row.path][row.method.as_str().to_lowercase()];
        let described = operation["parameters"].as_array().into_iter().flatten().filter(|parameter| parameter["in"] == "path");
        assert_eq!(
            described.count(),
            row.path.matches('{').count(),
            "{row:?}: the types of the path are not those of its template"
        );
    }
}

#[test]
fn only_documents_sign_up_and_the_report_of_a_leaked_key_name_no_organization() {
    let document = whole();
    for row in routes() {
        let operation = &document["paths"][row.path][row.method.as_str().to_lowercase()];
        let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
        let takes = |name: &str| parameters.iter().any(|parameter| parameter["$ref"] == format!("#/components/parameters/{name}"));
        // A deployment key names none.
        let is_operators = row.path.starts_with("/admin/");
        let exempt = [
            "/.well-known/jwks.json",
            "/.well-known/audit-keys.json",
            "/openapi.json",
            "/docs",
            "/docs.css",
            "/docs.js",
            "/keys/leaked",
            "/logo",
        ]
        .contains(&row.path)
            || row.path.starts_with("/auth/sign-up");
        let may_be_of_all = row.path == "/public/changes";
        assert_eq!(takes("OrgSlug"), !exempt && !is_operators && !may_be_of_all, "{row:?}");
        assert_eq!(takes("OrgSlugOfOne"), may_be_of_all, "{row:?}");
        assert_eq!(takes("OrgSlugOfSession"), is_operators, "{row:?}");
    }
}

#[test]
fn descriptions_are_for_callers_and_not_for_readers_of_rust() {
    visit(&whole(), &mut |value| {
        if let Some(text) = value["description"].as_str() {
            let rust = ["[`", "`None`", "`Some", "`Self", "::"];
            assert!(!rust.iter().any(|word| text.contains(word)), "this stands in the document: {text}");
        }
    });
}

#[test]
fn the_page_shows_every_operation() {
    let html = page::render(&whole()).expect("it renders");
    for row in routes() {
        assert!(html.contains(&format!("<article id=\"{}\" ", row.words().id)), "{row:?}");
    }
    for forbidden in ["<style", " style=", "javascript:", "http-equiv"] {
        assert!(!html.contains(forbidden), "{forbidden}");
    }
    assert_eq!(html.matches("<script").count(), 1, "that of the page, and none that is written into it");
}

#[test]
fn the_kept_document_is_the_current_one() {
    let current = format!("{:#}\n", whole());
    if std::env::var_os("TENANT_AUTH_REFRESH_GUIDES").is_some() {
        std::fs::write(KEPT, &current).expect("the document can be written");
    }
    let kept = std::fs::read_to_string(KEPT).unwrap_or_default();
    assert!(kept == current, "tenant-auth-core/openapi.json is stale. {REFRESH}");
}

#[test]
fn the_document_is_the_kept_one_at_its_own_address() {
    let mut document = super::document("https://auth.example.com/api/v1");
    assert_eq!(document["servers"][0]["url"], "https://auth.example.com/api/v1");
    document["servers"][0]["url"] = "/api/v1".into();
    assert!(document == whole(), "a build packs what the repository keeps");
}

fn visit(value: &Value, look: &mut impl FnMut(&Value)) {
    look(value);
    match value {
        Value::Object(fields) => fields.values().for_each(|inner| visit(inner, look)),
        Value::Array(items) => items.iter().for_each(|inner| visit(inner, look)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
