//! The scopes of API keys as types: a [`Backend<UsersRead>`](crate::Backend) is a backend whose key was found to have the scope
//! `users:read`. Operations take that type, so that no operation can forget to ask and none asks twice.

use crate::model::Scope;

/// A scope that was found in a key; implemented by the types of this module only.
pub trait Granted: sealed::Sealed + Send + Sync + 'static {
    /// The scope.
    const SCOPE: Scope;
    /// Whether the scope stays good while the organization is suspended. `verify` does, for it tells just that: no token is valid.
    const WHILE_SUSPENDED: bool;
}

mod sealed {
    #[expect(unnameable_types, reason = "a trait that nobody can name is one that nobody else can implement")]
    pub trait Sealed {}
}

/// No scope was asked for yet.
#[derive(Debug, Clone, Copy)]
pub enum Unjudged {}

macro_rules! scopes {
    ($($(#[$doc:meta])* $name:ident while suspended: $while_suspended:literal,)*) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy)]
        pub enum $name {}
        impl sealed::Sealed for $name {}
        impl Granted for $name {
            const SCOPE: Scope = Scope::$name;
            const WHILE_SUSPENDED: bool = $while_suspended;
        }
    )* };
}

scopes! {
    /// `verify`.
    Verify while suspended: true,
    /// `users:read`.
    UsersRead while suspended: false,
    /// `members:read`.
    MembersRead while suspended: false,
    /// `events:read`.
    EventsRead while suspended: false,
    /// `proxy`.
    Proxy while suspended: true,
}
