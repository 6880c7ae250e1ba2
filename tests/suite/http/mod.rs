//! What every route has in common: bodies, cookies, browsers, paging, the OpenAPI document, the pages.

pub(crate) mod bodies;
pub(crate) mod browsers;
pub(crate) mod callers;
pub(crate) mod cookies;
pub(crate) mod fields;
pub(crate) mod list_queries;
pub(crate) mod long_lists;
pub(crate) mod openapi;
pub(crate) mod pagination;
pub(crate) mod panel;
pub(crate) mod parity;
pub(crate) mod product;
pub(crate) mod robustness;
pub(crate) mod routing;
pub(crate) mod slug;
pub(crate) mod topologies;
