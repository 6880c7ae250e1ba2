//! The files of `deploy/`: what they name exists, and the programs they are for accept them.

use std::{
    collections::BTreeSet,
    fs,
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use tenant_auth_conformance::free_port;

use crate::{
    Program,
    metrics::metrics_address,
    real_parts::{Part, is_installed},
    running::{DEADLINE, Running, get},
};

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn text(name: &str) -> String {
    fs::read_to_string(file(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The metrics that a text names, without the suffixes of a histogram's series.
fn named_in(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let names = words.filter(|word| word.starts_with("tenant_auth_") || word.starts_with("process_"));
    names.map(|name| name.strip_suffix("_bucket").unwrap_or(name)).collect()
}

#[test]
fn alerts_and_board_name_metrics_that_exist() {
    let program = Program::new().with("METRICS_LISTEN", "127.0.0.1:0");
    let server = Running::start(&program, &["serve"]);
    server.get("/api/v1/.well-known/jwks.json"); // a family shows with its first sample
    let (_, told) = get(&metrics_address(&server), "/metrics");
    let declared: BTreeSet<&str> =
        told.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' ')).map(|(name, _)| name).collect();
    assert!(declared.contains("tenant_auth_http_requests"), "the scan sees nothing: {declared:?}");
    for name in ["deploy/alerts.yml", "deploy/grafana.json"] {
        let text = text(name);
        let named = named_in(&text);
        assert!(named.len() > 10, "the scan sees nothing: {named:?}");
        let is_known = |metric: &&str| {
            let family = metric.strip_suffix("_total").or_else(|| metric.strip_suffix("_info")).unwrap_or(metric);
            declared.contains(family)
        };
        let unknown: Vec<_> = named.iter().filter(|metric| !is_known(metric)).collect();
        assert!(unknown.is_empty(), "{name} names {unknown:?}, which are not among {declared:?}");
    }
}

#[test]
fn each_alert_leads_to_a_section_of_the_guide() {
    let guide = text("guides/operations.md");
    let anchors: BTreeSet<String> = guide
        .lines()
        .filter_map(|line| line.strip_prefix('#'))
        .map(|heading| heading.trim_start_matches('#').trim().to_lowercase())
        .map(|heading| heading.chars().filter(|c| c.is_alphanumeric() || " -".contains(*c)).collect::<String>().replace(' ', "-"))
        .collect();
    let alerts = text("deploy/alerts.yml");
    let (rules, leads) = (alerts.matches("- alert: ").count(), alerts.matches("runbook: \"operations.md#").count());
    assert!(rules > 10 && rules == leads, "{rules} alerts, {leads} of them with a section");
    for lead in alerts.split("runbook: \"operations.md#").skip(1) {
        let anchor = lead.split('"').next().unwrap_or_default();
        assert!(anchors.contains(anchor), "the guide has no section {anchor}: {anchors:?}");
    }
}

#[test]
fn prometheus_accepts_the_alerts_and_each_fires() {
    if !is_installed("promtool") {
        return;
    }
    for arguments in [["check", "rules", "alerts.yml"], ["test", "rules", "alerts.test.yml"]] {
        let output = Command::new("promtool").args(arguments).current_dir(file("deploy")).output().expect("it runs");
        assert!(output.status.success(), "{output:?}");
    }
    let fired: usize = text("deploy/alerts.test.yml")
        .rsplit("value: ")
        .next()
        .and_then(|rest| rest.split(' ').next()?.parse().ok())
        .expect("a number");
    assert_eq!(fired, text("deploy/alerts.yml").matches("- alert: ").count(), "alerts.test.yml lets each alert fire");
}

/// The environment overrides a settings file, so a database that the image named would silently be used in the place of the file's.
#[test]
fn the_image_sets_only_what_every_container_needs() {
    let image = text("deploy/Containerfile");
    let variables = image.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once("TENANT_AUTH_"));
    let names: Vec<_> = variables.filter_map(|(_, rest)| Some(rest.split_once('=')?.0)).collect();
    assert_eq!(names, ["LISTEN", "LOG_FORMAT"]);
}

/// A statement that writes a large table anew says nothing until its end: nothing on the way to the database may take that for an end.
#[test]
fn haproxy_accepts_its_sample_and_lets_a_long_migration_be_silent() {
    let sample = text("deploy/haproxy.cfg");
    let to_the_database = sample.split("frontend database").nth(1).expect("a way to the database");
    for line in ["timeout client 24h", "option clitcpka", "timeout server 24h", "option srvtcpka"] {
        assert!(to_the_database.lines().any(|told| told.trim() == line), "no '{line}' in {to_the_database}");
    }
    if !is_installed("haproxy") {
        return;
    }
    let output = Command::new("haproxy").arg("-c").arg("-f").arg(file("deploy/haproxy.cfg")).output().expect("it runs");
    assert!(output.status.success(), "{output:?}");
}

/// The sample as a whole configuration of files below a directory: one address, and no TLS.
fn nginx_configuration(directory: &Path, listen: &str) -> PathBuf {
    let below = directory.display().to_string();
    let sample = text("deploy/nginx.conf").replace("listen 443 ssl", &format!("listen {listen}"));
    let sample = sample.replace("listen 80", &format!("listen unix:{below}/http")).replace("/var/log/nginx", &below);
    let sample: String = sample.lines().filter(|line| !line.contains("ssl_certificate")).map(|line| format!("{line}\n")).collect();
    let places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(|of| format!("{of}_temp_path {below}/{of};\n")).concat();
    let main = directory.join("nginx.conf");
    let whole = format!("pid {below}/pid;\nevents {{}}\nhttp {{\naccess_log off;\n{places}{sample}}}\n");
    fs::write(&main, whole).expect("written");
    main
}

#[test]
fn nginx_accepts_its_sample() {
    if !is_installed("nginx") {
        return;
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    let main = nginx_configuration(directory.path(), &format!("unix:{}/https", directory.path().display()));
    let output = Command::new("nginx").arg("-t").arg("-c").arg(&main).arg("-p").arg(directory.path()).output().expect("it runs");
    assert!(output.status.success(), "{output:?}");
}

/// Whoever reads the log of a proxy is not the one who was invited. Nothing answers behind this proxy, for then the token goes on being good.
#[test]
fn the_logs_of_nginx_hold_no_token_and_no_query() {
    if !is_installed("nginx") {
        return;
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    let address = format!("127.0.0.1:{}", free_port());
    let main = nginx_configuration(directory.path(), &address);
    let configuration = fs::read_to_string(&main).expect("it was written").replace("127.0.0.1:8080", "127.0.0.1:9");
    fs::write(&main, configuration).expect("written");
    let mut nginx = Command::new("nginx");
    nginx.args(["-g", "daemon off; master_process off;"]).arg("-c").arg(&main).arg("-p").arg(directory.path());
    let _nginx = Part(nginx.stdin(Stdio::null()).stderr(Stdio::null()).spawn().expect("it runs"));
    let log = |name: &str| fs::read_to_string(directory.path().join(name)).unwrap_or_default();
    let deadline = Instant::now() + DEADLINE;
    let wait = || {
        assert!(Instant::now() < deadline, "{}{}", log("auth.access.log"), log("auth.error.log"));
        thread::sleep(Duration::from_millis(10));
    };
    while TcpStream::connect(&address).is_err() {
        wait();
    }
    for path in [
        "/api/v1/org/invites/live-token/accept",
        "/auth/api/v1/org/invites/live-token/accept?from=mail",
        "/api/v1/org/members?q=ada",
    ] {
        assert_eq!(get(&address, path).0, 502, "nothing is behind it");
    }
    while log("auth.access.log").lines().count() < 3 {
        wait();
    }
    let (told, errors) = (log("auth.access.log"), log("auth.error.log"));
    assert_eq!(told.matches("/api/v1/org/invites/***/accept HTTP/1.1\"").count(), 2, "{told}");
    for kept_out in ["live-token", "from=mail", "ada"] {
        assert!(!told.contains(kept_out) && !errors.contains(kept_out), "{told}{errors}");
    }
}
