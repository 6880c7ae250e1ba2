//! Changing the address of an account: POST /auth/change-email and /auth/change-email/confirm. Mail is never a way to find out who
//! has an account, nor to pester anybody.

use std::time::Duration;

use serde_json::{Value, json};
use tenant_auth_conformance::{App, Caller, PASSWORD, Request, scenarios, shape, together};

use crate::suite::{
    auth::email::verify::{user, verify, verify_token},
    support::{
        account::{NEW, expect_no_link, guard, in_both, linked_token, mailed_token},
        stored::{forget_proof, forget_rates},
    },
};

scenarios![
    a_change_takes_effect_when_it_is_confirmed,
    a_change_is_confirmed_by_the_password,
    a_change_says_the_same_whether_the_address_is_free_or_taken,
    a_taken_address_is_told_without_a_link,
    the_old_address_is_told_at_once,
    a_change_needs_a_code_where_a_second_factor_is_in_force,
    the_attempt_is_judged_first_then_the_password_then_the_code,
    a_change_link_works_for_a_day_exactly,
    a_change_link_works_once,
    only_its_owner_confirms_a_change,
    an_address_taken_meanwhile_is_400,
    a_confirmed_change_ends_every_other_session_everywhere,
    a_confirmed_change_kills_links_to_the_old_address,
    a_recipient_gets_three_change_mails_an_hour,
    a_password_reset_does_not_refill_the_three,
    parallel_requests_do_not_exceed_the_three,
];

/// Max's next address.
const NEXT: &str = "Max.Next@elsewhere.example";

fn change(caller: &Caller, email: &str) -> Request {
    caller.post("/auth/change-email", json!({ "newEmail": email, "password": PASSWORD }))
}

fn confirm(caller: &Caller, token: &str) -> Request {
    caller.post("/auth/change-email/confirm", json!({ "token": token }))
}

/// Asks for a change and finds the link in the mail.
async fn change_token(app: &App, member: &Caller, email: &str) -> String {
    change(member, email).await.expect(200);
    mailed_token(app, email, "change-email").await
}

async fn a_change_takes_effect_when_it_is_confirmed(app: &App) {
    let member = app.member().logged_in().await;
    let asked = change(&member, NEXT).await.expect(200);
    assert_eq!(shape(&asked.data()), ["message"]);
    assert_eq!(user(&member).await["email"], member.email());
    app.anonymous().login_with(NEXT, PASSWORD).await.expect(401);
    let mail = app.mail_to(NEXT).await.remove(0);
    assert_eq!(mail.to.as_str(), NEXT, "as typed");
    let token = linked_token(&mail, "change-email", "acme");
    let answer = confirm(&member, &token).await.expect(200);
    assert_eq!(shape(&answer.data()), ["message"]);
    let changed = user(&member).await;
    assert_eq!((&changed["email"], &changed["isEmailVerified"]), (&NEXT.into(), &Value::Bool(true)));
    app.anonymous().login_with(&NEXT.to_lowercase(), PASSWORD).await.expect(200);
    app.anonymous().login_with(app.member().email(), PASSWORD).await.expect_error(401, "invalid_credentials");
    let admin = app.admin().logged_in().await;
    assert_eq!(admin.member_entry(member.id()).await.expect("a member")["email"], NEXT);
    admin.invite(app.member().email()).await.expect(201);
}

async fn a_change_is_confirmed_by_the_password(app: &App) {
    let member = app.member().logged_in().await;
    let wrong = json!({ "newEmail": NEXT, "password": "not-the-password" });
    let refused = member.post("/auth/change-email", wrong).await.expect_error(401, "wrong_password");
    assert!(refused.cookies().is_empty(), "the session is fine");
    member.post("/auth/change-email", json!({ "newEmail": NEXT })).await.expect_invalid("password");
    member.post("/auth/change-email", json!({ "password": PASSWORD })).await.expect_invalid("newEmail");
    change(&member, "no address").await.expect_invalid("newEmail");
    assert!(app.mail_to(NEXT).await.is_empty());
    assert!(app.mail_to(member.email()).await.is_empty());
    member.get("/org").await.expect(200);
}

async fn a_change_says_the_same_whether_the_address_is_free_or_taken(app: &App) {
    let member = app.member().logged_in().await;
    let free = change(&member, NEXT).await.expect(200);
    for taken in [app.admin().email(), app.other_org().member().email(), "GUS@globex.example"] {
        let answer = change(&member, taken).await.expect(200);
        assert_eq!(answer.body, free.body, "{taken}");
        assert_eq!(answer.cookies(), free.cookies());
    }
}

async fn a_taken_address_is_told_without_a_link(app: &App) {
    let member = app.member().logged_in().await;
    let gus = app.other_org().member();
    change(&member, "GUS@globex.example").await.expect(200);
    let mails = app.mail_to(gus.email()).await;
    assert_eq!(mails.len(), 1);
    assert_eq!(mails[0].to.as_str(), gus.email(), "as its holder wrote it");
    expect_no_link(&mails[0]);
    assert!(!format!("{:?}", mails[0]).contains(member.email()), "nobody learns who asked");
}

async fn the_old_address_is_told_at_once(app: &App) {
    let member = app.member().logged_in().await;
    change(&member, NEXT).await.expect(200);
    let told = app.mail_to(member.email()).await;
    assert_eq!(told.len(), 1, "before anything is confirmed");
    assert!(told[0].text.contains(NEXT), "{}", told[0].text);
    expect_no_link(&told[0]);
    let token = mailed_token(app, NEXT, "change-email").await;
    confirm(&member, &token).await.expect(200);
    let told = app.mail_to(member.email()).await;
    assert_eq!(told.len(), 2, "and when it is done");
    expect_no_link(&told[1]);
    // Nothing can be mailed to it from now on, no link to reset the password either.
    assert!(told[0].text.contains("reset your password at once"), "{}", told[0].text);
    assert!(told[1].text.contains("no longer belongs to the account"), "{}", told[1].text);
    assert!(!told[1].text.contains("reset your password"), "{}", told[1].text);
}

async fn a_change_needs_a_code_where_a_second_factor_is_in_force(app: &App) {
    let member = app.member().logged_in().await;
    let guarded = guard(app, &member).await;
    let with_code = |code: &str| member.post("/auth/change-email", json!({ "newEmail": NEXT, "password": PASSWORD, "code": code }));
    change(&member, NEXT).await.expect_invalid("code");
    with_code(&guarded.authenticator.wrong_code(app)).await.expect_error(400, "wrong_code");
    assert!(app.mail_to(NEXT).await.is_empty());
    with_code(&guarded.fresh_code(app)).await.expect(200);
    with_code(&guarded.fresh_code(app)).await.expect_error(400, "wrong_code");
    with_code(&guarded.recovery_codes[0]).await.expect(200);
    let token = mailed_token(app, NEXT, "change-email").await;
    confirm(&member, &token).await.expect(200);
    assert_eq!(user(&member).await["email"], NEXT);
}

async fn the_attempt_is_judged_first_then_the_password_then_the_code(app: &App) {
    let member = app.member().logged_in().await;
    let guarded = guard(app, &member).await;
    let send = |password: &str, code: Option<&str>| {
        member.post("/auth/change-email", json!({ "newEmail": NEXT, "password": password, "code": code }))
    };
    let (wrong, right) = (guarded.authenticator.wrong_code(app), guarded.fresh_code(app));
    for code in [None, Some(wrong.as_str()), Some(right.as_str())] {
        send("not-the-password", code).await.expect_error(401, "wrong_password");
    }
    send(PASSWORD, None).await.expect_invalid("code");
    send(PASSWORD, Some(&wrong)).await.expect_error(400, "wrong_code");
    for _ in 0..2 {
        send("not-the-password", None).await.expect_error(401, "wrong_password");
    }
    for (password, code) in [("not-the-password", None), (PASSWORD, None), (PASSWORD, Some(right.as_str()))] {
        send(password, code).await.expect_error(429, "rate_limited");
    }
    assert!(app.mail_to(NEXT).await.is_empty());
}

async fn a_change_link_works_for_a_day_exactly(app: &App) {
    let token = change_token(app, &app.member().logged_in().await, NEXT).await;
    let late = change_token(app, &app.admin().logged_in().await, "ada@elsewhere.example").await;
    app.clock.advance(Duration::from_millis(24 * 3_600 * 1_000 - 1));
    let (member, admin) = (app.member().logged_in().await, app.admin().logged_in().await);
    confirm(&member, &token).await.expect(200);
    app.clock.advance(Duration::from_millis(1));
    confirm(&admin, &late).await.expect_error(400, "invalid_link");
    assert_eq!(user(&admin).await["email"], admin.email());
}

async fn a_change_link_works_once(app: &App) {
    let member = app.member().logged_in().await;
    let (first, other) = (change_token(app, &member, NEXT).await, change_token(app, &member, "max@third.example").await);
    confirm(&member, &first).await.expect(200);
    for dead in [&first, &other] {
        confirm(&member, dead).await.expect_error(400, "invalid_link");
    }
    assert_eq!(user(&member).await["email"], NEXT);
    member.post("/auth/change-email/confirm", json!({})).await.expect_invalid("token");
}

async fn only_its_owner_confirms_a_change(app: &App) {
    let member = app.member().logged_in().await;
    let (admin, gus) = (app.admin().logged_in().await, app.other_org().member().logged_in().await);
    let token = change_token(app, &member, NEXT).await;
    confirm(&app.anonymous(), &token).await.expect_no_session();
    verify(&app.anonymous(), &token).await.expect_error(400, "invalid_link");
    for stranger in [&admin, &gus] {
        confirm(stranger, &token).await.expect_error(400, "invalid_link");
        assert_eq!(user(stranger).await["email"], stranger.email());
    }
    confirm(&member, &token).await.expect(200);
    assert_eq!(user(&member).await["email"], NEXT);
}

async fn an_address_taken_meanwhile_is_400(app: &App) {
    let (member, admin) = (app.member().logged_in().await, app.admin().logged_in().await);
    let phone = app.member().logged_in().await;
    let token = change_token(app, &member, NEXT).await;
    let invite = app.invited(&admin, &NEXT.to_uppercase().replace("EXAMPLE", "example")).await;
    app.anonymous().accept(&invite, "Somebody Else").await.expect(200);
    confirm(&member, &token).await.expect_error(400, "invalid_link");
    assert_eq!(user(&member).await["email"], member.email());
    phone.get("/org").await.expect(200);
}

async fn a_confirmed_change_ends_every_other_session_everywhere(app: &App) {
    let (here, there) = in_both(app).await;
    let phone = app.member().logged_in().await;
    let token = change_token(app, &here, NEXT).await;
    for alive in [&here, &there, &phone] {
        alive.get("/org").await.expect(200);
    }
    confirm(&here, &token).await.expect(200);
    for (ended, backend) in [(&phone, app.backend()), (&there, app.other_org().backend())] {
        assert!(!backend.finds_valid(&ended.access_token()).await);
        ended.get("/org").await.expect_no_session();
        ended.refresh().await.expect_no_session();
    }
    here.get("/org").await.expect(200);
    here.refresh().await.expect(200);
}

async fn a_confirmed_change_kills_links_to_the_old_address(app: &App) {
    let member = app.member().logged_in().await;
    forget_proof(app, member.id()).await;
    let verification = verify_token(app, &member).await;
    app.anonymous().post("/auth/forgot-password", json!({ "email": member.email() })).await.expect(200);
    let reset = mailed_token(app, member.email(), "reset").await;
    let token = change_token(app, &member, NEXT).await;
    confirm(&member, &token).await.expect(200);
    verify(&member, &verification).await.expect_error(400, "invalid_link");
    let taken_over = json!({ "token": reset, "newPassword": NEW });
    app.anonymous().post("/auth/reset-password", taken_over).await.expect_error(400, "invalid_link");
}

async fn a_recipient_gets_three_change_mails_an_hour(app: &App) {
    let (member, admin) = (app.member().logged_in().await, app.admin().logged_in().await);
    for asking in [&member, &admin, &member] {
        change(asking, "victim@elsewhere.example").await.expect(200);
    }
    for asking in [&member, &admin, &app.other_org().member().logged_in().await] {
        change(asking, "VICTIM@elsewhere.example").await.expect_error(429, "rate_limited");
    }
    assert_eq!(app.mail_to("victim@elsewhere.example").await.len(), 3);
    change(&member, NEXT).await.expect(200);
    app.advance(3_600);
    change(&app.member().logged_in().await, "victim@elsewhere.example").await.expect(200);
}

/// The sender can reset their own password as often as they like; the recipient must not suffer for it (behaviour.md, B89).
async fn a_password_reset_does_not_refill_the_three(app: &App) {
    let member = app.member().logged_in().await;
    for _ in 0..3 {
        change(&member, "victim@elsewhere.example").await.expect(200);
    }
    app.anonymous().post("/auth/forgot-password", json!({ "email": member.email() })).await.expect(200);
    let token = mailed_token(app, member.email(), "reset").await;
    app.anonymous().post("/auth/reset-password", json!({ "token": token, "newPassword": NEW })).await.expect(200);
    let again = app.member();
    again.login_with(member.email(), NEW).await.expect(200);
    let fourth = json!({ "newEmail": "victim@elsewhere.example", "password": NEW });
    again.post("/auth/change-email", fourth).await.expect_error(429, "rate_limited");
    assert_eq!(app.mail_to("victim@elsewhere.example").await.len(), 3);
}

/// From two organizations on two servers, which share no lock but the recipient's.
async fn parallel_requests_do_not_exceed_the_three(app: &App) {
    let other = app.beside(|_| {}).await;
    let member = app.member().logged_in().await;
    let gus = app.other_org().member().via(&other).logged_in().await;
    for round in 0..10 {
        forget_rates(app).await;
        let victim = format!("victim{round}@elsewhere.example");
        let requests = (0..3).flat_map(|_| [change(&member, &victim), change(&gus, &victim)]).collect();
        let answers = together(requests).await;
        let sent = answers.iter().filter(|answer| answer.status == 200).count();
        assert_eq!((sent, app.mail_to(&victim).await.len()), (3, 3), "round {round}");
    }
}
