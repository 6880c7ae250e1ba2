//! `/org/audit`.

use ::http::{HeaderMap, HeaderValue, StatusCode, header};
use serde::Deserialize;
use serde_json::json;
use tracing::Instrument;
use utoipa::ToSchema;

use crate::{
    audit::{AuditExport, AuditExportError, AuditRange},
    caller::OrgAdmin,
    http::{
        answer::{IntoAnswered, Outcome},
        answer_body::AnswerBody,
        answered::Answered,
        body_stream::BodyStream,
        input::OptionalJson,
        listing::Listing,
        openapi::{AnswerFacts, Schemas},
        query::AuditQuery,
        refusal::Refusal,
    },
    time::Timestamp,
    view::AuditEntryView,
};

const NDJSON: &str = "application/x-ndjson";

pub(crate) async fn list(admin: OrgAdmin, query: AuditQuery) -> Outcome<Listing<AuditEntryView>> {
    Ok(admin.audit(&query.filter, &query.page).await?.into())
}

/// Which entries are wanted.
#[derive(Default, Deserialize, ToSchema)]
pub(crate) struct AuditExportRequest {
    /// The first time.
    from: Option<Timestamp>,
    /// The time before which they lie.
    to: Option<Timestamp>,
}

/// A file that is written while it is sent.
pub(crate) struct AuditFile(AuditExport);

pub(crate) async fn export(admin: OrgAdmin, OptionalJson(request): OptionalJson<AuditExportRequest>) -> Result<AuditFile, Refusal> {
    let AuditExportRequest { from, to } = request;
    Ok(AuditFile(admin.export_audit(AuditRange { from, to }).await?))
}

impl IntoAnswered for AuditFile {
    fn describe(_: &mut Schemas) -> AnswerFacts {
        AnswerFacts::Plain { content_type: NDJSON, schema: json!({ "type": "string" }) }
    }

    /// The file goes on after this answer: it ends with the client's connection, or by its own limits.
    fn into_answered(self, status: StatusCode) -> Result<Answered, Refusal> {
        let (mut writer, stream) = BodyStream::new();
        let runtime = self.0.runtime().clone();
        let writing = async move {
            match self.0.write(&mut writer.pipe).await {
                Ok(_) => writer.end(),
                Err(AuditExportError::Unwritable(_)) => tracing::debug!("nobody reads the audit file any more"),
                Err(AuditExportError::Service(error)) => tracing::warn!(error = %error.causes(), "an audit file has no end"),
                Err(error) => tracing::warn!(%error, "an audit file has no end"),
            }
        };
        runtime.spawn(writing.in_current_span());
        let mut headers = HeaderMap::with_capacity(8);
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(NDJSON));
        Ok(Answered { status, headers, body: AnswerBody::Stream(stream), cause: None })
    }
}
