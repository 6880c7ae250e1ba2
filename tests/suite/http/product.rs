//! The product that people see: its name, logo, colour and place of support, on hosted pages and in mails, as the settings say
//! (behaviour.md, B224 and B225). Nobody's page or mail loads anything from a tenant.

use serde_json::{Value, json};
use tenant_auth_conformance::{App, PUBLIC_URL, Raw, exchange, scenarios, shape};
use tenant_auth_core::value::Logo;

scenarios![
    without_settings_it_is_tenant_auth,
    pages_bear_the_products_name_logo_and_colour,
    a_name_is_text_on_a_page_and_nothing_else,
    the_logo_is_served_as_it_is_and_inert,
    each_kind_of_logo_has_its_type,
    a_page_may_ask_how_to_look,
    a_suspended_organization_shows_nothing,
    mails_bear_the_name_the_logo_and_the_place_of_support,
    a_mail_of_a_plain_deployment_has_no_picture,
];

const SVG: &str = "<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>";

async fn rockets(app: &App) -> App {
    app.beside(|setup| {
        let product = &mut setup.config.product;
        product.name = "Rockets & Co".parse().expect("a name");
        product.logo = Some(Logo::parse(SVG).expect("an SVG"));
        product.accent = Some("#ffcc00".parse().expect("a colour"));
        product.support_url = Some("https://help.example.com/?a=b&c=d".parse().expect("a URL"));
    })
    .await
}

async fn get(app: &App, path: &str) -> Raw {
    let head = format!("GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", app.address());
    exchange(app.address(), head.as_bytes(), b"", false).await.expect("an answer")
}

async fn text(app: &App, path: &str) -> String {
    let raw = get(app, path).await;
    assert_eq!(raw.status, 200, "{path}");
    String::from_utf8(raw.body).expect("text")
}

fn header<'a>(raw: &'a Raw, name: &str) -> &'a str {
    raw.headers.iter().find(|(have, _)| have.eq_ignore_ascii_case(name)).map_or("", |(_, value)| value)
}

/// The style that a page names.
async fn style_of(app: &App) -> String {
    let page = text(app, "/sign-in").await;
    let named = page.split('"').find(|word| word.contains(".css?v=")).expect("a style");
    text(app, &format!("/{named}")).await
}

async fn without_settings_it_is_tenant_auth(app: &App) {
    let page = text(app, "/sign-in").await;
    assert!(page.contains("<title>Tenant Auth</title>") && page.contains("href=\"assets/logo.svg\""), "{page}");
    assert!(page.contains("<meta name=\"product-support\" content=\"\">"), "{page}");
    assert!(!style_of(app).await.contains("--product:"));
    app.anonymous().without_slug().get("/logo").await.expect_error(404, "not_found");
    let data = app.anonymous().get("/org/appearance").await.expect_ok();
    let product = json!({ "name": "Tenant Auth", "logoUrl": null, "accentColor": null, "supportUrl": null });
    assert_eq!(data, json!({ "product": product, "org": { "slug": "acme", "name": "Acme Rockets" } }));
}

async fn pages_bear_the_products_name_logo_and_colour(app: &App) {
    let rockets = rockets(app).await;
    for path in ["/", "/sign-in", "/invite", "/reset"] {
        let page = text(&rockets, path).await;
        assert!(page.contains("<title>Rockets &amp; Co</title>"), "{page}");
        assert!(page.contains("content=\"api/v1/logo\"") && !page.contains("assets/logo.svg"), "{page}");
        assert!(page.contains("content=\"https://help.example.com/?a=b&amp;c=d\""), "{page}");
        assert!(!page.contains('{'), "every mark is filled in: {page}");
    }
    let style = style_of(&rockets).await;
    assert!(style.contains("--product: #ffcc00; --on-product: #000000"), "{style}");
    let before = header(&get(app, "/sign-in").await, "ETag").to_owned();
    assert_ne!(header(&get(&rockets, "/sign-in").await, "ETag"), before, "a browser asks for the new page");
}

async fn a_name_is_text_on_a_page_and_nothing_else(app: &App) {
    let name = "\"><script>{logo}</script>";
    let rude = app.beside(|setup| setup.config.product.name = name.parse().expect("a name")).await;
    let (page, ours) = (text(&rude, "/").await, text(app, "/").await);
    assert_eq!(page.matches("<script").count(), ours.matches("<script").count(), "ours: {page}");
    assert!(page.contains("&quot;&gt;&lt;script&gt;&#123;logo}&lt;/script&gt;"), "{page}");
    rude.admin().logged_in().await.invite("nora@acme.example").await.expect(201);
    let mails = rude.mail_to("nora@acme.example").await;
    assert!(!mails[0].html.contains("<script>") && mails[0].text.contains(name), "{}", mails[0].html);
}

async fn the_logo_is_served_as_it_is_and_inert(app: &App) {
    let rockets = rockets(app).await;
    let logo = get(&rockets, "/api/v1/logo").await;
    assert_eq!((logo.status, logo.body.as_slice()), (200, SVG.as_bytes()));
    assert_eq!(header(&logo, "Content-Type"), "image/svg+xml");
    assert_eq!(header(&logo, "X-Content-Type-Options"), "nosniff");
    let policy = header(&logo, "Content-Security-Policy");
    assert!(policy.contains("default-src 'none'") && policy.contains("sandbox") && !policy.contains("allow-"), "{policy}");
    rockets.anonymous().without_slug().get("/logo").await.expect(200);
    rockets.anonymous().at_org("no such slug").get("/logo").await.expect(200);
    rockets.anonymous().without_slug().post("/logo", json!({})).await.expect_error(405, "method_not_allowed");
}

async fn each_kind_of_logo_has_its_type(app: &App) {
    let kinds: [(&[u8], &str); 3] = [
        (b"\x89PNG\r\n\x1a\n\0\xff", "image/png"),
        (b"\xff\xd8\xff\xe0\0\x80", "image/jpeg"),
        (b"RIFF\x01\0\0\0WEBPVP8 ", "image/webp"),
    ];
    for (content, kind) in kinds {
        let here = app.beside(|setup| setup.config.product.logo = Some(Logo::parse(content).expect("a logo"))).await;
        let logo = get(&here, "/api/v1/logo").await;
        assert_eq!((header(&logo, "Content-Type"), logo.body.as_slice()), (kind, content));
    }
}

async fn a_page_may_ask_how_to_look(app: &App) {
    let rockets = rockets(app).await;
    let data = rockets.anonymous().get("/org/appearance").await.expect_ok();
    assert_eq!(
        (shape(&data), shape(&data["org"])),
        (vec!["org", "product"], vec!["name", "slug"]),
        "nothing else is told to strangers"
    );
    let product = json!({
        "name": "Rockets & Co", "logoUrl": format!("{PUBLIC_URL}/api/v1/logo"), "accentColor": "#ffcc00",
        "supportUrl": "https://help.example.com/?a=b&c=d",
    });
    assert_eq!(data["product"], product);
    rockets.anonymous().at_org("nobody").get("/org/appearance").await.expect_error(404, "unknown_organization");
    rockets.anonymous().without_slug().get("/org/appearance").await.expect_error(400, "invalid_slug");
}

async fn a_suspended_organization_shows_nothing(app: &App) {
    app.org().suspend().await;
    let refused = app.anonymous().get("/org/appearance").await.expect_error(403, "suspended");
    assert_eq!(refused.json()["data"], Value::Null);
}

async fn mails_bear_the_name_the_logo_and_the_place_of_support(app: &App) {
    let rockets = rockets(app).await;
    let admin = rockets.admin().logged_in().await;
    admin.invite("nora@acme.example").await.expect(201);
    rockets.anonymous().post("/auth/forgot-password", json!({ "email": admin.email() })).await.expect(200);
    for (to, link) in [("nora@acme.example", "/invite#"), (admin.email(), "/reset#")] {
        let mails = rockets.mail_to(to).await;
        let mail = mails.iter().find(|mail| mail.text.contains(link)).expect("the mail");
        for (body, product) in [(&mail.text, "Rockets & Co"), (&mail.html, "Rockets &amp; Co")] {
            assert!(body.contains(product) && !body.contains("Tenant Auth") && body.contains("help.example.com"), "{body}");
        }
        assert!(mail.html.contains("src=\"cid:logo\"") && mail.html.contains("background:#ffcc00;color:#000000"), "{}", mail.html);
        assert_eq!(mail.logo.as_ref().map(Logo::as_bytes), Some(SVG.as_bytes()));
        let loaded = mail.html.matches("src=").count();
        assert_eq!(loaded, 1, "nothing is loaded from anywhere: {}", mail.html);
    }
}

async fn a_mail_of_a_plain_deployment_has_no_picture(app: &App) {
    app.admin().logged_in().await.invite("nora@acme.example").await.expect(201);
    let mails = app.mail_to("nora@acme.example").await;
    assert!(
        !mails[0].html.contains("<img") && mails[0].html.contains("Tenant Auth") && mails[0].logo.is_none(),
        "{}",
        mails[0].html
    );
    assert!(mails[0].text.trim_end().ends_with("Tenant Auth"), "{}", mails[0].text);
}
