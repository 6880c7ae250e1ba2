//! The parts of a real deployment, with the files of `deploy/`: HAProxy before a PostgreSQL primary and its synchronous standby, and
//! pgbouncer. Where they are not installed the tests say so, unless `TENANT_AUTH_REQUIRE_PARTS=1`.

use std::{
    fs,
    io::{Read, Write},
    net::TcpListener,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use serde_json::json;
use tenant_auth_conformance::{PostgresServer, as_postgres_user, free_port};

use crate::{
    Program,
    admin::Admin,
    readiness::until_ready_is,
    running::{DEADLINE, Running},
};

const WRITERS: usize = 4;

/// A program that is no child of ours without us: killed when dropped.
pub(crate) struct Part(pub(crate) Child);

impl Drop for Part {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Whether a program is installed; a word on stderr where it is not.
pub(crate) fn is_installed(program: &str) -> bool {
    let is_there =
        ["/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin"].iter().any(|bin| Path::new(bin).join(program).exists());
    let is_required = std::env::var_os("TENANT_AUTH_REQUIRE_PARTS").is_some_and(|value| value == "1");
    assert!(is_there || !is_required, "{program} is not installed");
    if !is_there {
        eprintln!("SKIPPED: {program} is not installed");
    }
    is_there
}

fn deployed(name: &str) -> String {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("deploy").join(name);
    fs::read_to_string(file).expect("the file is there")
}

/// Like Patroni's REST interface: 200 while the node is the primary, as its agent knows.
fn agent(is_primary: Arc<AtomicBool>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("bound").port();
    thread::spawn(move || {
        for mut client in listener.incoming().flatten() {
            let _ = client.set_read_timeout(Some(Duration::from_secs(1)));
            let _ = client.read(&mut [0; 1_024]);
            let status = if is_primary.load(Ordering::Relaxed) { "200 OK" } else { "503 Service Unavailable" };
            let _ = write!(client, "HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        }
    });
    port
}

/// The sample configuration with these addresses in place of its own.
fn with_addresses(sample: &str, addresses: &[(&str, String)]) -> String {
    addresses.iter().fold(sample.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "the sample has no {from}");
        text.replace(from, to)
    })
}

/// Clients that change one member each, again and again, through whatever happens. Each change carries the next number: the last one
/// that was acknowledged must be there afterwards, or a later one.
struct Writers {
    members: Vec<String>,
    stop: AtomicBool,
    acknowledged: [AtomicU64; WRITERS],
    refused: AtomicU64,
}

impl Writers {
    fn of_new_members(program: &Program) -> Self {
        let made = (0..WRITERS).map(|index| {
            let (email, name) = (format!("m{index}@example.com"), format!("M{index}"));
            let create = ["user", "create", "--org", "acme", "--email", &email, "--name", &name, "--json"];
            crate::json(&program.run_with_stdin(&create, "mauve-otter-plinth-42\n"))["user"]["id"]
                .as_str()
                .expect("an id")
                .to_owned()
        });
        Self { members: made.collect(), stop: AtomicBool::new(false), acknowledged: Default::default(), refused: AtomicU64::new(0) }
    }

    fn write(&self, index: usize, admin: &Admin, address: &str) {
        let what = format!("PATCH /org/members/{}", self.members[index]);
        for number in 1.. {
            if self.stop.load(Ordering::Relaxed) {
                return;
            }
            match admin.ask(address, &what, &json!({ "metadata": { "number": number } })) {
                Ok((200, _)) => self.acknowledged[index].store(number, Ordering::Relaxed),
                Ok((503, _)) => drop(self.refused.fetch_add(1, Ordering::Relaxed)),
                other => panic!("{what}: {other:?}"),
            }
        }
    }

    fn acknowledged(&self) -> u64 {
        self.acknowledged.iter().map(|number| number.load(Ordering::Relaxed)).sum()
    }

    fn nothing_is_lost(&self, admin: &Admin, address: &str) {
        let listed = admin.data(address, "GET /org/members", &json!({}));
        for (member, acknowledged) in self.members.iter().zip(&self.acknowledged) {
            let members = listed["members"].as_array().expect("a list");
            let entry = members.iter().find(|entry| entry.to_string().contains(member.as_str())).expect("the member is there");
            let (stored, told) = (entry["metadata"]["number"].as_u64(), acknowledged.load(Ordering::Relaxed));
            assert!(stored.is_some_and(|stored| stored >= told), "{told} was acknowledged, {stored:?} is there");
        }
    }
}

/// The primary dies under load and the standby is promoted, as Patroni or a person does it. With synchronous replication no change
/// that was acknowledged is lost.
#[test]
fn a_failover_behind_haproxy_loses_no_acknowledged_change() {
    if !is_installed("haproxy") {
        return;
    }
    let Some(mut primary) = PostgresServer::start() else { return };
    let standby = primary.standby("standby");
    primary.run("ALTER SYSTEM SET synchronous_standby_names = 'FIRST 1 (standby)'");
    primary.run("SELECT pg_reload_conf()");
    let nodes = [true, false].map(|is_primary| Arc::new(AtomicBool::new(is_primary)));
    let agents = [agent(Arc::clone(&nodes[0])), agent(Arc::clone(&nodes[1]))];
    let (people, database) = (free_port(), free_port());

    let program = Program::new().with("DATABASE_URL", &format!("postgres://postgres@127.0.0.1:{database}/auth"));
    let configuration = with_addresses(
        &deployed("haproxy.cfg"),
        &[
            ("bind :80", format!("bind 127.0.0.1:{people}")),
            ("bind :5432", format!("bind 127.0.0.1:{database}")),
            ("10.0.0.31:5432 check port 8008", format!("127.0.0.1:{} check port {}", primary.port(), agents[0])),
            ("10.0.0.32:5432 check port 8008", format!("127.0.0.1:{} check port {}", standby.port(), agents[1])),
        ],
    );
    let file = program.path().join("haproxy.cfg");
    fs::write(&file, configuration).expect("it can be written");
    let _haproxy = Part(Command::new("haproxy").arg("-db").arg("-f").arg(&file).stderr(Stdio::null()).spawn().expect("it runs"));
    let server = Running::start(&program, &["serve"]);
    let admin = Admin::of_new_organization(&program, &server.address);
    let writers = Writers::of_new_members(&program);
    until_ready_is(&server, 200);

    let mut away = Duration::ZERO;
    thread::scope(|threads| {
        for index in 0..WRITERS {
            let (writers, admin, address) = (&writers, &admin, &server.address);
            threads.spawn(move || writers.write(index, admin, address));
        }
        until_more_than(&writers, 40);
        primary.crash();
        nodes[0].store(false, Ordering::Relaxed);
        let since = Instant::now();
        standby.promote();
        nodes[1].store(true, Ordering::Relaxed);
        until_more_than(&writers, writers.acknowledged());
        away = since.elapsed();
        until_more_than(&writers, writers.acknowledged() + 40);
        writers.stop.store(true, Ordering::Relaxed);
    });
    until_ready_is(&server, 200);
    writers.nothing_is_lost(&admin, &server.address);
    println!(
        "failover behind HAProxy: {} changes acknowledged, {} answered 503, the next one {:.1} s after the crash",
        writers.acknowledged(),
        writers.refused.load(Ordering::Relaxed),
        away.as_secs_f64(),
    );
}

fn until_more_than(writers: &Writers, acknowledged: u64) {
    let deadline = Instant::now() + DEADLINE;
    while writers.acknowledged() <= acknowledged {
        assert!(Instant::now() < deadline, "no change was acknowledged");
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn the_service_works_through_pgbouncer_in_session_mode() {
    if !is_installed("pgbouncer") {
        return;
    }
    let Some(primary) = PostgresServer::start() else { return };
    primary.run("CREATE DATABASE auth");
    let port = free_port();
    let program = Program::new().with("DATABASE_URL", &format!("postgres://postgres@127.0.0.1:{port}/auth"));
    let configuration = with_addresses(
        &deployed("pgbouncer.ini"),
        &[
            ("port=5432", format!("port={}", primary.port())),
            ("listen_port = 6432", format!("listen_port = {port}")),
            ("auth_type = scram-sha-256", "auth_type = any".to_owned()),
            ("dbname=auth", "dbname=auth user=postgres".to_owned()),
            ("auth_file = /etc/pgbouncer/userlist.txt", "unix_socket_dir =".to_owned()),
        ],
    );
    let file = program.path().join("pgbouncer.ini");
    fs::write(&file, configuration).expect("it can be written");
    for path in [program.path(), &file] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("rights can be set");
    }
    let mut command = as_postgres_user(Command::new("pgbouncer"));
    let _pgbouncer = Part(command.arg("-q").arg(&file).stderr(Stdio::null()).spawn().expect("it runs"));

    let server = Running::start(&program, &["serve"]);
    let admin = Admin::of_new_organization(&program, &server.address);
    until_ready_is(&server, 200);
    let writers = Writers::of_new_members(&program);
    thread::scope(|threads| {
        for index in 0..WRITERS {
            let (writers, admin, address) = (&writers, &admin, &server.address);
            threads.spawn(move || writers.write(index, admin, address));
        }
        until_more_than(&writers, 100);
        writers.stop.store(true, Ordering::Relaxed);
    });
    writers.nothing_is_lost(&admin, &server.address);
    assert_eq!(writers.refused.load(Ordering::Relaxed), 0, "{}", server.log());
}
