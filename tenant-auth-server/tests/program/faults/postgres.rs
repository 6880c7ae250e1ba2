//! What happens to a PostgreSQL server, and to the network before it.

use std::cell::RefCell;

use tenant_auth_conformance::{HeldConnection, PostgresServer, hold_sql};

use super::{Walk, link::Link, until};
use crate::{Program, admin::Admin, running::Running};

/// The service's connections are an ordinary user's, who may not take the places that are kept for administrators.
const USER: &str = "auth";

#[test]
fn postgresql_is_not_ready_beside_each_fault_and_ready_after_it() {
    let Some(primary) = PostgresServer::start() else { return };
    primary.run(&format!("CREATE ROLE {USER} LOGIN"));
    primary.run(&format!("CREATE DATABASE auth OWNER {USER}"));
    let link = Link::to(primary.port());
    let program = Program::new().with("DATABASE_URL", &format!("postgres://{USER}@127.0.0.1:{}/auth", link.port));
    let server = Running::start(&program, &["serve"]);
    let admin = Admin::of_new_organization(&program, &server.address);
    let mut walk = Walk::begin("PostgreSQL", &server, &admin);
    let primary = RefCell::new(primary);

    walk.fault("stopped", || primary.borrow_mut().crash(), |()| primary.borrow_mut().start_again());
    walk.fault("frozen", || primary.borrow().freeze(), |()| primary.borrow().thaw());
    walk.fault("network cut", || link.cut(), |()| link.mend());
    walk.fault("network stalled", || link.stall(), |()| link.mend());
    walk.fault("connections exhausted", || every_place_of(&primary.borrow()), drop);
    walk.fault("read-only", || read_only(&primary.borrow(), "on"), |()| read_only(&primary.borrow(), "off"));
    walk.fault(
        "failed over",
        || {
            let standby = primary.borrow().standby("standby");
            primary.borrow_mut().crash();
            link.point_to(standby.port());
            standby
        },
        |standby| {
            standby.promote();
            primary.replace(standby);
        },
    );
    walk.end();
}

/// Takes every connection that an ordinary user may have, the service's too.
fn every_place_of(server: &PostgresServer) -> Vec<HeldConnection> {
    let url = format!("postgres://{USER}@127.0.0.1:{}/auth", server.port());
    let mut held = Vec::new();
    // What the service gives up here is taken before it asks again, or in the next round.
    for _ in 0..20 {
        let end = format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{USER}' AND application_name = 'tenant-auth'"
        );
        // Those that are being refused have the administrators' places, too, for a moment.
        until("an administrator has a place", || hold_sql(&server.url("postgres"), &end).is_ok());
        while let Ok(connection) = hold_sql(&url, "SET application_name = 'holder'") {
            held.push(connection);
        }
    }
    until("every place is taken", || hold_sql(&url, "SELECT 1").is_err());
    held
}

fn read_only(server: &PostgresServer, value: &str) {
    server.run(&format!("ALTER SYSTEM SET default_transaction_read_only = {value}"));
    server.run("SELECT pg_reload_conf()");
}
