//! chromedriver, started once for the run on a port of its own, and Chromium's command line. The runner closes each scenario's
//! session, however the scenario ended; sessions left at the end of the run are closed before the driver is stopped.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{Ipv4Addr, TcpStream},
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::Duration,
};

use fantoccini::{Client, ClientBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};

const CHROMIUMS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
/// How long the driver may take to close the browsers it still has.
const FAREWELL: Duration = Duration::from_secs(10);

/// A running chromedriver.
#[derive(Debug)]
pub(super) struct Driver {
    process: Child,
    port: u16,
    chromium: PathBuf,
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
        Some(Self { process, port, chromium })
    }

    /// A browser of its own: no cookie, no memory, no way to any host but this one.
    pub(super) async fn session(&self) -> Client {
        let Value::Object(capabilities) = self.capabilities() else { unreachable!("an object literal") };
        ClientBuilder::new(HttpConnector::new())
            .capabilities(capabilities)
            .connect(&format!("http://127.0.0.1:{}", self.port))
            .await
            .expect("Chromium starts")
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

fn port_in(line: &str) -> Option<u16> {
    line.split_once("started successfully on port ")?.1.trim_end_matches('.').parse().ok()
}

fn installed(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|directory| directory.join(program)).find(|file| file.is_file())
}
