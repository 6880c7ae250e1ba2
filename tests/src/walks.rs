//! Programs walked from outside, over HTTP: a stranger's path through an example or a guide, from nothing to a protected page that
//! answers 200 to a member, 403 to a suspended one and 401 after the logout.

use std::{
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use tenant_auth_core::{
    MasterKeys, Sqlite, TenantAuth,
    model::{Role, Scope},
    operator::OrganizationChange,
    ports::{Clock, SystemClock},
    testing::TestAuth,
};

use crate::{Adapter, Caller, PASSWORD, Process, Response, caller::Person, server::Server, setup::DEFAULTS, template};

/// A database that a program and its test both open.
#[derive(Debug)]
pub struct SharedFile {
    directory: tempfile::TempDir,
    /// For the program, too.
    pub master_key: String,
}

impl SharedFile {
    /// A new one.
    #[expect(clippy::new_without_default, reason = "it makes a directory")]
    pub fn new() -> Self {
        Self { directory: crate::scratch::directory("shared"), master_key: MasterKeys::generate_text() }
    }

    /// Where it lies.
    pub fn path(&self) -> std::path::PathBuf {
        self.directory.path().join("auth.db")
    }

    /// A member whom the program's operator creates while it runs.
    async fn member(&self) -> Person {
        let store = Sqlite::open(&self.path().display().to_string()).await.expect("the program's file");
        let keys = MasterKeys::parse(&self.master_key).expect("a generated key");
        let auth = TenantAuth::builder().store(store).master_keys(keys).config(DEFAULTS.clone()).build().await.expect("it opens");
        template::person(&auth, "acme", "Max Member", Role::Member).await
    }
}

/// A program that carries the service, made ready with this file; it printed the invite of acme's first admin.
///
/// # Panics
/// Where it answers otherwise than it should.
pub async fn embedded(process: &Process, file: &SharedFile, invite: &str, page: &str) {
    let admin = Caller::at(process.address, "acme");
    expect(admin.accept(invite, "Ada Admin").await, 200);
    expect(admin.visit(page).await, 200);
    let person = file.member().await;
    let member = Caller::at(process.address, "acme").named(person).logged_in().await;
    expect(member.elsewhere().visit(page).await, 401);
    expect(member.visit(page).await, 200);

    member.jar().forget("access_token");
    let renewed = expect(member.visit(page).await, 200);
    assert!(!renewed.cookie("access_token").is_cleared() && member.jar().value("access_token").is_some());

    expect(admin.set_status(member.id(), "suspended").await, 200);
    assert_eq!(expect(member.visit(page).await, 403).code(), "suspended");
    expect(admin.set_status(member.id(), "active").await, 200);
    let tab = member.copied();
    expect(member.logout().await, 200);
    assert_eq!(expect(tab.visit(page).await, 401).code(), "session_required");
    expect(tab.visit("/nowhere").await, 404);
}

/// A service on a socket, for programs that ask a deployed one.
#[derive(Debug)]
pub struct Deployed {
    test: TestAuth,
    server: Server,
    /// A key with the scope `verify`.
    pub api_key: String,
}

impl Deployed {
    /// A new one.
    pub async fn start() -> Self {
        let test = TestAuth::new().await;
        let api_key = test.api_key(&[Scope::Verify]).await.expose().to_owned();
        Self { server: Server::start(&test.auth, Adapter::Axum), test, api_key }
    }

    /// `http://127.0.0.1:<port>`
    pub fn url(&self) -> String {
        format!("http://{}", self.server.address())
    }

    /// The address of its administrator, whose password is [`PASSWORD`].
    pub fn admin_email(&self) -> &str {
        self.test.admin.email.as_str()
    }
}

/// A program that asks this service.
///
/// # Panics
/// Where it answers otherwise than it should.
pub async fn remote(deployed: &Deployed, process: &Process, page: &str) {
    let Deployed { test, server, .. } = deployed;
    let service = Caller::at(server.address(), "acme");
    let log_in = async |email: &str| {
        let browser = service.elsewhere();
        expect(browser.login_with(email, PASSWORD).await, 200);
        browser
    };
    let (admin, member) = (log_in(test.admin.email.as_str()).await, log_in(test.member.email.as_str()).await);
    let visit = |browser: &Caller| browser.at_address(process.address).visit(page);
    expect(visit(&service.elsewhere()).await, 401);
    expect(visit(&member).await, 200);

    test.clock.advance(test.auth.config().sessions.access_token_ttl);
    let before = member.access_token();
    expect(visit(&member).await, 200);
    assert_ne!(member.access_token(), before, "the browser has the next one");

    expect(admin.refresh().await, 200);
    expect(admin.set_status(test.member.id.as_str(), "suspended").await, 200);
    assert_eq!(expect(visit(&member).await, 403).code(), "suspended");
    expect(admin.set_status(test.member.id.as_str(), "active").await, 200);
    let tab = member.copied();
    expect(member.logout().await, 200);
    let refused = expect(visit(&tab).await, 401);
    assert!(refused.cookie("refresh_token").is_cleared());
}

/// The program with a route for admins and one for the plan `pro`.
///
/// # Panics
/// Where it answers otherwise than it should.
pub async fn rights_of_ones_own(deployed: &Deployed, process: &Process) {
    let Deployed { test, server, .. } = deployed;
    let service = Caller::at(server.address(), "acme");
    for (person, status, code) in [(&test.admin, 200, None), (&test.member, 403, Some("admin_required"))] {
        let browser = service.elsewhere();
        expect(browser.login_with(person.email.as_str(), PASSWORD).await, 200);
        let there = browser.at_address(process.address);
        let answer = expect(there.visit("/payroll").await, status);
        assert!(code.is_none_or(|code| answer.code() == code), "{answer:?}");
        assert_eq!(expect(there.visit("/forecast").await, 402).code(), "plan_required");
    }
    let upgrade = OrganizationChange { plan: Some("pro".parse().expect("a plan")), ..OrganizationChange::default() };
    test.auth.operator().change_organization(&"acme".parse().expect("a slug"), upgrade).await.expect("it is there");
    let member = service.elsewhere();
    expect(member.login_with(test.member.email.as_str(), PASSWORD).await, 200);
    expect(member.at_address(process.address).visit("/forecast").await, 200);
    expect(service.elsewhere().at_address(process.address).visit("/forecast").await, 401);
}

/// A program whose routes a page of another origin may not use with the cookies of whoever looks at it.
///
/// # Panics
/// Where it answers otherwise than it should.
pub async fn guarded_by_origin(deployed: &Deployed, process: &Process, page: &str) {
    let service = Caller::at(deployed.server.address(), "acme");
    let member = service.elsewhere();
    expect(member.login_with(deployed.test.member.email.as_str(), PASSWORD).await, 200);
    let there = member.at_address(process.address);
    let own = format!("http://{}", process.address);
    let posted = async |headers: &[(&str, &str)]| {
        let request = there.request_at("POST", page);
        headers.iter().fold(request, |request, (name, value)| request.header(name, value)).await.status
    };
    for own in [
        &[][..],
        &[("Origin", own.as_str())],
        &[("Origin", &own), ("Sec-Fetch-Site", "same-origin")],
        &[("Sec-Fetch-Site", "none")],
    ] {
        assert_eq!(posted(own).await, 200, "{own:?}");
    }
    let foreign = "https://evil.example";
    for foreign in [
        &[("Origin", foreign)][..],
        &[("Origin", "null")],
        &[("Origin", foreign), ("Sec-Fetch-Site", "cross-site")],
        &[("Origin", &own), ("Sec-Fetch-Site", "same-site")],
        &[("Sec-Fetch-Site", "cross-site")],
    ] {
        assert_eq!(posted(foreign).await, 403, "{foreign:?}");
    }
    let token = member.access_token();
    let bearer = service.elsewhere().at_address(process.address).request_at("POST", page);
    let bearer = bearer.header("Authorization", format!("Bearer {token}")).header("Origin", foreign);
    assert_eq!(bearer.await.status, 200, "a script had to put it there");
}

/// A program that cannot ask the service: its visitors are told so, and keep their session.
///
/// # Panics
/// Where it answers otherwise than it should.
pub async fn set_up_badly(deployed: &Deployed, process: &Process, page: &str, status: u16) {
    let member = Caller::at(deployed.server.address(), "acme");
    expect(member.login_with(deployed.test.member.email.as_str(), PASSWORD).await, 200);
    let refused = expect(member.at_address(process.address).visit(page).await, status);
    assert!(refused.header("set-cookie").is_none(), "nobody's session ends by it");
    assert_eq!(refused.header("retry-after").is_some(), status == 503);
    expect(member.get("/org").await, 200);
}

/// A program that remembers what this service says of tokens, and learns within two seconds what changed.
///
/// # Panics
/// Where it answers otherwise than it should.
pub async fn remembering(deployed: &Deployed, process: &Process) {
    let Deployed { test, server, .. } = deployed;
    // The program judges ends by the machine's clock.
    let behind = u64::try_from(SystemClock.now().millis() - test.clock.now().millis()).unwrap_or(0);
    test.clock.advance(Duration::from_millis(behind));
    let service = Caller::at(server.address(), "acme");
    let browser = async |email: &str| {
        let browser = service.elsewhere();
        expect(browser.login_with(email, PASSWORD).await, 200);
        browser
    };
    let (admin, member) = (browser(test.admin.email.as_str()).await, browser(test.member.email.as_str()).await);
    let there = service.elsewhere().at_address(process.address);
    let visit = async |token: &str| there.visit("/").header("Authorization", format!("Bearer {token}")).await.status;
    assert_eq!(visit("rubbish").await, 401);
    let token = member.access_token();
    let asked = async || {
        let text = test.auth.metrics_text().await.expect("is written");
        between(&text, "tenant_auth_verifications_total{outcome=\"valid\"} ", "\n").parse::<u64>().expect("a number")
    };
    // The first question what changed may be under way.
    tokio::time::sleep(Duration::from_millis(1_200)).await;
    let before = asked().await;
    for _ in 0..50 {
        assert_eq!(visit(&token).await, 200);
    }
    assert!(asked().await - before < 5, "the answer is remembered");

    let in_force = async |status: u16| {
        let told = Instant::now();
        while told.elapsed() < Duration::from_millis(2_500) {
            let is_late = told.elapsed() >= Duration::from_secs(2);
            let answer = visit(&token).await;
            assert!(answer == status || !is_late, "{answer} after {:?}", told.elapsed());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    expect(admin.set_status(test.member.id.as_str(), "suspended").await, 200);
    in_force(403).await;
    expect(admin.set_status(test.member.id.as_str(), "active").await, 200);
    in_force(200).await;
    expect(member.logout().await, 200);
    in_force(401).await;
}

/// The output of a program that is run to its end.
///
/// # Panics
/// When it fails.
pub fn printed(command: &mut Command) -> String {
    let output = command.output().expect("the program runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

/// The text between two others, such as a token in what was printed.
///
/// # Panics
/// When it is not there.
pub fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    let (_, rest) = text.split_once(before).unwrap_or_else(|| panic!("no {before:?} in {text}"));
    rest.split_once(after).map_or(rest, |(found, _)| found)
}

/// The fenced blocks of this language in a guide.
///
/// # Panics
/// When the guide cannot be read.
pub fn blocks(guide: &Path, language: &str) -> Vec<String> {
    let text = std::fs::read_to_string(guide).unwrap_or_else(|error| panic!("{}: {error}", guide.display()));
    let fence = format!("```{language}\n");
    text.split(&fence).skip(1).filter_map(|rest| rest.split_once("```").map(|(block, _)| block.to_owned())).collect()
}

/// The statuses that `curl -i` showed when a block of a guide was pasted into a shell, with what a reader puts in replaced.
///
/// # Panics
/// When a command fails.
pub fn pasted(block: &str, replaced: &[(&str, &str)], environment: &[(&str, &str)]) -> Vec<u16> {
    let script = replaced.iter().fold(block.to_owned(), |script, (from, to)| script.replace(from, to));
    let mut command = Command::new("bash");
    command.args(["-euo", "pipefail", "-c", &script]).envs(environment.iter().copied());
    let text = printed(&mut command);
    text.split("HTTP/1.1 ").skip(1).filter_map(|rest| rest.get(..3)?.parse().ok()).collect()
}

#[track_caller]
fn expect(response: Response, status: u16) -> Response {
    response.expect(status)
}
