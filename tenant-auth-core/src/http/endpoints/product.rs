//! `/logo` and `/org/appearance`: what pages show of the product and of the organization before anybody has signed in.

use ::http::{HeaderMap, HeaderValue, StatusCode, header};
use bytes::Bytes;
use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;

use super::Anyone;
use crate::{
    caller::Tenant,
    error::Error,
    http::{
        answer::{IntoAnswered, Outcome},
        answered::Answered,
        openapi::{AnswerFacts, Schemas},
        refusal::Refusal,
    },
    model::Status,
    value::{DisplayName, Logo, Slug},
};

/// An SVG opened as a page of its own would be a document of our origin: nothing in it runs, loads or links (CSP, `sandbox`).
const INERT: &str = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

/// The product's logo, as the file that the operator gave.
pub(crate) struct LogoFile(Logo);

pub(crate) async fn logo(anyone: Anyone, (): ()) -> Result<LogoFile, Refusal> {
    anyone.auth.config().product.logo.clone().map(LogoFile).ok_or_else(Refusal::no_logo)
}

impl IntoAnswered for LogoFile {
    fn describe(_: &mut Schemas) -> AnswerFacts {
        AnswerFacts::Plain { content_type: "image/*", schema: json!({ "type": "string", "contentMediaType": "image/*" }) }
    }

    fn into_answered(self, status: StatusCode) -> Result<Answered, Refusal> {
        let mut headers = HeaderMap::with_capacity(8);
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.0.content_type()));
        headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(INERT));
        Ok(Answered { status, headers, body: Bytes::copy_from_slice(self.0.as_bytes()).into(), cause: None })
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct AppearanceData {
    product: ProductLook,
    org: OrganizationLook,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ProductLook {
    name: DisplayName,
    /// Where the logo is served.
    logo_url: Option<String>,
    /// A background, as `#rrggbb`; for black or white text, whichever contrasts more.
    accent_color: Option<String>,
    /// An https or a mailto URL.
    support_url: Option<String>,
}

#[derive(Serialize, ToSchema)]
struct OrganizationLook {
    slug: Slug,
    name: DisplayName,
}

pub(crate) async fn appearance(tenant: Tenant, (): ()) -> Outcome<AppearanceData> {
    let org = tenant.organization();
    if org.status != Status::Active {
        return Err(Error::Suspended.into());
    }
    let config = tenant.auth.config();
    let product = ProductLook {
        name: config.product.name.clone(),
        logo_url: config.logo_url(),
        accent_color: config.product.accent.map(|accent| accent.to_string()),
        support_url: config.product.support_url.as_ref().map(ToString::to_string),
    };
    Ok(AppearanceData { product, org: OrganizationLook { slug: org.slug.clone(), name: org.name.clone() } }.into())
}
