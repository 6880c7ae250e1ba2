//! The panel in other languages than English: what it says is the catalogue's, and no text is left behind.

use std::collections::BTreeMap;

use serde_json::json;
use tenant_auth_conformance::{
    PASSWORD,
    browser::{Page, Stage},
    visits,
};

visits! {
    the_panel_speaks_german,
    the_panel_speaks_french,
    the_panel_speaks_spanish,
}

type Words = BTreeMap<String, String>;

const ENGLISH: &str = include_str!("../../tenant-auth-core/languages/en.json");
const GERMAN: &str = include_str!("../../tenant-auth-core/languages/de.json");
const FRENCH: &str = include_str!("../../tenant-auth-core/languages/fr.json");
const SPANISH: &str = include_str!("../../tenant-auth-core/languages/es.json");

/// Every text and label that people meet outside code: what is a key, and what is one of the given texts.
const LEFT_BEHIND: &str = r"
    const [texts, patterns] = [new Set(arguments[0]), arguments[1].map((one) => new RegExp(one))];
    const found = [];
    const look = (text) => {
        const said = text.trim();
        if (/^(page|panel)(\.[a-z_]+)+$/.test(said) || texts.has(said) || patterns.some((one) => one.test(said))) found.push(said);
    };
    const walk = document.createTreeWalker(document.querySelector('#page').parentNode, NodeFilter.SHOW_ELEMENT);
    for (let one = walk.nextNode(); one; one = walk.nextNode()) {
        if (one.closest('code, pre, script')) continue;
        for (const name of ['aria-label', 'title', 'placeholder']) look(one.getAttribute(name) ?? '');
        for (const child of one.childNodes) if (child.nodeType === Node.TEXT_NODE) look(child.data);
    }
    look(document.title);
    return found;";

async fn the_panel_speaks_german(stage: &Stage) {
    walks(stage, "de", GERMAN).await;
}

async fn the_panel_speaks_french(stage: &Stage) {
    walks(stage, "fr", FRENCH).await;
}

async fn the_panel_speaks_spanish(stage: &Stage) {
    walks(stage, "es", SPANISH).await;
}

async fn walks(stage: &Stage, language: &str, catalogue: &str) {
    let words: Words = serde_json::from_str(catalogue).expect("JSON");
    let left = left_behind(&words);
    let word = |key: &str| words[&format!("panel.{key}")].clone();
    let page = &stage.page;
    stage.signs_in("ada@acme.example", PASSWORD).await;
    page.arrives_at("Members").await;
    page.prefers(language).await;
    page.open("/").await;
    page.arrives_at(&word("view.members")).await;
    assert_eq!(page.run("return document.documentElement.lang", vec![]).await, language);
    page.reads(&words["panel.members.lead"].replace("{organization}", "Acme Rockets")).await;
    is_whole(page, &left).await;
    page.press(&word("invite")).await;
    page.asks(&word("invites.somebody")).await;
    page.reads(&word("role.hint")).await;
    is_whole(page, &left).await;
    page.press(&word("cancel")).await;
    page.asks_nothing().await;
    for (view, text) in [
        ("invites", "invites.none.title"),
        ("keys", "column.scopes"),
        ("webhooks", "webhooks.none.text"),
        ("audit", "audit.person"),
        ("settings", "settings.origins.hint"),
        ("profile", "profile.email.text"),
        ("security", "security.second.text"),
        ("sessions", "session.this"),
    ] {
        let title = word(&format!("view.{view}"));
        page.press(&title).await;
        page.arrives_at(&title).await;
        page.reads(&word(text)).await;
        is_whole(page, &left).await;
    }
}

/// What stands in the English catalogue and not in the other: whole texts, and patterns of those with values in them.
fn left_behind(words: &Words) -> (Vec<String>, Vec<String>) {
    let english: Words = serde_json::from_str(ENGLISH).expect("JSON");
    let differs = |(key, text): &(&String, &String)| {
        (key.starts_with("page.") || key.starts_with("panel.")) && !words.values().any(|other| other == *text)
    };
    let texts: Vec<&String> = english.iter().filter(differs).map(|(_, text)| text).collect();
    let (valued, plain): (Vec<&String>, Vec<&String>) = texts.into_iter().partition(|text| text.contains('{'));
    // A text that is hardly more than its values says nothing about its language.
    let patterns = valued.into_iter().map(|text| pattern(text)).filter(|pattern| pattern.replace(".+", "").len() > 12);
    (plain.into_iter().cloned().collect(), patterns.collect())
}

fn pattern(text: &str) -> String {
    let mut parts = text.split('{');
    let mut pattern = format!("^{}", escaped(parts.next().unwrap_or_default()));
    for part in parts {
        pattern.push_str(".+");
        pattern.push_str(&escaped(part.split_once('}').map_or(part, |(_, rest)| rest)));
    }
    pattern + "$"
}

fn escaped(text: &str) -> String {
    text.chars().flat_map(|c| (".*+?^$()[]|\\".contains(c)).then_some('\\').into_iter().chain([c])).collect()
}

async fn is_whole(page: &Page, (texts, patterns): &(Vec<String>, Vec<String>)) {
    let found = page.run(LEFT_BEHIND, vec![json!(texts), json!(patterns)]).await;
    assert_eq!(found, json!([]), "left in English, or a key");
    page.is_accessible().await;
}
