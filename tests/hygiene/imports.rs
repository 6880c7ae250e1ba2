//! Which file of the core imports which: `use` statements and inline paths, followed through re-exports to the file that has the
//! item. Stable Rust has no tool for that; the language makes it easy, for a path begins with `crate`, `super`, `self` or a child.

use std::collections::{BTreeMap, BTreeSet};

/// The core's files by their module's path (`account::login`; the crate's root is the empty path).
pub(crate) struct Modules {
    files: BTreeMap<String, File>,
}

/// A file: the paths it names, as they are written but for the beginning, which is the crate's.
#[derive(Default)]
struct File {
    named: Vec<Vec<String>>,
    /// What its `use` statements call by a name of their own: how re-exports are followed.
    bound: BTreeMap<String, Vec<String>>,
}

impl Modules {
    /// Reads sources: the path below `src/`, and the text. Files of unit tests belong to no floor.
    pub(crate) fn read<'a>(sources: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let sources: Vec<_> = sources.into_iter().filter(|(path, _)| !path.contains("tests")).collect();
        let mut files: BTreeMap<String, File> = sources.iter().map(|(path, _)| (module(path), File::default())).collect();
        let names: BTreeSet<String> = files.keys().cloned().collect();
        for (path, text) in sources {
            let module = module(path);
            let file = Reader { module: &module, names: &names, file: File::default() }.read(&tokens(&without_tests(text)));
            files.insert(module, file);
        }
        Self { files }
    }

    /// Every arrow between two files, from the one that imports to the one that is imported. The root only re-exports, and a
    /// folder's `mod.rs`, which holds what its files share and shows what they have, is one thing with them.
    pub(crate) fn arrows(&self) -> BTreeSet<(String, String)> {
        let mut arrows = BTreeSet::new();
        for (module, file) in self.files.iter().filter(|(module, _)| !module.is_empty()) {
            for path in &file.named {
                let target = self.owner(path, 0);
                if target != *module && !target.is_empty() && !is_within(module, &target) && !is_within(&target, module) {
                    arrows.insert((module.clone(), target));
                }
            }
        }
        arrows
    }

    /// The file that has what a path names.
    fn owner(&self, path: &[String], followed: usize) -> String {
        let (mut module, mut rest) = (String::new(), path);
        while let Some((first, others)) = rest.split_first() {
            let child = join(&module, first);
            if self.files.contains_key(&child) {
                (module, rest) = (child, others);
            } else {
                break;
            }
        }
        let reexported = rest.first().and_then(|name| self.files[&module].bound.get(name));
        match reexported {
            Some(target) if followed < 8 && target != path => self.owner(target, followed + 1),
            _ => module,
        }
    }
}

/// The circles: sets of files each of which imports, over however many steps, all others.
pub(crate) fn circles(arrows: &BTreeSet<(String, String)>) -> BTreeSet<BTreeSet<String>> {
    let reaches = |from: &str| {
        let (mut seen, mut waiting) = (BTreeSet::new(), vec![from.to_owned()]);
        while let Some(file) = waiting.pop() {
            let next = arrows.range((file.clone(), String::new())..).take_while(|(importer, _)| *importer == file);
            waiting.extend(next.map(|(_, imported)| imported.clone()).filter(|imported| seen.insert(imported.clone())));
        }
        seen
    };
    let reached: BTreeMap<String, BTreeSet<String>> = arrows.iter().map(|(file, _)| (file.clone(), reaches(file))).collect();
    let back = |file: &str, other: &String| reached.get(other).is_some_and(|seen| seen.contains(file));
    let circle = |file: &String, seen: &BTreeSet<String>| seen.iter().filter(|other| back(file, other)).cloned().collect();
    reached.iter().filter(|(file, seen)| seen.contains(*file)).map(|(file, seen)| circle(file, seen)).collect()
}

struct Reader<'n> {
    module: &'n str,
    names: &'n BTreeSet<String>,
    file: File,
}

impl Reader<'_> {
    fn read(mut self, tokens: &[String]) -> File {
        let mut at = 0;
        while at < tokens.len() {
            let before = at.checked_sub(1).map_or("", |before| &tokens[before]);
            match tokens[at].as_str() {
                "use" => at = self.tree(tokens, at + 1, &[]),
                "crate" | "super" | "self" if before != "::" && before != "in" && tokens.get(at + 1).is_some_and(|t| t == "::") => {
                    let end = (at..tokens.len()).step_by(2).find(|end| tokens.get(end + 1).is_none_or(|token| token != "::"));
                    let path: Vec<String> = tokens[at..=end.unwrap_or(at)].iter().step_by(2).cloned().collect();
                    at += path.len() * 2 - 1;
                    self.name(&path, None);
                }
                _ => at += 1,
            }
        }
        self.file
    }

    /// One branch of a `use` tree, from `at` on; where it ends.
    fn tree(&mut self, tokens: &[String], mut at: usize, prefix: &[String]) -> usize {
        let mut path = prefix.to_vec();
        while let Some(token) = tokens.get(at) {
            match token.as_str() {
                "{" => {
                    at += 1;
                    while tokens[at] != "}" {
                        at = self.tree(tokens, at, &path);
                    }
                    return at + 1;
                }
                "::" if path.is_empty() => {
                    return tokens[at..].iter().position(|token| token == ";").map_or(tokens.len(), |end| at + end);
                }
                "::" => at += 1,
                "as" => {
                    self.name(&path, tokens.get(at + 1));
                    return at + 2;
                }
                "," if path.len() > prefix.len() => {
                    self.name(&path, None);
                    return at + 1;
                }
                "," => return at + 1,
                ";" | "}" => {
                    if path.len() > prefix.len() {
                        self.name(&path, None);
                    }
                    return at;
                }
                segment => {
                    path.push(segment.to_owned());
                    at += 1;
                }
            }
        }
        at
    }

    /// Notes a path of this crate; others are none of ours.
    fn name(&mut self, path: &[String], alias: Option<&String>) {
        let mut path = path.to_vec();
        if path.len() > 1 && path.last().is_some_and(|last| last == "self" || last == "*") {
            path.pop();
        }
        let mut module: Vec<String> = self.module.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect();
        let mut rest = path.as_slice();
        match rest.first().map(String::as_str) {
            Some("crate") => (module, rest) = (Vec::new(), &rest[1..]),
            Some("self") => rest = &rest[1..],
            Some("super") => {
                while rest.first().is_some_and(|first| first == "super") {
                    module.pop();
                    rest = &rest[1..];
                }
            }
            Some(child) if self.names.contains(&join(self.module, child)) => {}
            _ => return,
        }
        module.extend_from_slice(rest);
        if let Some(name) = alias.or(path.last()) {
            self.file.bound.insert(name.clone(), module.clone());
        }
        self.file.named.push(module);
    }
}

/// Whether a file lies in the folder of another, its `mod.rs`.
fn is_within(file: &str, folder: &str) -> bool {
    file.strip_prefix(folder).is_some_and(|rest| rest.starts_with("::"))
}

fn join(module: &str, child: &str) -> String {
    if module.is_empty() { child.to_owned() } else { format!("{module}::{child}") }
}

/// `account/login.rs` is `account::login`, and `account/mod.rs` is `account`.
fn module(path: &str) -> String {
    let path = path.trim_end_matches(".rs");
    let path = path.strip_suffix("/mod").unwrap_or(path);
    if path == "lib" { String::new() } else { path.replace('/', "::") }
}

/// What is compiled for tests or for documentation only is left out: unit tests at a file's end, and single statements.
fn without_tests(text: &str) -> String {
    let mut text = text.to_owned();
    text.truncate(text.find("\nmod tests {").unwrap_or(text.len()));
    for attribute in ["#[cfg(test)]\n", "#[cfg(doc)]\n"] {
        while let Some(start) = text.find(attribute) {
            let end = text[start..].find(';').map_or(text.len(), |end| start + end + 1);
            text.replace_range(start..end, "");
        }
    }
    text
}

/// Words and signs, without comments and literals.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or_default();
        let code: String = line.split('"').step_by(2).collect::<Vec<_>>().join("\"\"");
        let mut rest = code.as_str();
        while let Some(first) = rest.chars().next() {
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            let length = match first {
                _ if is_word(first) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
                ':' if rest.starts_with("::") => 2,
                _ => first.len_utf8(),
            };
            let (token, others) = rest.split_at(length);
            if !token.trim().is_empty() {
                tokens.push(token.to_owned());
            }
            rest = others;
        }
    }
    tokens
}
