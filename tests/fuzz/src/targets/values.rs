//! Checked values: what was accepted obeys the rule, is read again as the same, and holds nothing that would break a header or a mail.

use serde_json::Value;
use tenant_auth_core::value::{AppUrl, Bio, Description, DisplayName, Email, Metadata, Origin, Phone, Plan, Slug, WebhookUrl};
use url::Url;

use super::{Attack, Target, kind, size};

pub(crate) const EMAIL: Target = Target {
    name: "email",
    weight: 1.0,
    dictionary: &["@", ".", "xn--", "\"", "example.com", "ﬀ", "İ", "\u{200b}", "[127.0.0.1]"],
    make: || {
        Attack::new(&["ada@example.com", " Ada.Lovelace+x@EXAMPLE.com ", "a@bücher.example", "\"a b\"@example.com"], |input| {
            let text = String::from_utf8_lossy(input);
            let Ok(email) = Email::parse(&text) else { return 0 };
            let shown = email.as_str();
            assert!(shown.len() <= 254 && shown.is_ascii(), "{shown}");
            assert!(!shown.bytes().any(|byte| byte.is_ascii_control() || b" ,;<>()[]\\\"".contains(&byte)), "{shown}");
            assert_eq!(shown.matches('@').count(), 1, "{shown}");
            assert_eq!(Email::parse(shown).expect("it is an address").as_str(), shown);
            assert_eq!(Email::parse(&format!("\t{shown}\n")).expect("white space around it is none of it").as_str(), shown);
            let (local, domain) = shown.split_once('@').expect("one @");
            kind(&[
                1,
                size(local.len()),
                size(domain.len()),
                domain.matches('.').count() as u64,
                u64::from(domain.contains("xn--")),
            ])
        })
    },
};

pub(crate) const NAMES: Target = Target {
    name: "names",
    weight: 1.0,
    dictionary: &["\u{202e}", "\u{2066}", "\u{200b}", "\u{feff}", "\u{1f469}\u{200d}\u{1f680}", "acme", "-", "_"],
    make: || {
        Attack::new(&["0Ada Lovelace", "1acme-rockets", "2pro_2", "3line\nline", "4+1 555", "5Deliveries"], |input| {
            let text = String::from_utf8_lossy(input);
            let mut characters = text.chars();
            let which = characters.next().unwrap_or('0');
            let text = characters.as_str();
            let accepted = match which {
                '1' => Slug::parse(text).ok().map(|slug| {
                    let slug = slug.as_str();
                    assert_eq!(slug, text, "never folded");
                    let is_word =
                        |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
                    assert!((2..=63).contains(&slug.len()) && slug.split('-').all(is_word), "{slug}");
                    slug.to_owned()
                }),
                '2' => Plan::parse(text).ok().map(|plan| {
                    let is_allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"_-".contains(&b);
                    assert!((1..=32).contains(&plan.as_str().len()) && plan.as_str().bytes().all(is_allowed), "{plan}");
                    plan.as_str().to_owned()
                }),
                '3' => Bio::parse(text).ok().map(|bio| bounded(bio.as_str(), 1_000)),
                '4' => Phone::parse(text).ok().map(|phone| bounded(phone.as_str(), 32)),
                '5' => Description::parse(text).ok().map(|description| on_one_line(bounded(description.as_str(), 200))),
                _ => DisplayName::parse(text).ok().map(|name| {
                    assert_eq!(DisplayName::parse(name.as_str()).expect("it is a name"), name);
                    assert!(!name.as_str().is_empty() && name.as_str().trim() == name.as_str(), "{name:?}");
                    on_one_line(bounded(name.as_str(), 100))
                }),
            };
            kind(&[u64::from(which), accepted.map_or(0, |text| 1 + size(text.len()) + 100 * u64::from(text.is_ascii()))])
        })
    },
};

fn bounded(text: &str, most: usize) -> String {
    assert!(text.chars().count() <= most && !text.contains('\0'), "{text:?}");
    text.to_owned()
}

/// Such a text stands in subjects, titles and lists.
fn on_one_line(text: String) -> String {
    let turns = |c: char| ('\u{202a}'..='\u{202e}').contains(&c) || ('\u{2066}'..='\u{2069}').contains(&c);
    assert!(!text.chars().any(|c| c.is_control() || turns(c)), "{text:?}");
    text
}

pub(crate) const METADATA: Target = Target {
    name: "metadata",
    weight: 1.0,
    dictionary: &["{", "}", "[", "]", "\"a\":", "1e400", "-0.0", "\\u0000", "\\ud800", "12345678901234567890", "null", ","],
    make: || {
        Attack::new(
            &[r#"{"plan":"pro","seats":12,"nested":{"a":[1,2.5,null,true]}}"#, r#"{ "big": 123456789012345678901234567890 }"#],
            |input| {
                let Ok(text) = std::str::from_utf8(input) else { return 0 };
                let Ok(metadata) = Metadata::parse(text) else { return 1 };
                let json = metadata.as_json();
                assert!(json.len() <= 16 * 1_024 && json.starts_with('{'), "{json}");
                assert!(!json.contains('\0'), "{json}");
                assert_eq!(Metadata::parse(json).expect("it is metadata").as_json(), json);
                let (read, given): (Value, Value) =
                    (serde_json::from_str(json).expect("JSON"), serde_json::from_str(text).expect("JSON"));
                assert_eq!(read, given, "returned equal");
                let depth = depth(&read);
                assert!(depth <= 32, "{json}");
                kind(&[2, depth, size(json.len())])
            },
        )
    },
};

fn depth(value: &Value) -> u64 {
    match value {
        Value::Object(fields) => 1 + fields.values().map(depth).max().unwrap_or(0),
        Value::Array(entries) => 1 + entries.iter().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

pub(crate) const URLS: Target = Target {
    name: "urls",
    weight: 0.5,
    dictionary: &["https://", "http://", "localhost", "127.0.0.1", "[::1]", "@", "#", "?", "\\", "%2e", "0x7f.1", ":443", "xn--"],
    make: || {
        Attack::new(
            &[
                "https://app.acme.example/start?x=1",
                "http://localhost:3000",
                "https://hooks.acme.example:8443/in",
                "https://ä.example",
            ],
            |input| {
                let text = String::from_utf8_lossy(input);
                let app = AppUrl::parse(&text).ok().map(|url| {
                    assert_eq!(AppUrl::parse(url.as_str()).expect("it is one").as_str(), url.as_str());
                    is_https_or_here(url.as_str());
                });
                let origin = Origin::parse(&text).ok().map(|origin| {
                    assert_eq!(Origin::parse(origin.as_str()).expect("it is one").as_str(), origin.as_str());
                    is_https_or_here(origin.as_str());
                    let url = Url::parse(origin.as_str()).expect("a URL");
                    assert_eq!(url.origin().ascii_serialization(), origin.as_str(), "nothing beside scheme, host and port");
                });
                let hook = WebhookUrl::parse(&text).ok().map(|url| {
                    assert_eq!(WebhookUrl::parse(url.as_str()).expect("it is one").as_str(), url.as_str());
                    let url = Url::parse(url.as_str()).expect("a URL");
                    assert!(url.username().is_empty() && url.password().is_none() && url.fragment().is_none(), "{url}");
                });
                kind(&[u64::from(app.is_some()), u64::from(origin.is_some()), u64::from(hook.is_some()), size(text.len())])
            },
        )
    },
};

fn is_https_or_here(text: &str) {
    let url = Url::parse(text).expect("a URL");
    let host = url.host_str().unwrap_or_default();
    let is_here = host == "localhost" || host.ends_with(".localhost") || host == "[::1]" || host.starts_with("127.");
    assert!(url.scheme() == "https" || (url.scheme() == "http" && is_here), "{text}");
    assert!(url.username().is_empty() && url.password().is_none(), "{text}");
}
