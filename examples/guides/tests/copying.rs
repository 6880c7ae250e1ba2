//! The guide's copy of the members: its program is killed at any moment, again and again, while people come, change and go; and in
//! the end its copy is true. So it is after the service was restored from a backup.

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use tenant_auth_conformance::{
    Adapter, Caller, Neighbours, PASSWORD,
    walks::{blocks, printed},
};
use tenant_auth_core::{
    Config, MasterKeys, Sqlite, Store, TenantAuth,
    backend::NewApiKey,
    model::{Role, Scope},
    operator::{NewOrganization, NewUser},
    secret::Password,
    testing::TestPerson,
};
use tokio::{net::TcpListener, task::JoinHandle};

/// How often the program is killed.
const KILLED: usize = 20;

fn of_the_repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

#[test]
fn the_guide_prints_the_program_that_copies() {
    let program = std::fs::read_to_string(of_the_repository("examples/guides/copying/copying.py")).expect("a program");
    let printed = blocks(&of_the_repository("tenant-auth-core/guides/events.md"), "python");
    assert_eq!(printed, [program], "events.md does not print copying.py as it is");
}

/// The program and its copy.
struct Copying {
    directory: tempfile::TempDir,
    url: String,
    api_key: String,
}

/// The program at work, killed when dropped.
struct AtWork(Child);

impl Drop for AtWork {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Copying {
    fn start(&self) -> AtWork {
        let mut command = Command::new("python3");
        command.arg(of_the_repository("examples/guides/copying/copying.py")).stdout(Stdio::null());
        command.env("AUTH_URL", &self.url).env("API_KEY", &self.api_key).env("COPY", self.copy());
        AtWork(command.spawn().expect("it starts"))
    }

    fn copy(&self) -> PathBuf {
        self.directory.path().join("members.db")
    }

    /// What a line of Python prints of the copy.
    fn of_copy(&self, python: &str) -> String {
        let script =
            format!("import sqlite3, json\ndb = sqlite3.connect({:?}, timeout=30)\n{python}", self.copy().display().to_string());
        printed(Command::new("python3").args(["-c", &script]))
    }

    /// How far the copy has come; `None` before it has begun.
    fn place(&self) -> Option<i64> {
        let place = "has = db.execute(\"SELECT name FROM sqlite_master WHERE name = 'reached'\").fetchone()\n\
                     print(*(db.execute('SELECT sequence FROM reached').fetchone() or ['']) if has else '')";
        self.of_copy(place).trim().parse().ok()
    }

    /// A copy as the guide's program made it when it kept the number of an event alone, with a member whose end it missed.
    fn leave_by_a_former_version(&self) {
        let tables = "db.executescript(\"CREATE TABLE members (id TEXT PRIMARY KEY, member TEXT NOT NULL);\"\n    \
                      \"CREATE TABLE place (only_one INTEGER PRIMARY KEY, sequence INTEGER NOT NULL);\"\n    \
                      \"INSERT INTO place VALUES (1, 1); INSERT INTO members VALUES ('usr_gone', '{}')\")";
        self.of_copy(tables);
    }

    /// The entries of the copy, by the time they joined.
    fn members(&self) -> Vec<serde_json::Value> {
        let entries = self.of_copy("print(json.dumps([json.loads(row[0]) for row in db.execute('SELECT member FROM members')]))");
        sorted(serde_json::from_str(&entries).expect("JSON"))
    }

    /// Waits until the copy has seen all that happened, and compares it with the list; how many members it has.
    async fn expect_true(&self, backend: &Caller) -> usize {
        let newest = backend.get("/public/events?limit=1").await.expect_ok()["newest"].as_i64();
        let began = Instant::now();
        while self.place() != newest {
            assert!(began.elapsed() < Duration::from_secs(60), "the copy is at {:?}, the feed at {newest:?}", self.place());
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let list = backend.get("/public/members?limit=1000").await.expect_ok();
        let members = list["members"].as_array().expect("a list").clone();
        assert_eq!(self.members(), sorted(members.clone()));
        members.len()
    }
}

fn is_python_here() -> bool {
    let is_here = Command::new("python3").arg("--version").stdout(Stdio::null()).status().is_ok_and(|status| status.success());
    if !is_here {
        assert!(std::env::var_os("TENANT_AUTH_REQUIRE_LANGUAGES").is_none(), "python3 does not run copying.py");
        eprintln!("python3 does not run copying.py here: skipped");
    }
    is_here
}

fn new_key() -> NewApiKey {
    let scopes = vec![Scope::EventsRead, Scope::MembersRead];
    NewApiKey { name: "Copy".parse().expect("a name"), scopes, expires_at: None }
}

fn sorted(mut members: Vec<serde_json::Value>) -> Vec<serde_json::Value> {
    members.sort_by_key(|member| member["userId"].as_str().map(str::to_owned));
    members
}

/// People who come, change and go.
struct Crowd {
    admin: Caller,
    people: Vec<TestPerson>,
}

impl Crowd {
    async fn change(&mut self, neighbours: &Neighbours, n: usize) {
        let service = neighbours.service();
        match n % 6 {
            0 | 1 => self.people.push(service.person(&format!("Person{n} Number"), Role::Member).await),
            2 => {
                let id = self.people[n % self.people.len()].id.clone();
                let team = serde_json::json!({ "team": n, "ü": ["x"] });
                self.admin.set_metadata(id.as_str(), team).await.expect(200);
            }
            3 => {
                let person = &self.people[n % self.people.len()];
                self.admin.set_status(person.id.as_str(), "active").await.expect(200);
                let browser = Caller::at(neighbours.address(), "acme");
                browser.login_with(person.email.as_str(), PASSWORD).await.expect(200);
                browser.put("/auth/profile", serde_json::json!({ "name": format!("Renamed {n}") })).await.expect(200);
            }
            4 => {
                let id = self.people[n % self.people.len()].id.clone();
                let status = if n.is_multiple_of(4) { "suspended" } else { "active" };
                self.admin.set_status(id.as_str(), status).await.expect(200);
            }
            _ => {
                let person = self.people.remove(n % self.people.len());
                if n % 4 == 1 {
                    service.auth.operator().delete_user(&person.email).await.expect("there is an account");
                } else {
                    self.admin.remove(person.id.as_str()).await.expect(200);
                }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_is_true_however_often_its_program_is_killed() {
    if !is_python_here() {
        return;
    }
    let neighbours = Neighbours::start(Adapter::Axum).await;
    let operator = neighbours.service().auth.operator();
    let key = operator.create_api_key(&"acme".parse().expect("a slug"), new_key()).await.expect("room for a key");
    let (url, api_key) = (format!("http://{}", neighbours.address()), key.key.expose().to_owned());
    let copying = Copying { directory: tempfile::tempdir().expect("a directory"), url, api_key };
    let admin = Caller::at(neighbours.address(), "acme");
    admin.login_with("olga@acme.example", PASSWORD).await.expect(200);
    let mut crowd = Crowd { admin, people: Vec::new() };
    copying.leave_by_a_former_version();
    let mut moment = 7_u64;
    for round in 0..KILLED {
        let at_work = copying.start();
        for n in 0..6 {
            crowd.change(&neighbours, round * 6 + n).await;
            moment = moment * 48_271 % 0x7fff_ffff;
            tokio::time::sleep(Duration::from_millis(moment % 120)).await;
        }
        drop(at_work);
    }
    let backend = Caller::at(neighbours.address(), "acme").with("X-API-Key", &copying.api_key);
    let _at_work = copying.start();
    let members = copying.expect_true(&backend).await;
    assert!(members > 20, "{members}");
}

/// The service over a file, from one start to the next stop.
struct Life {
    auth: TenantAuth,
    store: Store,
    address: SocketAddr,
    serving: JoinHandle<()>,
}

impl Life {
    async fn begin(file: &Path, keys: &str, address: SocketAddr) -> Self {
        let store = Store::from(Sqlite::open(&file.display().to_string()).await.expect("it opens"));
        let auth = TenantAuth::builder()
            .store(store.clone())
            .master_keys(MasterKeys::parse(keys).expect("master keys"))
            .config(Config::new("http://localhost".parse().expect("a URL")))
            .build()
            .await
            .expect("the service builds");
        let listener = TcpListener::bind(address).await.expect("a free port");
        let address = listener.local_addr().expect("a bound socket");
        let routes: axum::Router = tenant_auth_axum::routes(&auth);
        let app = routes.into_make_service_with_connect_info::<SocketAddr>();
        let serving = tokio::spawn(async move { axum::serve(listener, app).await.expect("it serves") });
        Self { auth, store, address, serving }
    }

    async fn hire(&self, name: &str) {
        let new = NewUser {
            email: format!("{name}@acme.example").parse().expect("an address"),
            name: name.parse().expect("a name"),
            role: Role::Member,
            password: Password::new(PASSWORD),
        };
        self.auth.operator().create_user(&"acme".parse().expect("a slug"), new).await.expect("they are new");
    }

    async fn end(self) {
        self.serving.abort();
        let _ = self.serving.await;
        self.store.close().await;
    }
}

/// The copy is of what the backup has forgotten; when the program starts again, others have the numbers of those events.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_begins_anew_after_a_restored_backup() {
    if !is_python_here() {
        return;
    }
    for has_read_events in [false, true] {
        let directory = tempfile::tempdir().expect("a directory");
        let (file, backup) = (directory.path().join("auth.db"), directory.path().join("backup"));
        let (keys, anywhere) = (MasterKeys::generate_text(), SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
        let life = Life::begin(&file, &keys, anywhere).await;
        let (address, slug) = (life.address, "acme".parse().expect("a slug"));
        let first = "first@acme.example".parse().expect("an address");
        let acme = NewOrganization::new("Acme".parse().expect("a name"), "acme".parse().expect("a slug"), first);
        life.auth.operator().create_organization(acme).await.expect("it is new");
        let key = life.auth.operator().create_api_key(&slug, new_key()).await.expect("room for a key");
        let (url, api_key) = (format!("http://{address}"), key.key.expose().to_owned());
        let backend = Caller::at(address, "acme").with("X-API-Key", &api_key);
        let copying = Copying { directory: tempfile::tempdir().expect("a directory"), url, api_key };
        life.hire("anna").await;
        life.end().await;
        std::fs::copy(&file, &backup).expect("is copied");

        let life = Life::begin(&file, &keys, address).await;
        if !has_read_events {
            life.hire("lost").await;
        }
        let at_work = copying.start();
        copying.expect_true(&backend).await;
        if has_read_events {
            life.hire("lost").await;
        }
        assert_eq!(copying.expect_true(&backend).await, 2);
        drop(at_work);
        life.end().await;
        std::fs::copy(&backup, &file).expect("is restored");

        let life = Life::begin(&file, &keys, address).await;
        for name in ["berta", "carl", "dora"] {
            life.hire(name).await;
        }
        let _at_work = copying.start();
        assert_eq!(copying.expect_true(&backend).await, 4, "anna and those three");
        life.end().await;
    }
}
