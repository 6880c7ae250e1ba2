//! Route coverage: the product's own route table, and a record of what the scenarios saw of it. Afterwards each row must have been
//! visited on each adapter, and each status must be one that its row declares: so code, table and tests cannot drift apart.

use std::{
    collections::BTreeSet,
    sync::{LazyLock, Mutex},
};

use crate::{Adapter, BASE, promises};

/// A row of the table.
#[derive(Debug, Clone)]
pub struct Route {
    /// `GET`, `POST`, …
    pub method: String,
    /// The path under [`BASE`], with parameters in braces.
    pub template: String,
    /// Every status the row may answer.
    pub statuses: Vec<u16>,
    segments: Vec<Segment>,
}

/// What stands between two slashes of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Segment {
    Literal(String),
    Parameter,
}

static TABLE: LazyLock<Vec<Route>> = LazyLock::new(read_table);
static SEEN: Mutex<BTreeSet<Visit>> = Mutex::new(BTreeSet::new());

/// Who answered, the row's method and template, and the status.
type Visit = (Adapter, &'static str, &'static str, u16);

/// The whole table.
pub fn table() -> &'static [Route] {
    &TABLE
}

impl Route {
    /// A path that leads here, each parameter replaced by `value`.
    pub fn path_with(&self, value: &str) -> String {
        let segments = self.template.split('/').map(|segment| if segment.starts_with('{') { value } else { segment });
        segments.collect::<Vec<_>>().join("/")
    }

    /// Whether it lies under `/public`.
    pub fn is_public(&self) -> bool {
        self.template.starts_with("/public/")
    }

    /// Whether the product may call it as an org_admin of any organization, by a deployment key with the scope `admin`.
    pub fn is_for_admins_by_key(&self) -> bool {
        /// What people do for themselves, and what asks for no session.
        const OTHERS: [&str; 4] = ["/org/appearance", "/org/leave", "/org/invites/preview", "/org/invites/{token}/accept"];
        let is_organizations = self.template == "/org" || self.template.starts_with("/org/");
        is_organizations && !OTHERS.contains(&self.template.as_str())
    }

    /// Whether it takes no `X-Org-Slug`.
    pub fn is_exempt(&self) -> bool {
        matches!(
            self.template.as_str(),
            "/.well-known/jwks.json"
                | "/.well-known/audit-keys.json"
                | "/openapi.json"
                | "/docs"
                | "/docs.css"
                | "/docs.js"
                | "/keys/leaked"
                | "/logo"
                | "/auth/sign-up"
                | "/auth/sign-up/preview"
                | "/auth/sign-up/complete"
        )
    }

    /// A path that leads past the look at it: each parameter is an id of the kind it stands for, a slug or a token.
    pub fn plausible_path(&self, user_id: &str) -> String {
        let segments =
            self.template.split('/').map(|segment| match segment.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
                None => segment,
                Some("userId") => user_id,
                Some(parameter) => self.example_of(parameter),
            });
        segments.collect::<Vec<_>>().join("/")
    }

    /// What the OpenAPI document shows as a value of a parameter of the path; nothing of that id exists.
    fn example_of(&self, parameter: &str) -> &'static str {
        let operation = &promises::document()["paths"][&self.template][self.method.to_lowercase()];
        let mut parameters = operation["parameters"].as_array().into_iter().flatten().map(promises::resolved);
        let found = parameters.find(|one| one["in"] == "path" && one["name"] == parameter);
        let example = found.and_then(|one| promises::resolved(&one["schema"])["examples"][0].as_str());
        example.unwrap_or_else(|| panic!("the document has no example of {{{parameter}}} in {}", self.template))
    }

    fn leads(&self, path: &[&str]) -> bool {
        self.segments.len() == path.len() && self.segments.iter().zip(path).all(|(ours, theirs)| ours.takes(theirs))
    }

    fn parameters(&self) -> usize {
        self.segments.iter().filter(|segment| **segment == Segment::Parameter).count()
    }
}

impl Segment {
    fn of(template: &str) -> Self {
        if template.starts_with('{') { Self::Parameter } else { Self::Literal(template.to_owned()) }
    }

    fn takes(&self, segment: &str) -> bool {
        match self {
            Self::Literal(literal) => literal == segment,
            Self::Parameter => !segment.is_empty(),
        }
    }
}

/// The row that a request matches. A literal segment goes before a parameter, for every method: `PATCH /org/members/invite` is no
/// change to a member called `invite`.
pub fn row_for(method: &str, path: &str) -> Option<&'static Route> {
    let method = if method == "HEAD" { "GET" } else { method };
    let path: Vec<_> = path.split('?').next().unwrap_or_default().split('/').collect();
    let template = &table().iter().filter(|row| row.leads(&path)).min_by_key(|row| row.parameters())?.template;
    table().iter().find(|row| row.method == method && row.template == *template)
}

/// Notes what a row answered.
pub(crate) fn record(adapter: Adapter, method: &str, path: &str, status: u16) {
    if let Some(row) = path.strip_prefix(BASE).and_then(|path| row_for(method, path)) {
        let visit = (adapter, row.method.as_str(), row.template.as_str(), status);
        SEEN.lock().unwrap_or_else(std::sync::PoisonError::into_inner).insert(visit);
    }
}

/// The rows that no scenario visited on this adapter.
pub fn unvisited(adapter: Adapter) -> Vec<String> {
    let seen = SEEN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let visited = |row: &Route| {
        seen.iter().any(|(by, method, template, _)| (*by, *method, *template) == (adapter, &*row.method, &*row.template))
    };
    table().iter().filter(|row| !visited(row)).map(|row| format!("{} {}", row.method, row.template)).collect()
}

/// What was answered without having been declared.
pub fn undeclared() -> Vec<String> {
    let seen = SEEN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let declared = |method: &str, template: &str, status: u16| {
        table().iter().any(|row| row.method == method && row.template == template && row.statuses.contains(&status))
    };
    seen.iter()
        .filter(|(_, method, template, status)| !declared(method, template, *status))
        .map(|(adapter, method, template, status)| format!("{adapter}: {method} {template} -> {status}"))
        .collect()
}

/// Which refusals are declared but were never answered; no failure, but worth knowing: a cause may have no scenario.
pub fn unseen() -> Vec<String> {
    let seen = SEEN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let answered = |row: &Route, status: u16| {
        seen.iter().any(|(_, method, template, have)| (*method, *template, *have) == (&*row.method, &*row.template, status))
    };
    table()
        .iter()
        .flat_map(|row| row.statuses.iter().map(move |status| (row, *status)))
        .filter(|(_, status)| *status < 500)
        .filter(|(row, status)| !answered(row, *status))
        .map(|(row, status)| format!("{} {} -> {status}", row.method, row.template))
        .collect()
}

fn read_table() -> Vec<Route> {
    tenant_auth_core::http::routes()
        .map(|row| Route {
            method: row.method.to_string(),
            template: row.path.to_owned(),
            statuses: std::iter::once(row.success()).chain(row.refusals().iter().map(|code| code.status())).collect(),
            segments: row.path.split('/').map(Segment::of).collect(),
        })
        .collect()
}
