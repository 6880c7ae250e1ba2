//! A large organization that moves: neither command keeps it in memory. The default is small enough for every run; a hundred thousand
//! members: `TENANT_AUTH_MOVED_MEMBERS=100000`.

use std::{
    fs,
    process::{Child, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use serde_json::Value;
use tenant_auth_conformance::empty_postgres;

use crate::{Program, moving_killed::settle};

/// Members of a usual run.
const MEMBERS: usize = 3_000;
/// The most memory that a command may take, in KiB. A debug build of the program takes some 60 MiB for itself, hashing included.
const MOST: u64 = 160 * 1024;
/// How long a command may take.
const PATIENCE: Duration = Duration::from_secs(1_800);

/// The most memory that a running process took, in KiB (`VmHWM`).
fn peak(child: &Child) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.trim().trim_end_matches(" kB").parse().ok()
}

/// Runs a command to its end; what it printed, and its peak of memory.
fn measured(program: &Program, arguments: &[&str]) -> (Value, u64) {
    let begun = Instant::now();
    let mut child = program.command(arguments).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().expect("it starts");
    let mut most = 0;
    while child.try_wait().expect("it can be waited for").is_none() {
        most = peak(&child).map_or(most, |now| now.max(most));
        if begun.elapsed() > PATIENCE {
            let _ = child.kill();
        }
        sleep(Duration::from_millis(5));
    }
    let printed = crate::json(&child.wait_with_output().expect("it ended"));
    println!("{}: {:.1?}, at most {} MiB", arguments[..2].join(" "), begun.elapsed(), most / 1024);
    (printed, most)
}

fn moves_in_bounded_memory(target: &Program) {
    let members = std::env::var("TENANT_AUTH_MOVED_MEMBERS").map_or(MEMBERS, |text| text.parse().expect("a number"));
    let source = Program::new();
    settle(&source, members);
    let key = ["--key-file", "acme.key", "--json"];
    let (exported, most) =
        measured(&source, &[&["org", "export", "--slug", "acme", "--out", "acme.taex"], key.as_slice()].concat());
    assert_eq!(exported["exported"]["members"], members);
    assert!(most < MOST, "{most} KiB");
    for name in ["acme.taex", "acme.key"] {
        fs::copy(source.path().join(name), target.path().join(name)).expect("the export wrote both");
    }
    let (imported, most) = measured(target, &[&["org", "import", "--in", "acme.taex"], key.as_slice()].concat());
    assert_eq!(imported["imported"]["members"], members);
    assert!(most < MOST, "{most} KiB");
}

#[test]
fn many_members_move_in_bounded_memory_on_sqlite() {
    moves_in_bounded_memory(&Program::new());
}

#[test]
fn many_members_move_in_bounded_memory_on_postgresql() {
    if let Some(url) = empty_postgres() {
        moves_in_bounded_memory(&Program::new().with("DATABASE_URL", &url));
    }
}
