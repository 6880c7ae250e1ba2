//! Fuzzing: a few thousand requests of odd shape over the whole route table, the same ones in each run. The answer is always the
//! envelope, never a 5xx and never silence: the client checks that of every answer, and gives up on one that does not come.

use rand::{RngExt, SeedableRng, rngs::StdRng, seq::IndexedRandom};
use serde_json::json;
use tenant_auth_conformance::{App, Caller, Request, rounds, routes, scenarios};

scenarios![odd_requests_of_any_shape_get_an_envelope,];

const REQUESTS: usize = 3_000;
const AT_ONCE: usize = 6;

const SEGMENTS: [&str; 22] = [
    "x",
    "%00",
    "%FF",
    "%",
    "%zz",
    "..",
    ".",
    "%2F",
    "%2e%2e%2f",
    "usr_00000000000000000000000000",
    "USR_00000000000000000000000000",
    "inv_zzzzzzzzzzzzzzzzzzzzzzzzzz",
    "key_00000000000000000000000000",
    "0",
    "-1",
    "null",
    "'%20OR%201=1--",
    "%F0%9F%A6%80",
    "a+b",
    "$ne",
    "{userId}",
    "~",
];
const QUERIES: [&str; 12] = [
    "",
    "",
    "",
    "?limit=5",
    "?limit=-1",
    "?limit=1&cursor=AAAA",
    "?cursor=%00",
    "?limit=%FF",
    "?&&==&",
    "?limit=99999999999999999999",
    "?cursor=%F0%9F",
    "?limit=1&limit=2",
];
const VALUES: [&str; 30] = [
    "null",
    "true",
    "0",
    "-1",
    "1e400",
    "123456789012345678901234567890",
    "\"\"",
    "\"x\"",
    "[]",
    "{}",
    "[[[[[[]]]]]]",
    "{\"a\":{\"a\":{}}}",
    "\"\\u0000\"",
    "\"\\ud800\"",
    "\"max@acme.example\"",
    "\"nora@acme.example\"",
    "\"mauve-otter-plinth-42\"",
    "\"org_admin\"",
    "\"member\"",
    "\"suspended\"",
    "\"active\"",
    "\"https://x.example\"",
    "\"javascript:alert(1)\"",
    "\"2026-12-01T00:00:00.000Z\"",
    "\"99999-01-01T00:00:00Z\"",
    "[\"verify\"]",
    "[\"https://x.example\"]",
    "60",
    "1.5",
    "\"\u{202e}\"",
];
const FIELDS: [&str; 20] = [
    "email",
    "password",
    "token",
    "name",
    "bio",
    "phone",
    "currentPassword",
    "newPassword",
    "metadata",
    "role",
    "status",
    "appUrl",
    "allowedOrigins",
    "scopes",
    "expiresAt",
    "overlapSeconds",
    "email",
    "__proto__",
    "",
    "\\u0000",
];
const HEADERS: [(&str, &str); 24] = [
    ("X-Org-Slug", "acme"),
    ("X-Org-Slug", "globex"),
    ("X-Org-Slug", "ACME"),
    ("Origin", "https://app.acme.example"),
    ("Origin", "null"),
    ("Origin", "https://evil.example"),
    ("Sec-Fetch-Site", "cross-site"),
    ("Sec-Fetch-Site", "none"),
    ("Authorization", "Bearer x"),
    ("Authorization", "Basic eDp5"),
    ("Authorization", ""),
    ("Cookie", "access_token="),
    ("Cookie", "access_token=x; refresh_token=y; partial_token=z"),
    ("Cookie", ";;=;\"\""),
    ("X-API-Key", "pk_live_x"),
    ("X-API-Key", ""),
    ("Content-Encoding", "gzip"),
    ("Content-Type", "text/plain"),
    ("X-Forwarded-For", "1.2.3.4, ::1, rubbish"),
    ("X-Client-IP", "999.1.1.1"),
    ("User-Agent", "\u{ff}\u{fe}"),
    ("Accept", "text/html"),
    ("X-HTTP-Method-Override", "DELETE"),
    ("If-None-Match", "*"),
];

struct Generator {
    chance: StdRng,
    callers: Vec<Caller>,
    /// Of things that are there, so that some requests come far.
    ids: Vec<String>,
}

impl Generator {
    fn pick<'a, T>(&mut self, among: &'a [T]) -> &'a T {
        among.choose(&mut self.chance).expect("something to pick from")
    }

    fn one_in(&mut self, n: u32) -> bool {
        self.chance.random_range(0..n) == 0
    }

    fn request(&mut self) -> Request {
        let row = &routes::table()[self.chance.random_range(0..routes::table().len())];
        let index = self.chance.random_range(0..SEGMENTS.len() + self.ids.len() * 4);
        let segment = SEGMENTS.get(index).map_or_else(|| self.ids[index % self.ids.len()].clone(), |&segment| segment.to_owned());
        let mut path = row.path_with(&segment);
        if self.one_in(12) {
            path.push_str(&format!("/{}", self.pick(&SEGMENTS)));
        }
        path.push_str(self.pick::<&str>(&QUERIES));
        let method = if self.one_in(8) {
            *self.pick(&["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "BREW"])
        } else {
            row.method.as_str()
        };
        let index = self.chance.random_range(0..self.callers.len());
        let mut request = self.callers[index].request(method, &path);
        for _ in 0..self.chance.random_range(0..3u32) {
            let (name, value) = *self.pick(&HEADERS);
            let latin: Vec<u8> = value.chars().map(|c| u8::try_from(u32::from(c)).expect("Latin-1")).collect();
            request = if self.one_in(2) { request.replacing(name, latin) } else { request.header(name, latin) };
        }
        match self.chance.random_range(0..10u32) {
            0 | 1 => request,
            2 => request.untyped_body(self.json()),
            3 => request.text(self.mutilated()),
            4 => request.text(self.json()).chunked(),
            _ => request.text(self.json()),
        }
    }

    /// An object of known fields with unsuitable values.
    fn json(&mut self) -> String {
        let count = self.chance.random_range(0..5usize);
        let fields: Vec<String> = (0..count).map(|_| format!("\"{}\":{}", self.pick(&FIELDS), self.pick(&VALUES))).collect();
        format!("{{{}}}", fields.join(","))
    }

    /// Such an object with some bytes changed.
    fn mutilated(&mut self) -> Vec<u8> {
        let mut bytes = self.json().into_bytes();
        for _ in 0..self.chance.random_range(1..4u32) {
            let place = self.chance.random_range(0..bytes.len());
            bytes[place] = self.chance.random_range(0..=255);
        }
        bytes.truncate(self.chance.random_range(0..=bytes.len()));
        bytes
    }
}

/// Everybody who may call, with sessions that earlier requests may have ended.
async fn callers(app: &App) -> Vec<Caller> {
    let (admin, member) = (app.admin(), app.member());
    for caller in [&admin, &member] {
        let _ = caller.login().await;
    }
    vec![app.anonymous(), admin.clone(), admin, member, app.backend(), app.other_org().backend(), app.anonymous().without_slug()]
}

async fn odd_requests_of_any_shape_get_an_envelope(app: &App) {
    let mut generator = Generator {
        chance: StdRng::seed_from_u64(20_261_120),
        callers: callers(app).await,
        ids: [app.member().id(), app.admin().id(), app.org().api_key_id(), app.other_org().member().id()]
            .map(str::to_owned)
            .to_vec(),
    };
    for batch in 0..REQUESTS * rounds().max(50) / 50 / AT_ONCE {
        if batch % 40 == 0 {
            generator.callers = callers(app).await;
        }
        let requests = (0..AT_ONCE).map(|_| generator.request()).collect();
        tenant_auth_conformance::together(requests).await;
    }
    app.anonymous().get("/.well-known/jwks.json").await.expect(200);
    app.other_org()
        .admin()
        .post("/auth/login", json!({ "email": app.other_org().admin().email(), "password": "mauve-otter-plinth-42" }))
        .await
        .expect(200);
}
