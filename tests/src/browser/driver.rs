//! chromedriver, started once for the run on a port of its own, and Chromium's command line. To start a browser costs as much as half a
//! scenario, so one that a scenario passed in is used again, by a tab that knows nothing of it. The others are closed, however their
//! scenario ended; sessions left at the end of the run are closed before the driver is stopped.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{Ipv4Addr, TcpStream},
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use fantoccini::{Client, ClientBuilder, error::CmdError, wd::WindowHandle};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::commands;

const CHROMIUMS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
/// How long the driver may take to close the browsers it still has.
const FAREWELL: Duration = Duration::from_secs(10);

/// A running chromedriver.
#[derive(Debug)]
pub(super) struct Driver {
    process: Child,
    port: u16,
    chromium: PathBuf,
    /// What speaks to the browsers, which outlive the runtimes of scenarios.
    runtime: Runtime,
    /// Browsers that nobody uses now.
    idle: Mutex<Vec<Client>>,
}

impl Driver {
    /// Starts it; `None` where Chromium or its driver is not installed.
    pub(super) fn start() -> Option<Self> {
        let chromium = CHROMIUMS.iter().find_map(|name| installed(name))?;
        let mut process = Command::new(installed("chromedriver")?)
            .args(["--port=0", "--log-level=SEVERE"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver starts");
        let said = BufReader::new(process.stdout.take().expect("a pipe"));
        let port = said.lines().map_while(Result::ok).find_map(|line| port_in(&line)).expect("chromedriver says its port");
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        Some(Self { process, port, chromium, runtime, idle: Mutex::default() })
    }

    /// A browser of its own, and its one tab: no cookie, no memory, no way to any host but this one.
    pub(super) async fn session(&self) -> (Client, WindowHandle) {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        if let Some(client) = idle {
            match forgetting(&client).await {
                Ok(tab) => return (client, tab),
                Err(_) => drop(client.close().await),
            }
        }
        let client = self.started().await;
        let tab = client.window().await.expect("a first tab");
        (client, tab)
    }

    /// Takes back a browser in which all was well.
    pub(super) fn keep(&self, client: Client) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(client);
    }

    async fn started(&self) -> Client {
        let Value::Object(capabilities) = self.capabilities() else { unreachable!("an object literal") };
        let url = format!("http://127.0.0.1:{}", self.port);
        let starting = async move { ClientBuilder::new(HttpConnector::new()).capabilities(capabilities).connect(&url).await };
        self.runtime.spawn(starting).await.expect("it does not panic").expect("Chromium starts")
    }

    fn capabilities(&self) -> Value {
        json!({
            "browserName": "chrome",
            // axe-core works at the longest page for half of it where the machine is busy.
            "timeouts": { "script": 90_000 },
            "goog:loggingPrefs": { "browser": "ALL", "performance": "ALL" },
            "goog:chromeOptions": {
                "binary": self.chromium,
                "args": [
                    "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--lang=en-GB",
                    "--window-size=1280,960", "--force-color-profile=srgb", "--font-render-hinting=none",
                    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-default-apps",
                    "--disable-background-timer-throttling", "--disable-renderer-backgrounding",
                    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
                ],
                "prefs": { "credentials_enable_service": false, "profile.password_manager_leak_detection": false },
                "perfLoggingPrefs": { "enableNetwork": true, "enablePage": false },
            },
        })
    }

    /// Asks the driver to close its browsers and to end.
    fn farewell(&self) -> std::io::Result<()> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port))?;
        stream.set_read_timeout(Some(FAREWELL))?;
        stream.write_all(b"GET /shutdown HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")?;
        stream.read_to_end(&mut Vec::new()).map(drop)
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = self.farewell();
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Makes a browser one that has seen nothing. What was set for a tab ends with it: scripts, sizes, headers, colours.
async fn forgetting(client: &Client) -> Result<WindowHandle, CmdError> {
    let former = client.windows().await?;
    let tab = client.new_window(true).await?.handle;
    for former in former {
        client.switch_to_window(former).await?;
        client.close_window().await?;
    }
    client.switch_to_window(tab.clone()).await?;
    for method in ["Network.clearBrowserCookies", "Network.clearBrowserCache", "Browser.resetPermissions"] {
        client.issue_cmd(commands::Command::devtools(method, json!({}))).await?;
    }
    for kind in ["browser", "performance"] {
        client.issue_cmd(commands::Command::log(kind)).await?;
    }
    Ok(tab)
}

fn port_in(line: &str) -> Option<u16> {
    line.split_once("started successfully on port ")?.1.trim_end_matches('.').parse().ok()
}

fn installed(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|directory| directory.join(program)).find(|file| file.is_file())
}
