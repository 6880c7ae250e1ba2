//! An org_admin who speaks to whichever server is there. A server that is killed answers nothing, or half of it.

use std::{
    io::{self, Read, Write},
    net::TcpStream,
    time::Duration,
};

use serde_json::{Value, json};

use crate::{Program, running};

pub(crate) const PASSWORD: &str = "mauve-otter-plinth-42";

/// An org_admin of `acme`, logged in.
#[derive(Debug, Clone)]
pub(crate) struct Admin {
    pub(crate) user_id: String,
    token: String,
}

impl Admin {
    /// Makes the organization and its admin with the program's own commands, and logs in at a server.
    pub(crate) fn of_new_organization(program: &Program, address: &str) -> Self {
        crate::json(&program.run(&[
            "org",
            "create",
            "--name",
            "Acme",
            "--slug",
            "acme",
            "--admin-email",
            "eve@example.com",
            "--json",
        ]));
        let create =
            ["user", "create", "--org", "acme", "--email", "ada@example.com", "--name", "Ada", "--role", "org_admin", "--json"];
        crate::json(&program.run_with_stdin(&create, &format!("{PASSWORD}\n")));
        Self { user_id: String::new(), token: String::new() }.logged_in_again(address)
    }

    /// The same with a new session.
    pub(crate) fn logged_in_again(mut self, address: &str) -> Self {
        self.token.clear();
        let session = self.data(address, "POST /auth/login", &json!({ "email": "ada@example.com", "password": PASSWORD }));
        self.token = session["accessToken"].as_str().expect("a token in the body").to_owned();
        self.user_id = session["user"]["id"].as_str().expect("an id").to_owned();
        self
    }

    /// What a request that must succeed answers with.
    #[track_caller]
    pub(crate) fn data(&self, address: &str, what: &str, body: &Value) -> Value {
        let (status, answer) = self.ask(address, what, body).expect("it answers");
        assert!((200..300).contains(&status), "{what}: {answer}");
        answer["data"].clone()
    }

    /// Status and body of the answer to a request such as `PATCH /org`.
    ///
    /// # Errors
    /// When there is no whole answer.
    pub(crate) fn ask(&self, address: &str, what: &str, body: &Value) -> io::Result<(u16, Value)> {
        let (method, path) = what.split_once(' ').expect("a method and a path");
        let body = if method == "GET" { String::new() } else { body.to_string() };
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(running::DEADLINE))?;
        stream.set_write_timeout(Some(Duration::from_secs(5)))?;
        write!(
            stream,
            "{method} /api/v1{path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Org-Slug: acme\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.token,
            body.len(),
        )?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        let status = text.split(' ').nth(1).and_then(|status| status.parse().ok());
        let body = text.split_once("\r\n\r\n").and_then(|(_, body)| serde_json::from_str(body).ok());
        status.zip(body).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }
}
