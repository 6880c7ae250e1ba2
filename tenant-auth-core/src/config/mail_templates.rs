//! Templates of mails that stand in the place of ours. Each is rendered with samples before anything starts, so that a fault is found by
//! who wrote it and not by who waits for a mail.

use std::{collections::BTreeMap, sync::Arc};

use minijinja::{Environment, UndefinedBehavior, Value, context};

use crate::value::Language;

/// Every mail by its name, with the names of the values that it tells; a `?` stands after one that may be none.
pub const MAILS: [(&str, &[&str]); 24] = [
    ("invite", &["organization", "role", "inviter?", "app_url?", "until"]),
    ("reset_password", &["until"]),
    ("welcome", &["organization", "until"]),
    ("verify_email", &["until"]),
    ("change_email", &["until"]),
    ("sign_up", &["until"]),
    ("address_wanted", &[]),
    ("email_change_requested", &["address"]),
    ("email_changed", &["address"]),
    ("password_changed", &[]),
    ("two_factor_enabled", &[]),
    ("two_factor_disabled", &[]),
    ("recovery_codes_replaced", &[]),
    ("recovery_code_used", &[]),
    ("wrong_codes", &[]),
    ("new_admin", &["organization", "who"]),
    ("new_api_key", &["organization", "name"]),
    ("leaked_api_key", &["organization", "name"]),
    ("leaked_deployment_key", &["name"]),
    ("new_webhook", &["organization", "host"]),
    ("deletion_scheduled", &["organization", "at"]),
    ("deletion_near", &["organization", "at"]),
    ("deletion_cancelled", &["organization"]),
    ("webhook_disabled", &["organization", "host"]),
];
/// What each template gets beside the values of its mail.
pub const SHARED_VALUES: [&str; 14] = [
    "heading",
    "lines",
    "link?",
    "action?",
    "footer",
    "help",
    "lang",
    "direction",
    "kind",
    "product.name",
    "product.logo?",
    "product.accent",
    "product.on_accent",
    "product.support?",
];
/// What every mail of ours begins and ends with; other templates may include them.
const PARTS: [(&str, &str); 3] = [
    ("product.html", include_str!("../../templates/product.html")),
    ("support.html", include_str!("../../templates/support.html")),
    ("support.txt", include_str!("../../templates/support.txt")),
];
/// The parts of a mail.
const KINDS_OF_TEXT: [&str; 3] = ["html", "txt", "subject"];

/// Templates (minijinja) in the place of our own, each by its name: `<mail>.<language>.html`, `.txt` or `.subject`. Default: none.
///
/// In `.html` every value is escaped. Names that people chose are defused as in our own mails: no mail program takes them for links.
#[derive(Debug, Clone, Default)]
pub struct MailTemplates(Arc<BTreeMap<String, String>>);

impl MailTemplates {
    /// These templates and one more, or another one in the place of one.
    ///
    /// # Errors
    /// What is wrong, to be read after the name: a name of no mail, and what the template cannot do with the samples, with the line.
    #[must_use = "this leaves what it is called on as it is"]
    pub fn with(&self, name: &str, source: &str) -> Result<Self, String> {
        let (values, language) = facts(name)?;
        let mut all = BTreeMap::clone(&self.0);
        all.insert(name.to_owned(), source.to_owned());
        let all = Self(Arc::new(all));
        for is_full in [true, false] {
            let text =
                rendered(name, source, &sample(name, values, &language, is_full)).map_err(|error| format!("fails: {error}"))?;
            judge(name, &text)?;
        }
        Ok(all)
    }

    /// The first template whose language is none of these.
    pub(crate) fn of_no_language(&self, has: impl Fn(&Language) -> bool) -> Option<&str> {
        let is_of_none = |name: &&String| !facts(name).is_ok_and(|(_, language)| has(&language));
        self.0.keys().find(is_of_none).map(String::as_str)
    }

    /// The values of a mail, of which those that there are not are none.
    pub(crate) fn values(mail: &str, mut values: BTreeMap<String, Option<String>>) -> Value {
        let known = MAILS.iter().find(|(known, _)| *known == mail).map_or(&[] as &[&str], |(_, names)| *names);
        let told = values.len();
        for name in known {
            values.entry(name.trim_end_matches('?').to_owned()).or_default();
        }
        debug_assert!(told <= known.len() && values.len() == known.len(), "{mail} tells what its row of MAILS does not name");
        Value::from_pairs(values)
    }

    /// One text of a mail, where there is a template for it: `part` is `html`, `txt` or `subject`. A template that fails in spite of the
    /// samples leaves the text to ours.
    pub(crate) fn text(&self, mail: &str, language: &Language, part: &str, values: &Value) -> Option<String> {
        let name = format!("{mail}.{language}.{part}");
        let source = self.0.get(&name)?;
        let text = rendered(&name, source, values).map_err(|error| error.to_string());
        let text = text.and_then(|text| judge(&name, &text).map(|()| text));
        text.inspect_err(|fault| tracing::error!(template = %name, %fault, "a mail template failed; the built-in one stands in"))
            .ok()
    }
}

/// The values of the mail that a template is of, and its language.
fn facts(name: &str) -> Result<(&'static [&'static str], Language), String> {
    let refused =
        || "is no template's name: <mail>.<language>.html, .txt or .subject, with a mail that `settings --templates` lists";
    let mut parts = name.split('.');
    let (Some(mail), Some(language), Some(part), None) = (parts.next(), parts.next(), parts.next(), parts.next()) else {
        return Err(refused().to_owned());
    };
    let values = MAILS.iter().find(|(known, _)| *known == mail).map(|(_, values)| *values);
    match (values, Language::parse(language)) {
        // As it is looked for: `pt-BR`, never `pt-br`.
        (Some(values), Ok(tag)) if tag.as_str() == language && KINDS_OF_TEXT.contains(&part) => Ok((values, tag)),
        _ => Err(refused().to_owned()),
    }
}

/// The values of a sample: all of them, or those alone that are always there.
fn sample(name: &str, values: &[&str], language: &Language, is_full: bool) -> Value {
    let value = |name: &&str| match name.strip_suffix('?') {
        Some(optional) => (optional.to_owned(), Some(format!("{optional}'s")).filter(|_| is_full)),
        None => ((*name).to_owned(), Some(format!("{name}'s"))),
    };
    let values: BTreeMap<String, Option<String>> = values.iter().map(value).collect();
    // Every mail with a link says until when it is good.
    let link = values.contains_key("until").then_some("https://auth.example.com/reset#org=acme&token=sample");
    context! {
        kind => name.split('.').next(),
        heading => "A heading",
        lines => ["A line."],
        link,
        action => link.map(|_| "Do it"),
        footer => "A footer.",
        help => "Help",
        lang => language.as_str(),
        direction => "ltr",
        product => context! {
            name => "Tenant Auth",
            logo => is_full.then_some("cid:logo"),
            accent => "#1f4bd8",
            on_accent => "#ffffff",
            support => is_full.then_some("https://example.com/help"),
        },
        ..Value::from_pairs(values)
    }
}

/// minijinja escapes by the template's name: `.html` is escaped, all else is not. A template includes nothing but our parts.
pub(crate) fn rendered(name: &str, source: &str, values: &Value) -> Result<String, minijinja::Error> {
    let mut templates = Environment::new();
    templates.set_undefined_behavior(UndefinedBehavior::Strict);
    for (part, source) in PARTS {
        templates.add_template(part, source)?;
    }
    templates
        .render_named_str(name, source, values)
        .map(|text| if name.ends_with(".subject") { text.trim().to_owned() } else { text })
}

/// A subject is one line: what follows a line break would be headers.
fn judge(name: &str, text: &str) -> Result<(), String> {
    match text.trim().is_empty() || (name.ends_with(".subject") && text.chars().any(char::is_control)) {
        true if name.ends_with(".subject") => Err("fails: a subject is one line of text".to_owned()),
        true => Err("fails: it is empty".to_owned()),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: &str, source: &str) -> Result<MailTemplates, String> {
        MailTemplates::default().with(name, source)
    }

    #[test]
    fn every_mail_has_a_row() {
        let english: BTreeMap<String, String> = serde_json::from_str(include_str!("../../languages/en.json")).expect("JSON");
        let subject = |key: &String| Some(key.strip_prefix("mail.")?.strip_suffix(".subject")?.to_owned());
        let mut rows: Vec<String> = MAILS.map(|(mail, _)| mail.to_owned()).into();
        rows.sort();
        assert_eq!(rows, english.keys().filter_map(subject).collect::<Vec<_>>());
    }

    #[test]
    fn a_template_has_the_name_of_a_mail_a_language_and_a_part() {
        for name in ["invite.de.html", "reset_password.pt-BR.txt", "welcome.en.subject"] {
            with(name, "x").expect(name);
        }
        for name in [
            "",
            "invite",
            "invite.html",
            "invite.de.pdf",
            "invites.de.html",
            "invite.DE.html",
            "invite.d.html",
            "invite.de.html.j2",
            "../invite.de.html",
        ] {
            assert!(with(name, "x").expect_err(name).starts_with("is no template's name"), "{name}");
        }
    }

    #[test]
    fn a_fault_is_told_with_its_line() {
        for (source, told) in [
            ("a\n{% if x", "2"),
            ("a\nb\n{{ organisation }}", "3"),
            ("{{ inviter.name }}", "1"),
            ("{% include \"../../etc/passwd\" %}", "1"),
            ("{% include \"invite.en.html\" %}", "1"),
            ("{% if inviter %}{{ x }}{% endif %}", "1"),
            ("a{% if not inviter %}{{ x }}{% endif %}", "1"),
        ] {
            let fault = with("invite.en.html", source).expect_err(source);
            assert!(fault.starts_with("fails: ") && fault.contains(&format!("invite.en.html:{told}")), "{source}: {fault}");
        }
        assert_eq!(with("invite.en.txt", "{% if app_url %}x{% endif %}").expect_err("empty"), "fails: it is empty");
        for subject in ["", " ", "a\nBcc: b", "a{{ \"\\r\" }}b"] {
            assert_eq!(with("invite.en.subject", subject).expect_err(subject), "fails: a subject is one line of text");
        }
    }

    #[test]
    fn each_mails_values_and_our_parts_can_be_used_and_are_escaped() {
        for (mail, values) in MAILS {
            let all = values.iter().chain(&SHARED_VALUES).map(|value| format!("{{{{ {} }}}}", value.trim_end_matches('?')));
            let source: String = all.chain(PARTS.map(|(part, _)| format!("{{% include \"{part}\" %}}"))).collect();
            for part in KINDS_OF_TEXT.iter().filter(|part| **part != "subject") {
                with(&format!("{mail}.en.{part}"), &source).unwrap_or_else(|fault| panic!("{mail}: {fault}"));
            }
        }
        let templates = with("new_api_key.en.html", "{{ name }}")
            .expect("a template")
            .with("new_api_key.en.subject", " {{ name }}\n")
            .expect("one");
        let values = context! { name => "<b>&" };
        let english = Language::ENGLISH;
        assert_eq!(templates.text("new_api_key", &english, "html", &values).as_deref(), Some("&lt;b&gt;&amp;"));
        assert_eq!(templates.text("new_api_key", &english, "subject", &values).as_deref(), Some("<b>&"));
        assert_eq!(templates.text("new_api_key", &english, "subject", &context! { name => "a\r\nb" }), None, "left to ours");
        assert_eq!(templates.text("new_api_key", &english, "txt", &values), None);
        assert_eq!(templates.text("new_api_key", &"de".parse().expect("a tag"), "html", &values), None);
    }
}
