//! Pending invites of an organization that moves: they stay what they are, behind a new link (behaviour.md, B169).

use serde_json::{Value, json};
use tenant_auth_conformance::{App, Caller, id_of, scenarios};
use tenant_auth_core::operator::OrganizationImport;

use super::{
    linking::{OTHER, at_acme, known, linking},
    moves::{NILS, NORA, at, exported, import, logged_in, movers, reasons, target},
};
use crate::suite::support::hooks::{run_sql, texts_in};

scenarios![on each database:
    a_pending_invite_is_the_same_behind_a_new_link,
    one_that_has_expired_stays_behind,
    it_ends_with_the_right_of_whoever_sent_it,
    who_sent_it_and_is_no_member_is_not_named,
    an_inviter_who_is_no_member_is_none,
    an_inviter_with_an_account_here_is_that_account,
    an_id_that_is_another_invites_here_is_listed,
];

const NADIA: &str = "nadia@movers.example";

/// Nils is an admin, too, and invited Nadia.
async fn inviting(app: &App) -> (Caller, Caller) {
    movers(app).await;
    let (nora, nils) = (logged_in(app, NORA).await, logged_in(app, NILS).await);
    let id = user_id(&nils).await;
    nora.set_role(&id, "org_admin").await.expect(200);
    nils.invite(NADIA).await.expect(201);
    (nora, nils)
}

async fn user_id(caller: &Caller) -> String {
    id_of(&caller.get("/auth/profile").await.expect_ok()["user"]).to_owned()
}

/// Her invite among the pending ones.
async fn nadias(admin: &Caller) -> Value {
    admin.pending_invites().await.into_iter().find(|invite| invite["email"] == NADIA).expect("Nadia is invited")
}

async fn created_at(app: &App) -> String {
    texts_in(app, &format!("SELECT CAST(created_at AS TEXT) FROM tenant_auth_invites WHERE email = '{NADIA}'")).await.remove(0)
}

async fn a_pending_invite_is_the_same_behind_a_new_link(app: &App) {
    let (nora, _) = inviting(app).await;
    let (before, sent_at, old) = (nora.pending_invites().await, created_at(app).await, app.link_token_of(NADIA).await);
    let (file, key) = exported(app, false).await;
    let target = target(app).await;
    target.advance(3_600);
    import(&target, &file, &OrganizationImport::new(key)).await.expect("nothing clashes");
    let nora = logged_in(&target, NORA).await;
    let after = nora.pending_invites().await;
    assert_eq!((before.len(), after.len()), (2, 2), "Nadia's, and the chief's, which the operator sent");
    for (before, after) in before.iter().zip(&after) {
        for field in ["id", "email", "role", "invitedBy"] {
            assert_eq!(before[field], after[field], "{field}");
        }
        assert_ne!(before["expiresAt"], after["expiresAt"], "a new link has a new lifetime");
    }
    assert_eq!(nadias(&nora).await["invitedBy"], NILS);
    assert_eq!(created_at(&target).await, sent_at);
    let told = nora.get("/org/audit?kind=org.imported,invite.resent").await.expect_ok()["entries"].clone();
    let kinds: Vec<_> = told.as_array().expect("a list").iter().map(|entry| entry["type"].clone()).collect();
    assert_eq!(kinds, ["invite.resent", "invite.resent", "org.imported"], "the newest first");
    assert!(told.as_array().expect("a list").iter().all(|entry| entry["actor"]["type"] == "system"));
    assert!([&told[0], &told[1]].iter().any(|entry| entry["data"]["invite"]["email"] == NADIA), "{told}");

    at(&target).accept(&old, "Nadia").await.expect_error(400, "invalid_invite");
    let new = target.link_token_of(NADIA).await;
    assert!(target.mail_to(NADIA).await[0].text.contains(NILS), "it names whoever invited her");
    at(&target).accept(&new, "Nadia").await.expect(200);
}

async fn one_that_has_expired_stays_behind(app: &App) {
    inviting(app).await;
    let (file, key) = exported(app, false).await;
    let target = target(app).await;
    target.advance(7 * 24 * 60 * 60);
    assert_eq!(import(&target, &file, &OrganizationImport::new(key)).await.expect("nothing clashes").invites, 0);
    assert!(logged_in(&target, NORA).await.pending_invites().await.is_empty());
    assert!(target.mail_to(NADIA).await.is_empty());
}

async fn it_ends_with_the_right_of_whoever_sent_it(app: &App) {
    inviting(app).await;
    let (file, key) = exported(app, false).await;
    let target = target(app).await;
    import(&target, &file, &OrganizationImport::new(key)).await.expect("nothing clashes");
    let (nora, nils) = (logged_in(&target, NORA).await, logged_in(&target, NILS).await);
    let token = target.link_token_of(NADIA).await;
    nora.set_role(&user_id(&nils).await, "member").await.expect(200);
    assert_eq!(nora.pending_invites().await.len(), 1, "the chief's alone");
    at(&target).accept(&token, "Nadia").await.expect_error(400, "invalid_invite");
}

/// A file may say that anybody with an account here had sent it: no organization follows a stranger's address.
async fn who_sent_it_and_is_no_member_is_not_named(app: &App) {
    let (nora, _) = inviting(app).await;
    assert_eq!(nadias(&nora).await["invitedBy"], NILS);
    let stranger = app.member().id().to_owned();
    run_sql(app, &format!("UPDATE tenant_auth_invites SET invited_by = '{stranger}' WHERE email = '{NADIA}'")).await;
    assert_eq!(nadias(&nora).await["invitedBy"], json!(null));
}

async fn an_inviter_who_is_no_member_is_none(app: &App) {
    inviting(app).await;
    let stranger = app.member().id().to_owned();
    run_sql(app, &format!("UPDATE tenant_auth_invites SET invited_by = '{stranger}' WHERE email = '{NADIA}'")).await;
    let (file, key) = exported(app, false).await;
    let target = target(app).await;
    import(&target, &file, &OrganizationImport::new(key)).await.expect("nothing clashes");
    assert_eq!(nadias(&logged_in(&target, NORA).await).await["invitedBy"], json!(null));
}

async fn an_inviter_with_an_account_here_is_that_account(app: &App) {
    inviting(app).await;
    let (file, key) = exported(app, false).await;
    let target = target(app).await;
    known(&target, true).await;
    import(&target, &file, &linking(key)).await.expect("nothing clashes");
    let nora = logged_in(&target, NORA).await;
    let mails = target.mail_to(NADIA).await;
    assert!(mails.iter().all(|mail| !mail.text.contains("Nils")) && !mails.is_empty(), "no file orders a mail in his name");
    let sent_by = |id: String| format!("SELECT email FROM tenant_auth_invites WHERE invited_by = '{id}'");
    assert_eq!(texts_in(&target, &sent_by(user_id(&at_acme(&target, OTHER).await).await)).await, [NADIA]);
    // Nils is no member here yet, and takes the invite along all the same.
    let token = target.link_token_of(NADIA).await;
    target.auth.operator().delete_user(&NILS.parse().expect("an address")).await.expect("he is there");
    assert!(nora.pending_invites().await.iter().all(|invite| invite["email"] != NADIA));
    let revoked = nora.get("/org/audit?kind=invite.revoked").await.expect_ok()["entries"].clone();
    assert_eq!((revoked.as_array().map(Vec::len), &revoked[0]["data"]["invite"]["email"]), (Some(2), &json!(NADIA)));
    assert_eq!(revoked[1]["erased"], true, "the invite to himself, which had waited since the import");
    at(&target).accept(&token, "Nadia").await.expect_error(400, "invalid_invite");
}

async fn an_id_that_is_another_invites_here_is_listed(app: &App) {
    let (nora, _) = inviting(app).await;
    let id = id_of(&nadias(&nora).await).to_owned();
    let (file, key) = exported(app, false).await;
    let target = target(app).await;
    let admin = target.admin().logged_in().await;
    admin.invite("somebody@acme.example").await.expect(201);
    run_sql(&target, &format!("UPDATE tenant_auth_invites SET id = '{id}' WHERE email = 'somebody@acme.example'")).await;
    let how = OrganizationImport { dry_run: true, ..OrganizationImport::new(key) };
    let refused = reasons(import(&target, &file, &how).await);
    assert_eq!(refused, [format!("invite {NADIA}: the id is that of another invite here, or the file invites twice")]);
    assert_eq!(id_of(&admin.pending_invites().await[0]), id, "it is as it was");
}
