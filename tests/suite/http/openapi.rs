//! `/openapi.json` and `/docs`. That the document is true is not judged here: every answer to every scenario is held against it.

use tenant_auth_conformance::{App, BASE, PUBLIC_URL, promises, routes, scenarios};

scenarios![
    the_document_is_plain_json_and_names_this_server,
    it_describes_every_row_and_nothing_else,
    the_page_is_complete_and_runs_what_is_ours_alone,
    the_documents_need_no_organization_and_no_session,
];

async fn the_document_is_plain_json_and_names_this_server(app: &App) {
    let answer = app.anonymous().without_slug().get("/openapi.json").await.expect(200);
    let mut document = answer.json().clone();
    assert_eq!(document["openapi"], "3.1.0");
    assert_eq!(document["servers"][0]["url"], format!("{PUBLIC_URL}{BASE}"));
    document["servers"] = promises::document()["servers"].clone();
    assert_eq!(document, *promises::document(), "the served document is the library's");
}

async fn it_describes_every_row_and_nothing_else(app: &App) {
    let document = app.anonymous().get("/openapi.json").await.expect(200).json().clone();
    let paths = document["paths"].as_object().expect("paths");
    let mut described: Vec<String> = paths
        .iter()
        .flat_map(|(path, item)| {
            item.as_object().into_iter().flatten().map(move |(method, _)| format!("{} {path}", method.to_uppercase()))
        })
        .collect();
    let mut rows: Vec<String> = routes::table().iter().map(|row| format!("{} {}", row.method, row.template)).collect();
    described.sort();
    rows.sort();
    assert_eq!(described, rows);
}

async fn the_page_is_complete_and_runs_what_is_ours_alone(app: &App) {
    let page = app.anonymous().without_slug().get("/docs").await.expect(200);
    let policy = page.header("Content-Security-Policy").expect("a policy");
    for rule in ["default-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"] {
        assert!(policy.contains(rule), "{policy}");
    }
    assert!(!policy.contains("unsafe"), "{policy}");
    assert_eq!(page.header("Referrer-Policy"), Some("no-referrer"));
    assert!(page.body.starts_with("<!doctype html>") && page.body.ends_with("</html>"), "{}", page.body);
    assert_eq!(page.body.matches("<script").count(), 1, "one script, and none that is written into the page");
    assert!(
        page.body.contains("<script src=\"docs.js\" defer></script>") && !page.body.contains(" style="),
        "nothing the policy would stop"
    );
    let prose: String = page.body.split("<pre").map(|part| part.split_once("</pre>").map_or(part, |(_, rest)| rest)).collect();
    assert!(prose.contains("<code>") && !prose.contains('`'), "code is marked as code");
    // Relative, so that it is found behind any prefix.
    assert!(page.body.contains("<link rel=\"stylesheet\" href=\"docs.css\">"));
    let style = app.anonymous().without_slug().get("/docs.css").await.expect(200);
    assert_eq!(style.header("Content-Type"), Some("text/css; charset=utf-8"));
    let script = app.anonymous().without_slug().get("/docs.js").await.expect(200);
    assert_eq!(script.header("Content-Type"), Some("text/javascript; charset=utf-8"));
}

async fn the_documents_need_no_organization_and_no_session(app: &App) {
    for path in ["/openapi.json", "/docs", "/docs.css", "/docs.js"] {
        app.anonymous().without_slug().get(path).await.expect(200);
        app.anonymous().at_org("No Slug!").get(path).await.expect(200);
        app.anonymous().with("X-API-Key", "nonsense").get(path).cookies("access_token=x").await.expect(200);
        app.anonymous().without_slug().request("POST", path).await.expect_error(405, "method_not_allowed");
    }
}
