//! The server's reading of its settings, for the fuzzer. The server is a program and has no library, so its source is compiled in:
//! what is attacked is what is shipped.

use std::{io, time::Duration};

use tenant_auth_core::{Config, MasterKeys};

#[expect(dead_code, unexpected_cfgs, unused_imports, reason = "the program uses the rest of it, and has features of its own")]
#[path = "../../../tenant-auth-server/src/settings/mod.rs"]
mod settings;

use settings::{Effective, Input};

/// What an operator gave: the text of a settings file, and environment variables.
#[derive(Debug, Clone, Default)]
pub struct Given {
    /// The text of the file named by `--config`.
    pub file: Option<String>,
    /// Names and values.
    pub env: Vec<(String, String)>,
}

/// What the program makes of it.
#[derive(Debug)]
pub struct Read {
    /// What `serve` begins with, or everything that it says in refusing.
    pub server: Result<Server, String>,
    /// What a command that prints no link says in refusing.
    pub command: Result<(), String>,
    /// What `migrate` says in refusing.
    pub migrate: Result<(), String>,
    /// What the OpenAPI document's command says in refusing.
    pub document: Result<(), String>,
    /// What `settings` prints for people.
    pub shown: String,
    /// What `settings --json` prints.
    pub json: String,
    /// Whether a refusal is printed as JSON.
    pub wants_json: bool,
}

/// What `serve` begins with.
#[derive(Debug)]
pub struct Server {
    /// How the service behaves.
    pub config: Config,
    /// The keys that seal.
    pub master_keys: MasterKeys,
    /// The database's URL.
    pub database: String,
    /// The most connections to it.
    pub database_connections: u32,
    /// The most connections of clients.
    pub connections: u32,
    /// How long it goes on answering after it was told to stop.
    pub drain_notice: Duration,
    /// What the mailer says in refusing its settings.
    pub mailer: Result<bool, String>,
    /// What is printed at the start.
    pub warnings: Vec<String>,
}

/// Reads everything, as each command of the program would. Needs a runtime, on which the mailer lives.
pub fn read(given: &Given) -> Read {
    let input = Input {
        file: given.file.clone(),
        env: given.env.iter().cloned().collect(),
        read_file: |_| Err(io::ErrorKind::NotFound.into()),
        list_folder: |_| Err(io::ErrorKind::NotFound.into()),
    };
    let effective = Effective::of(&input);
    Read {
        server: settings::for_server(&input).map(Server::of).map_err(|refused| refused.to_string()),
        command: settings::for_command(&input, false).map(drop).map_err(|refused| refused.to_string()),
        migrate: settings::for_migrate(&input).map(drop).map_err(|refused| refused.to_string()),
        document: settings::for_document(&input).map(drop).map_err(|refused| refused.to_string()),
        shown: effective.to_text(),
        json: serde_json::to_string(&effective).expect("it is made of texts"),
        wants_json: input.wants_json(),
    }
}

impl Server {
    fn of(server: settings::Server) -> Self {
        let mailer = server.mailer().map(|mailer| mailer.is_some()).map_err(|refused| refused.to_string());
        let deployment = server.deployment;
        Self {
            config: deployment.config,
            master_keys: deployment.master_keys,
            database: deployment.database.url,
            database_connections: deployment.database.connections,
            connections: server.connections,
            drain_notice: server.drain_notice,
            mailer,
            warnings: deployment.warnings,
        }
    }
}
