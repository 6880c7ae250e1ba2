//! What was told is on the disk: a power cut must not undo a logout that somebody was told of.

use std::{path::Path, process::Command};

use serde_json::json;

use crate::{Program, admin::Admin, running::Running};

const CHANGES: usize = 25;

/// How often the traced program has had its writes brought to the disk so far.
fn syncs(trace: &Path) -> usize {
    let text = std::fs::read_to_string(trace).expect("the trace is there");
    text.lines().filter(|line| line.contains("fsync(") || line.contains("fdatasync(")).count()
}

#[test]
fn each_change_is_on_the_disk_before_it_is_told() {
    match Command::new("strace").args(["-D", "-o", "/dev/null", "true"]).output() {
        Ok(output) if output.status.success() => {}
        refused => return println!("SKIPPED: strace is not here, or may not trace: {refused:?}"),
    }
    let program = Program::new();
    let trace = program.path().join("syncs");
    // -D: the server stays our child, so that it is what ends with the test.
    let tracer = ["strace", "-D", "-f", "--seccomp-bpf", "-e", "trace=fsync,fdatasync", "-o"];
    let program = program.run_by(&[&tracer[..], &[trace.to_str().expect("a text path")]].concat());
    let server = Running::start(&program, &["serve"]);
    let program = program.run_by(&[]);
    let admin = Admin::of_new_organization(&program, &server.address);
    let before = syncs(&trace);
    for number in 0..CHANGES {
        admin.data(&server.address, "PATCH /org", &json!({ "name": format!("Acme {number}") }));
    }
    let synced = syncs(&trace) - before;
    println!("{synced} syncs in {CHANGES} changes");
    assert!(synced >= CHANGES, "{synced} syncs in {CHANGES} changes");
}
