//! The operations of a deployment: what its own OpenAPI document publishes, together with what this program knows. A document that
//! leaves an operation out hides nothing so.

use std::collections::BTreeMap;

use serde_json::Value;
use tenant_auth_core::http::openapi;

use super::ask::{Ask, Service};
use crate::failure::Failure;

/// Who may call an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opens {
    /// Anybody, or whoever holds a secret of the request itself.
    Anybody,
    /// Whoever has a session.
    Session,
    /// A token between two steps: of a refresh or of a login's second step.
    Passage,
    /// A backend with an API key.
    Key,
}

/// What a request carries beside its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Carries {
    Nothing,
    /// A body that may be left out.
    OptionalBody,
    Body,
}

/// One operation.
#[derive(Debug)]
pub(super) struct Operation {
    /// `GET`
    pub(super) method: String,
    /// `/org/members/{userId}`
    pub(super) path: String,
    pub(super) opens: Opens,
    pub(super) carries: Carries,
    /// Whether this program knows it, and so what is safe to send.
    pub(super) is_known: bool,
}

/// All of them.
#[derive(Debug)]
pub(super) struct Operations {
    pub(super) all: Vec<Operation>,
    /// The version that the deployment's document states.
    pub(super) version: String,
    /// What this program has and the deployment does not publish.
    pub(super) unpublished: Vec<String>,
}

impl Operation {
    /// `GET /org/members/{userId}`
    pub(super) fn name(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    pub(super) fn reads(&self) -> bool {
        self.method == "GET"
    }

    /// Whether the path names something of an organization.
    pub(super) fn names_something(&self) -> bool {
        self.path.contains('{')
    }
}

/// Reads the operations of a deployment.
///
/// # Errors
/// [`Failure::Unchecked`] when it publishes no document.
pub(super) async fn of(service: &Service) -> Result<Operations, Failure> {
    let live = document(service).await?;
    let version = live["info"]["version"].as_str().unwrap_or_default().to_owned();
    let (known, published) = (operations_in(&openapi::document("/"), true), operations_in(&live, false));
    let unpublished = known.keys().filter(|name| !published.contains_key(*name)).cloned().collect();
    let mut all = published;
    all.extend(known);
    Ok(Operations { all: all.into_values().collect(), version, unpublished })
}

/// The deployment's document.
///
/// # Errors
/// [`Failure::Unchecked`] when it has none.
pub(super) async fn document(service: &Service) -> Result<Value, Failure> {
    let unchecked = |why: String| Failure::Unchecked(format!("{}/openapi.json cannot be read: {why}", service.base()));
    let answer = service.answer(&Ask::new("GET", "/openapi.json")).await.map_err(unchecked)?;
    let document: Value = serde_json::from_str(&answer.text).map_err(|error| unchecked(error.to_string()))?;
    match document["paths"].is_object() {
        true => Ok(document),
        false => Err(unchecked(format!("the answer was {} without operations", answer.status))),
    }
}

fn operations_in(document: &Value, is_known: bool) -> BTreeMap<String, Operation> {
    let paths = document["paths"].as_object().into_iter().flatten();
    let of_path = |(path, methods): (&String, &Value)| {
        let methods = methods.as_object().into_iter().flatten().filter(|(_, operation)| operation["responses"].is_object());
        let operations = methods.map(|(method, operation)| Operation {
            method: method.to_uppercase(),
            path: path.clone(),
            opens: opens(operation),
            carries: carries(operation),
            is_known,
        });
        operations.collect::<Vec<_>>()
    };
    paths.flat_map(of_path).map(|operation| (operation.name(), operation)).collect()
}

fn opens(operation: &Value) -> Opens {
    let schemes: Vec<&str> = operation["security"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|one| one.as_object()?.keys().next().map(String::as_str))
        .collect();
    match schemes {
        schemes if schemes.is_empty() => Opens::Anybody,
        schemes if schemes.contains(&"apiKey") => Opens::Key,
        schemes if schemes.iter().any(|scheme| ["accessCookie", "bearer"].contains(scheme)) => Opens::Session,
        _ => Opens::Passage,
    }
}

fn carries(operation: &Value) -> Carries {
    match &operation["requestBody"] {
        Value::Null => Carries::Nothing,
        body if body["required"] == true => Carries::Body,
        _ => Carries::OptionalBody,
    }
}
