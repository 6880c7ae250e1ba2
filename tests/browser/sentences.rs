//! Sentences: names are kept apart from the words around them, and refusals are in plain words of the page's language.

use serde_json::json;
use tenant_auth_conformance::{
    PASSWORD,
    browser::{Page, Stage},
    visits,
};

visits! {
    names_written_from_right_to_left_disturb_no_sentence,
    refusals_are_in_plain_words,
    a_field_that_the_service_refuses_says_why_in_the_pages_language,
}

/// Names that would turn the order of what stands beside them.
const COMPANY: &str = "شركة الأمل (2)";
const PERSON: &str = "محمد (القائد)!";

/// Texts and labels with such a name that neither an element nor isolates keep apart.
const MIXED: &str = r"
    const turned = /[\u0590-\u08ff]/;
    const open = (text) => turned.test(text.replace(/\u2068[^\u2068\u2069]*\u2069/g, ''));
    const found = [];
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
    for (let one = walk.nextNode(); one; one = walk.nextNode()) {
        const place = one.parentElement;
        if (one.nodeType === Node.TEXT_NODE && open(one.data) && !place.closest('bdi, code, pre, textarea, option, [dir=auto], .avatar')) found.push(`${place.localName}: ${one.data}`);
        for (const name of one.getAttributeNames?.() ?? []) {
            if (['aria-label', 'title', 'placeholder', 'alt'].includes(name) && open(one.getAttribute(name))) found.push(`${name}: ${one.getAttribute(name)}`);
        }
    }
    if (open(document.title)) found.push(`title: ${document.title}`);
    return [turned.test(document.body.innerText), ...found]";

async fn is_in_order(page: &Page) {
    page.comes_true("a page at rest", "return resting()").await;
    let found = page.run(MIXED, vec![]).await;
    assert_eq!(found, json!([true]), "such a name is there, and apart from the words around it");
}

async fn names_written_from_right_to_left_disturb_no_sentence(stage: &Stage) {
    let page = &stage.page;
    let admin = stage.admin().logged_in().await;
    admin.patch("/org", json!({ "name": COMPANY })).await.expect(200);
    let max = stage.member().logged_in().await;
    max.put("/auth/profile", json!({ "name": PERSON })).await.expect(200);
    admin.created_key(json!({ "name": PERSON, "scopes": ["verify"] })).await;
    stage.signs_in("ada@acme.example", PASSWORD).await;
    page.arrives_at("Members").await;
    page.row("max@acme.example").reads("Active").await;
    is_in_order(page).await;
    page.row("max@acme.example").press("Manage").await;
    page.reads("Latest activity").await;
    is_in_order(page).await;
    page.press("Suspend").await;
    page.reads("is refused everywhere in").await;
    is_in_order(page).await;
    page.press("Suspend").await;
    page.reads("is suspended.").await;
    is_in_order(page).await;
    for (view, title) in [
        ("api-keys", "API keys"),
        ("webhooks", "Webhooks"),
        ("audit", "Audit log"),
        ("settings", "Settings"),
        ("invites", "Invites"),
    ] {
        page.open(&format!("/#/{view}")).await;
        page.arrives_at(title).await;
        is_in_order(page).await;
    }
    page.open("/#/api-keys").await;
    page.row(PERSON).press("Revoke").await;
    page.reads("Every request with this key").await;
    is_in_order(page).await;
    page.press("Cancel").await;
    admin.invite("nora@acme.example").await.expect(201);
    page.open(&stage.link("nora@acme.example", "/invite").await).await;
    page.reads("nora@acme.example").await;
    is_in_order(page).await;
    page.open("/sign-in").await;
    page.offers("Go on").await;
    is_in_order(page).await;
}

async fn refusals_are_in_plain_words(stage: &Stage) {
    let page = &stage.page;
    stage.signs_in("ada@acme.example", PASSWORD).await;
    page.arrives_at("Members").await;
    page.press("Settings").await;
    page.press("Leave organization").await;
    page.asks("Leave Acme Rockets?").await;
    page.press("Leave").await;
    page.reads("This is the last active admin. Make somebody else an admin first.").await;
    page.was_refused(400, "/org/leave").await;
    page.press("Cancel").await;
    page.press("Members").await;
    page.row("ada@acme.example").press("Manage").await;
    page.choose("Role", "Member").await;
    page.press("Save changes").await;
    page.press("Stop being an admin").await;
    page.reads("This is the last active admin. Make somebody else an admin first.").await;
    page.was_refused_anywhere(400).await;
    page.reads_no("org_admin").await;
    page.is_accessible().await;
}

async fn a_field_that_the_service_refuses_says_why_in_the_pages_language(stage: &Stage) {
    let page = &stage.page;
    stage.admin().logged_in().await.invite("nora@acme.example").await.expect(201);
    let link = stage.link("nora@acme.example", "/invite").await;
    stage.signs_in("ada@acme.example", PASSWORD).await;
    page.arrives_at("Members").await;
    // English has the service's own words, which say which rule it was.
    page.press("Profile").await;
    page.arrives_at("Profile").await;
    page.fill("Name", "Ada\u{202e}").await;
    page.press("Save profile").await;
    page.reads("Must not contain control, text-direction or invisible characters").await;
    page.was_refused_anywhere(400).await;
    page.fill("Name", "Ada Admin").await;
    page.press("Save profile").await;
    page.reads("was saved").await;

    page.prefers("de").await;
    page.open("/#/webhooks").await;
    page.reads("Keine Webhooks").await;
    page.run("document.querySelector('main .view-head button').click()", vec![]).await;
    page.fill("URL des Endpunkts", "https://somebody:secret@hooks.example.com/").await;
    page.tick("Alles").await;
    page.press("Webhook anlegen").await;
    page.reads("Schreiben Sie eine Adresse, die der Dienst erreichen kann").await;
    page.reads_no("must").await;
    page.was_refused_anywhere(400).await;
    page.is_accessible().await;

    page.open(&link).await;
    page.fill("Ihr Name", "Nora\u{202e}").await;
    page.fill("Passwort wählen", PASSWORD).await;
    page.press("Konto anlegen und beitreten").await;
    page.reads("Schreiben Sie 1 bis 100 Zeichen, keine unsichtbaren.").await;
    page.was_refused_anywhere(400).await;
    page.is_accessible().await;
}
