//! The API documentation as an HTML page, rendered here and complete without its script, which searches it and tries operations out. It
//! is made from the document alone, so that the two cannot differ, and loads nothing from another host.

use minijinja::{Environment, HtmlEscape, value::Serde};
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    operation::CODES,
    page_fields::{Field, Resolver},
};
use crate::error::Error;

/// The page's style; `/docs.css`.
pub(crate) const STYLE: &str = include_str!("page.css");

/// What searches the page and tries operations out; `/docs.js`.
pub(crate) const SCRIPT: &str = include_str!("page.js");

const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// All of it.
#[derive(Serialize)]
struct PageValues<'a> {
    title: &'a str,
    version: &'a str,
    /// In paragraphs.
    about: Vec<&'a str>,
    groups: Vec<Group<'a>>,
}

/// The operations of one tag.
#[derive(Serialize)]
struct Group<'a> {
    name: &'a str,
    about: &'a str,
    operations: Vec<OperationView<'a>>,
}

/// One operation.
#[derive(Serialize)]
struct OperationView<'a> {
    id: &'a str,
    method: String,
    path: &'a str,
    summary: &'a str,
    description: &'a str,
    /// What a request brings to say who asks; any one of them.
    credentials: Vec<String>,
    parts: Vec<Part>,
    refusals: Vec<RefusalsOfStatus<'a>>,
    curl: String,
    /// A body to begin with, as text; `None` where there is none.
    sample: Option<String>,
    /// Whether a browser can try it: with a session or as anybody, never with a key, which belongs on a server; and what is answered is JSON.
    tried: bool,
}

/// Parameters, a body, or what success answers with.
#[derive(Serialize)]
struct Part {
    title: String,
    about: String,
    fields: Vec<Field>,
}

#[derive(Serialize)]
struct RefusalsOfStatus<'a> {
    status: &'a str,
    codes: Vec<&'a str>,
    retry_after: bool,
}

/// The page as HTML.
pub(crate) fn render(document: &Value) -> Result<String, Error> {
    let reader = Reader { document, types: Resolver { document } };
    let info = &document["info"];
    let values = PageValues {
        title: text(&info["title"]),
        version: text(&info["version"]),
        about: text(&info["description"]).split("\n\n").collect(),
        groups: items(&document["tags"]).map(|tag| reader.group(tag)).collect(),
    };
    let values: minijinja::Value = Serde(values).into();
    let mut environment = Environment::new();
    environment.add_filter("inline", inline);
    environment.render_named_str("page.html", include_str!("page.html"), &values).map_err(Error::internal)
}

/// A text in which code stands between backticks, as HTML.
fn inline(text: &str) -> minijinja::Value {
    let mut html = String::with_capacity(text.len());
    let parts: Vec<&str> = text.split('`').collect();
    let last = parts.len() - 1;
    for (at, part) in parts.into_iter().enumerate() {
        let escaped = HtmlEscape(part);
        match at % 2 {
            0 => html.push_str(&escaped.to_string()),
            _ if at == last => html.push_str(&format!("`{escaped}")),
            _ => html.push_str(&format!("<code>{escaped}</code>")),
        }
    }
    minijinja::Value::from_safe_string(html)
}

struct Reader<'a> {
    document: &'a Value,
    types: Resolver<'a>,
}

impl<'a> Reader<'a> {
    fn group(&self, tag: &'a Value) -> Group<'a> {
        let name = text(&tag["name"]);
        let paths = self.document["paths"].as_object().into_iter().flatten();
        let all = paths.flat_map(|(path, item)| METHODS.iter().map(move |method| (*method, path.as_str(), &item[*method])));
        let ours = all.filter(|(_, _, operation)| operation["tags"][0] == name);
        let operations = ours.map(|(method, path, operation)| self.operation(method, path, operation)).collect();
        Group { name, about: text(&tag["description"]), operations }
    }

    fn operation(&self, method: &str, path: &'a str, operation: &'a Value) -> OperationView<'a> {
        let parameters: Vec<&Value> = items(&operation["parameters"]).map(|it| self.types.resolve(it)).collect();
        let responses = || operation["responses"].as_object().into_iter().flatten();
        let (succeed, refuse): (Vec<_>, Vec<_>) = responses().partition(|(status, _)| status.starts_with('2'));
        OperationView {
            id: text(&operation["operationId"]),
            method: method.to_uppercase(),
            path,
            summary: text(&operation["summary"]),
            description: text(&operation["description"]),
            credentials: items(&operation["security"]).filter_map(|either| self.credential(either)).collect(),
            curl: self.curl(method, path, operation, &parameters),
            sample: self.sample(operation).map(|sample| format!("{sample:#}")),
            tried: self.is_for_browsers(operation),
            parts: self
                .parameters(&parameters)
                .into_iter()
                .chain(operation.get("requestBody").map(|body| self.body(body)))
                .chain(succeed.into_iter().map(|(status, response)| self.answer(status, response)))
                .collect(),
            refusals: refuse.into_iter().map(|(status, response)| self.refusals(status, response)).collect(),
        }
    }

    fn parameters(&self, parameters: &[&'a Value]) -> Option<Part> {
        let fields: Vec<Field> = parameters.iter().map(|parameter| self.types.parameter(parameter)).collect();
        (!fields.is_empty()).then(|| Part { title: "Parameters".to_owned(), about: String::new(), fields })
    }

    fn body(&self, body: &'a Value) -> Part {
        let fields = self.types.fields(&body["content"]["application/json"]["schema"]);
        Part { title: "Body".to_owned(), about: text(&body["description"]).to_owned(), fields }
    }

    fn answer(&self, status: &str, response: &'a Value) -> Part {
        let content = response["content"].as_object().into_iter().flatten().next();
        let (content_type, schema) = content.map_or(("", &Value::Null), |(kind, content)| (kind, &content["schema"]));
        let data = &schema["properties"]["data"];
        let fields = self.types.fields(if data.is_null() { schema } else { data });
        let cookies = response["headers"]["Set-Cookie"]["description"].as_str();
        let about = [Some(content_type), cookies].into_iter().flatten().collect::<Vec<_>>().join(". Cookies: ");
        Part { title: format!("Answer {status}"), about, fields }
    }

    fn refusals(&self, status: &'a str, response: &'a Value) -> RefusalsOfStatus<'a> {
        let response = self.types.resolve(response);
        let codes = &response[CODES];
        let retry_after = response["headers"].get("Retry-After").is_some();
        RefusalsOfStatus { status, codes: items(codes).filter_map(Value::as_str).collect(), retry_after }
    }

    fn scheme(&self, either: &'a Value) -> Option<(&'a Value, &'a Value)> {
        let (name, scopes) = either.as_object()?.iter().next()?;
        Some((&self.document["components"]["securitySchemes"][name], scopes))
    }

    fn credential(&self, either: &'a Value) -> Option<String> {
        let (scheme, scopes) = self.scheme(either)?;
        let name = text(&scheme["name"]);
        Some(match text(&scheme["in"]) {
            "cookie" => format!("cookie {name}"),
            "header" => format!("{name} with the scope {}", items(scopes).map(text).collect::<Vec<_>>().join(", ")),
            _ => "Authorization: Bearer".to_owned(),
        })
    }

    /// A command that works once its variables are set.
    fn curl(&self, method: &str, path: &str, operation: &'a Value, parameters: &[&Value]) -> String {
        let server = text(&self.document["servers"][0]["url"]);
        let path: String = path
            .chars()
            .map(|c| {
                if c == '{' {
                    '<'
                } else if c == '}' {
                    '>'
                } else {
                    c
                }
            })
            .collect();
        let mut lines = vec![match method {
            "get" => format!("curl '{server}{path}'"),
            _ => format!("curl -X {} '{server}{path}'", method.to_uppercase()),
        }];
        if parameters.iter().any(|parameter| parameter["name"] == "X-Org-Slug") {
            lines.push("-H 'X-Org-Slug: acme'".to_owned());
        }
        // A program has the token as a Bearer; where only a cookie will do, it is sent as one.
        let schemes = || items(&operation["security"]).filter_map(|either| self.scheme(either)).map(|(scheme, _)| scheme);
        let scheme = schemes().find(|scheme| scheme["type"] == "http").or_else(|| schemes().next());
        lines.extend(scheme.map(|scheme| match (text(&scheme["in"]), text(&scheme["name"])) {
            ("cookie", name) => format!("-b \"{name}=${}\"", name.to_uppercase()),
            ("header", name) => format!("-H \"{name}: $API_KEY\""),
            _ => "-H \"Authorization: Bearer $ACCESS_TOKEN\"".to_owned(),
        }));
        if let Some(sample) = self.sample(operation).filter(|sample| *sample != json!({})) {
            lines.push("-H 'Content-Type: application/json'".to_owned());
            lines.push(format!("-d '{}'", sample.to_string().replace('\'', "'\\''")));
        }
        lines.join(" \\\n  ")
    }

    fn is_for_browsers(&self, operation: &'a Value) -> bool {
        let mut schemes = items(&operation["security"])
            .filter_map(|either| self.scheme(either))
            .map(|(scheme, _)| text(&scheme["in"]))
            .peekable();
        let is_entered = schemes.peek().is_none() || schemes.any(|place| place == "cookie");
        let answers = operation["responses"].as_object().into_iter().flatten().filter(|(status, _)| status.starts_with('2'));
        let is_json = |content: &Value| content.as_object().is_none_or(|kinds| kinds.keys().all(|kind| kind == "application/json"));
        is_entered && answers.map(|(_, response)| &response["content"]).all(is_json)
    }

    /// A body to begin with.
    fn sample(&self, operation: &Value) -> Option<Value> {
        let body = operation.get("requestBody")?;
        Some(self.types.sample(&body["content"]["application/json"]["schema"]))
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}
