//! Clients that other languages' tools generate from the service's own OpenAPI document: each is made without a warning, and the guide's
//! programs log in, verify and refresh with it.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use tenant_auth_conformance::{
    PASSWORD,
    walks::{Deployed, blocks, printed},
};

/// What each program prints.
const SAID: &str = "logged in: admin@acme.example\nrefreshed: admin@acme.example\nbefore: nobody\nrefused: invalid_credentials\n";

fn of_the_repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Where `.ci/run` puts the tools.
fn tools() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from).unwrap_or_else(|| of_the_repository("target"));
    std::path::absolute(target.join("tools/clients")).expect("a path")
}

/// Whether the tool is installed; CI says that it must be.
fn is_installed(tool: &Path) -> bool {
    let is_required = std::env::var_os("TENANT_AUTH_REQUIRE_LANGUAGES").is_some();
    assert!(tool.exists() || !is_required, "{} is missing; .ci/run installs it", tool.display());
    if !tool.exists() {
        eprintln!("{} is missing: skipped", tool.display());
    }
    tool.exists()
}

/// A directory with the guide's programs and the document of a running service in it.
struct Workshop {
    deployed: Deployed,
    directory: tempfile::TempDir,
}

impl Workshop {
    async fn new() -> Self {
        let workshop = Self { deployed: Deployed::start().await, directory: tempfile::tempdir().expect("a directory") };
        for entry in std::fs::read_dir(of_the_repository("examples/guides/clients")).expect("a directory") {
            let from = entry.expect("an entry").path();
            std::fs::copy(&from, workshop.path(from.file_name().and_then(|name| name.to_str()).expect("a name"))).expect("copied");
        }
        let document = tenant_auth_core::http::openapi::document(&format!("{}/api/v1", workshop.deployed.url()));
        std::fs::write(workshop.path("openapi.json"), document.to_string()).expect("written");
        workshop
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn run(&self, program: impl AsRef<std::ffi::OsStr>, arguments: &[&str]) -> String {
        printed(&mut self.command(program, arguments))
    }

    fn command(&self, program: impl AsRef<std::ffi::OsStr>, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.directory.path()).env("PYTHONDONTWRITEBYTECODE", "1");
        // openapi-python-client looks there for what it formats with.
        let path = std::env::var_os("PATH").unwrap_or_default();
        let found_in = std::iter::once(tools().join("python/bin")).chain(std::env::split_paths(&path));
        command.env("PATH", std::env::join_paths(found_in).expect("a path"));
        command.env("AUTH_URL", self.deployed.url()).env("API_KEY", &self.deployed.api_key);
        command.env("EMAIL", self.deployed.admin_email()).env("PASSWORD", PASSWORD);
        command
    }

    /// Runs a generator, which must have nothing to say against the document.
    fn generate(&self, program: impl AsRef<std::ffi::OsStr>, arguments: &[&str]) {
        let output = self.command(program, arguments).output().expect("the program runs");
        // Warnings go to stderr.
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).to_lowercase();
        assert!(output.status.success(), "{said}");
        assert!(!["warn", "⚠", "duplicate", "unsupported"].iter().any(|word| said.contains(word)), "{said}");
    }

    fn says_the_same(&self, said: &str) {
        assert_eq!(
            said.replace(self.deployed.admin_email(), "admin@acme.example").replace("None", "nobody").replace("null", "nobody"),
            SAID
        );
    }
}

#[test]
fn the_guide_prints_these_programs() {
    let guide = of_the_repository("tenant-auth-core/guides/clients.md");
    for (language, names) in [("python", &["python.py"][..]), ("ts", &["openapi-fetch.ts", "hey-api.ts"])] {
        let programs = names
            .iter()
            .map(|name| std::fs::read_to_string(of_the_repository("examples/guides/clients").join(name)).expect("a program"));
        assert_eq!(blocks(&guide, language), programs.collect::<Vec<_>>(), "clients.md does not print {names:?} as they are");
    }
}

// The service answers on this runtime while the programs are waited for.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_in_python_logs_in_verifies_and_refreshes() {
    let programs = tools().join("python/bin");
    if !is_installed(&programs.join("openapi-python-client")) {
        return;
    }
    let workshop = Workshop::new().await;
    let config = ["--config", "openapi-python-client.yml"];
    let generate = ["generate", "--path", "openapi.json", "--output-path", "tenant_auth", "--meta", "none", "--fail-on-warning"];
    workshop.generate(programs.join("openapi-python-client"), &[&generate[..], &config].concat());
    workshop.says_the_same(&workshop.run(programs.join("python3"), &["python.py"]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_in_typescript_log_in_verify_and_refresh() {
    let modules = tools().join("node_modules");
    if !is_installed(&modules.join(".bin/openapi-typescript")) {
        return;
    }
    let workshop = Workshop::new().await;
    #[cfg(unix)]
    std::os::unix::fs::symlink(&modules, workshop.path("node_modules")).expect("a link");
    workshop.generate("node", &["node_modules/.bin/openapi-typescript", "openapi.json", "-o", "tenant-auth.ts"]);
    workshop.generate("node", &["node_modules/.bin/openapi-ts"]);
    workshop.run("node", &["node_modules/.bin/tsc", "-p", "."]);
    for program in ["built/openapi-fetch.js", "built/hey-api.js"] {
        workshop.says_the_same(&workshop.run("node", &[program]));
    }
}
