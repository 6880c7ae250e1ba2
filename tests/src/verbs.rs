//! The verbs of a caller: what people do, each as one request to the public API, so that scenarios read as sentences.

use serde_json::{Value, json};

use crate::{App, Caller, PASSWORD, Request, Response, shape};

impl Caller {
    /// Logs in with what is known of the person; the session is in the jar.
    pub async fn logged_in(self) -> Self {
        self.login().await.expect(200);
        self
    }

    /// Logs in with what is known of the person.
    pub fn login(&self) -> Request {
        let person = self.person();
        self.login_with(&person.email, &person.password)
    }

    /// Logs in with these credentials.
    pub fn login_with(&self, email: &str, password: &str) -> Request {
        self.post("/auth/login", json!({ "email": email, "password": password }))
    }

    /// Refreshes with the cookie in the jar.
    pub fn refresh(&self) -> Request {
        self.post_nothing("/auth/refresh")
    }

    /// Refreshes with this token as the only cookie.
    pub fn refresh_with(&self, token: &str) -> Request {
        self.refresh().cookies(format!("refresh_token={token}"))
    }

    /// Logs out.
    pub fn logout(&self) -> Request {
        self.post_nothing("/auth/logout")
    }

    /// Changes the password.
    pub fn change_password(&self, current: &str, new: &str) -> Request {
        self.post("/auth/change-password", json!({ "currentPassword": current, "newPassword": new }))
    }

    /// Asks, as a backend, about an access token.
    pub fn verify(&self, token: &str) -> Request {
        self.post("/public/verify", json!({ "token": token }))
    }

    /// Whether a backend is told that a token is valid.
    pub async fn finds_valid(&self, token: &str) -> bool {
        let data = self.verify(token).await.expect_ok();
        let valid = data["valid"].as_bool().expect("valid is a boolean");
        assert!(valid || data == json!({ "valid": false }), "nothing is said about an invalid token: {data}");
        valid
    }

    /// Invites an address as a plain member.
    pub fn invite(&self, email: &str) -> Request {
        self.post("/org/members/invite", json!({ "email": email }))
    }

    /// Invites an address with a role.
    pub fn invite_as(&self, email: &str, role: &str) -> Request {
        self.post("/org/members/invite", json!({ "email": email, "role": role }))
    }

    /// The invites that are pending.
    pub async fn pending_invites(&self) -> Vec<Value> {
        list(&self.get("/org/invites").await.expect_ok(), "invites")
    }

    /// The members.
    pub async fn members(&self) -> Vec<Value> {
        list(&self.get("/org/members").await.expect_ok(), "members")
    }

    /// A member's entry in the list.
    pub async fn member_entry(&self, user_id: &str) -> Option<Value> {
        self.members().await.into_iter().find(|entry| entry["userId"] == user_id)
    }

    /// Looks at an invite without accepting it.
    pub fn preview(&self, token: &str) -> Request {
        self.post("/org/invites/preview", json!({ "token": token }))
    }

    /// Accepts an invite to a new account.
    pub fn accept(&self, token: &str, name: &str) -> Request {
        self.post(&format!("/org/invites/{token}/accept"), json!({ "name": name, "password": PASSWORD }))
    }

    /// Accepts an invite to an existing account.
    pub fn accept_with_account(&self, token: &str) -> Request {
        self.post_nothing(&format!("/org/invites/{token}/accept"))
    }

    /// Replaces a member's metadata.
    pub fn set_metadata(&self, user_id: &str, metadata: Value) -> Request {
        self.patch(&format!("/org/members/{user_id}"), json!({ "metadata": metadata }))
    }

    /// Changes a member's role.
    pub fn set_role(&self, user_id: &str, role: &str) -> Request {
        self.put(&format!("/org/members/{user_id}/role"), json!({ "role": role }))
    }

    /// Suspends or reactivates a member.
    pub fn set_status(&self, user_id: &str, status: &str) -> Request {
        self.put(&format!("/org/members/{user_id}/status"), json!({ "status": status }))
    }

    /// Removes a member.
    pub fn remove(&self, user_id: &str) -> Request {
        self.delete(&format!("/org/members/{user_id}"))
    }

    /// Creates an API key with the default scopes.
    pub fn create_key(&self, name: &str) -> Request {
        self.post("/org/api-keys", json!({ "name": name }))
    }

    /// Creates an API key: what is shown of it, and the key itself.
    pub async fn created_key(&self, body: Value) -> (Value, String) {
        let data = self.post("/org/api-keys", body).await.expect(201).data();
        assert_eq!(shape(&data), ["apiKey", "key"]);
        (data["apiKey"].clone(), data["key"].as_str().expect("a key").to_owned())
    }

    /// The API keys.
    pub async fn api_keys(&self) -> Vec<Value> {
        list(&self.get("/org/api-keys").await.expect_ok(), "apiKeys")
    }

    /// A backend that uses this key, for the organization this caller names.
    pub fn backend_with(&self, key: &str) -> Self {
        self.elsewhere().with("X-API-Key", key)
    }
}

impl App {
    /// Whether a key opens /public/verify of `acme`; if not, it is refused like any bad one.
    pub async fn key_works(&self, key: &str) -> bool {
        let answer = self.anonymous().backend_with(key).verify("x").await;
        let works = answer.status == 200;
        if !works {
            answer.expect_error(401, "invalid_api_key");
        }
        works
    }

    /// Invites an address to `acme` and returns the token from the mail.
    pub async fn invited(&self, admin: &Caller, email: &str) -> String {
        admin.invite(email).await.expect(201);
        self.link_token_of(email).await
    }
}

impl Response {
    /// The error that a session is needed.
    #[track_caller]
    pub fn expect_no_session(self) -> Self {
        self.expect_error(401, "session_required")
    }
}

/// The items of a list in `data`.
#[track_caller]
fn list(data: &Value, name: &str) -> Vec<Value> {
    data[name].as_array().unwrap_or_else(|| panic!("no list of {name} in {data}")).clone()
}
