//! The changes of the races: each ends or narrows the right of one person or one key, and is asked for until it is acknowledged.

use std::{thread, time::Duration};

use rand::RngExt;
use serde_json::{Value, json};
use tenant_auth_conformance::PASSWORD;
use tenant_auth_core::model::Role;

use super::{Tally, client::Question, people::People, servers::Servers};
use crate::chance;

/// A change that is about to be made, and the question whose answer changes with it.
pub(super) struct Narrowing {
    pub(super) name: &'static str,
    pub(super) question: Question,
    pub(super) is_old: fn(&Value) -> bool,
    change: Change,
}

enum Change {
    Asked(Question),
    /// A command with this last argument.
    Commanded(String),
}

/// How often a command makes the change, of a hundred: it starts a process.
const COMMANDS: u32 = 4;

fn is_valid(answer: &Value) -> bool {
    answer["data"]["valid"] == true
}

impl Narrowing {
    /// Any of them, with a person of its own.
    pub(super) fn any(people: &People<'_>) -> Self {
        let person = people.new_person(Role::Member);
        let question = Question::verifying(&people.key, &person.token);
        let own = |what: &str, body: Value| Change::Asked(Question::by(&person.token, what, body));
        let by_admin = |what: String, body: Value| Change::Asked(Question::by(&people.admin, what, body));
        let member = format!("/org/members/{}", person.id);
        let ending = |name, change| Self { name, question: question.clone(), is_old: is_valid, change };
        if chance().random_ratio(COMMANDS, 100) {
            return ending("sessions revoke", Change::Commanded(person.email));
        }
        match chance().random_range(0..10) {
            0 => ending("logout", own("POST /auth/logout", Value::Null)),
            1 => ending("left", own("POST /org/leave", Value::Null)),
            2 => ending("removed", by_admin(format!("DELETE {member}"), Value::Null)),
            3 => ending("ended by an admin", by_admin(format!("DELETE {member}/sessions"), Value::Null)),
            4 => {
                let other = people.login(&person.email);
                ending("others ended", Change::Asked(Question::by(&other, "DELETE /auth/sessions", Value::Null)))
            }
            5 => {
                let other = people.login(&person.email);
                let body = json!({ "currentPassword": PASSWORD, "newPassword": "velvet-anchor-93-comet" });
                ending("password", Change::Asked(Question::by(&other, "POST /auth/change-password", body)))
            }
            6 => Self {
                is_old: |answer| is_valid(answer) && answer["data"]["membership"]["status"] == "active",
                ..ending("suspended", by_admin(format!("PUT {member}/status"), json!({ "status": "suspended" })))
            },
            7 => Self {
                is_old: |answer| is_valid(answer) && answer["data"]["membership"]["role"] == "member",
                ..ending("role", by_admin(format!("PUT {member}/role"), json!({ "role": "org_admin" })))
            },
            kind => {
                let (id, key) = people.new_key();
                let change = match kind {
                    8 => by_admin(format!("DELETE /org/api-keys/{id}"), Value::Null),
                    _ => by_admin(format!("POST /org/api-keys/{id}/rotate"), json!({ "overlapSeconds": 0 })),
                };
                let name = if kind == 8 { "key revoked" } else { "key rotated" };
                Self { question: Question::verifying(&key, &person.token), ..ending(name, change) }
            }
        }
    }

    /// Asks for the change, at any server, until it is acknowledged: also by "it is so already", when the answer of a first request was
    /// lost.
    pub(super) fn acknowledged(&self, servers: &Servers, tally: &Tally) {
        tally.count(self.name);
        loop {
            let is_done = match &self.change {
                Change::Commanded(email) => servers.command(&["sessions", "revoke", "--email", email]),
                Change::Asked(question) => match servers.ask_any(question) {
                    Ok((status, _)) if status < 300 => true,
                    Ok((401 | 403 | 404 | 409, _)) => {
                        tally.count("acknowledged as done before");
                        true
                    }
                    Ok((429 | 500.., _)) | Err(_) => false,
                    Ok((status, answer)) => panic!("{}: {status} {answer}", self.name),
                },
            };
            if is_done {
                return;
            }
            tally.count("changes asked for again");
            thread::sleep(Duration::from_millis(chance().random_range(0..40)));
        }
    }
}
