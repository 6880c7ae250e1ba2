//! schemathesis is told which of its findings are none. An operation of operators is answered 400 where a session lacks its
//! organization and a deployment key would not: whoever adds one says so, or CI finds it an hour later.

use std::fs;

use super::repository;

#[test]
fn operations_of_operators_are_expected_to_answer_400() {
    let description = fs::read_to_string(repository("tenant-auth-core/openapi.json")).expect("the description");
    let description: serde_json::Value = serde_json::from_str(&description).expect("JSON");
    let told = fs::read_to_string(repository("tests/schemathesis/schemathesis.toml")).expect("the configuration");
    let allowed: String = told.split("[[operations]]").filter(|part| part.contains("\"400\"")).collect();
    let paths = description["paths"].as_object().expect("paths");
    let mut seen = 0;
    for (path, operations) in paths.iter().filter(|(path, _)| path.starts_with("/admin/")) {
        for operation in operations.as_object().expect("operations").values() {
            let Some(id) = operation["operationId"].as_str() else { continue };
            seen += 1;
            assert!(allowed.contains(&format!("\"{id}\"")), "{path}: name {id} in tests/schemathesis/schemathesis.toml");
        }
    }
    assert!(seen > 5, "the operators' operations are found");
}
