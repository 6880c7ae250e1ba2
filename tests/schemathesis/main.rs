//! Lets schemathesis look for requests for which the OpenAPI document is wrong: on a running service, on each adapter, without a
//! session, as an admin, as a plain member and as a backend. Its one argument is the program `st`; which findings are none, and
//! why, stands in `schemathesis.toml` beside this file. What must stay true: the callers keep their sessions with every request
//! that it sends, so that it does not test a closed door.

use std::{
    net::SocketAddr,
    process::{Command, ExitCode},
    sync::Arc,
};

#[path = "../suite/support/authenticator.rs"]
#[expect(dead_code, reason = "the scenarios use all of it")]
mod authenticator;

use authenticator::SecondFactor;
use tenant_auth_conformance::{Adapter, App, BASE, Caller, Cell, Database, Engine, Setup, stop};

const CONFIG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/schemathesis/schemathesis.toml");
/// Limits that a machine which guesses all day does not reach.
const PLENTY: u32 = 1_000_000;

/// Who asks, and for how much.
struct Pass {
    name: &'static str,
    slug: Option<String>,
    /// Access and refresh token.
    session: Option<(String, String)>,
    api_key: Option<String>,
    /// Who must still be let in afterwards.
    keeps: Option<Caller>,
    /// The most requests schemathesis makes up for an operation in its fuzzing phase.
    examples: u32,
    /// Arguments that choose the operations.
    operations: &'static [&'static str],
}

fn main() -> ExitCode {
    let Some(program) = std::env::args().nth(1) else {
        eprintln!("Say where schemathesis is: cargo run -p tenant-auth-conformance --bin schemathesis -- <path of st>");
        return ExitCode::FAILURE;
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    let failed: Vec<String> = Adapter::ALL.iter().flat_map(|adapter| runtime.block_on(on(*adapter, &program))).collect();
    stop();
    if failed.is_empty() {
        return ExitCode::SUCCESS;
    }
    eprintln!("schemathesis found something on: {}", failed.join(", "));
    ExitCode::FAILURE
}

/// The passes that found something.
async fn on(adapter: Adapter, program: &str) -> Vec<String> {
    let cell = Cell { adapter, engine: Engine::Sqlite };
    let app = App::start(cell, setup(), Arc::new(Database::create(cell.engine))).await;
    let operator = operator(&app).await;
    let (admin, member) = (app.admin().logged_in().await, app.member().logged_in().await);
    // Whom it may demote, remove or log out.
    let leaver = app.org().new_admin("Lea Leaver").await.logged_in().await;
    let mut failed = Vec::new();
    for pass in passes(&app, [&member, &admin, &leaver, &operator]) {
        println!("\n== schemathesis on {adapter}: {}", pass.name);
        let mut command = command(program, app.address(), &pass);
        // Elsewhere than on the threads that answer it.
        let status = tokio::task::spawn_blocking(move || command.status()).await.expect("no panic");
        if !status.expect("schemathesis starts").success() {
            failed.push(format!("{adapter} ({})", pass.name));
        }
        if let Some(caller) = pass.keeps {
            caller.get("/org").await.expect(200);
        }
    }
    failed
}

/// An operator of the deployment, just logged in with both factors.
async fn operator(app: &App) -> Caller {
    let person = app.org().new_admin("Olga Operator").await;
    let authenticator = person.elsewhere().logged_in().await.guard(app).await;
    app.auth.operator().appoint(&person.email().parse().expect("an address")).await.expect("she is a member");
    person.through(app, &authenticator).await
}

/// The service of the scenarios, whose clock stands still: nothing expires while it is being asked.
fn setup() -> Setup {
    let mut setup = Setup::new();
    let config = &mut setup.config;
    config.login.max_failures = PLENTY;
    config.login.max_failures_per_ip = PLENTY;
    config.login.max_failures_per_account = PLENTY;
    config.sessions.max_per_user = PLENTY;
    config.organizations.max_api_keys = PLENTY;
    config.organizations.max_webhooks = PLENTY;
    config.organizations.operator_org = Some("acme".parse().expect("a slug"));
    setup
}

/// What can retire the caller's own tokens, which all else is asked with.
const ENDINGS: &str = "^(refresh|logout|endSession|endMemberSessions?|leaveOrganization|setRole|removeMember)$";

fn passes(app: &App, [member, admin, leaver, operator]: [&Caller; 4]) -> [Pass; 6] {
    let nobody = || Pass { name: "nobody", slug: None, session: None, api_key: None, keeps: None, examples: 5, operations: &[] };
    let slug = Some(app.org().slug().to_owned());
    let session = |of: &Caller| Some((of.access_token(), of.refresh_token()));
    [
        Pass {
            name: "a backend",
            slug: slug.clone(),
            api_key: Some(app.org().api_key().to_owned()),
            examples: 20,
            operations: &["--include-path-regex", "^/public/"],
            ..nobody()
        },
        Pass {
            name: "a plain member",
            slug: slug.clone(),
            session: session(member),
            keeps: Some(member.clone()),
            operations: &["--exclude-operation-id-regex", ENDINGS],
            ..nobody()
        },
        Pass {
            name: "an org_admin",
            slug: slug.clone(),
            session: session(admin),
            keeps: Some(admin.clone()),
            examples: 20,
            operations: &["--exclude-operation-id-regex", ENDINGS],
            ..nobody()
        },
        Pass {
            name: "an org_admin who may lose the session",
            slug: slug.clone(),
            session: session(leaver),
            operations: &["--include-operation-id-regex", ENDINGS],
            ..nobody()
        },
        nobody(),
        // The last one, for it may close the organization all of them are in.
        Pass {
            name: "an operator",
            slug,
            session: session(operator),
            operations: &["--include-path-regex", "^/admin/"],
            ..nobody()
        },
    ]
}

fn command(program: &str, address: SocketAddr, pass: &Pass) -> Command {
    let mut command = Command::new(program);
    let server = format!("http://{address}{BASE}");
    command.args(["--config-file", CONFIG, "run", &format!("{server}/openapi.json"), "--url", &server]);
    command.args(["--max-examples", &pass.examples.to_string()]).args(pass.operations);
    if let Some(slug) = &pass.slug {
        command.args(["-H", &format!("X-Org-Slug: {slug}")]);
    }
    // The configuration reads these; a credential that does not exist is replaced by one that opens nothing.
    let (access, refresh) = pass.session.clone().unwrap_or_else(|| ("none".to_owned(), "none".to_owned()));
    command.env("ACCESS_TOKEN", access).env("REFRESH_TOKEN", refresh);
    command.env("API_KEY", pass.api_key.as_deref().unwrap_or("none"));
    command
}
