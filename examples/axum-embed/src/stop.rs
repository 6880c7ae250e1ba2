//! What ends the program.

use tokio::signal::{
    ctrl_c,
    unix::{SignalKind, signal},
};

/// Ready at Ctrl-C and at SIGTERM.
pub(crate) async fn told_to_stop() {
    let mut terminated = signal(SignalKind::terminate()).expect("a handler");
    tokio::select! {
        _ = ctrl_c() => {}
        _ = terminated.recv() => {}
    }
}
