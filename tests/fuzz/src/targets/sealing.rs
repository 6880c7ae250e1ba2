//! What protects and tells secrets: sealed values, master keys, one-time passwords, mails with values that people chose.

use tenant_auth_core::{
    MasterKeys, Timestamp,
    testing::internals::{letter, one_time_password_step, open, seal},
    value::{DisplayName, Email},
};

use super::{Attack, Target, kind, size};

const PLAIN: &[u8] = b"a secret of somebody";

/// A sealed value that was changed or moved opens never, or to what was sealed.
pub(crate) const SEALED: Target = Target {
    name: "sealed",
    weight: 0.5,
    dictionary: &["v1.", "v2.", ".", "="],
    make: || {
        let keys = MasterKeys::parse(&MasterKeys::generate_text()).expect("a key");
        let sealed = seal(&keys, PLAIN, "row_1").expect("it is sealed");
        Attack::new(&[&sealed], move |input| {
            let text = String::from_utf8_lossy(input);
            assert_eq!(open(&keys, &text, "row_2"), None, "it opens in another row");
            match open(&keys, &text, "row_1") {
                Some(plain) => {
                    assert_eq!(plain, PLAIN);
                    1
                }
                None => kind(&[2, text.matches('.').count() as u64, u64::from(text.starts_with("v1."))]),
            }
        })
    },
};

/// Whatever is accepted seals and opens.
pub(crate) const MASTER_KEYS: Target = Target {
    name: "master-keys",
    weight: 0.5,
    dictionary: &[",", "=", "A", " "],
    make: || {
        let seeds = ["q83vEjRWeJq8zd4BI0VniavN7wAREiIzM0RERVVmZnc=", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=,AAAA"];
        Attack::new(&seeds, |input| {
            let text = String::from_utf8_lossy(input);
            match MasterKeys::parse(&text) {
                Ok(keys) => {
                    let sealed = seal(&keys, PLAIN, "row").expect("it seals");
                    assert_eq!(open(&keys, &sealed, "row").as_deref(), Some(PLAIN));
                    kind(&[1, text.matches(',').count() as u64])
                }
                Err(error) => kind(&[2, error as u64]),
            }
        })
    },
};

/// RFC 4226, appendix D: the passwords of the steps 0, 1 and 2 for the secret `12345678901234567890`.
const RIGHT: [(&str, i64); 3] = [("755224", 0), ("287082", 1), ("359152", 2)];

/// In step 1 the passwords of three steps are right, and no others, however they are written.
pub(crate) const CODES: Target = Target {
    name: "codes",
    weight: 1.0,
    dictionary: &["755224", "287082", "359152", " ", "\u{a0}", "２", "+", "-"],
    make: || {
        Attack::new(&["287082", "287 082", "755224", "359152", "000000"], |input| {
            let text = String::from_utf8_lossy(input);
            let step = one_time_password_step(b"12345678901234567890", &text, Timestamp::from_millis(59_000)).expect("a secret");
            let bare: String = text.chars().filter(|c| !c.is_whitespace()).collect();
            let expected = RIGHT.iter().find(|(code, _)| *code == bare).map(|(_, step)| *step);
            assert_eq!(step, expected, "{text:?}");
            kind(&[step.map_or(9, i64::unsigned_abs), size(text.len())])
        })
    },
};

/// Names put no tag into a mail's HTML and no line into its head.
pub(crate) const MAILS: Target = Target {
    name: "mails",
    weight: 0.05,
    dictionary: &["<b>", "</p>", "&lt;", "{{", "}}", "{%", "\"", "'", "javascript:", "\u{2028}"],
    make: || {
        let to: Email = "ada@example.com".parse().expect("an address");
        let plain: DisplayName = "plain".parse().expect("a name");
        let usual = tags(&letter(&plain, &plain, &to).expect("rendered").html);
        Attack::new(&["Acme\nCI key", "<script>alert(1)</script>\n{{ 7*7 }}", "A&B\n'\""], move |input| {
            let text = String::from_utf8_lossy(input);
            let (organization, name) = text.split_once('\n').unwrap_or((&text, "key"));
            let (Ok(organization), Ok(name)) = (DisplayName::parse(organization), DisplayName::parse(name)) else { return 0 };
            let message = letter(&organization, &name, &to).expect("rendered");
            assert_eq!(tags(&message.html), usual, "{}", message.html);
            assert!(!message.subject.contains(['\r', '\n']), "{:?}", message.subject);
            // Word joiners stand in a name, so that it is no link (behaviour.md, B200); nobody sees them.
            let seen = |text: &str| text.replace('\u{2060}', "");
            let text = seen(&message.text);
            assert!(text.contains(&seen(name.as_str())) && text.contains(&seen(organization.as_str())), "{text}");
            kind(&[1, size(message.html.len()), u64::from(message.html.contains("&lt;"))])
        })
    },
};

fn tags(html: &str) -> (usize, usize) {
    (html.matches('<').count(), html.matches('>').count())
}
