//! The programs that remember, as parts of others: in workers that are forked, in scripts that end, and before a service that says
//! what nobody expects.

use std::{
    process::Command,
    sync::atomic::{AtomicBool, Ordering},
};

use tenant_auth_conformance::{ScriptedServer, walks::printed};

use super::{is_runnable, of_the_repository};

const NOTHING_NEW: &str = r#"{"cursor":"c","everything":false,"sessions":[],"users":[],"keyExpiresAt":null}"#;
const VALID: &str = r#"{"valid":true,"user":{"id":"usr_1","name":"Ada"},"membership":{"role":"member","status":"active"},
    "session":{"id":"ses_1","expiresAt":"2999-01-01T00:00:00Z"},"tokenExpiresAt":"2999-01-01T00:00:00Z"}"#;

fn is_poll(asked: &str) -> bool {
    asked.starts_with("GET /api/v1/public/changes?")
}

fn ok(body: &str) -> Option<Vec<u8>> {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n";
    Some(format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes())
}

fn data(data: &str) -> Option<Vec<u8>> {
    ok(&format!(r#"{{"status":"success","data":{data}}}"#))
}

/// How long each background question had the service wait, in milliseconds.
fn waits(server: &ScriptedServer) -> Vec<u64> {
    let wait = |asked: &String| asked.split_once("wait=")?.1.split(['&', ' ']).next()?.parse::<u64>().ok();
    server.asked().iter().filter(|asked| is_poll(asked)).filter_map(wait).collect()
}

const FORKING: &str = r#"
import os, sys, time
sys.path.insert(0, os.environ["PROGRAMS"])
import remembering
remembering.MAX_AGE = 3.0

def until_remembered():
    for _ in range(1000):
        verifier.verify("token")
        if verifier.answers:
            return True
        time.sleep(0.02)
    return False

verifier = remembering.Verifier(os.environ["AUTH_URL"], "acme", "pk_live_any")
assert verifier.follower is None, "a parent that verifies nothing asks nothing"
assert until_remembered()
child = os.fork()
if child == 0:
    os._exit(0 if not verifier.answers and until_remembered() else 1)
assert os.waitpid(child, 0)[1] == 0, "the worker remembers by itself"
time.sleep(2)
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn forked_workers_remember_each_by_itself() {
    if !is_runnable("python3", "remembering.py") {
        return;
    }
    let was_odd = AtomicBool::new(false);
    let server = ScriptedServer::start(move |asked| match is_poll(asked) {
        true if was_odd.swap(true, Ordering::SeqCst) => data(NOTHING_NEW),
        true => ok("[1]"),
        false => data(VALID),
    })
    .await;
    let programs = of_the_repository("examples/guides/remembering").canonicalize().expect("the programs");
    let mut command = Command::new("python3");
    command.args(["-c", FORKING]).env("AUTH_URL", server.url()).env("PROGRAMS", programs);
    printed(command.env("PYTHONDONTWRITEBYTECODE", "1"));
    let waits = waits(&server);
    assert_eq!(waits.iter().max(), Some(&1_000), "the longest that the service accepts: {waits:?}");
}

const ENDING: &str = r#"
const { Verifier } = await import(`${process.env.PROGRAMS}/remembering.ts`);
setTimeout(() => process.exit(3), 20_000).unref();
const verifier = new Verifier(process.env.AUTH_URL, "acme", "pk_live_any");
console.log((await verifier.verify("token")).user.name);
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_script_that_verifies_once_ends() {
    if !is_runnable("node", "remembering.ts") {
        return;
    }
    let server = ScriptedServer::start(|asked| data(if is_poll(asked) { NOTHING_NEW } else { VALID })).await;
    let programs = of_the_repository("examples/guides/remembering").canonicalize().expect("the programs");
    let mut command = Command::new("node");
    command.args(["--input-type=module", "-e", ENDING]).env("AUTH_URL", server.url()).env("PROGRAMS", programs);
    assert_eq!(printed(&mut command), "Ada\n");
}
