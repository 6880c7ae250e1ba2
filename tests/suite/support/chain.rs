//! The hash chain of an organization's events as it stands in the database, computed here once more from the columns: no line is
//! shared with the product.

use aws_lc_rs::digest::{SHA256, digest};
use tenant_auth_conformance::App;
use tenant_auth_core::Timestamp;

use crate::suite::support::hooks::texts_in;

/// One column of an organization's events, in order; an empty text for NULL.
pub(crate) async fn column(app: &App, slug: &str, name: &str) -> Vec<String> {
    let query = format!(
        "SELECT COALESCE(CAST(e.{name} AS TEXT), '') FROM tenant_auth_events e JOIN tenant_auth_organizations o ON o.id = e.org_id \
          WHERE o.slug = '{slug}' ORDER BY e.sequence"
    );
    texts_in(app, &query).await
}

pub(crate) async fn one(app: &App, query: &str) -> String {
    texts_in(app, query).await.remove(0)
}

/// A column of the row that holds the organization's number and its chain's head.
pub(crate) async fn head(app: &App, slug: &str, name: &str) -> String {
    let org = format!("(SELECT id FROM tenant_auth_organizations WHERE slug = '{slug}')");
    one(app, &format!("SELECT COALESCE(CAST({name} AS TEXT), '') FROM tenant_auth_event_sequences WHERE org_id = {org}")).await
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hexadecimal")).collect()
}

fn hash(pieces: &[&[u8]]) -> Vec<u8> {
    digest(&SHA256, &pieces.concat()).as_ref().to_vec()
}

/// The digests of a part: computed from the part and its salt, or the stored ones of what was wiped.
async fn digests(app: &App, slug: &str, part: &str) -> Vec<Vec<u8>> {
    let [texts, salts, stored] = [part.to_owned(), format!("{part}_salt"), format!("{part}_digest")];
    let (texts, salts) = (column(app, slug, &texts).await, column(app, slug, &salts).await);
    let stored = column(app, slug, &stored).await;
    let digest = |n: usize| match (texts[n].as_str(), salts[n].as_str()) {
        ("", "") => bytes(&stored[n]),
        (text, salt) => {
            let computed = hash(&[&bytes(salt), text.as_bytes()]);
            assert_eq!(computed, bytes(&stored[n]), "the digest of {text}");
            computed
        }
    };
    (0..texts.len()).map(digest).collect()
}

/// The chain holds: every hash is computed anew, from the hash that what is kept begins with to the head. Returns the entries' kinds.
pub(crate) async fn verified(app: &App, slug: &str) -> Vec<String> {
    let mut columns = Vec::new();
    for name in ["sequence", "id", "kind", "created_at", "org_id", "actor_type", "actor_id", "user_id"] {
        columns.push(column(app, slug, name).await);
    }
    let [sequence, id, kind, at, org, actor_type, actor_id, user] = &columns[..] else { unreachable!("eight") };
    let (data, context) = (digests(app, slug, "data").await, digests(app, slug, "context").await);
    let hashes = column(app, slug, "hash").await;
    let text = |text: &String| if text.is_empty() { "null".to_owned() } else { format!("\"{text}\"") };
    let first: usize = head(app, slug, "first_sequence").await.parse().expect("a number");
    let mut previous = match head(app, slug, "first_previous").await {
        none if none.is_empty() => hash(&[org.first().map_or(&[][..], String::as_bytes)]),
        hash => bytes(&hash),
    };
    let begins = sequence.iter().position(|number| *number == first.to_string()).unwrap_or(sequence.len());
    for n in begins..sequence.len() {
        assert_eq!(sequence[n], (first + n - begins).to_string(), "numbers have no gap");
        let time = Timestamp::from_millis(at[n].parse().expect("milliseconds")).to_iso();
        let facts = format!(
            r#"{{"sequence":{},"id":"{}","type":"{}","timestamp":"{time}","org":"{}","actor":{{"type":"{}","id":{}}},"user":{}}}"#,
            sequence[n],
            id[n],
            kind[n],
            org[n],
            actor_type[n],
            text(&actor_id[n]),
            text(&user[n])
        );
        previous = hash(&[&previous, facts.as_bytes(), &data[n], &context[n]]);
        assert_eq!(bytes(&hashes[n]), previous, "{facts}");
    }
    assert_eq!(bytes(&head(app, slug, "hash").await), previous, "the head");
    assert_eq!(head(app, slug, "chained").await, head(app, slug, "sequence").await);
    kind.clone()
}
