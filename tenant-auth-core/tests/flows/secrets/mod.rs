//! What no `Debug` may print: a host logs its callers, its configuration and what the operations take and give. Every public type is
//! printed here, or named in [`public_types`] with the reason why it can hold no secret.

mod connections;
mod public_types;

use std::{collections::BTreeSet, fmt::Debug};

use tenant_auth_core::{
    Client, Config, Error, Login, Principal,
    account::{AddressProof, NewEmail, NewPassword, ProfileUpdate},
    backend::NewApiKey,
    http::{Body, Gate, Pages, Refused, Renewed, Service, TestVerifier},
    model::{DeploymentScope, EventSelection, Profile, Role, Scope},
    operator::{FileKey, NewDeploymentKey, NewOrganization, NewUser, OrganizationChange, OrganizationImport, SealedExport},
    org::{OrganizationUpdate, Registration, SignUpCompletion},
    ports::{Argon2Hasher, ForeignHash, OsEntropy, PasswordHasher, QueueShare},
    secret::{LinkToken, Password, Pepper},
    testing::{PASSWORD, TestAuth},
    value::Description,
    webhooks::{NewWebhook, SigningSecret, WebhookUpdate},
};

use crate::{credentials, value};

const PEPPER: &str = "pepper-of-the-deployment";

/// All that was printed, of which types, and the secrets that must not be in it.
#[derive(Default)]
struct Printed {
    text: String,
    types: BTreeSet<String>,
    secrets: Vec<String>,
}

impl Printed {
    fn print<T: Debug>(&mut self, thing: &T) {
        self.types.extend(public_types::words(std::any::type_name::<T>()).map(str::to_owned));
        self.text.push_str(&format!("{thing:?}\n{thing:#?}\n"));
    }

    /// Prints an error as a host logs it, too.
    fn print_error<T: std::error::Error>(&mut self, error: &T) {
        self.print(error);
        self.text.push_str(&format!("{error}\n"));
    }

    /// Whether a thing of this type was printed, by itself or as a part.
    fn shows(&self, name: &str) -> bool {
        self.types.contains(name) || self.text.contains(&format!("{name} {{"))
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
    hashes(&test, &mut printed).await;
    connections::walk(&mut printed).await;
    printed.print(&test);
    printed.print(test.auth.config());
    assert!(printed.text.contains("TenantAuth"), "nothing was printed");
    for secret in &printed.secrets {
        let around = printed.text.find(secret).map(|at| printed.text[at.saturating_sub(120)..at].to_owned());
        assert_eq!(around, None, "{secret} is printed after this");
    }
    public_types::all_were(&printed);
}

async fn people(test: &TestAuth, printed: &mut Printed) {
    printed.print(&credentials(&test.member, PASSWORD));
    let login = test.org.login(credentials(&test.member, PASSWORD)).await;
    printed.print(&login);
    printed.print(&test.org);
    printed.print(&NewPassword { current: PASSWORD.into(), new: PASSWORD.into() });
    printed.print(&ProfileUpdate { name: value("Max"), profile: Profile::default() });
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
    printed.print(&SignUpCompletion {
        token: LinkToken::new(code.clone()),
        organization: value("Rockets"),
        slug: value("rockets"),
        name: None,
        password: Some(PASSWORD.into()),
        code: Some(code.clone()),
    });
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
    printed.print(&test.org.session_to_end_by_access(tokens.access.expose()).await);
    let (session, password) = (Some(member.clone()), Some(PASSWORD.into()));
    printed.print(&AddressProof { token: link.clone(), session, password, client: Client::default() });
    printed.print(&member.sessions(&Default::default()).await);
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
    printed.print(&member.second_factor().await);
    let login = test.org.login(credentials(&grace, PASSWORD)).await;
    printed.print(&login);
    let Ok(Login::SecondFactor(partial)) = login else { panic!("a code is asked for: {login:?}") };
    printed.secret(partial.token.expose());
    printed.print(&partial);
    printed.print(&test.org.waiting_login(partial.token.expose()).await);
}

async fn keys_and_webhooks(test: &TestAuth, printed: &mut Printed) {
    let admin = test.org_admin().await;
    let new = NewApiKey { name: value("CI"), scopes: vec![Scope::Verify], expires_at: None };
    printed.print(&new);
    let created = admin.create_api_key(new).await.expect("a key");
    printed.secret(created.key.expose());
    printed.print(&created);
    printed.print(&admin.api_keys(&Default::default()).await);
    printed.print(&test.auth.backend(&value("acme"), &created.key).await);
    test.resolver.answer("hooks.acme.example", [std::net::Ipv4Addr::new(93, 184, 216, 34).into()]);
    let events = EventSelection::parse(&["*"]).expect("kinds there are");
    let new = NewWebhook { url: "https://hooks.acme.example/in".to_owned(), events, description: Description::default() };
    printed.print(&new);
    let webhook = admin.create_webhook(new).await.expect("a public target");
    printed.secret(&webhook.secret.expose());
    printed.print(&webhook);
    printed.print(&SigningSecret::parse(&webhook.secret.expose()).expect("a secret of this crate's making"));
    printed.print(&WebhookUpdate::default());
    admin.test_webhook(&webhook.webhook.id).await.expect("it is active");
    test.tick().await;
    printed.print(&test.sender.sent());
    printed.print(&admin.deliveries(&webhook.webhook.id, None, &Default::default()).await);
}

async fn operator(test: &TestAuth, printed: &mut Printed) {
    let operator = test.auth.operator();
    printed.print(&operator);
    let new = NewOrganization::new(value("Globex"), value("globex"), value("greta@globex.example"));
    printed.print(&new);
    let invited = operator.create_organization(new).await.expect("it is new");
    printed.secret(invited.token.expose());
    printed.print(&invited);
    let new = NewUser { email: value("ida@acme.example"), name: value("Ida"), role: Role::Member, password: PASSWORD.into() };
    printed.print(&new);
    printed.print(&operator.create_user(&value("acme"), new).await);
    let new = NewDeploymentKey {
        name: value("The product"),
        scopes: vec![DeploymentScope::Verify, DeploymentScope::Admin],
        networks: Vec::new(),
        expires_at: None,
    };
    printed.print(&new);
    let created = operator.create_deployment_key(new).await.expect("a key");
    printed.secret(created.key.expose());
    printed.print(&created);
    printed.print(&operator.deployment_keys().await);
    printed.print(&test.auth.backend_of_deployment(&value("acme"), &created.key, None).await);
    printed.print(&test.auth.backend_of_all_organizations(&created.key, None).await.expect("a live key"));
    printed.print(&test.auth.org_admin_of_deployment(&value("acme"), &created.key, None).await.expect("a live key"));
    printed.print(&operator.in_organization(&value("acme")).await.expect("it is there"));
    printed.print(&OrganizationChange::default());
    printed.print(&OrganizationUpdate::default());
    printed.print(&test.org_admin().await.members(&Default::default()).await);
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
    printed.print(&Refused::from(Error::SessionRequired));
    printed.print(&Pages::new(&test.auth));
    let cookie = format!("access_token={}", tokens.access.expose()).parse().expect("a header value");
    printed.print(&Renewed::new(tokens.access.clone(), vec![cookie]));
    let verifier = TestVerifier::default();
    verifier.knows(tokens.access.expose(), Principal::sample("acme", Role::Member));
    printed.print(&verifier);
    printed.print(&Principal::sample("acme", Role::Member));
}

async fn hashes(test: &TestAuth, printed: &mut Printed) {
    let hasher = Argon2Hasher::new(test.auth.config().passwords.argon2, Some(PEPPER)).expect("valid parameters");
    printed.print(&hasher);
    let share = QueueShare::new(&test.org.organization().id, None);
    printed.print(&share);
    let hash = hasher.hash(&Password::new(PASSWORD), &share).await.expect("it is hashed");
    printed.secret(hash.as_str());
    printed.print(&hash);
    let foreign = "$2b$06$T5r16lmVmHnQL5XO3.umcuiP83iRsh1pBV/d9TGjwF1MsINiFNNvG";
    printed.secret(foreign);
    printed.print(&ForeignHash::parse(foreign).expect("a hash"));
    let key = FileKey::generate(&OsEntropy);
    printed.print(&key);
    printed.secret(&key.expose());
    printed.print(&SealedExport { key: key.clone(), all_credentials: false, close: false });
    printed.print(&OrganizationImport::new(key));
    printed.print(&Password::new(PASSWORD).digest());
    printed.print(&Password::new(PASSWORD));
    printed.print(&test.mails.sent());
    printed.print(&(&test.mails, &test.sender, &test.resolver, &test.clock));
    printed.print(&test.auth.worker());
}
