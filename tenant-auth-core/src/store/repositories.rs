//! The register of repositories: one line here gives a file of `sql/` to both [`Reader`] and [`Tx`], and its statements to the test
//! that prepares every one on both engines. A file that is declared in `sql/mod.rs` and has no line here does not pass the lints,
//! for nothing uses it. (The declarations are not made here, because rustfmt does not look for files in macros.)

use super::{Reader, Tx, sql};

macro_rules! repositories {
    ($($name:ident: $repository:ident,)*) => {
        impl Reader { $(
            #[allow(dead_code, clippy::allow_attributes, reason = "both hands get every repository; not each is read outside a transaction")]
            pub(crate) fn $name(&mut self) -> sql::$name::$repository<&mut Reader> {
                sql::$name::$repository(self)
            }
        )* }
        impl Tx { $(
            #[allow(dead_code, clippy::allow_attributes, reason = "both hands get every repository; not each is used by a flow")]
            pub(crate) fn $name(&mut self) -> sql::$name::$repository<&mut Tx> {
                sql::$name::$repository(self)
            }
        )* }

        /// Every statement there is, by its name.
        #[cfg(any(test, feature = "testing"))]
        pub(super) const STATEMENTS: &[&[(&str, &str)]] = &[$(sql::$name::ALL),*];
    };
}

repositories! {
    organizations: Organizations,
    users: Users,
    members: Members,
    sessions: Sessions,
    invites: Invites,
    api_keys: ApiKeys,
    deployment_keys: DeploymentKeys,
    deployment_log: DeploymentLog,
    mail_queue: MailQueue,
    mails: Mails,
    events: Events,
    event_chain: EventChain,
    exports: Exports,
    event_feed: EventFeed,
    event_sweep: EventSweep,
    audit: Audit,
    audit_exports: AuditExports,
    audit_keys: AuditKeys,
    erasing: Erasing,
    imports: Imports,
    removals: Removals,
    removed: Removed,
    person: Person,
    without_organization: WithoutOrganization,
    webhooks: Webhooks,
    deliveries: Deliveries,
    delivery_queue: DeliveryQueue,
    changes: Changes,
    checkpoints: Checkpoints,
    signing_keys: SigningKeys,
    sweep: Sweep,
    tallies: Tallies,
    throttles: Throttles,
    second_factors: SecondFactors,
    logins: Logins,
    pending_logins: PendingLogins,
    links: Links,
    sign_ups: SignUps,
    sealed: Sealed,
}
