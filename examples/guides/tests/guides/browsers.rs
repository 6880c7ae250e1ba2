//! The guide for browsers: what its code makes of each answer.

use std::process::Command;

use tenant_auth_conformance::walks::{blocks, printed};

use super::{is_runnable, of_the_repository};

/// The service, as far as the code meets it: a session whose access token has ended, and what a refresh answers.
const SERVICE: &str = r#"
let live = false, refreshes = 0, renewal;
globalThis.fetch = async (url) => {
  const said = (status, code) => new Response(JSON.stringify({ code }), { status });
  if (!url.endsWith("/auth/refresh")) return live ? said(200) : said(401, url.endsWith("/elsewhere") ? "wrong_organization" : "session_required");
  refreshes += 1;
  live = renewal === 200;
  return said(renewal, { 401: "session_required", 429: "rate_limited", 503: "unavailable" }[renewal]);
};
for (renewal of [200, 401, 429, 503]) {
  [live, refreshes] = [false, 0];
  const answers = await Promise.all(["/org", "/org/members"].map((path) => call("acme", path)));
  for (const answer of answers) console.log(renewal, answer.status, (await answer.json()).code ?? "ok", refreshes);
}
live = false;
console.log((await call("acme", "/elsewhere")).status);
"#;

#[test]
fn a_refresh_that_is_put_off_ends_no_session() {
    if !is_runnable("node", "the code of browsers.md") {
        return;
    }
    let code = blocks(&of_the_repository("tenant-auth-core/guides/browsers.md"), "js");
    let code = code.iter().find(|block| block.contains("async function call(")).expect("the code of a single-page app");
    let text = printed(Command::new("node").args(["--input-type=module", "-e", &format!("{code}{SERVICE}")]));
    let expected = ["200 200 ok 1", "401 401 session_required 1", "429 429 rate_limited 1", "503 503 unavailable 1"];
    assert_eq!(text, expected.map(|line| format!("{line}\n{line}\n")).concat() + "401\n");
}
