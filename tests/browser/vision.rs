//! Pages for people with low vision: in the system's few colours, and in text of twice the size.

use tenant_auth_conformance::{
    PASSWORD,
    browser::{Page, Stage},
    visits,
};

visits! {
    pages_keep_to_forced_colours,
    text_of_twice_the_size_is_read_whole,
}

/// Views of the panel, by their titles.
const VIEWS: [&str; 9] = ["Members", "Invites", "API keys", "Webhooks", "Audit log", "Settings", "Profile", "Security", "Sessions"];

/// Where a background says what something is, a line says it too: what has none.
const BARE: &str = "const line = (one) => ['borderTop', 'outline'].some((side) => getComputedStyle(one)[`${side}Style`] !== 'none' && parseFloat(getComputedStyle(one)[`${side}Width`]) > 0);
    const meant = '.badge, .avatar, .button, .notice:not(:empty), nav a[aria-current], input:not([type=checkbox]), select, textarea, dialog[open]';
    return [...document.querySelectorAll(meant)].filter((one) => there(one) && !line(one)).map((one) => one.outerHTML.slice(0, 120))";

async fn has_lines(page: &Page) {
    assert_eq!(page.run(BARE, vec![]).await, serde_json::json!([]));
    page.is_accessible().await;
}

async fn pages_keep_to_forced_colours(stage: &Stage) {
    let page = &stage.page;
    page.is_in_forced_colours(true).await;
    page.open("/sign-in#org=acme&why=ended").await;
    page.reads("Your session").await;
    has_lines(page).await;
    stage.signs_in("ada@acme.example", PASSWORD).await;
    page.arrives_at("Members").await;
    page.row("max@acme.example").reads("Active").await;
    has_lines(page).await;
    page.row("max@acme.example").press("Manage").await;
    page.reads("Latest activity").await;
    has_lines(page).await;
    page.press("Remove").await;
    page.reads("Remove Max").await;
    has_lines(page).await;
}

/// Text that is cut, or lies over other text: by its lines, and by the boxes of what is pressed.
const CUT: &str = "const wrong = [];
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth > clientWidth) wrong.push(`${scrollWidth} px of ${clientWidth}`);
    for (const one of (dialog() ?? document).querySelectorAll('button, a, p, .badge, label, th, td, dt, dd, h1, h2, h3')) {
        if (!there(one) || !squeezed(one.textContent) || one.matches('.skip, .unseen')) continue;
        const { fontSize, lineHeight } = getComputedStyle(one);
        if (parseFloat(lineHeight) < parseFloat(fontSize)) wrong.push(`lines over lines: ${one.outerHTML.slice(0, 120)}`);
        if (one.matches('button, .badge, a.button') && (one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 1)) wrong.push(`cut: ${one.outerHTML.slice(0, 120)}`);
    }
    for (const one of document.querySelectorAll('.reveal')) {
        const [field, eye] = [one.querySelector('input'), one.querySelector('button')];
        const free = parseFloat(getComputedStyle(field).paddingRight);
        if (there(field) && free < eye.getBoundingClientRect().width) wrong.push('a password runs below its button');
    }
    return [...new Set(wrong)]";

async fn is_read_whole(page: &Page, what: &str) {
    for width in [1280, 768] {
        page.is_wide(width).await;
        assert_eq!(page.run(CUT, vec![]).await, serde_json::json!([]), "{what} at {width} px");
    }
    page.is_wide(1280).await;
}

async fn text_of_twice_the_size_is_read_whole(stage: &Stage) {
    let page = &stage.page;
    page.is_in_large_text().await;
    page.open("/sign-in#org=acme").await;
    page.arrives_at("Sign in").await;
    is_read_whole(page, "signing in").await;
    page.press("Sign in").await;
    page.reads("This is required.").await;
    is_read_whole(page, "a refusal").await;
    stage.signs_in("ada@acme.example", PASSWORD).await;
    page.arrives_at("Members").await;
    for view in VIEWS {
        page.open(&format!("/#/{}", address(view))).await;
        page.arrives_at(view).await;
        page.comes_true("a page at rest", "return resting()").await;
        is_read_whole(page, view).await;
    }
    page.open("/").await;
    page.row("max@acme.example").press("Manage").await;
    page.reads("Latest activity").await;
    is_read_whole(page, "a member").await;
}

fn address(view: &str) -> &'static str {
    match view {
        "API keys" => "api-keys",
        "Audit log" => "audit",
        "Settings" => "settings",
        "Members" => "members",
        "Invites" => "invites",
        "Webhooks" => "webhooks",
        "Profile" => "profile",
        "Security" => "security",
        _ => "sessions",
    }
}
