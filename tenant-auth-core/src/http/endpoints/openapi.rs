//! `/openapi.json`, `/docs` and `/docs.css`: what can be called, for programs and for people.

use super::Anyone;
use crate::http::{
    openapi::{Document, Page, Published, Style},
    refusal::Refusal,
};

pub(crate) async fn document(anyone: Anyone, (): ()) -> Result<Published<Document>, Refusal> {
    Published::<Document>::of(&anyone)
}

pub(crate) async fn page(anyone: Anyone, (): ()) -> Result<Published<Page>, Refusal> {
    Published::<Page>::of(&anyone)
}

pub(crate) async fn style(_: Anyone, (): ()) -> Result<Published<Style>, Refusal> {
    Ok(Published::style())
}
