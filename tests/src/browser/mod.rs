//! The browser harness: runs the pages as people use them, in a headless Chromium. A scenario gets a service on `localhost` with a
//! real worker, and a fresh browser; it finds elements by the names that people and screen readers know them by, never by a class.
//! In every scenario the harness holds every page to the same rules: nothing on the console but what was announced, no violation of
//! the content security policy, no request to another host, no token within a script's reach.

mod audit;
mod axe;
mod commands;
mod driver;
mod journal;
pub mod keys;
mod order;
mod page;
mod patience;
mod qr;
mod receiver;
mod region;
mod runner;
mod scenario;
mod session;
mod sight;
mod stage;

pub use page::Page;
pub use receiver::{Received, Receiver};
pub use region::Region;
pub use runner::main;
pub use scenario::{Run, Scenario};
pub use stage::Stage;
