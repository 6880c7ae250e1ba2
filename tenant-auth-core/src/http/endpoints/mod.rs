//! The endpoints: wire types and short handlers that call the flows and shape the answer.

pub(crate) mod admin;
pub(crate) mod api_keys;
pub(crate) mod audit;
pub(crate) mod audit_keys;
pub(crate) mod auth;
mod backends;
pub(crate) mod bulk_invites;
mod callers;
pub(crate) mod events;
pub(crate) mod figures;
pub(crate) mod invites;
pub(crate) mod jwks;
pub(crate) mod leaked;
pub(crate) mod members;
mod next;
pub(crate) mod openapi;
pub(crate) mod org;
mod org_admins;
pub(crate) mod product;
pub(crate) mod profile;
pub(crate) mod public;
pub(crate) mod recovery;
pub(crate) mod sessions;
pub(crate) mod sign_up;
pub(crate) mod two_factor;
pub(crate) mod webhooks;

pub(crate) use backends::{ChangesCaller, PollCaller, VerifyCaller};
pub(crate) use callers::{Anyone, BodyTokens, Founder, Guest, LogoutCaller, Outsider, RefreshCaller, SecondFactorCaller, Stranger};
pub(crate) use next::AskedAddress;
