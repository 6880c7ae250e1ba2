//! The requests, as bytes.

/// Everything comes from here.
const BASE: &str = "/api/v1";

/// `POST /public/verify`.
pub(crate) fn verify(slug: &str, key: &str, token: &str) -> Vec<u8> {
    post("/public/verify", slug, &format!("x-api-key: {key}\r\n"), &format!(r#"{{"token":"{token}"}}"#))
}

/// `POST /auth/login`, on behalf of a client.
pub(crate) fn login(slug: &str, client: &str, email: &str, password: &str) -> Vec<u8> {
    let body = format!(r#"{{"email":"{email}","password":"{password}"}}"#);
    post("/auth/login", slug, &format!("x-forwarded-for: {client}\r\n"), &body)
}

/// `POST /auth/refresh`.
pub(crate) fn refresh(slug: &str, token: &str) -> Vec<u8> {
    post("/auth/refresh", slug, &format!("cookie: refresh_token={token}\r\n"), "")
}

/// `PATCH /org/members/{userId}`: a change that costs one event.
pub(crate) fn count(slug: &str, token: &str, user: &str, counter: usize) -> Vec<u8> {
    let headers = format!("authorization: Bearer {token}\r\n");
    request("PATCH", &format!("/org/members/{user}"), slug, &headers, &format!(r#"{{"metadata":{{"counter":{counter}}}}}"#))
}

/// `GET /org/members`: so many of them.
pub(crate) fn members(slug: &str, token: &str, limit: u32) -> Vec<u8> {
    request("GET", &format!("/org/members?limit={limit}"), slug, &format!("authorization: Bearer {token}\r\n"), "")
}

/// `GET /org/audit`: a hundred entries that a filter finds.
pub(crate) fn audit(slug: &str, token: &str, filter: &str) -> Vec<u8> {
    request("GET", &format!("/org/audit?limit=100&{filter}"), slug, &format!("authorization: Bearer {token}\r\n"), "")
}

/// The client's address number `index`, out of a network for benchmarks (RFC 2544).
pub(crate) fn client(index: usize) -> String {
    format!("198.18.{}.{}", index / 256 % 256, index % 256)
}

fn post(path: &str, slug: &str, headers: &str, body: &str) -> Vec<u8> {
    request("POST", path, slug, headers, body)
}

fn request(method: &str, path: &str, slug: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "{method} {BASE}{path} HTTP/1.1\r\nhost: auth.example.com\r\nx-org-slug: {slug}\r\n{headers}content-type: application/json\r\n\
         content-length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}
