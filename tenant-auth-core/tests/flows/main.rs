//! Each flow of the library once, on SQLite, through [`TestAuth`](tenant_auth_core::testing::TestAuth): the fast loop while
//! working on the core. `cargo test -p tenant-auth-core` takes seconds. What must stay true on every adapter and database is told
//! by the scenarios in `tests/suite`; a defect that is found here belongs there too.

mod account;
mod api_keys;
mod invites;
mod members;
mod operator;
mod second_factor;
#[cfg(feature = "http")]
mod secrets;
mod sessions;
mod traces;
mod webhooks;

use std::net::IpAddr;

use tenant_auth_core::{Client, Credentials, secret::Password, testing::TestPerson};

/// The credentials of a login, from an address.
fn credentials(person: &TestPerson, password: &str) -> Credentials {
    let client = Client { ip: Some(IpAddr::from([203, 0, 113, 7])), ..Client::default() };
    Credentials { email: person.email.clone(), password: Password::new(password), client }
}

/// A text as the value it stands for.
fn value<T: std::str::FromStr<Err: std::fmt::Debug>>(text: &str) -> T {
    text.parse().expect("a well-formed value")
}
