//! Many people at once, and one of them: bulk invites, the members as a file, and a member with an address, sessions and a history.

use serde_json::json;
use tenant_auth_conformance::{
    PASSWORD,
    browser::{Page, Stage},
    visits,
};

visits! {
    many_are_invited_at_once,
    a_role_is_named_as_the_page_names_it_or_refused,
    what_was_not_sent_is_kept,
    a_member_has_an_address_sessions_and_a_history,
    the_members_are_saved_as_a_file_that_runs_nothing,
}

async fn ada_opens<'a>(stage: &'a Stage, view: &str) -> &'a Page {
    stage.signs_in("ada@acme.example", PASSWORD).await;
    stage.page.arrives_at("Members").await;
    if view != "Members" {
        stage.page.press(view).await;
        stage.page.arrives_at(view).await;
    }
    &stage.page
}

/// What a file of another program may hold: a column more, quotes, a role, and the mark of UTF-8.
const FILE: &str = "
    const data = new DataTransfer();
    data.items.add(new File(['\\ufeffName;E-Mail;Role\\r\\n\"Söhne; Otto\";otto@new.example;admin\\r\\nPia;pia@new.example;owner\\r\\n'], 'people.csv'));
    const input = dialog().querySelector('[type=file]');
    input.files = data.files;
    input.dispatchEvent(new Event('change'))";

async fn many_are_invited_at_once(stage: &Stage) {
    let admin = stage.admin().logged_in().await;
    admin.invite("waits@new.example").await.expect(201);
    let page = ada_opens(stage, "Invites").await;
    page.press("Invite many").await;
    page.asks("Invite many people").await;
    page.reads("One a line, with a role where it is another; up to 1,000.").await;
    page.is_accessible().await;
    page.press("Look at them first").await;
    page.reads("This is required.").await;
    page.fill("Addresses", "Nora New <nora@new.example>, NORA@new.example; max@acme.example\nwaits@new.example\nnobody").await;
    page.press("Look at them first").await;
    page.reads("1 person will be invited, and 4 lines will not.").await;
    page.is_accessible().await;
    for (who, what) in [
        ("nora@new.example", "Will be invited"),
        ("NORA@new.example", "Named before"),
        ("max@acme.example", "Already a member"),
        ("waits@new.example", "Already invited"),
        ("nobody", "Not an address"),
    ] {
        page.comes_true(
            what,
            &format!("return [...dialog().querySelectorAll('tbody tr')].some((row) => row.cells[0].textContent === '{who}' && row.cells[2].textContent === '{what}')"),
        )
        .await;
    }
    assert_eq!(admin.get("/org/invites").await.expect_ok()["invites"].as_array().map(Vec::len), Some(1), "nothing is sent yet");
    page.press("Resend waits@new.example").await;
    page.row("waits@new.example").reads("Invited again").await;
    page.press("Back").await;
    page.fill("Addresses", "nora@new.example").await;
    page.run(FILE, vec![]).await;
    page.press("Look at them first").await;
    page.row("pia@new.example").reads("Will be invited").await;
    page.press("Back").await;
    page.fill("Addresses", "").await;
    page.run(FILE, vec![]).await;
    page.press("Look at them first").await;
    page.row("otto@new.example").reads("Admin").await;
    page.row("pia@new.example").reads("Unknown role: write member or admin").await;
    page.press("Send 1 invite").await;
    page.reads("1 person is invited; 1 line was not sent.").await;
    page.row("otto@new.example").reads("Invited").await;
    page.is_accessible().await;
    page.press("Done").await;
    page.asks_nothing().await;
    page.row("otto@new.example").reads("Admin").await;
    stage.link("otto@new.example", "/invite").await;
}

async fn a_role_is_named_as_the_page_names_it_or_refused(stage: &Stage) {
    let page = ada_opens(stage, "Invites").await;
    page.prefers("de").await;
    page.reload().await;
    page.arrives_at("Einladungen").await;
    page.press("Viele einladen").await;
    page.asks("Viele Personen einladen").await;
    page.choose("Rolle", "Admin").await;
    let people = "erika@new.example, Mitglied\notto@new.example, ADMIN\npia@new.example, owner\nnora@new.example, Nora";
    page.fill("Adressen", people).await;
    page.press("Erst ansehen").await;
    page.row("erika@new.example").reads("Mitglied").await;
    page.row("otto@new.example").reads("Admin").await;
    page.row("pia@new.example").reads("Unbekannte Rolle: member oder admin").await;
    page.row("nora@new.example").reads("Admin").await;
    page.press("3 Einladungen senden").await;
    page.reads("3 Personen sind eingeladen; 1 Zeile wurde nicht gesendet.").await;
}

/// Loses the answer to the first invites that are sent, of one more than go at once.
const LOSES: &str = "
    const ask = fetch;
    let isLost = false;
    fetch = (url, how) => {
        if (isLost || !url.endsWith('/invite/bulk')) return ask(url, how);
        isLost = true;
        return ask(url, how).then(() => Promise.reject(new TypeError('lost')));
    };
    find('field', 'Addresses').value = Array.from({ length: 101 }, (_, at) => `p${at}@new.example, admin`).join('\\n')";

async fn what_was_not_sent_is_kept(stage: &Stage) {
    let page = ada_opens(stage, "Invites").await;
    page.press("Invite many").await;
    page.asks("Invite many people").await;
    page.run(LOSES, vec![]).await;
    page.press("Look at them first").await;
    page.press("Send 101 invites").await;
    page.reads("100 people are invited; 1 line was not sent.").await;
    page.press("Done").await;
    page.asks("Discard your changes?").await;
    page.press("Keep editing").await;
    page.press("Back").await;
    assert_eq!(page.value("Addresses").await, "p100@new.example, org_admin");
    page.press("Look at them first").await;
    page.press("Send 1 invite").await;
    page.reads("1 person is invited.").await;
    page.press("Done").await;
    page.asks_nothing().await;
}

async fn a_member_has_an_address_sessions_and_a_history(stage: &Stage) {
    let admin = stage.admin().logged_in().await;
    let lost = stage.member().with("User-Agent", "Phone/2.0").logged_in().await;
    stage.advance(60);
    let kept = stage.member().with("User-Agent", "Desk/1.0").logged_in().await;
    admin.set_metadata(kept.id(), json!({ "team": "lift-off" })).await.expect(200);
    let page = ada_opens(stage, "Members").await;
    page.row("Max Member").press("Manage").await;
    page.asks("Max Member").await;
    let address = format!("#/members/{}", kept.id());
    page.comes_true("the address", &format!("return location.hash === '{address}'")).await;
    page.reload().await;
    page.asks("Max Member").await;
    page.press("Copy the id").await;
    assert_eq!(page.clipboard().await, kept.id());
    page.press("Suspend").await;
    page.asks("Suspend Max Member?").await;
    page.press("Copy as curl").await;
    let command = page.clipboard().await;
    let path = format!("/api/v1/org/members/{}/status'", kept.id());
    assert!(command.contains(&path) && command.starts_with("curl -X PUT"), "{command}");
    assert!(command.contains("\"X-API-Key: $TENANT_AUTH_KEY\"") && command.contains("'X-Org-Slug: acme'"), "{command}");
    assert!(command.ends_with("-d '{\"status\":\"suspended\"}'"), "{command}");
    page.press("Cancel").await;
    page.asks("Max Member").await;
    page.row("Phone").press("End Phone").await;
    page.asks("End this session?").await;
    page.press("End session").await;
    page.asks("Max Member").await;
    page.reads("Desk").await;
    page.comes_true("one session", "return !squeezed(dialog().innerText).includes('Phone')").await;
    page.comes_true("the focus", "return dialog().contains(document.activeElement)").await;
    lost.get("/auth/profile").await.expect_error(401, "session_required");
    kept.get("/auth/profile").await.expect(200);
    page.row("member.updated").reads("Ada Admin").await;
    page.is_accessible().await;
    page.goes_back().await;
    page.asks_nothing().await;
    page.comes_true("the list's address", "return location.hash === '#/members'").await;
    page.open(&format!("{}/{address}", stage.origin())).await;
    page.asks("Max Member").await;
    page.press("What this member did").await;
    page.arrives_at("Audit log").await;
    page.row("session.created").reads("Max Member").await;
    page.open(&format!("{}/#/members/usr_nobody", stage.origin())).await;
    page.reads("Nobody here has this id.").await;
    page.was_refused(404, "/org/members/usr_nobody").await;
}

async fn the_members_are_saved_as_a_file_that_runs_nothing(stage: &Stage) {
    let zoe = stage.org().new_member("Zoe").await.logged_in().await;
    zoe.put("/auth/profile", json!({ "name": "=HYPERLINK(\"https://evil.example\";\"x\")" })).await.expect(200);
    let page = ada_opens(stage, "Members").await;
    page.press("Export CSV").await;
    page.reads("3 members were saved.").await;
    let file = page.downloaded("members-acme.csv").await;
    assert!(file.starts_with("\u{feff}\"name\",\"email\",\"role\",\"status\",\"joined\",\"id\"\r\n"), "{file}");
    assert!(file.contains("\"'=HYPERLINK(\"\"https://evil.example\"\";\"\"x\"\")\""), "{file}");
    assert!(file.contains("\"Max Member\",\"max@acme.example\",\"member\",\"active\""), "{file}");
}
