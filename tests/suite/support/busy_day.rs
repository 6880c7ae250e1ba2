//! A busy day: each route that writes is used, and its events are received. The day's secrets are kept, so that a scenario can look
//! for them where they must not be.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tenant_auth_conformance::{App, Caller, PASSWORD, Request, id_of, routes};
use tenant_auth_core::model::DeploymentScope;

use crate::suite::{
    admin::operators::operator,
    auth::sign_up::{ask, complete, newcomer, nobody, preview, sign_up_mails, token_in},
    public::deployment_keys::{made, new_key},
    support::{
        account::{NEW, mailed_token},
        authenticator::{Authenticator, SecondFactor, recovery_codes_in},
        hooks::{Hook, answer, run_sql},
        listener::{Listener, kinds, session_of},
        stored::forget_proof,
    },
};

/// What is left of the day.
pub(crate) struct BusyDay<'a> {
    pub(crate) app: &'a App,
    pub(crate) listener: Listener<'a>,
    /// The rows that were used, as `POST /path`.
    pub(crate) used: BTreeSet<String>,
    /// Those of them that told nothing, ever.
    pub(crate) told_nothing: BTreeSet<String>,
    /// Everything that was told.
    pub(crate) told: Vec<Value>,
    pub(crate) secrets: Vec<String>,
}

impl<'a> BusyDay<'a> {
    /// Lives it.
    pub(crate) async fn lived(app: &'a App) -> Self {
        let admin = app.admin().logged_in().await;
        let listener = Listener::new(app, &admin).await;
        let (key, secret) = (app.org().api_key()["pk_live_".len() + 8..].to_owned(), listener.hook.secret.clone());
        let secrets = vec![PASSWORD.to_owned(), NEW.to_owned(), key, secret];
        let mut day = Self { app, listener, used: BTreeSet::new(), told_nothing: BTreeSet::new(), told: Vec::new(), secrets };
        day.members(&admin).await;
        day.keys(&admin).await;
        day.webhooks(&admin).await;
        day.person().await;
        day.second_factor().await;
        day.blocked().await;
        day.sessions().await;
        day.organization(&admin).await;
        day.keep(&admin);
        day.operator().await;
        day.next_day().await;
        day
    }

    /// Does something, of which exactly these kinds are told.
    async fn deed(&mut self, request: Request, row: &str, expected: &[&str]) -> Value {
        let (method, template) = row.split_once(' ').expect("a method and a path");
        let known = routes::table().iter().any(|row| row.method == method && row.template == template);
        assert!(known, "{row} is no row of the table");
        let answer = request.await;
        assert!(answer.status < 300, "{row}: {}", answer.shown());
        self.hear(row, expected).await;
        let is_new = self.used.insert(row.to_owned());
        if !expected.is_empty() {
            self.told_nothing.remove(row);
        } else if is_new {
            self.told_nothing.insert(row.to_owned());
        }
        answer.data()
    }

    async fn hear(&mut self, row: &str, expected: &[&str]) {
        let events = self.listener.heard().await;
        let (mut have, mut want) = (kinds(&events), expected.to_vec());
        have.sort_unstable();
        want.sort_unstable();
        assert_eq!(have, want, "{row}");
        self.told.extend(events);
    }

    fn keep(&mut self, session: &Caller) {
        self.secrets.extend([session.access_token(), session.refresh_token()]);
    }

    fn keep_text(&mut self, secret: &Value) -> String {
        let text = secret.as_str().expect("a text").to_owned();
        self.secrets.push(text.clone());
        text
    }

    async fn linked(&mut self, address: &str, page: &str) -> String {
        let token = mailed_token(self.app, address, page).await;
        self.secrets.push(token.clone());
        token
    }

    async fn members(&mut self, admin: &Caller) {
        let app = self.app;
        let olga = self.deed(admin.invite("olga@acme.example"), "POST /org/members/invite", &["invite.created"]).await;
        self.linked("olga@acme.example", "invite").await;
        let path = format!("/org/invites/{}", id_of(&olga["invite"]));
        self.deed(admin.delete(&path), "DELETE /org/invites/{invite}", &["invite.revoked"]).await;
        let several = admin.post("/org/members/invite/bulk", json!({ "invites": [{ "email": "olga@acme.example" }] }));
        let olga = self.deed(several, "POST /org/members/invite/bulk", &["invite.created"]).await;
        self.linked("olga@acme.example", "invite").await;
        let path = format!("/org/invites/{}", id_of(&olga["results"][0]["invite"]));
        self.deed(admin.delete(&path), "DELETE /org/invites/{invite}", &["invite.revoked"]).await;
        let nora = self.deed(admin.invite("nora@acme.example"), "POST /org/members/invite", &["invite.created"]).await;
        let path = format!("/org/invites/{}/resend", id_of(&nora["invite"]));
        self.deed(admin.post_nothing(&path), "POST /org/invites/{invite}/resend", &["invite.resent"]).await;
        let token = self.linked("nora@acme.example", "invite").await;
        self.deed(app.anonymous().preview(&token), "POST /org/invites/preview", &[]).await;
        let nora = app.anonymous();
        let joined = ["invite.accepted", "member.joined", "session.created", "user.email_verified"];
        let data = self.deed(nora.accept(&token, "Nora"), "POST /org/invites/{token}/accept", &joined).await;
        let id = id_of(&data["user"]).to_owned();
        self.keep(&nora);
        let row = "PATCH /org/members/{userId}";
        self.deed(admin.set_metadata(&id, json!({ "team": "rockets" })), row, &["member.updated"]).await;
        self.deed(admin.set_role(&id, "org_admin"), "PUT /org/members/{userId}/role", &["member.role_changed"]).await;
        let row = "PUT /org/members/{userId}/status";
        self.deed(admin.set_status(&id, "suspended"), row, &["member.suspended"]).await;
        self.deed(admin.set_status(&id, "active"), row, &["member.reactivated"]).await;
        let gone = ["member.removed", "session.revoked"];
        self.deed(nora.post_nothing("/org/leave"), "POST /org/leave", &gone).await;
        let pat = app.org().new_member("Pat").await;
        self.hear("user create", &["member.joined"]).await;
        self.deed(pat.login(), "POST /auth/login", &["session.created"]).await;
        let path = format!("/org/members/{}", pat.id());
        let shown = admin.get(&format!("{path}/sessions")).await.expect_ok();
        let session = admin.delete(&format!("{path}/sessions/{}", id_of(&shown["sessions"][0])));
        self.deed(session, "DELETE /org/members/{userId}/sessions/{id}", &["session.revoked"]).await;
        self.deed(pat.login(), "POST /auth/login", &["session.created"]).await;
        let sessions = admin.delete(&format!("{path}/sessions"));
        self.deed(sessions, "DELETE /org/members/{userId}/sessions", &["session.revoked"]).await;
        self.deed(admin.delete(&path), "DELETE /org/members/{userId}", &["member.removed"]).await;
    }

    async fn keys(&mut self, admin: &Caller) {
        let data = self.deed(admin.create_key("Back end"), "POST /org/api-keys", &["api_key.created"]).await;
        self.keep_key(&data);
        let path = format!("/org/api-keys/{}", id_of(&data["apiKey"]));
        let rotate = admin.post_nothing(&format!("{path}/rotate"));
        let data = self.deed(rotate, "POST /org/api-keys/{id}/rotate", &["api_key.rotated"]).await;
        self.keep_key(&data);
        self.deed(admin.delete(&path), "DELETE /org/api-keys/{id}", &["api_key.revoked"]).await;
        let data = self.deed(admin.create_key("Lost"), "POST /org/api-keys", &["api_key.created"]).await;
        self.keep_key(&data);
        let report = self.app.anonymous().post("/keys/leaked", json!({ "key": data["key"] }));
        self.deed(report, "POST /keys/leaked", &["api_key.revoked"]).await;
        self.sign_up().await;
        self.deed(self.app.backend().verify(&admin.access_token()), "POST /public/verify", &[]).await;
    }

    async fn sign_up(&mut self) {
        let (address, rita) = ("rita@rockets.example", nobody(self.app));
        self.deed(ask(&rita, address), "POST /auth/sign-up", &[]).await;
        let token = token_in(sign_up_mails(self.app, address).await.last().expect("a mail"));
        self.secrets.push(token.clone());
        self.deed(preview(&rita, &token), "POST /auth/sign-up/preview", &[]).await;
        self.deed(complete(&rita, newcomer(&token, "rockets")), "POST /auth/sign-up/complete", &[]).await;
        self.keep(&rita);
    }

    /// What is shown of a key ever after is no secret.
    fn keep_key(&mut self, data: &Value) {
        let key = data["key"].as_str().expect("a key");
        self.secrets.push(key["pk_live_".len() + 8..].to_owned());
    }

    async fn webhooks(&mut self, admin: &Caller) {
        let (url, selection) = ("https://hooks.example.com/gone", json!(["org.updated"]));
        let create = admin.post("/org/webhooks", json!({ "url": url, "events": selection }));
        let data = self.deed(create, "POST /org/webhooks", &["webhook.created"]).await;
        let secret = self.keep_text(&data["secret"]);
        let hook = Hook { id: id_of(&data["webhook"]).to_owned(), url: url.to_owned(), secret };
        let describe = admin.patch(&hook.path(), json!({ "description": "x" }));
        self.deed(describe, "PATCH /org/webhooks/{id}", &["webhook.updated"]).await;
        let row = "POST /org/webhooks/{id}/rotate-secret";
        let data = self.deed(hook.rotating(admin, 60), row, &["webhook.secret_rotated"]).await;
        self.keep_text(&data["secret"]);
        let own = self.listener.hook.testing(admin);
        self.deed(own, "POST /org/webhooks/{id}/test", &["webhook.test"]).await;
        let delivery = hook.test(admin).await;
        self.hear("a test of another webhook", &[]).await;
        let row = "POST /org/webhooks/{id}/deliveries/{deliveryId}/redeliver";
        self.deed(hook.redelivering(admin, &delivery), row, &[]).await;
        self.listener.misses(2);
        self.app.webhooks.answer(url, answer(410));
        hook.test(admin).await;
        self.hear("an endpoint that is gone", &["webhook.disabled"]).await;
        self.deed(admin.delete(&hook.path()), "DELETE /org/webhooks/{id}", &["webhook.deleted"]).await;
    }

    /// Max changes everything about himself.
    async fn person(&mut self) {
        let app = self.app;
        let max = app.member();
        self.deed(max.login(), "POST /auth/login", &["session.created"]).await;
        self.deed(max.put("/auth/profile", json!({ "name": "Max" })), "PUT /auth/profile", &["user.updated"]).await;
        forget_proof(app, max.id()).await;
        self.deed(max.post_nothing("/auth/verify-email/send"), "POST /auth/verify-email/send", &[]).await;
        let token = json!({ "token": self.linked(max.email(), "verify").await });
        self.deed(max.post("/auth/verify-email", token), "POST /auth/verify-email", &["user.email_verified"]).await;
        let change = max.change_password(PASSWORD, NEW);
        self.deed(change, "POST /auth/change-password", &["user.password_changed"]).await;
        let address = "max@elsewhere.example";
        let change = max.post("/auth/change-email", json!({ "newEmail": address, "password": NEW }));
        self.deed(change, "POST /auth/change-email", &[]).await;
        let token = json!({ "token": self.linked(address, "change-email").await });
        self.deed(max.post("/auth/change-email/confirm", token), "POST /auth/change-email/confirm", &["user.updated"]).await;
        let forgot = app.anonymous().post("/auth/forgot-password", json!({ "email": address }));
        self.deed(forgot, "POST /auth/forgot-password", &[]).await;
        let token = self.linked(address, "reset").await;
        let look = app.anonymous().post("/auth/links/preview", json!({ "token": token }));
        self.deed(look, "POST /auth/links/preview", &[]).await;
        let reset = json!({ "token": token, "newPassword": PASSWORD });
        let told = ["user.password_changed", "session.revoked"];
        self.keep(&max);
        self.deed(app.anonymous().post("/auth/reset-password", reset), "POST /auth/reset-password", &told).await;
    }

    /// Somebody guesses at a password.
    async fn blocked(&mut self) {
        let bo = self.app.org().new_member("Bo").await;
        self.hear("user create", &["member.joined"]).await;
        for _ in 0..6 {
            let guessing = self.app.anonymous().login_with(bo.email(), "not-the-password");
            guessing.may_fail().await;
        }
        self.hear("a blocked login", &["login.blocked"]).await;
        self.app.auth.operator().delete_user(&bo.email().parse().expect("an address")).await.expect("there is an account");
        self.hear("a deleted account", &["member.removed", "user.deleted"]).await;
    }

    async fn second_factor(&mut self) {
        let app = self.app;
        let gus = app.org().new_member("Gustav").await.logged_in().await;
        self.hear("user create, login", &["member.joined", "session.created"]).await;
        let setup = self.deed(gus.set_up(PASSWORD), "POST /auth/2fa/setup", &[]).await;
        self.keep_text(&setup["secret"]);
        let authenticator = Authenticator::new(&setup["secret"]);
        let enable = gus.enable(&authenticator.code(app));
        let mut codes = recovery_codes_in(&self.deed(enable, "POST /auth/2fa/enable", &["user.two_factor_enabled"]).await);
        let renew = gus.renew_codes(PASSWORD, &codes[0]);
        let row = "POST /auth/2fa/recovery-codes";
        let renewed = recovery_codes_in(&self.deed(renew, row, &["user.recovery_codes_replaced"]).await);
        codes.extend(renewed.clone());
        self.secrets.extend(codes);
        let waiting = gus.elsewhere();
        self.deed(waiting.login(), "POST /auth/login", &[]).await;
        self.secrets.push(waiting.partial_token());
        let told = ["session.created", "user.recovery_code_used"];
        self.deed(waiting.enter(&renewed[1]), "POST /auth/verify-2fa", &told).await;
        self.keep(&waiting);
        self.keep(&gus);
        let told = ["user.two_factor_disabled", "session.revoked"];
        self.deed(gus.disable(PASSWORD, &renewed[2]), "POST /auth/2fa/disable", &told).await;
    }

    async fn sessions(&mut self) {
        let pia = self.app.org().new_member("Pia").await.logged_in().await;
        let (one, two) = (pia.elsewhere().logged_in().await, pia.elsewhere().logged_in().await);
        let told = ["member.joined", "session.created", "session.created", "session.created"];
        self.hear("user create, logins", &told).await;
        let end = pia.delete(&format!("/auth/sessions/{}", session_of(&one)));
        self.deed(end, "DELETE /auth/sessions/{id}", &["session.revoked"]).await;
        self.deed(pia.delete("/auth/sessions"), "DELETE /auth/sessions", &["session.revoked"]).await;
        [&pia, &one, &two].into_iter().for_each(|session| self.keep(session));
        let old = pia.refresh_token();
        self.deed(pia.refresh(), "POST /auth/refresh", &[]).await;
        self.keep(&pia);
        self.app.advance(31);
        pia.refresh_with(&old).await.expect(401);
        self.hear("a replayed token", &["session.reuse_detected", "session.revoked"]).await;
        let pia = pia.elsewhere().logged_in().await;
        self.hear("login", &["session.created"]).await;
        self.deed(pia.logout(), "POST /auth/logout", &["session.revoked"]).await;
    }

    async fn organization(&mut self, admin: &Caller) {
        self.deed(admin.patch("/org", json!({ "name": "Acme" })), "PATCH /org", &["org.updated"]).await;
        self.app.org().suspend().await;
        self.hear("org suspend", &["org.suspended"]).await;
        self.app.org().reactivate().await;
        self.hear("org reactivate", &["org.reactivated"]).await;
        self.deletion().await;
        let slug = "acme".parse().expect("a slug");
        self.app.auth.operator().export_portable(&slug, &mut Vec::new(), &mut |_| {}).await.expect("acme is there");
        self.hear("org export", &["org.exported"]).await;
        self.deed(admin.post("/org/audit/export", json!({})), "POST /org/audit/export", &["audit.exported"]).await;
    }

    /// Ordered by the product, and cancelled: nothing of it may be left before that.
    async fn deletion(&mut self) {
        let (_, key) = made(self.app, new_key(&[DeploymentScope::Organizations])).await;
        let product = self.app.anonymous().without_slug().with("X-API-Key", &key);
        self.secrets.push(key["dk_live_".len() + 8..].to_owned());
        let (path, row) = ("/admin/organizations/acme", "PATCH /admin/organizations/{slug}");
        let ended = ["org.suspended", "org.deletion_scheduled"];
        self.deed(product.delete(path), "DELETE /admin/organizations/{slug}", &ended).await;
        self.deed(product.patch(path, json!({ "deletesAt": null })), row, &["org.deletion_cancelled"]).await;
        self.deed(product.patch(path, json!({ "status": "active" })), row, &["org.reactivated"]).await;
    }

    /// What the worker tells once a day.
    async fn next_day(&mut self) {
        let due = "UPDATE tenant_auth_event_sequences SET checkpoint_at = 0, checkpointed = 0
                    WHERE org_id = (SELECT id FROM tenant_auth_organizations WHERE slug = 'acme')";
        run_sql(self.app, due).await;
        self.app.tick().await;
        self.hear("a day", &["audit.checkpoint"]).await;
    }

    /// Ada runs the deployment too.
    async fn operator(&mut self) {
        let (_app, ada, _) = operator(self.app).await;
        self.told.extend(self.listener.heard().await);
        self.keep(&ada);
        let new = json!({ "name": "Newcomers", "slug": "newcomers", "adminEmail": "nora@new.example" });
        self.deed(ada.post("/admin/organizations", new), "POST /admin/organizations", &[]).await;
        let row = "PATCH /admin/organizations/{slug}";
        self.deed(ada.patch("/admin/organizations/acme", json!({ "plan": "free" })), row, &["org.updated"]).await;
        let invite = ada.post("/admin/organizations/acme/invites", json!({ "email": "chief@acme.example" }));
        self.deed(invite, "POST /admin/organizations/{slug}/invites", &["invite.created"]).await;
        self.linked("chief@acme.example", "invite").await;
    }
}
