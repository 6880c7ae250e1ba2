//! The values that the table's rows fill, each with its default until then.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    time::Duration,
};

use tenant_auth_core::{Config, MasterKeys};
use url::Url;

use super::{input::Input, row::Row, table::MASTER_KEY};

const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Every value that a setting can give.
#[derive(Debug)]
pub(super) struct Values {
    pub(super) database_url: Option<String>,
    pub(super) database_connections: u32,
    pub(super) sqlite_must_exist: bool,
    pub(super) master_keys: Option<MasterKeys>,
    /// The setting that gave them.
    pub(super) master_keys_from: Row,
    /// How the service behaves. Its public URL holds nothing true until that setting was read.
    pub(super) config: Config,
    pub(super) listen: SocketAddr,
    pub(super) metrics_listen: Option<SocketAddr>,
    pub(super) connections: u32,
    pub(super) drain_notice: Duration,
    pub(super) smtp_url: Option<String>,
    pub(super) mail_from: Option<String>,
    pub(super) log_filter: String,
    pub(super) log_format: LogFormat,
    pub(super) otlp_endpoint: Option<Url>,
    /// Reads a file that a setting names.
    pub(super) read_file: fn(&Path) -> io::Result<Vec<u8>>,
    /// Lists the files of a folder that a setting names, by their names.
    pub(super) list_folder: fn(&Path) -> io::Result<Vec<PathBuf>>,
}

/// How a log line looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

impl Values {
    /// The defaults.
    pub(super) fn new(input: &Input) -> Self {
        Self {
            database_url: None,
            database_connections: 10,
            sqlite_must_exist: false,
            master_keys: None,
            master_keys_from: MASTER_KEY,
            config: Config::new(Url::parse("http://localhost").expect("a constant URL")),
            listen: SocketAddr::new(LOOPBACK, 8080),
            metrics_listen: Some(SocketAddr::new(LOOPBACK, 9464)),
            connections: 8_192,
            drain_notice: Duration::from_secs(5),
            smtp_url: None,
            mail_from: None,
            log_filter: "info,sqlx=warn".to_owned(),
            log_format: LogFormat::Text,
            otlp_endpoint: None,
            read_file: input.read_file,
            list_folder: input.list_folder,
        }
    }
}
