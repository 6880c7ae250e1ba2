//! What people do with their own account.

use tenant_auth_conformance::{
    PASSWORD,
    browser::{Stage, keys},
    visits,
};

use crate::browser::phone::Phone;

visits! {
    a_profile_is_edited,
    a_password_is_changed,
    a_second_factor_is_enrolled_from_its_qr_code,
    recovery_codes_that_did_not_arrive_are_made_again,
    sessions_are_ended_one_by_one_and_all,
}

const MAX: &str = "max@acme.example";
const FIREFOX: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0";
const SAFARI: &str =
    "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.0 Safari/604.1";

async fn opens(stage: &Stage, view: &str) {
    stage.signs_in(MAX, PASSWORD).await;
    stage.page.arrives_at("Members").await;
    stage.page.press(view).await;
    stage.page.arrives_at(view).await;
}

async fn a_profile_is_edited(stage: &Stage) {
    let page = &stage.page;
    opens(stage, "Profile").await;
    page.is_accessible().await;
    page.fill("Name", "Maximilian <b>Member</b>").await;
    page.fill("Bio", "Keeps the rockets pointed up.").await;
    page.fill("Phone", "+49 30 901820").await;
    page.press("Save profile").await;
    page.reads("Your profile was saved.").await;
    page.reads("Maximilian <b>Member</b>").await;
    page.reload().await;
    page.arrives_at("Profile").await;
    assert_eq!(page.value("Bio").await, "Keeps the rockets pointed up.");
    assert_eq!(page.value("Phone").await, "+49 30 901820");
    page.fill("Bio", "").await;
    page.press("Save profile").await;
    page.reads("Your profile was saved.").await;
    page.arrives_at("Profile").await;
    let profile = stage.member().logged_in().await.get("/auth/profile").await.expect_ok();
    assert_eq!(profile["user"]["profile"], serde_json::json!({ "phone": "+49 30 901820" }));
    page.fill("Name", "").await;
    page.press("Save profile").await;
    page.reads("This is required.").await;
    page.is_accessible().await;
}

async fn a_password_is_changed(stage: &Stage) {
    let (page, elsewhere) = (&stage.page, stage.member().logged_in().await);
    opens(stage, "Security").await;
    page.is_accessible().await;
    page.fill("Current password", "not-his-at-all").await;
    page.fill("New password", "teal-badger-awning-77").await;
    page.press("Change password").await;
    page.reads("The current password is wrong.").await;
    page.was_refused(401, "/auth/change-password").await;
    page.fill("Current password", PASSWORD).await;
    page.fill("New password", PASSWORD).await;
    page.press("Change password").await;
    page.reads("This is the password you have. Choose another one.").await;
    page.fill("New password", "acme").await;
    page.press("Change password").await;
    page.was_eventually_refused(400, "/auth/change-password").await;
    page.fill("New password", "password123").await;
    page.press("Change password").await;
    page.was_eventually_refused(400, "/auth/change-password").await;
    page.reads("The new password").await;
    page.fill("New password", "teal-badger-awning-77").await;
    page.press("Change password").await;
    page.reads("changed").await;
    page.is_accessible().await;
    assert_eq!(page.value("New password").await, "", "nothing of it stays on the page");
    elsewhere.get("/auth/profile").await.expect_error(401, "session_required");
    page.press("Profile").await;
    page.arrives_at("Profile").await;
    stage.anonymous().login_with(MAX, "teal-badger-awning-77").await.expect(200);
}

async fn a_second_factor_is_enrolled_from_its_qr_code(stage: &Stage) {
    let page = &stage.page;
    opens(stage, "Security").await;
    page.part("Two-factor authentication").press("Turn on").await;
    page.asks("Turn on two-factor authentication").await;
    page.fill("Your password", "not-his-at-all").await;
    page.press("Continue").await;
    page.reads("The current password is wrong.").await;
    page.was_refused(401, "/auth/2fa/setup").await;
    page.fill("Your password", PASSWORD).await;
    page.press("Continue").await;
    let phone = Phone::scanning(page).await;
    assert_eq!(phone.label, "/Acme Rockets:max@acme.example");
    page.offers("Open it in an app on this device").await;
    page.press("I cannot scan it").await;
    page.is_accessible().await;
    page.fill("Code", "000000").await;
    page.press("Turn on").await;
    page.reads("The code is wrong").await;
    page.was_refused(400, "/auth/2fa/enable").await;
    page.fill("Code", &phone.code(stage)).await;
    page.press("Turn on").await;
    page.asks("Keep your recovery codes").await;
    page.is_accessible().await;
    page.type_keys(keys::ESCAPE).await;
    page.asks("Keep your recovery codes").await;
    page.press("Copy").await;
    page.reads("Copied to the clipboard.").await;
    let codes = codes_in(&page.clipboard().await);
    assert_eq!(codes.len(), 10);
    page.press("Download").await;
    assert_eq!(codes_in(&page.downloaded("recovery-codes.txt").await), codes);
    page.press("I have stored them").await;
    page.part("Two-factor authentication").offers("Turn off").await;
    page.part("Two-factor authentication").reads("10").await;
    page.reads_no(&codes[0]).await;
    page.is_accessible().await;

    stage.signs_out().await;
    stage.signs_in(MAX, PASSWORD).await;
    page.fill("Code", &phone.next_code(stage)).await;
    page.press("Continue").await;
    page.arrives_at("Members").await;
    page.press("Security").await;
    page.press("New recovery codes").await;
    page.asks("New recovery codes").await;
    page.fill("Your password", PASSWORD).await;
    page.fill("Code", &phone.next_code(stage)).await;
    page.press("Make new codes").await;
    page.asks("Keep your recovery codes").await;
    page.press("Copy").await;
    page.reads("Copied to the clipboard.").await;
    let new_codes = codes_in(&page.clipboard().await);
    assert!(new_codes.iter().all(|code| !codes.contains(code)));
    page.press("I have stored them").await;

    page.press("Turn off").await;
    page.asks("Turn off two-factor authentication?").await;
    page.is_accessible().await;
    page.fill("Your password", PASSWORD).await;
    page.fill("Code", &codes[0]).await;
    page.press("Turn off").await;
    page.reads("The code is wrong").await;
    page.was_refused(400, "/auth/2fa/disable").await;
    page.fill("Code", &new_codes[0]).await;
    page.press("Turn off").await;
    page.asks_nothing().await;
    page.part("Two-factor authentication").offers("Turn on").await;
}

/// Loses the answer that has the recovery codes.
const LOSES: &str = "const ask = fetch;
    fetch = (url, how) => (url.endsWith('/2fa/enable') ? ask(url, how).then(() => Promise.reject(new TypeError('lost'))) : ask(url, how))";

async fn recovery_codes_that_did_not_arrive_are_made_again(stage: &Stage) {
    let page = &stage.page;
    opens(stage, "Security").await;
    page.part("Two-factor authentication").press("Turn on").await;
    page.fill("Your password", PASSWORD).await;
    page.press("Continue").await;
    let phone = Phone::scanning(page).await;
    page.run(LOSES, vec![]).await;
    page.fill("Code", &phone.code(stage)).await;
    page.press("Turn on").await;
    page.reads("your recovery codes did not arrive").await;
    page.part("Two-factor authentication").press("New recovery codes").await;
    page.asks("New recovery codes").await;
}

fn codes_in(text: &str) -> Vec<String> {
    let (_, list) = text.split_once("\n\n").expect("an explanation, and a list");
    list.split_whitespace().map(str::to_owned).collect()
}

async fn sessions_are_ended_one_by_one_and_all(stage: &Stage) {
    let page = &stage.page;
    let laptop = stage.member().with("User-Agent", FIREFOX).logged_in().await;
    let phone = stage.member().with("User-Agent", SAFARI).logged_in().await;
    opens(stage, "Sessions").await;
    page.row("Chrome on Linux").reads("This one").await;
    page.row("Chrome on Linux").offers_no("End Chrome on Linux").await;
    page.is_accessible().await;
    page.row("Firefox on Linux").press("End").await;
    page.asks("End this session?").await;
    page.is_accessible().await;
    page.press("Cancel").await;
    page.asks_nothing().await;
    laptop.get("/auth/profile").await.expect(200);
    page.row("Firefox on Linux").press("End").await;
    page.press("End session").await;
    page.asks_nothing().await;
    page.reads_no("Firefox on Linux").await;
    laptop.get("/auth/profile").await.expect_error(401, "session_required");
    phone.get("/auth/profile").await.expect(200);
    page.press("End all others").await;
    page.asks("End all other sessions?").await;
    page.press("End all others").await;
    page.asks_nothing().await;
    page.reads_no("iOS").await;
    phone.get("/auth/profile").await.expect_error(401, "session_required");
    let count = "return [...document.querySelectorAll('[role=status]')].some((one) => one.textContent === '1 session')";
    page.comes_true("a count of one", count).await;
    page.press("Members").await;
    page.arrives_at("Members").await;
}
