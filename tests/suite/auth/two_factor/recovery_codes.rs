//! Recovery codes: ten, each good once, wherever a code is asked for, replaced all together (behaviour.md, B58).

use tenant_auth_conformance::{App, PASSWORD, logs, scenarios, shape};

use crate::suite::support::authenticator::{STEP, SecondFactor, guarded_member, recovery_codes_in};

scenarios![
    each_of_the_ten_opens_one_session,
    none_opens_a_second,
    they_forgive_how_they_are_typed,
    a_wrong_one_opens_nothing,
    new_ones_replace_all_old_ones,
    a_recovery_code_renews_the_codes_too,
    a_code_spent_on_a_confirmation_is_spent,
    a_refused_confirmation_spends_no_code,
    with_none_left_the_authenticator_still_works,
    renewing_ends_no_session,
    no_secret_of_it_is_logged,
];

async fn each_of_the_ten_opens_one_session(app: &App) {
    let (member, authenticator) = guarded_member(app).await;
    for (used, code) in authenticator.recovery_codes.iter().enumerate() {
        assert_eq!(member.status().await["recoveryCodesRemaining"], 10 - used);
        let device = app.member().waiting().await;
        device.enter(code).await.expect(200);
        device.get("/org").await.expect(200);
    }
    assert_eq!(member.status().await["recoveryCodesRemaining"], 0);
}

async fn none_opens_a_second(app: &App) {
    let (member, authenticator) = guarded_member(app).await;
    let code = &authenticator.recovery_codes[9];
    app.member().waiting().await.enter(code).await.expect(200);
    app.member().waiting().await.enter(code).await.expect_error(401, "second_factor_failed");
    member.disable(PASSWORD, code).await.expect_error(400, "wrong_code");
    app.advance(24 * 60 * 60);
    app.member().waiting().await.enter(code).await.expect_error(401, "second_factor_failed");
}

async fn they_forgive_how_they_are_typed(app: &App) {
    let (_, authenticator) = guarded_member(app).await;
    let codes = &authenticator.recovery_codes;
    for typed in [codes[0].to_uppercase(), codes[1].replace('-', ""), format!(" {} ", codes[2].replace('-', " "))] {
        app.member().waiting().await.enter(&typed).await.expect(200);
    }
}

async fn a_wrong_one_opens_nothing(app: &App) {
    let (member, authenticator) = guarded_member(app).await;
    let code = &authenticator.recovery_codes[0];
    let other = if code.ends_with('0') { '1' } else { '0' };
    let last = format!("{}{other}", &code[..code.len() - 1]);
    let half = format!("{}{}", &code[..code.len() / 2], &authenticator.recovery_codes[1][code.len() / 2..]);
    let device = app.member().waiting().await;
    for wrong in [last.as_str(), half.as_str(), &code[1..], &code.repeat(2)] {
        device.enter(wrong).await.expect_error(401, "second_factor_failed");
    }
    device.enter(code).await.expect(200);
    assert_eq!(member.status().await["recoveryCodesRemaining"], 9);
}

async fn new_ones_replace_all_old_ones(app: &App) {
    let (member, authenticator) = guarded_member(app).await;
    app.member().waiting().await.enter(&authenticator.recovery_codes[0]).await.expect(200);
    let data = member.renew_codes(PASSWORD, &authenticator.code(app)).await.expect_ok();
    assert_eq!(shape(&data), ["recoveryCodes"]);
    let renewed = recovery_codes_in(&data);
    assert_eq!(renewed.len(), 10);
    assert!(renewed.iter().all(|code| !authenticator.recovery_codes.contains(code)));
    assert_eq!(member.status().await["recoveryCodesRemaining"], 10);
    let device = app.member().waiting().await;
    device.enter(&authenticator.recovery_codes[1]).await.expect_error(401, "second_factor_failed");
    device.enter(&renewed[1]).await.expect(200);
}

async fn a_recovery_code_renews_the_codes_too(app: &App) {
    let (member, authenticator) = guarded_member(app).await;
    let renewed = recovery_codes_in(&member.renew_codes(PASSWORD, &authenticator.recovery_codes[0]).await.expect_ok());
    assert_eq!(member.status().await["recoveryCodesRemaining"], 10);
    member.renew_codes(PASSWORD, &authenticator.recovery_codes[1]).await.expect_error(400, "wrong_code");
    member.renew_codes(PASSWORD, &renewed[0]).await.expect(200);
}

async fn a_code_spent_on_a_confirmation_is_spent(app: &App) {
    let (member, authenticator) = guarded_member(app).await;
    let code = authenticator.code(app);
    member.renew_codes(PASSWORD, &code).await.expect(200);
    member.renew_codes(PASSWORD, &code).await.expect_error(400, "wrong_code");
    app.member().waiting().await.enter(&code).await.expect_error(401, "second_factor_failed");
    app.advance(STEP);
    app.member().waiting().await.enter(&authenticator.code(app)).await.expect(200);
}

async fn a_refused_confirmation_spends_no_code(app: &App) {
    let (member, authenticator) = guarded_member(app).await;
    member.renew_codes("not-the-password", &authenticator.recovery_codes[0]).await.expect_error(401, "wrong_password");
    member.disable("not-the-password", &authenticator.code(app)).await.expect_error(401, "wrong_password");
    assert_eq!(member.status().await["recoveryCodesRemaining"], 10);
    app.member().waiting().await.enter(&authenticator.recovery_codes[0]).await.expect(200);
    app.member().waiting().await.enter(&authenticator.code(app)).await.expect(200);
}

async fn with_none_left_the_authenticator_still_works(app: &App) {
    let (member, authenticator) = guarded_member(app).await;
    for code in &authenticator.recovery_codes {
        app.member().waiting().await.enter(code).await.expect(200);
    }
    app.member().waiting().await.enter(&authenticator.code(app)).await.expect(200);
    app.advance(STEP);
    let renewed = recovery_codes_in(&member.renew_codes(PASSWORD, &authenticator.code(app)).await.expect_ok());
    app.member().waiting().await.enter(&renewed[0]).await.expect(200);
}

async fn renewing_ends_no_session(app: &App) {
    let (member, authenticator) = guarded_member(app).await;
    let phone = app.member().through(app, &authenticator).await;
    member.renew_codes(PASSWORD, &authenticator.recovery_codes[0]).await.expect(200);
    phone.get("/org").await.expect(200);
    phone.refresh().await.expect(200);
}

async fn no_secret_of_it_is_logged(app: &App) {
    let member = app.member().logged_in().await;
    let shown = member.set_up(PASSWORD).await.expect_ok()["secret"].as_str().expect("a secret").to_owned();
    let authenticator = member.guard(app).await;
    let device = app.member().waiting().await;
    device.enter(&authenticator.recovery_codes[0]).await.expect(200);
    assert!(!logs::mention(&shown) && !logs::mention("otpauth://"));
    for code in &authenticator.recovery_codes {
        assert!(!logs::mention(code) && !logs::mention(&code.replace('-', "")));
    }
    let mails = app.mail_to(member.email()).await;
    assert!(mails.iter().all(|mail| !authenticator.recovery_codes.iter().any(|code| mail.text.contains(code.as_str()))));
}
