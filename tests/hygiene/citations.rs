//! Citations that lead somewhere. A comment that gives a decision as its reason names its number in `behaviour.md`, and a link in
//! a Markdown file leads to a file and a heading that exist. A reason that the reader cannot look up is no reason.

use std::{collections::BTreeSet, fs, path::Path};

use super::repository;

const BEHAVIOUR: &str = "tenant-auth-core/guides/behaviour.md";

/// What a citation must not be: the name of a document that is not in this repository.
const UNKNOWN_LAW: [&str; 3] = [concat!("contract", " section"), concat!("the contract", "'s"), concat!("the specif", "ication")];

/// Files that people read and write here, by their ending.
const TEXTS: [&str; 10] = ["rs", "md", "sql", "toml", "js", "css", "html", "sh", "py", "txt"];

/// Every text file of the repository, by its path from the root.
fn texts() -> Vec<(String, String)> {
    let root = repository(".");
    let (mut found, mut waiting) = (Vec::new(), vec![root.clone()]);
    while let Some(directory) = waiting.pop() {
        for entry in fs::read_dir(&directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let ending = path.extension().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                if !["target", "node_modules"].contains(&&*name) && (!name.starts_with('.') || name == ".ci") {
                    waiting.push(path);
                }
            } else if TEXTS.contains(&&*ending) || directory.ends_with(".ci") {
                let shown = path.strip_prefix(&root).unwrap_or(&path).display().to_string();
                found.push((shown, fs::read_to_string(&path).expect("text")));
            }
        }
    }
    found.sort();
    found
}

/// The text as one line, without what marks comments: a citation may be broken in the middle.
fn flowing(text: &str) -> String {
    let words = text.split_whitespace().filter(|word| !["//!", "///", "//", "--", "#", "*"].contains(word));
    words.collect::<Vec<_>>().join(" ")
}

/// `B12` at the start of a word, and nothing but punctuation after it.
fn number(word: &str) -> Option<&str> {
    let word = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    let digits = word.strip_prefix('B')?;
    (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())).then_some(digits)
}

/// The numbers after each `behaviour.md,`: one, or several with commas and `and` between them.
fn cited(text: &str) -> Vec<String> {
    let is_name = |word: &&str| word.ends_with("behaviour.md,");
    let words: Vec<&str> = text.split(' ').collect();
    let mut found = Vec::new();
    for (at, _) in words.iter().enumerate().filter(|(_, word)| is_name(word)) {
        let after = words[at + 1..].iter().take_while(|word| number(word).is_some() || **word == "and");
        found.extend(after.filter_map(|word| number(word)).map(str::to_owned));
        if words.get(at + 1).is_none_or(|word| number(word).is_none()) {
            found.push(format!("? ({})", words[at..].iter().take(4).copied().collect::<Vec<_>>().join(" ")));
        }
    }
    found
}

/// The targets of links outside code: `[text](target)`, `[name]: target`, `src="target"` and `srcset="target"`.
fn links(markdown: &str) -> Vec<String> {
    let prose = prose(markdown);
    let between = |start: &'static str, end: char| {
        prose.split(start).skip(1).map(move |rest| rest.split(end).next().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    let definitions = prose.lines().filter(|line| line.starts_with('[')).filter_map(|line| line.split_once("]: "));
    let named = definitions.map(|(_, target)| target.trim().to_owned());
    [between("](", ')'), between("src=\"", '"'), between("srcset=\"", '"'), named.collect()].concat()
}

/// Markdown without its blocks of code and its code in a line.
fn prose(markdown: &str) -> String {
    let mut in_block = false;
    let mut kept = String::new();
    for line in markdown.lines() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
        } else if !in_block {
            kept.extend(line.split('`').step_by(2));
            kept.push('\n');
        }
    }
    kept
}

/// What a fragment can name: explicit anchors, and headings as GitHub makes names of them.
fn anchors(markdown: &str) -> BTreeSet<String> {
    let explicit = markdown.split("<a id=\"").skip(1).filter_map(|rest| rest.split('"').next()).map(str::to_owned);
    let headings = markdown.lines().filter(|line| line.starts_with('#')).map(|line| {
        let kept = line.trim_start_matches('#').trim().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.collect::<String>().to_lowercase().replace(' ', "-")
    });
    explicit.chain(headings).collect()
}

/// Why a link from `page` leads nowhere, if it does.
fn broken(page: &Path, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (file, fragment) = target.split_once('#').unwrap_or((target, ""));
    let path = if file.is_empty() { page.to_owned() } else { page.parent()?.join(file) };
    if !path.exists() {
        return Some(format!("{}: there is no {target}", page.display()));
    }
    let is_known = || anchors(&fs::read_to_string(&path).unwrap_or_default()).contains(fragment);
    (!fragment.is_empty() && !is_known()).then(|| format!("{}: {target} has no such heading", page.display()))
}

#[test]
fn every_number_that_is_cited_is_a_decision() {
    let behaviour = fs::read_to_string(repository(BEHAVIOUR)).expect("the guide");
    let known = anchors(&behaviour);
    let of_guides = |file: &str, text: &str| -> Vec<String> {
        let is_guide = file.ends_with(".md");
        prose(text).split_whitespace().filter(|_| is_guide).filter_map(number).map(str::to_owned).collect()
    };
    let mut dangling = Vec::new();
    for (file, text) in texts() {
        let numbers = cited(&flowing(&text)).into_iter().chain(of_guides(&file, &text));
        dangling.extend(numbers.filter(|number| !known.contains(&format!("b{number}"))).map(|number| format!("{file}: B{number}")));
    }
    assert!(dangling.is_empty(), "no decisions in {BEHAVIOUR}: {dangling:#?}");
}

#[test]
fn every_decision_has_one_number_and_shows_it() {
    let behaviour = fs::read_to_string(repository(BEHAVIOUR)).expect("the guide");
    let mut seen = BTreeSet::new();
    for rest in behaviour.split("- <a id=\"b").skip(1) {
        let (number, shown) = rest.split_once("\"></a>**B").expect("an anchor and its number");
        assert!(shown.starts_with(&format!("{number}** ")), "B{number} shows another number");
        assert!(seen.insert(number.to_owned()), "B{number} is given twice");
    }
    assert!(seen.len() > 100, "{} decisions were found", seen.len());
}

#[test]
fn the_next_number_was_never_given() {
    let behaviour = fs::read_to_string(repository(BEHAVIOUR)).expect("the guide");
    let (_, next) = behaviour.split_once("next free number, `B").expect("the guide names the next free number");
    let next: u32 = next.split('`').next().and_then(|digits| digits.parse().ok()).expect("a number");
    let given = behaviour.split("- <a id=\"b").skip(1).filter_map(|rest| rest.split('"').next()?.parse().ok());
    let beyond: Vec<u32> = given.filter(|number| *number >= next).collect();
    assert!(beyond.is_empty(), "given already: {beyond:?}; {BEHAVIOUR} says that B{next} is free");
}

#[test]
fn every_link_in_a_markdown_file_leads_somewhere() {
    let pages = texts().into_iter().filter(|(file, _)| file.ends_with(".md"));
    let broken = pages.flat_map(|(file, text)| {
        let page = repository(&file);
        links(&text).into_iter().filter_map(move |target| broken(&page, &target))
    });
    let broken: Vec<_> = broken.collect();
    assert!(broken.is_empty(), "{broken:#?}");
}

/// rustdoc shows a guide as a module, where a relative path to a file leads nowhere. So such a path is the definition of a named link,
/// and the root gives the name another definition, before the guide's, that leads to the module.
#[test]
fn every_link_between_guides_leads_to_a_module_in_rustdoc() {
    let root = fs::read_to_string(repository("tenant-auth-core/src/lib.rs")).expect("the root");
    let mut counted = 0;
    for guide in ["architecture", "behaviour", "call", "deploy", "embed"] {
        let text = fs::read_to_string(repository(&format!("tenant-auth-core/guides/{guide}.md"))).expect("a guide");
        let before = root.split_once(&format!("include_str!(\"../guides/{guide}.md\")")).expect("the root shows it").0;
        let of_root = before.rsplit_once("include_str!").map_or(before, |(_, rest)| rest);
        for target in links(&text).into_iter().filter(|target| !target.contains("://") && !target.starts_with('#')) {
            let definition = text.lines().find(|line| line.starts_with('[') && line.ends_with(&format!("]: {target}")));
            let definition = definition.unwrap_or_else(|| panic!("{guide}.md: {target} stands inside a line; define a named link"));
            let in_rustdoc = match definition.split_once("]: ../") {
                Some((label, _)) => format!("{label}]: https://"), // a file of another package is no module of this one
                None => definition.replace(".md#", "#").trim_end_matches(".md").to_owned(),
            };
            assert!(of_root.contains(&in_rustdoc), "lib.rs, before {guide}.md: give the doc comment {in_rustdoc:?}");
            counted += 1;
        }
    }
    assert!(counted >= 4, "{counted} links were found");
}

#[test]
fn nothing_rests_on_a_document_that_is_not_here() {
    let mut dangling = Vec::new();
    for (file, text) in texts() {
        let flowing = flowing(&text).to_lowercase();
        dangling.extend(UNKNOWN_LAW.iter().filter(|law| flowing.contains(**law)).map(|law| format!("{file}: {law}")));
    }
    assert!(dangling.is_empty(), "cite {BEHAVIOUR} by number, or give the reason: {dangling:#?}");
}

#[test]
fn a_citation_is_found_wherever_it_stands() {
    let text = flowing("/// Why (behaviour.md, B12 and\n/// B7). See `behaviour.md`, too; behaviour.md, B9, B10.");
    assert_eq!(cited(&text), ["12", "7", "9", "10"]);
    let vague = cited(concat!("as behaviour", ".md, section 3 says"));
    assert!(matches!(&vague[..], [one] if one.starts_with('?')), "a citation without a number is none: {vague:?}");
    let page = "# A `b` c's\n[x](y.md#z) `[no](no.md)`\n```\n[no](no.md)\n```\n[d]: e.md\n<a id=\"b1\"></a>";
    assert_eq!(links(page), ["y.md#z", "e.md"]);
    assert!(anchors(page).contains("b1") && anchors(page).contains("a-b-cs"));
}
