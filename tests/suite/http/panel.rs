//! The admin panel and the hosted pages, as an adapter serves them: which paths there are, what every answer carries, what a
//! browser need not be sent twice, and that the host's own pages stay the host's.

use std::io::Read;

use serde_json::Value;
use tenant_auth_conformance::{App, HOST_404, HOST_ASSET, HOST_PAGE, HOST_TEXT, Raw, exchange, scenarios};
use tenant_auth_core::http::Pages;

scenarios![
    every_page_says_what_a_browser_may_do_with_it,
    a_page_that_has_not_changed_is_not_sent_again,
    what_is_sent_is_packed_where_that_is_understood,
    a_page_and_what_it_loads_are_four_small_files,
    head_answers_like_get_without_a_body,
    another_method_is_405,
    a_host_that_sends_pages_another_path_gets_the_envelope,
    what_is_not_listed_is_the_hosts,
    a_page_names_only_files_that_are_there,
    pages_ask_for_no_organization_and_set_no_cookie,
    a_public_url_with_a_path_moves_every_page,
    only_where_sign_up_is_open_pages_offer_it,
    a_page_speaks_the_language_that_is_asked_for,
    a_catalogue_of_the_operator_adds_a_language_to_the_pages,
];

const PAGES: [&str; 8] = ["/", "/sign-in", "/invite", "/forgot", "/reset", "/verify", "/change-email", "/sign-up"];

async fn ask(app: &App, method: &str, path: &str, headers: &str) -> Raw {
    let head = format!("{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{headers}\r\n", app.address());
    exchange(app.address(), head.as_bytes(), b"", method == "HEAD")
        .await
        .unwrap_or_else(|problem| panic!("{method} {path}: {problem}"))
}

async fn get(app: &App, path: &str) -> Raw {
    ask(app, "GET", path, "").await
}

/// A header's only value.
#[track_caller]
fn header<'a>(raw: &'a Raw, name: &str) -> &'a str {
    let values: Vec<_> = raw.headers.iter().filter(|(have, _)| have.eq_ignore_ascii_case(name)).collect();
    assert_eq!(values.len(), 1, "{name} in {:?}", raw.headers);
    &values[0].1
}

fn text(raw: &Raw) -> &str {
    std::str::from_utf8(&raw.body).expect("text")
}

/// Every path there is.
fn paths(app: &App) -> Vec<String> {
    Pages::new(&app.auth).paths()
}

async fn every_page_says_what_a_browser_may_do_with_it(app: &App) {
    assert!(PAGES.iter().all(|page| paths(app).iter().any(|path| path == page)));
    for path in paths(app) {
        let page = get(app, &path).await;
        assert_eq!(page.status, 200, "{path}");
        let policy = header(&page, "Content-Security-Policy");
        for directive in
            ["default-src 'self'", "img-src 'self' data:", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"]
        {
            assert!(policy.split("; ").any(|have| have == directive), "{path}: {policy}");
        }
        assert!(!policy.contains("unsafe") && !policy.contains('*') && !policy.contains("http"), "{path}: {policy}");
        for (name, value) in [
            ("X-Content-Type-Options", "nosniff"),
            ("Referrer-Policy", "no-referrer"),
            ("X-Frame-Options", "DENY"),
            ("Cross-Origin-Opener-Policy", "same-origin"),
        ] {
            assert_eq!(header(&page, name), value, "{path}");
        }
        assert_eq!(header(&page, "Cache-Control"), "no-cache", "{path}");
        let (one, other) = (header(&page, "X-Request-Id"), get(app, &path).await);
        assert!(one.starts_with("req_") && one != header(&other, "X-Request-Id"), "{path}: {one}");
        assert!(header(&page, "Permissions-Policy").contains("camera=()"));
        let kind = match path.rsplit_once('.') {
            Some((_, "js")) => "text/javascript; charset=utf-8",
            Some((_, "css")) => "text/css; charset=utf-8",
            Some((_, "svg")) => "image/svg+xml",
            _ => "text/html; charset=utf-8",
        };
        assert_eq!(header(&page, "Content-Type"), kind, "{path}");
    }
}

async fn a_page_that_has_not_changed_is_not_sent_again(app: &App) {
    for path in paths(app) {
        let page = get(app, &path).await;
        let tag = header(&page, "ETag").to_owned();
        assert!(tag.starts_with('"') && tag.ends_with('"') && tag.len() > 20, "a strong validator: {tag}");
        for known in [tag.clone(), format!("W/{tag}"), format!("\"other\", {tag}"), "*".to_owned()] {
            let unchanged = ask(app, "GET", &path, &format!("If-None-Match: {known}\r\n")).await;
            assert_eq!((unchanged.status, unchanged.body.len()), (304, 0), "{path}: {known}");
            assert_eq!(header(&unchanged, "ETag"), tag);
            assert!(header(&unchanged, "X-Request-Id").starts_with("req_"));
            assert!(header(&unchanged, "Content-Security-Policy").contains("'self'"));
        }
        let changed = ask(app, "GET", &path, "If-None-Match: \"other\", W/\"another\"\r\n").await;
        assert_eq!(changed.body, page.body, "{path}");
    }
}

async fn what_is_sent_is_packed_where_that_is_understood(app: &App) {
    for path in paths(app) {
        let (whole, packed) = (get(app, &path).await, ask(app, "GET", &path, "Accept-Encoding: br, gzip;q=0.8\r\n").await);
        assert!(
            header(&whole, "Vary").ends_with("Accept-Encoding") && header(&packed, "Vary").ends_with("Accept-Encoding"),
            "{path}"
        );
        assert!(!whole.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-encoding")), "{path}");
        assert_eq!((packed.status, header(&packed, "Content-Encoding")), (200, "gzip"), "{path}");
        assert_ne!(header(&packed, "ETag"), header(&whole, "ETag"), "two texts of {path}");
        let mut unpacked = Vec::new();
        flate2::read::GzDecoder::new(&packed.body[..]).read_to_end(&mut unpacked).expect("gzip");
        assert_eq!(unpacked, whole.body, "{path}");
        let tag = header(&packed, "ETag");
        let known = ask(app, "GET", &path, &format!("Accept-Encoding: gzip\r\nIf-None-Match: {tag}\r\n")).await;
        assert_eq!((known.status, known.body.len(), header(&known, "ETag")), (304, 0, tag), "{path}");
        let refused = ask(app, "GET", &path, "Accept-Encoding: gzip;q=0\r\n").await;
        assert_eq!(refused.body, whole.body, "{path}");
    }
}

async fn a_page_and_what_it_loads_are_four_small_files(app: &App) {
    for page in PAGES {
        let html = ask(app, "GET", page, "Accept-Encoding: gzip\r\n").await;
        // Ten segments: what a server sends before it has heard anything.
        assert!(html.body.len() < 14_000, "{page}: {} bytes", html.body.len());
        let loaded: Vec<String> = assets_of(&get(app, page).await).into_iter().filter(|name| !name.ends_with(".svg")).collect();
        assert_eq!(loaded.len(), 3, "{page}: {loaded:?}");
        let mut bytes = html.body.len();
        for asset in loaded {
            let kept = get(app, &format!("/{asset}")).await;
            assert_eq!(header(&kept, "Cache-Control"), "public, max-age=31536000, immutable", "{asset}");
            // A page of another version of the service.
            let (file, _) = asset.split_once("?v=").expect("a version");
            for other in ["?v=another", "?v=", ""] {
                let page = get(app, &format!("/{file}{other}")).await;
                assert_eq!(
                    (page.status, header(&page, "Cache-Control"), &page.body),
                    (200, "no-cache", &kept.body),
                    "{file}{other}"
                );
            }
            bytes += ask(app, "GET", &format!("/{asset}"), "Accept-Encoding: gzip\r\n").await.body.len();
        }
        assert!(bytes < 80_000, "{page}: {bytes} bytes in all");
    }
}

async fn head_answers_like_get_without_a_body(app: &App) {
    for path in paths(app) {
        let (page, head) = (get(app, &path).await, ask(app, "HEAD", &path, "").await);
        assert_eq!((head.status, head.body.len()), (200, 0), "{path}");
        for name in ["Content-Type", "ETag", "Cache-Control", "Content-Security-Policy"] {
            assert_eq!(header(&head, name), header(&page, name), "{name} of {path}");
        }
    }
}

async fn another_method_is_405(app: &App) {
    for path in paths(app) {
        for method in ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"] {
            let refused = ask(app, method, &path, "Content-Length: 0\r\n").await;
            assert_eq!(refused.status, 405, "{method} {path}");
            assert_eq!((header(&refused, "Allow"), header(&refused, "Cache-Control")), ("GET, HEAD", "no-store"));
            assert_eq!(header(&refused, "Content-Type"), "application/json");
            let envelope: Value = serde_json::from_slice(&refused.body).expect("JSON");
            assert_eq!((&envelope["status"], &envelope["code"]), (&"error".into(), &"method_not_allowed".into()), "{envelope}");
            assert!(header(&refused, "X-Request-Id").starts_with("req_"));
            assert!(header(&refused, "Content-Security-Policy").contains("'self'"));
        }
    }
}

/// A host may route more to the pages than their paths.
async fn a_host_that_sends_pages_another_path_gets_the_envelope(app: &App) {
    let moved = app.beside(|setup| setup.config.public_url = "https://example.com/auth".parse().expect("a URL")).await;
    for path in ["/auth/nothing", "/elsewhere", "/auth/assets/nothing.js"] {
        let request = http::Request::get(path).body(()).expect("a request");
        let answer = Pages::new(&moved.auth).answer(&request);
        let envelope: Value = serde_json::from_slice(answer.body()).expect("JSON");
        assert_eq!((answer.status().as_u16(), &envelope["code"]), (404, &"not_found".into()), "{path}: {envelope}");
        assert_eq!(answer.headers()["cache-control"], "no-store");
        assert!(answer.headers().contains_key("x-request-id") && answer.headers().contains_key("content-security-policy"));
    }
}

async fn what_is_not_listed_is_the_hosts(app: &App) {
    for own in [HOST_PAGE, HOST_ASSET] {
        let page = get(app, own).await;
        assert_eq!((page.status, text(&page)), (200, HOST_TEXT), "{own}");
        assert!(!page.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-security-policy")), "{own}");
    }
    for nothing in [
        "/sign-in/",
        "/sign-in/x",
        "/members",
        "/assets",
        "/assets/",
        "/assets/nothing.js",
        "/panel",
        "/favicon.ico",
        "/api",
        "/API/v1",
    ] {
        let missing = get(app, nothing).await;
        assert_eq!((missing.status, text(&missing)), (404, HOST_404), "{nothing}");
    }
}

/// What a page names.
fn assets_of(page: &Raw) -> Vec<String> {
    text(page).split(['"', '\'']).filter(|word| word.starts_with("assets/")).map(str::to_owned).collect()
}

/// What the pages load is found from each page's address, wherever that is.
async fn a_page_names_only_files_that_are_there(app: &App) {
    for page in PAGES {
        let named = assets_of(&get(app, page).await);
        assert!(named.len() >= 4, "{page}: two scripts, styles and an icon");
        for file in named {
            assert_eq!(get(app, &format!("/{file}")).await.status, 200, "{page} names {file}");
        }
    }
}

async fn pages_ask_for_no_organization_and_set_no_cookie(app: &App) {
    for path in paths(app) {
        let foreign =
            ask(app, "GET", &path, "Origin: https://evil.example\r\nSec-Fetch-Site: cross-site\r\nCookie: access_token=x\r\n")
                .await;
        assert_eq!(foreign.status, 200, "a link from anywhere leads here: {path}");
        for name in ["set-cookie", "access-control-allow-origin"] {
            assert!(!foreign.headers.iter().any(|(have, _)| have.eq_ignore_ascii_case(name)), "{name} of {path}");
        }
    }
}

async fn a_public_url_with_a_path_moves_every_page(app: &App) {
    let moved = app.beside(|setup| setup.config.public_url = "https://example.com/company/auth/".parse().expect("a URL")).await;
    for page in PAGES {
        assert_eq!(get(&moved, &format!("/company/auth{page}")).await.body, get(app, page).await.body, "{page}");
        assert_eq!(text(&get(&moved, page).await), HOST_404, "{page} is the host's");
    }
    for asset in assets_of(&get(app, "/").await) {
        assert_eq!(get(&moved, &format!("/company/auth/{asset}")).await.status, 200, "{asset}");
    }
    let bare = get(&moved, "/company/auth").await;
    assert_eq!((bare.status, header(&bare, "Location"), header(&bare, "Cache-Control")), (308, "/company/auth/", "no-cache"));
    assert_eq!(text(&get(&moved, "/company").await), HOST_404);
}

async fn only_where_sign_up_is_open_pages_offer_it(app: &App) {
    let closed = app.beside(|setup| setup.config.sign_up.is_open = false).await;
    for page in PAGES {
        let (open, closed) = (get(app, page).await, get(&closed, page).await);
        assert!(text(&open).contains("<html data-sign-up "), "{page}: {}", text(&open));
        assert!(!text(&closed).contains("data-sign-up"), "{page}: {}", text(&closed));
        assert_ne!(header(&open, "ETag"), header(&closed, "ETag"), "a browser keeps one for the other: {page}");
    }
}

const VARIES: &str = "Accept-Language, Accept-Encoding";

async fn a_page_speaks_the_language_that_is_asked_for(app: &App) {
    let asked = |headers: &'static str| async move { ask(app, "GET", "/reset", headers).await };
    let english = get(app, "/reset").await;
    assert_eq!((header(&english, "Content-Language"), header(&english, "Vary")), ("en", VARIES));
    assert!(text(&english).contains(" lang=\"en\" dir=\"ltr\">"), "{}", text(&english));
    for (headers, language, words) in [
        ("Accept-Language: de-AT,en;q=0.5\r\n", "de", "Neues Passwort setzen"),
        ("Accept-Language: fr;q=0.9, es;q=0.8\r\n", "fr", "Définir le nouveau mot de passe"),
        ("Accept-Language: pt, es;q=0.1\r\n", "es", "Establecer la contraseña nueva"),
        ("Accept-Language: pt;q=0.9\r\nAccept-Language: de\r\n", "de", "Neues Passwort setzen"),
        ("Accept-Language: pt\r\n", "en", "Set the new password"),
        ("Accept-Language: de;q=0\r\n", "en", "Set the new password"),
        ("Accept-Language: ;;,=\r\n", "en", "Set the new password"),
    ] {
        let page = asked(headers).await;
        assert_eq!((header(&page, "Content-Language"), header(&page, "Vary")), (language, VARIES), "{headers}");
        assert!(text(&page).contains(&format!(" lang=\"{language}\" dir=")) && text(&page).contains(words), "{headers}");
        let head = ask(app, "HEAD", "/reset", headers).await;
        assert_eq!((header(&head, "Content-Language"), header(&head, "ETag")), (language, header(&page, "ETag")), "{headers}");
        let panel = ask(app, "GET", "/", headers).await;
        assert_eq!((header(&panel, "Content-Language"), header(&panel, "Vary")), (language, VARIES), "{headers}");
        assert!(text(&panel).contains(&format!(" lang=\"{language}\" dir=")) && text(&panel).contains("panel.settings.saved"));
        let known = format!("{headers}If-None-Match: {}\r\n", header(&panel, "ETag"));
        assert_eq!(ask(app, "GET", "/", &known).await.status, 304, "{headers}");
    }
    // What a browser has in one language is not what it is asked for in another.
    let (german, known) = (asked("Accept-Language: de\r\n").await, header(&english, "ETag").to_owned());
    assert_ne!(header(&german, "ETag"), known);
    let other = ask(app, "GET", "/reset", &format!("Accept-Language: de\r\nIf-None-Match: {known}\r\n")).await;
    assert_eq!((other.status, text(&other)), (200, text(&german)));
    let unchanged = ask(app, "GET", "/reset", &format!("If-None-Match: {known}\r\n")).await;
    assert_eq!((unchanged.status, header(&unchanged, "Vary")), (304, VARIES));
    for path in paths(app) {
        let page = ask(app, "GET", &path, "Accept-Language: de\r\n").await;
        let is_translated = page.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("Content-Language"));
        assert_eq!(is_translated, PAGES.contains(&&*path), "{path}");
    }
}

async fn a_catalogue_of_the_operator_adds_a_language_to_the_pages(app: &App) {
    let words =
        include_str!("../../../tenant-auth-core/languages/en.json").replace("Set the new password", "Imposta la nuova password");
    let italian = "it".parse().expect("a tag");
    let app = &app.beside(|setup| setup.config.languages = setup.config.languages.with(&italian, &words).expect("whole")).await;
    let page = ask(app, "GET", "/reset", "Accept-Language: it-CH\r\n").await;
    assert_eq!(header(&page, "Content-Language"), "it");
    assert!(text(&page).contains("Imposta la nuova password"));
    let panel = ask(app, "GET", "/", "Accept-Language: it-CH\r\n").await;
    assert_eq!(header(&panel, "Content-Language"), "it");
}
