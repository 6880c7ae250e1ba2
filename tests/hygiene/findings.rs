//! schemathesis is told which of its findings are none. An operation that a deployment key may ask without an organization's slug is answered
//! 400 where another caller lacks it: whoever adds one says so, or CI finds it an hour later.

use std::fs;

use super::repository;

#[test]
fn operations_that_not_everybody_may_ask_without_a_slug_are_expected_to_answer_400() {
    let description = fs::read_to_string(repository("tenant-auth-core/openapi.json")).expect("the description");
    let description: serde_json::Value = serde_json::from_str(&description).expect("JSON");
    let told = fs::read_to_string(repository("tests/schemathesis/schemathesis.toml")).expect("the configuration");
    let allowed: String = told.split("[[operations]]").filter(|part| part.contains("\"400\"")).collect();
    let paths = description["paths"].as_object().expect("paths");
    let mut seen = 0;
    for (path, operations) in paths {
        for operation in operations.as_object().expect("operations").values().filter(|operation| may_lack_the_slug(operation)) {
            let Some(id) = operation["operationId"].as_str() else { continue };
            seen += 1;
            assert!(allowed.contains(&format!("\"{id}\"")), "{path}: name {id} in tests/schemathesis/schemathesis.toml");
        }
    }
    assert!(seen > 5, "the operators' operations are found");
}

fn may_lack_the_slug(operation: &serde_json::Value) -> bool {
    let is_of_some = |parameter: &serde_json::Value| {
        parameter["$ref"].as_str().is_some_and(|named| named.starts_with("#/components/parameters/OrgSlugOf"))
    };
    operation["parameters"].as_array().is_some_and(|parameters| parameters.iter().any(is_of_some))
}
