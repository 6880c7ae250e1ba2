//! The panel's modules as one script, so that a browser asks once. Each module becomes a function that is run once, in an order in which
//! all that it imports stands before it, and answers what it exports. The modules keep to the few forms that are understood here, and
//! to imports without a circle; a test says where one does not.

use std::collections::BTreeMap;

/// One script of the modules that `main` imports, of itself and through others; `sources` are all there are, by their names.
///
/// # Errors
/// What is not understood, and where.
pub(super) fn joined(main: &str, sources: &[(&str, &str)]) -> Result<String, String> {
    let mut joining = Joining { sources: sources.iter().copied().collect(), numbers: BTreeMap::new(), script: String::new() };
    joining.join(main.to_owned())?;
    Ok(joining.script)
}

struct Joining<'s> {
    sources: BTreeMap<&'s str, &'s str>,
    /// The number of each module that was joined; `None` while what it imports is.
    numbers: BTreeMap<String, Option<usize>>,
    script: String,
}

impl Joining<'_> {
    /// Joins a module, after what it imports. Returns its number.
    fn join(&mut self, name: String) -> Result<usize, String> {
        match self.numbers.get(&name) {
            Some(Some(number)) => return Ok(*number),
            Some(None) => return Err(format!("{name} imports itself through others")),
            None => {}
        }
        let source = *self.sources.get(name.as_str()).ok_or_else(|| format!("{name} is not there"))?;
        self.numbers.insert(name.clone(), None);
        let (mut body, mut exports) = (String::new(), Vec::new());
        let mut rest = source;
        while !rest.is_empty() {
            let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
            if let Some(import) = rest.strip_prefix("import ") {
                let (statement, after) = import.split_once(";\n").ok_or_else(|| format!("{name}: an import without an end"))?;
                let (names, number) = self.imported(&name, statement)?;
                let names = names.strip_prefix('{').and_then(|names| names.strip_suffix('}'));
                let names = names.ok_or_else(|| format!("{name}: only names in braces are imported"))?.replace(" as ", ": ");
                body.push_str(&format!("const {{{names}}} = m{number};\n"));
                rest = after;
                continue;
            }
            match line.strip_prefix("export ") {
                Some(from) if from.starts_with('*') => {
                    let (_, number) = self.imported(&name, from.trim_end_matches(';'))?;
                    exports.push(format!("...m{number}"));
                }
                Some(declared) => {
                    exports.push(declared_name(declared).ok_or_else(|| format!("{name}: export {declared}"))?.to_owned());
                    body.push_str(declared);
                }
                None => body.push_str(line),
            }
            body.push('\n');
            rest = after;
        }
        let number = self.numbers.values().flatten().count();
        self.script
            .push_str(&format!("// {name}\nconst m{number} = (() => {{\n{body}return {{ {} }};\n}})();\n", exports.join(", ")));
        self.numbers.insert(name, Some(number));
        Ok(number)
    }

    /// What a statement takes, and the number of the module that it takes it from.
    fn imported<'t>(&mut self, by: &str, statement: &'t str) -> Result<(&'t str, usize), String> {
        let (names, target) = statement.split_once(" from '").ok_or_else(|| format!("{by}: {statement}"))?;
        let target = target.strip_suffix('\'').ok_or_else(|| format!("{by}: {statement}"))?;
        let directory = by.rsplit_once('/').map_or(String::new(), |(directory, _)| format!("{directory}/"));
        let path = match target.strip_prefix("../") {
            Some(above) => above.to_owned(),
            None => format!("{directory}{}", target.trim_start_matches("./")),
        };
        Ok((names.trim(), self.join(path)?))
    }
}

/// The name that a declaration declares.
fn declared_name(declared: &str) -> Option<&str> {
    let rest = ["const ", "function ", "async function ", "class "].iter().find_map(|kind| declared.strip_prefix(kind))?;
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '$')).unwrap_or(rest.len());
    Some(&rest[..end]).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_imported_stands_before_and_only_once() {
        let sources = [
            (
                "main.js",
                "// Story.\n\nimport { one as first } from './kit.js';\nimport {\n\ttwo,\n} from './views/two.js';\n\nfirst(two);\n",
            ),
            ("kit.js", "export * from './one.js';\n"),
            ("one.js", "export const one = 1;\nexport async function other() {}\n"),
            ("views/two.js", "import { one } from '../one.js';\n\nexport const two = one + 1;"),
            ("unused.js", "nothing;\n"),
        ];
        let script = joined("main.js", &sources).expect("understood");
        assert_eq!(
            script,
            "// one.js\nconst m0 = (() => {\nconst one = 1;\nasync function other() {}\nreturn { one, other };\n})();\n\
             // kit.js\nconst m1 = (() => {\n\nreturn { ...m0 };\n})();\n\
             // views/two.js\nconst m2 = (() => {\nconst { one } = m0;\n\nconst two = one + 1;\nreturn { two };\n})();\n\
             // main.js\nconst m3 = (() => {\n// Story.\n\nconst { one: first } = m1;\nconst {\n\ttwo,\n} = m2;\n\nfirst(two);\nreturn {  };\n})();\n"
        );
    }

    #[test]
    fn what_is_not_understood_is_named() {
        for (source, fault) in [
            ("import './main.js';\n", "main.js: './main.js'"),
            ("import all from './main.js';\n", "main.js imports itself through others"),
            ("import { a } from './b.js';\n", "b.js is not there"),
            ("export default 1;\n", "main.js: export default 1;"),
        ] {
            assert_eq!(joined("main.js", &[("main.js", source)]).expect_err(source), fault);
        }
        let default = [("main.js", "import a from './a.js';\n"), ("a.js", "")];
        assert_eq!(joined("main.js", &default).expect_err("a default"), "main.js: only names in braces are imported");
    }
}
