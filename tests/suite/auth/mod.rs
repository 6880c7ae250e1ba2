//! A person and their account: the routes under `/auth`, and the tokens that come of them.

pub(crate) mod email;
pub(crate) mod first_proof;
pub(crate) mod login;
pub(crate) mod logout;
pub(crate) mod mail_languages;
pub(crate) mod next;
pub(crate) mod password;
pub(crate) mod profile;
pub(crate) mod recovery;
pub(crate) mod refresh;
pub(crate) mod security_mails;
pub(crate) mod sessions;
pub(crate) mod sign_up;
pub(crate) mod tokens;
pub(crate) mod two_factor;
