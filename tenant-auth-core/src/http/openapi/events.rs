//! The `webhooks` section of the OpenAPI document: what each kind of event sends, so that a receiver's types can be generated. Its
//! data are those of `event/`, which the service writes as text; what must stay true is held by the conformance suite, which
//! compares every event that is told with the schema of its kind.

use serde_json::{Map, Value, json};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{RefOr, Schema},
};

use super::schemas::Schemas;
use crate::{
    event::{DisableReason, EndReason, ExportedCredentials, RevokeReason},
    http::endpoints::events::EventPayload,
    id::UserId,
    model::EventKind,
    time::Timestamp,
    view::{
        ApiKeyView, DetailedOrganizationView, InviteView, MemberView, OrganizationView, ToldSessionView, ToldWebhookView, UserView,
        WebhookView,
    },
};

/// What webhooks send, by kind: one operation each, which the receiver implements.
pub(super) fn webhooks(schemas: &mut Schemas) -> Map<String, Value> {
    EventKind::ALL.iter().map(|kind| (kind.as_str().to_owned(), json!({ "post": operation(*kind, schemas) }))).collect()
}

fn operation(kind: EventKind, schemas: &mut Schemas) -> Value {
    let data = data_of(kind, schemas);
    let _ = schemas.answer::<EventPayload>(); // whose parts this event has, too
    let name = format!("{}Event", pascal(kind.as_str()));
    schemas.add(name.clone(), event(kind, &data));
    let whom = if kind.is_of_a_webhooks_life() {
        "other webhook whose selection names the kind"
    } else {
        "webhook that selected the kind"
    };
    let header = |name: &str, means: &str, kind: &str| json!({ "name": name, "in": "header", "required": true, "description": means, "schema": { "type": kind } });
    json!({
        "tags": ["Webhooks"],
        "operationId": format!("on{}", pascal(kind.as_str())),
        "summary": format!("`{}`", kind.as_str()),
        "description": format!("Sent to the URL of each {whom}. Verify the signature before the body is parsed."),
        "parameters": [
            header("webhook-id", "The event's id, the same at each attempt.", "string"),
            header("webhook-timestamp", "When this attempt began, in seconds since 1970.", "integer"),
            header("webhook-signature", "`v1,` and a signature in base64; several with spaces between them.", "string"),
        ],
        "requestBody": {
            "required": true,
            "content": { "application/json": { "schema": { "$ref": format!("#/components/schemas/{name}") } } },
        },
        "responses": {
            "2XX": { "description": "Received." },
            "410": { "description": "The endpoint is gone: the webhook is disabled." },
        },
    })
}

/// An event whose kind and data are known.
fn event(kind: EventKind, data: &RefOr<Schema>) -> Value {
    let mut event = json!(EventPayload::schema());
    event["description"] = json!(format!("The event `{}`.", kind.as_str()));
    event["properties"]["type"] = json!({ "type": "string", "const": kind.as_str() });
    event["properties"]["data"] = json!({
        "oneOf": [data, { "type": "null" }],
        "description": "What it is about. Null once that was erased with a person's account.",
    });
    event
}

/// `MemberRoleChanged` for `member.role_changed`.
fn pascal(kind: &str) -> String {
    kind.split(['.', '_']).flat_map(|word| word[..1].to_uppercase().chars().chain(word[1..].chars()).collect::<Vec<_>>()).collect()
}

/// The schema of a kind's data.
fn data_of(kind: EventKind, schemas: &mut Schemas) -> RefOr<Schema> {
    match kind {
        EventKind::InviteCreated | EventKind::InviteResent | EventKind::InviteRevoked | EventKind::InviteAccepted => {
            schemas.answer::<InviteTold>()
        }
        EventKind::MemberJoined | EventKind::MemberRemoved => schemas.answer::<MemberTold>(),
        EventKind::MemberUpdated | EventKind::MemberRoleChanged | EventKind::MemberSuspended | EventKind::MemberReactivated => {
            schemas.answer::<MemberChange>()
        }
        EventKind::SessionCreated | EventKind::SessionReuseDetected => schemas.answer::<SessionTold>(),
        EventKind::SessionRevoked => schemas.answer::<SessionEnd>(),
        EventKind::LoginBlocked => schemas.answer::<LoginBlock>(),
        EventKind::UserUpdated => schemas.answer::<UserChange>(),
        EventKind::UserPasswordChanged
        | EventKind::UserEmailVerified
        | EventKind::UserTwoFactorEnabled
        | EventKind::UserTwoFactorDisabled
        | EventKind::UserRecoveryCodesReplaced
        | EventKind::UserRecoveryCodeUsed => schemas.answer::<UserTold>(),
        EventKind::UserDeleted => schemas.answer::<UserDeletion>(),
        EventKind::OrgUpdated => schemas.answer::<OrgDetailsChange>(),
        EventKind::OrgSuspended | EventKind::OrgReactivated => schemas.answer::<OrgChange>(),
        EventKind::OrgDeletionScheduled => schemas.answer::<OrgDeletion>(),
        EventKind::OrgCreated | EventKind::OrgDeletionCancelled => schemas.answer::<OrgTold>(),
        EventKind::OrgExported => schemas.answer::<OrgExport>(),
        EventKind::OrgImported => schemas.answer::<OrgImport>(),
        EventKind::AuditExported => schemas.answer::<AuditExportTold>(),
        EventKind::AuditCheckpoint => schemas.answer::<AuditSignature>(),
        EventKind::ApiKeyCreated | EventKind::ApiKeyRotated => schemas.answer::<ApiKeyTold>(),
        EventKind::ApiKeyRevoked => schemas.answer::<ApiKeyEnd>(),
        EventKind::WebhookCreated | EventKind::WebhookDeleted | EventKind::WebhookSecretRotated => schemas.answer::<WebhookLife>(),
        EventKind::WebhookUpdated => schemas.answer::<WebhookChange>(),
        EventKind::WebhookTest => schemas.answer::<WebhookTold>(),
        EventKind::WebhookDisabled => schemas.answer::<WebhookEnd>(),
    }
}

/// Data of events, as the document describes them: `$schema` is their name there.
macro_rules! told {
    ($($(#[$attribute:meta])* $name:ident as $schema:ident { $($(#[$field_attribute:meta])* $field:ident: $type:ty,)* })*) => { $(
        $(#[$attribute])*
        #[derive(ToSchema)]
        #[schema(as = $schema, rename_all = "camelCase")]
        #[expect(dead_code, reason = "the data are written by `event/`; this describes them")]
        struct $name { $($(#[$field_attribute])* $field: $type,)* }
    )* };
}

told! {
    InviteTold as InviteEventData { invite: InviteView, }
    MemberTold as MemberEventData { member: MemberView, }
    MemberChange as MemberChangeEventData {
        member: MemberView,
        /// As they were before.
        previous: MemberView,
    }
    SessionTold as SessionEventData { session: ToldSessionView, user: UserView, }
    SessionEnd as SessionEndEventData { session: ToldSessionView, user: UserView, reason: EndReason, }
    LoginBlock as LoginBlockEventData {
        user: UserView,
        /// When the next login is judged.
        until: Timestamp,
    }
    UserTold as UserEventData { user: UserView, }
    UserChange as UserChangeEventData {
        user: UserView,
        /// As they were before.
        previous: UserView,
    }
    UserDeletion as UserDeletionEventData { user: DeletedUser, }
    /// Nothing else is left of the person.
    DeletedUser as DeletedUser { id: UserId, }
    OrgTold as OrgEventData { org: OrganizationView, }
    OrgChange as OrgChangeEventData {
        org: OrganizationView,
        /// As it was before.
        previous: OrganizationView,
    }
    OrgDetailsChange as OrgDetailsChangeEventData {
        org: DetailedOrganizationView,
        /// As it was before.
        previous: DetailedOrganizationView,
    }
    OrgDeletion as OrgDeletionEventData {
        org: OrganizationView,
        /// When it is deleted.
        deletes_at: Timestamp,
    }
    OrgExport as OrgExportEventData {
        /// How many members the file holds.
        members: u64,
        /// Whether the file holds nothing that opens anything.
        is_portable: bool,
        /// Whose passwords, second factors and recovery codes the file holds. Absent in what an earlier version told.
        #[schema(required = false)]
        credentials: ExportedCredentials,
    }
    OrgImport as OrgImportEventData {
        /// How many members came.
        members: u64,
        /// How many entries of the audit log came.
        entries: u64,
        /// The number of the last of them.
        last_sequence: i64,
        /// Its hash.
        head: String,
    }
    AuditExportTold as AuditExportEventData {
        /// The first time, where the range has one.
        from: Option<Timestamp>,
        /// The time before which its entries lie.
        to: Option<Timestamp>,
        /// How many entries the file has.
        entries: u64,
    }
    AuditSignature as AuditCheckpointEventData {
        /// The number of the last entry.
        sequence: i64,
        /// Its hash.
        hash: String,
        /// The signature over both and the organization's id.
        jws: String,
    }
    ApiKeyTold as ApiKeyEventData { api_key: ApiKeyView, }
    ApiKeyEnd as ApiKeyEndEventData { api_key: ApiKeyView, reason: RevokeReason, }
    WebhookTold as WebhookEventData { webhook: WebhookView, }
    WebhookLife as WebhookLifeEventData { webhook: ToldWebhookView, }
    WebhookChange as WebhookChangeEventData {
        webhook: ToldWebhookView,
        /// As it was before.
        previous: ToldWebhookView,
    }
    WebhookEnd as WebhookEndEventData { webhook: WebhookView, reason: DisableReason, }
}
