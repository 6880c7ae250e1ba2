//! What no `Debug` may print: a host logs its callers, its configuration and what the operations take and give.

use std::fmt::Debug;

use tenant_auth_core::{
    Client, Config, Error,
    account::NewEmail,
    backend::NewApiKey,
    http::{Body, Gate, Service},
    model::{EventSelection, Role, Scope},
    operator::NewOrganization,
    org::Registration,
    secret::Pepper,
    testing::{PASSWORD, TestAuth},
    value::Description,
    webhooks::NewWebhook,
};

use crate::{credentials, value};

const PEPPER: &str = "pepper-of-the-deployment";

/// All that was printed, and the secrets that must not be in it.
#[derive(Default)]
struct Printed {
    text: String,
    secrets: Vec<String>,
}

impl Printed {
    fn print(&mut self, thing: &impl Debug) {
        self.text.push_str(&format!("{thing:?}\n{thing:#?}\n"));
    }

    fn secret(&mut self, text: &str) {
        assert!(text.len() >= 6, "too short to search for: {text}");
        self.secrets.push(text.to_owned());
    }
}

#[tokio::test]
async fn nothing_public_prints_a_secret() {
    let test = TestAuth::with(|config: &mut Config| config.passwords.pepper = Some(Pepper::new(PEPPER))).await;
    let mut printed = Printed::default();
    printed.secret(PEPPER);
    printed.secret(PASSWORD);
    people(&test, &mut printed).await;
    second_factor(&test, &mut printed).await;
    keys_and_webhooks(&test, &mut printed).await;
    operator(&test, &mut printed).await;
    http(&test, &mut printed).await;
    printed.print(&test);
    printed.print(test.auth.config());
    assert!(printed.text.contains("TenantAuth"), "nothing was printed");
    for secret in &printed.secrets {
        let around = printed.text.find(secret).map(|at| printed.text[at.saturating_sub(120)..at].to_owned());
        assert_eq!(around, None, "{secret} is printed after this");
    }
}

async fn people(test: &TestAuth, printed: &mut Printed) {
    printed.print(&credentials(&test.member, PASSWORD));
    let login = test.org.login(credentials(&test.member, PASSWORD)).await;
    printed.print(&login);
    let tokens = test.login(&test.member).await;
    printed.secret(tokens.access.expose());
    printed.secret(tokens.refresh.expose());
    printed.print(&tokens);
    printed.print(&test.org.refresh(tokens.refresh.expose()).await);
    printed.print(&test.org.verify(tokens.access.expose()).await);
    let member = test.signed_in(&test.member).await;
    printed.print(&member);
    let code = "recovery-code-of-max".to_owned();
    printed.secret(&code);
    let change = NewEmail { email: value("new@acme.example"), password: PASSWORD.into(), code: Some(code) };
    printed.print(&change);
    printed.print(&Registration { name: None, password: Some(PASSWORD.into()) });
    let admin = test.org_admin().await;
    printed.print(&admin);
    printed.print(&admin.invite(&value("nora@acme.example"), Role::Member).await);
    let link = test.mailed_token(&value("nora@acme.example")).await;
    printed.secret(link.expose());
    printed.print(&link);
    printed.print(&test.org.preview_invite(&link).await);
    let registration = Registration { name: Some(value("Nora")), password: Some(PASSWORD.into()) };
    printed.print(&test.org.accept_invite(&link, registration, Client::default()).await);
}

async fn second_factor(test: &TestAuth, printed: &mut Printed) {
    let grace = test.person("Grace Hopper", Role::Member).await;
    let member = test.signed_in(&grace).await;
    let setup = member.set_up_second_factor(&PASSWORD.into()).await.expect("a new secret");
    printed.secret(setup.secret.expose());
    printed.secret(setup.otpauth_url.expose());
    printed.print(&setup);
    let codes = member.enable_second_factor(&test.one_time_password(&setup)).await.expect("its code");
    for code in &codes.0 {
        printed.secret(code.expose());
    }
    printed.print(&codes);
    printed.print(&test.org.login(credentials(&grace, PASSWORD)).await);
}

async fn keys_and_webhooks(test: &TestAuth, printed: &mut Printed) {
    let admin = test.org_admin().await;
    let new = NewApiKey { name: value("CI"), scopes: vec![Scope::Verify], expires_at: None };
    let created = admin.create_api_key(new).await.expect("a key");
    printed.secret(created.key.expose());
    printed.print(&created);
    printed.print(&test.auth.backend(&value("acme"), &created.key).await);
    test.resolver.answer("hooks.acme.example", [std::net::Ipv4Addr::new(93, 184, 216, 34).into()]);
    let events = EventSelection::parse(&["*"]).expect("kinds there are");
    let new = NewWebhook { url: "https://hooks.acme.example/in".to_owned(), events, description: Description::default() };
    let webhook = admin.create_webhook(new).await.expect("a public target");
    printed.secret(&webhook.secret.expose());
    printed.print(&webhook);
    admin.test_webhook(&webhook.webhook.id).await.expect("it is active");
    test.tick().await;
    printed.print(&test.sender.sent());
}

async fn operator(test: &TestAuth, printed: &mut Printed) {
    let operator = test.auth.operator();
    printed.print(&operator);
    let new = NewOrganization::new(value("Globex"), value("globex"), value("greta@globex.example"));
    let invited = operator.create_organization(new).await.expect("it is new");
    printed.secret(invited.token.expose());
    printed.print(&invited);
}

async fn http(test: &TestAuth, printed: &mut Printed) {
    let tokens = test.login(&test.admin).await;
    for token in [&tokens.access, &tokens.refresh] {
        printed.secret(token.expose());
    }
    printed.print(&Service::new(&test.auth));
    printed.print(&Body::Complete(format!(r#"{{"password":"{PASSWORD}"}}"#).into()));
    let gate = Gate::new(test.auth.clone());
    printed.print(&gate);
    test.clock.advance(test.auth.config().sessions.access_token_ttl);
    let cookies = format!("access_token={}; refresh_token={}", tokens.access.expose(), tokens.refresh.expose());
    let request = ::http::Request::builder().uri("http://localhost/app").header("x-org-slug", "acme").header("cookie", cookies);
    let visitor = gate.visitor(request.body(()).expect("a request"), None);
    let admitted: Result<tenant_auth_core::Member, _> = visitor.admit().await;
    printed.print(&admitted);
    printed.print(&visitor);
    printed.print(&Error::SessionRequired);
}
