//! Tests of the pages' files: all of them are served, together they are small, none of them loads code from another host or makes
//! markup of a text, and what they know of the service is true.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::files;
use crate::{
    config::{Config, Languages},
    http::ErrorCode,
    model::EventKind,
};

const MOST_BYTES: usize = 210_000;
const MOST_LINES: usize = 300;

/// Ways to run or load what is not in these files, or to make markup of a text.
const FORBIDDEN: [&str; 16] = [
    "innerHTML",
    "outerHTML",
    "insertAdjacentHTML",
    "document.write",
    "DOMParser",
    "srcdoc",
    "eval(",
    "new Function",
    "javascript:",
    "document.cookie",
    "style=",
    "<style",
    "@import",
    "url(",
    "import(",
    "sourceMappingURL",
];

/// Addresses that are names or placeholders and are never loaded.
const HARMLESS: [&str; 3] = ["http://www.w3.org/2000/svg", "https://app.example.com", "https://admin.example.com"];

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("panel")
}

/// Every file of the directory, by its path there.
fn on_disk() -> Vec<(String, String)> {
    fn walk(directory: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_dir() { walk(&path, found) } else { found.push(path) }
        }
    }
    let mut found = Vec::new();
    walk(&directory(), &mut found);
    let read = |path: PathBuf| {
        let name = path.strip_prefix(directory()).expect("inside").to_string_lossy().into_owned();
        (name, fs::read_to_string(path).expect("text"))
    };
    found.into_iter().map(read).collect()
}

#[test]
fn every_file_is_served_and_nothing_else() {
    let served = files(&Arc::new(Config::new("https://auth.example.com".parse().expect("a URL"))));
    assert!(served.iter().all(|file| file.kind != "application/octet-stream"));
    let body = |ending: &str| {
        let file = served.iter().find(|file| file.path == format!("/assets/panel{ending}"));
        String::from_utf8(file.expect("it is served").bytes().to_vec()).expect("text")
    };
    let (script, style) = (body(".js"), body(".css"));
    for (name, text) in on_disk() {
        match name.rsplit_once('.') {
            _ if ["guard.js", "logo.svg", "page.html"].contains(&&*name) => {}
            Some((_, "js")) => assert_eq!(script.matches(&format!("// {name}\nconst m")).count(), 1, "{name} is joined once"),
            Some((_, "css")) => assert!(style.contains(&text), "{name}"),
            _ => panic!("{name} is served by nobody"),
        }
    }
    assert_eq!(script.matches("\nimport ").count() + script.matches("\nexport ").count(), 0);
}

#[test]
fn together_they_are_small_and_each_is_readable() {
    let disk = on_disk();
    let total: usize = disk.iter().map(|(_, text)| text.len()).sum();
    assert!(total <= MOST_BYTES, "{total} bytes");
    for (name, text) in &disk {
        assert!(text.lines().count() < MOST_LINES, "{name} is too long");
        let tells = text.starts_with("//") || text.starts_with("/*");
        assert!(tells || !(name.ends_with(".js") || name.ends_with(".css")), "{name} does not open with its story");
    }
}

#[test]
fn no_file_brings_code_in_or_makes_markup_of_text() {
    for (name, text) in on_disk() {
        for word in FORBIDDEN {
            assert!(!text.contains(word), "{name} has {word}");
        }
        let bare = HARMLESS.iter().fold(text.clone(), |text, harmless| text.replace(harmless, ""));
        assert!(!bare.contains("http://") && !bare.contains("https://") && !bare.contains("\"//"), "{name} names another origin");
        if name.ends_with(".html") || name.ends_with(".svg") {
            assert!(!has_handler(&text), "{name} has a handler in an attribute");
            let scripts = text.matches("<script").count();
            assert_eq!(scripts, text.matches("></script>").count(), "{name} has a script of its own");
            assert_eq!(scripts, text.matches("<script type=\"module\" src=\"{").count(), "{name} loads another script");
        }
    }
}

/// ` onclick=` and the like.
fn has_handler(markup: &str) -> bool {
    markup
        .split(" on")
        .skip(1)
        .any(|rest| rest.split_once('=').is_some_and(|(name, _)| name.bytes().all(|b| b.is_ascii_lowercase())))
}

#[test]
fn every_module_imports_what_is_there() {
    let disk = on_disk();
    let names: BTreeSet<&str> = disk.iter().map(|(name, _)| name.as_str()).collect();
    for (name, text) in &disk {
        for line in
            text.lines().filter(|line| line.starts_with("import ") || line.starts_with("export {") || line.starts_with("export *"))
        {
            let Some(target) = line.split_once("from '").map(|(_, rest)| rest.trim_end_matches("';")) else { continue };
            let inside = name.rsplit_once('/').map_or("", |(directory, _)| directory);
            let resolved = match target.strip_prefix("../") {
                Some(above) => above.to_owned(),
                None => format!("{inside}/{}", target.trim_start_matches("./")).trim_start_matches('/').to_owned(),
            };
            assert!(names.contains(resolved.as_str()), "{name} imports {target}, which is not there");
        }
    }
}

#[test]
fn the_kinds_picker_offers_every_kind_of_event() {
    let disk = on_disk();
    let (_, text) = disk.iter().find(|(name, _)| name == "kinds.js").expect("the list");
    let group = |line: &str| {
        let (group, kinds) = line.trim().split_once(": '")?;
        let kinds = kinds.trim_end_matches("',").split(' ');
        Some(kinds.map(|kind| format!("{group}.{kind}")).collect::<Vec<_>>())
    };
    let list = text.lines().take_while(|line| *line != "};");
    let offered: Vec<String> = list.filter_map(group).flatten().collect();
    let known: Vec<&str> = EventKind::ALL.iter().map(|kind| kind.as_str()).collect();
    assert_eq!(offered, known);
    let by_name: Vec<String> =
        EventKind::ALL.iter().filter(|kind| kind.is_of_a_webhooks_life()).map(|kind| format!("'{kind}'")).collect();
    assert!(text.contains(&format!("BY_NAME_ALONE = [{}];", by_name.join(", "))), "{by_name:?}");
}

/// The English words of a page as it carries them: of the panel, or of a hosted page.
fn words(is_panel: bool) -> BTreeMap<String, String> {
    serde_json::from_str(&Languages::default().of(None).of_page(is_panel)).expect("JSON")
}

/// The keys that a file asks for: `t('home')`, and the beginnings of those whose ends are chosen as it runs.
fn asked(text: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut whole, mut begun) = (BTreeSet::new(), BTreeSet::new());
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    for call in ["t(", "sentence(", "parts(", "hasText("] {
        for (at, _) in text.match_indices(call) {
            if text[..at].ends_with(is_name) {
                continue;
            }
            // Both sides of `is ? 'one' : 'other'`.
            let until = text[at..].find([',', ')', '{']).map_or(text.len(), |end| at + end);
            whole.extend(text[at + call.len()..until].split('\'').skip(1).step_by(2).map(str::to_owned));
            let rest = &text[at + call.len()..];
            begun.extend(rest.strip_prefix('`').and_then(|key| key.split_once("${")).map(|(key, _)| key.to_owned()));
        }
    }
    // A text with a count has two forms.
    for (_, rest) in text.match_indices("counted('").map(|(at, call)| text.split_at(at + call.len())) {
        let key = rest.split('\'').next().unwrap_or_default();
        whole.extend(["one", "other"].map(|form| format!("{key}.{form}")));
    }
    (whole, begun)
}

#[test]
fn every_word_that_is_asked_for_is_there_and_no_other() {
    let (words, hosted) = (words(true), words(false));
    assert!(hosted.keys().all(|key| !key.starts_with("panel.")), "hosted pages carry what they need");
    let (mut whole, mut begun) = (BTreeSet::new(), BTreeSet::new());
    for (name, text) in on_disk().iter().filter(|(name, _)| name.ends_with(".js")) {
        let (keys, beginnings) = asked(text);
        for key in &keys {
            // The words of errors are asked for on both.
            let carried = if name.starts_with("hosted/") || name == "words.js" { &hosted } else { &words };
            assert!(carried.contains_key(key), "{name} asks for {key}");
        }
        for beginning in &beginnings {
            assert!(words.keys().any(|key| key.starts_with(beginning.as_str())), "{name} asks for {beginning}…");
        }
        whole.extend(keys);
        begun.extend(beginnings);
    }
    // Read before any module, and in the page's markup.
    let elsewhere = ["broken.reload", "broken.text", "broken.title", "noscript"];
    // Every error is looked up by its code.
    begun.extend(["error.", "panel.error."].map(str::to_owned));
    for key in words.keys().map(String::as_str) {
        let is_asked = whole.contains(key) || begun.iter().any(|beginning| key.starts_with(beginning.as_str()));
        assert!(is_asked || elsewhere.contains(&key), "nothing asks for {key}");
    }
    assert!(whole.len() > 60, "{whole:?}");
}

/// Literals that look like a text for people and are none.
const CODE: [&str; 12] = [
    "Android",
    "Chrome",
    "Content-Type",
    "Content-Type: application/json",
    "Edge",
    "Escape",
    "Firefox",
    "Linux",
    "Retry-After",
    "Safari",
    "Windows",
    "looked at",
];

#[test]
fn every_text_for_people_is_in_the_catalogues() {
    // Lists of kinds, and a class of a style.
    let disk = on_disk();
    for (name, text) in disk.iter().filter(|(name, _)| name.ends_with(".js") && !["guard.js", "kinds.js"].contains(&&**name)) {
        for line in text.lines().map(str::trim).filter(|line| !["//", "/*", "*"].iter().any(|comment| line.starts_with(comment))) {
            let code = line.split(" // ").next().unwrap_or_default();
            for literal in ['\'', '`'].iter().flat_map(|quote| code.split(*quote).skip(1).step_by(2)) {
                assert!(
                    CODE.contains(&literal) || !is_for_people(literal),
                    "{name} says {literal:?} itself: give it to the catalogues"
                );
            }
        }
    }
}

/// A word with a capital, or two words of small letters.
fn is_for_people(literal: &str) -> bool {
    let said: String = literal
        .split("${")
        .enumerate()
        .map(|(at, part)| if at == 0 { part } else { part.split_once('}').map_or("", |(_, rest)| rest) })
        .collect();
    let said = said.trim_start_matches(|c: char| !c.is_alphanumeric());
    let is_small = |word: &str| word.len() > 2 && word.bytes().all(|b| b.is_ascii_lowercase());
    let words: Vec<&str> = said.split(' ').collect();
    let has_capital = said.starts_with(|c: char| c.is_ascii_uppercase()) && said[1..].starts_with(|c: char| c.is_ascii_lowercase());
    has_capital || words.windows(2).any(|pair| pair.iter().all(|word| is_small(word)))
}

/// Words of the API's, and of programs, that are no words for people.
fn is_code(word: &str) -> bool {
    let known = ["JavaScript", "KiB", "usr_", "whs_", "whsec_", "TENANT_AUTH_KEY"];
    let has_hump = word.as_bytes().windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    !known.contains(&word) && (has_hump || (word.len() > 1 && word.contains('_')))
}

#[test]
fn texts_are_in_plain_words() {
    let languages = Languages::default();
    for catalogue in languages.all().map(|language| languages.of(Some(language))) {
        let words: BTreeMap<String, String> = serde_json::from_str(&catalogue.of_page(true)).expect("JSON");
        for (key, text) in words {
            let bare: String = text
                .split('{')
                .enumerate()
                .map(|(at, part)| part.split_once('}').filter(|_| at > 0).map_or(part, |(_, rest)| rest))
                .collect();
            let code = bare.split(|c: char| !(c.is_alphanumeric() || c == '_')).find(|word| is_code(word));
            assert_eq!(code, None, "{}: {key}: {text}", catalogue.language.as_str());
        }
    }
    assert!(is_code("org_admin") && is_code("appUrl") && !is_code("KiB") && !is_code("_") && !is_code("Admin"));
}

#[test]
fn every_live_region_is_made_in_one_place() {
    for (name, text) in on_disk().iter().filter(|(name, _)| name != "live.js") {
        for role in ["role: 'status'", "role: 'alert'", "role: 'log'", "aria-live"] {
            assert!(!text.contains(role), "{name} makes a region of its own, by {role}: screen readers may be silent about it");
        }
    }
    let page = include_str!("../../../panel/page.html");
    assert_eq!((page.matches("role=").count(), page.contains("<div class=\"toasts\" role=\"status\"></div>")), (1, true));
}

#[test]
fn every_error_that_has_words_is_one_of_the_api_or_of_the_pages() {
    let own = ["again", "broken", "quota", "unexpected", "unreachable"];
    for code in words(true).keys().filter_map(|key| key.strip_prefix("error.").or(key.strip_prefix("panel.error."))) {
        assert!(ErrorCode::parse(code).is_some() || own.contains(&code), "{code}");
    }
}

#[test]
fn a_page_carries_its_words_and_says_its_language() {
    let mut config = Config::new("https://auth.example.com".parse().expect("a URL"));
    let english = serde_json::from_str::<BTreeMap<String, String>>(include_str!("../../../languages/en.json")).expect("JSON");
    let turned = english.into_iter().map(|(key, text)| match key.as_str() {
        "language.direction" => (key, "rtl".to_owned()),
        "page.help" => (key, "<b>\"{x\"".replace("{x", "x")),
        _ => (key, text),
    });
    let turned = serde_json::to_string(&turned.collect::<BTreeMap<_, _>>()).expect("JSON");
    config.languages = config.languages.with(&"ar".parse().expect("a tag"), &turned).expect("whole");
    let files = files(&Arc::new(config));
    let of = |tag: &str| {
        let language = tag.parse().expect("a tag");
        let page = files.iter().find(|file| file.path == "/reset" && file.language.as_ref() == Some(&language));
        String::from_utf8(page.expect("the page").bytes().to_vec()).expect("text")
    };
    assert!(of("de").contains("<html lang=\"de\" dir=\"ltr\">") && of("de").contains("Neues Passwort setzen"));
    assert!(of("ar").contains("<html lang=\"ar\" dir=\"rtl\">"));
    assert!(of("ar").contains("&quot;help&quot;:&quot;&lt;b&gt;\\&quot;x\\&quot;&quot;"), "{}", of("ar"));
    for page in [of("en"), of("ar"), of("fr"), of("es")] {
        assert!(!page.contains("{product}") && !page.contains("{words}") && !page.contains("{dir}"), "{page}");
    }
    let panel = |tag: &str| {
        files.iter().find(|file| file.path == "/" && file.language.as_ref().is_some_and(|language| language.as_str() == tag))
    };
    let panel = String::from_utf8(panel("de").expect("the panel").bytes().to_vec()).expect("text");
    assert!(panel.contains("panel.settings.saved") && panel.contains("Die Einstellungen wurden gespeichert."));
    assert!(!of("de").contains("panel.settings.saved"), "a hosted page stays small");
}
