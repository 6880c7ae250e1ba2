//! The scopes of API keys as types: a [`Backend<UsersRead>`](crate::Backend) is a backend whose key was found to have the scope
//! `users:read`. Operations take that type, so that no operation can forget to ask and none asks twice.

use crate::model::Scope;

/// A scope that was found in a key; implemented by the types of this module only.
pub trait Granted: sealed::Sealed + Send + Sync + 'static {
    /// The scope.
    const SCOPE: Scope;
}

mod sealed {
    #[expect(unnameable_types, reason = "a trait that nobody can name is one that nobody else can implement")]
    pub trait Sealed {}
}

/// No scope was asked for yet.
#[derive(Debug, Clone, Copy)]
pub enum Unjudged {}

macro_rules! scopes {
    ($($(#[$doc:meta])* $name:ident,)*) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy)]
        pub enum $name {}
        impl sealed::Sealed for $name {}
        impl Granted for $name {
            const SCOPE: Scope = Scope::$name;
        }
    )* };
}

scopes! {
    /// `verify`.
    Verify,
    /// `users:read`.
    UsersRead,
    /// `members:read`.
    MembersRead,
    /// `proxy`.
    Proxy,
}
