//! The public types, as the source names them: each was printed, or stands here because it can hold no secret.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use super::Printed;

/// Types that hold no secret, by what they are.
const HOLD_NONE: [&[&str]; 17] = [
    // Choices of ours, with and without a number or an address.
    &[
        "AccountRole",
        "AuthMethod",
        "DeliveryError",
        "DeliveryStatus",
        "ErrorCode",
        "InvalidValue",
        "MailStatus",
        "RetryAfter",
        "Role",
    ],
    &[
        "DeploymentScope",
        "SchemaError",
        "Scope",
        "SessionsOf",
        "Setting",
        "SortOrder",
        "Status",
        "StoreOptions",
        "Survey",
        "WebhookResponse",
        "WebhookStatus",
    ],
    // Values that stand in answers, and why a text is none.
    &[
        "AppUrl",
        "Colour",
        "Logo",
        "Product",
        "SupportUrl",
        "Audit",
        "AuditFilter",
        "Bio",
        "ChangedOrganization",
        "Changes",
        "Cursor",
        "DeploymentChanges",
        "Description",
        "DisplayName",
        "Email",
        "EventSelection",
        "Id",
        "Language",
        "Languages",
        "MAILS",
        "MailTemplates",
        "SHARED_VALUES",
        "MalformedId",
        "MalformedTime",
        "MemberFilter",
        "OrganizationFilter",
    ],
    &[
        "Metadata",
        "Network",
        "Origin",
        "Page",
        "Patch",
        "Phone",
        "Plan",
        "Rejected",
        "ReturnAddress",
        "SearchText",
        "SignUpPreview",
        "Slug",
        "Timestamp",
        "WebhookUrl",
    ],
    // What the API shows, as it shows it.
    &[
        "ManagedOrganizationView",
        "ApiKeyView",
        "DeploymentKeyView",
        "KeyId",
        "AuditActor",
        "AuditContext",
        "AuditEntry",
        "AuditActorView",
        "AuditEntryView",
        "DayFigures",
        "DeploymentFigures",
        "OrganizationFigures",
        "LinkPreview",
    ],
    &["DeliveryAttempt", "DeliveryDetails", "DeliveryDetailsView", "DeliveryView"],
    &["InviteView", "MemberView", "MembershipView", "OrganizationView", "SessionView", "WebhookView"],
    // Audit files: who has one has what is in it; these tell of it.
    &[
        "AnswerBody",
        "AuditExportError",
        "AuditFileError",
        "AuditKeySet",
        "AuditRange",
        "AuditRemark",
        "AuditVerifier",
        "BrokenBody",
    ],
    &["AuditExport", "BodyStream", "VerifiedAuditFile"],
    // What an import does and tells, and what a hash costs.
    &[
        "ExportError",
        "ExportStep",
        "Exported",
        "FileError",
        "ForeignCost",
        "EvenVerdict",
        "ImportStep",
        "ImportedOrganization",
        "ImportedUsers",
    ],
    &["OrganizationImportError", "OrganizationImportStep", "PersonExport", "UserImport"],
    // What happened, as webhooks are told it: no payload holds a secret.
    &["After", "Event", "EventActor", "EventPage", "EventQuery", "Events"],
    // Where sealed values stand, and how many there are; how an account stands, one that was given an address, that was deleted, or belongs
    // nowhere.
    &["AccountBlock", "AccountMembership", "AccountState", "AccountWithoutOrganization", "AccountsWithoutOrganization"],
    &["DeletedUser", "GivenAddress", "RotatedKeys", "SealedPlace"],
    // The log of changes, for this repository's tests.
    &["ChangeLog", "ChangeReader", "Look", "OpenChange"],
    // How much is read, and for how long.
    &["BODY_LIMIT", "BODY_TIMEOUT"],
    // The errors of ports, which say what was found and not with what; what is read from a request; what has no state of its own.
    &["BuildError", "Causes", "CookieStyle", "MailError", "OrganizationFrom", "OsEntropy", "RequestReader", "Row", "SeededEntropy"],
];

/// Printed elsewhere: the store that needs a server, in `tests/suite/storage/printed.rs`; and what is a printed type by another name.
const ELSEWHERE: &[&str] = &["DeploymentAdmin", "Postgres", "SenderSetupError", "SignedHeaders", "SystemClock", "SystemResolver"];

/// Panics unless every public type was printed.
pub(super) fn all_were(printed: &Printed) {
    let public = public_types();
    assert!(public.len() > 100 && public.contains("TenantAuth"), "the scan sees nothing: {public:?}");
    let excepted: Vec<&str> = HOLD_NONE.into_iter().flatten().chain(ELSEWHERE).copied().collect();
    let unseen: Vec<_> = public.iter().filter(|name| !printed.shows(name) && !excepted.contains(&name.as_str())).collect();
    assert!(unseen.is_empty(), "print these, or say that they hold no secret: {unseen:#?}");
    let stale: Vec<_> = excepted.iter().filter(|name| !public.contains(**name)).collect();
    assert!(stale.is_empty(), "there are no such types: {stale:?}");
}

/// The identifiers in a text.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

/// The structs and enums that hosts can name, and those that macros make, by their re-exports. A lint sees to it that what is `pub` in
/// the source can be reached.
fn public_types() -> BTreeSet<String> {
    let (mut types, mut exported, mut others) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for text in sources() {
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        for (at, line) in text.lines().enumerate() {
            let rest = line.trim_start().strip_prefix("pub ").unwrap_or_default();
            let name = |kind: &str| rest.strip_prefix(kind).and_then(|rest| words(rest).next()).map(str::to_owned);
            types.extend(name("struct "));
            types.extend(name("enum ").filter(|_| holds_something(text.lines().skip(at))));
            others.extend(name("enum ").filter(|_| !holds_something(text.lines().skip(at))));
            others.extend(name("trait ").or(name("type ")));
        }
        for exports in text.split("pub use ").skip(1).filter_map(|rest| rest.split(';').next()) {
            exported.extend(words(exports).filter(|word| word.starts_with(|c: char| c.is_ascii_uppercase())).map(str::to_owned));
        }
    }
    types.extend(exported.difference(&others).cloned());
    types
}

/// Whether a variant of an enum holds a value.
fn holds_something<'a>(mut lines: impl Iterator<Item = &'a str>) -> bool {
    let head = lines.next().unwrap_or_default();
    let indent = head.len() - head.trim_start().len();
    let variants = lines.take_while(|line| line.trim() != "}" || line.len() - line.trim_start().len() > indent);
    let mut variants = variants.filter(|line| !["//", "#"].iter().any(|start| line.trim_start().starts_with(start)));
    !head.ends_with('}') && variants.any(|line| line.contains(['(', '{', '$']))
}

fn sources() -> Vec<String> {
    let mut texts = Vec::new();
    let mut waiting: Vec<PathBuf> = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(path) = waiting.pop() {
        if path.is_dir() {
            waiting.extend(fs::read_dir(&path).expect("a directory").map(|entry| entry.expect("an entry").path()));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            texts.push(fs::read_to_string(&path).expect("a text"));
        }
    }
    texts
}
