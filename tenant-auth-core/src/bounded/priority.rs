//! The priority of threads that keep a core busy. While logins take all the time they can get, requests that need microseconds must not
//! wait for a hash to use up its slice of a core, nor the database on the same machine: these threads get what is left, and on a
//! machine whose cores are all busy about a tenth of one.

/// How far below the process's own (`nice`): a process that is nice already must not have its hashes go before its requests.
#[cfg(target_os = "linux")]
const STEPS: i32 = 10;

/// The lowest there is.
#[cfg(target_os = "linux")]
const LOWEST: i32 = 19;

/// Lowers the priority of this thread, and of no other: Linux keeps it by thread. Where the system refuses, nothing is lost but the
/// precedence of requests.
#[cfg(target_os = "linux")]
pub(super) fn lower() {
    let ours = rustix::process::getpriority_process(None);
    let lowered = ours.and_then(|ours| rustix::process::setpriority_process(None, (ours + STEPS).min(LOWEST)));
    if let Err(error) = lowered {
        tracing::debug!(%error, "the priority of a thread for work on passwords cannot be lowered");
    }
}

/// Elsewhere it would be the whole process's.
#[cfg(not(target_os = "linux"))]
pub(super) fn lower() {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    /// The field of `/proc/thread-self/stat` behind the state, of which the first is the parent's id.
    fn niceness() -> i32 {
        let stat = std::fs::read_to_string("/proc/thread-self/stat").expect("Linux tells");
        let fields = stat.rsplit_once(") ").expect("a name").1.split(' ').nth(16);
        fields.and_then(|nice| nice.parse().ok()).expect("a number")
    }

    #[test]
    fn a_thread_gives_way_alone_and_further_each_time() {
        let ours = niceness();
        let lowered = std::thread::spawn(|| {
            super::lower();
            let once = niceness();
            super::lower();
            [once, niceness()]
        });
        let expected = [ours + super::STEPS, ours + 2 * super::STEPS].map(|nice| nice.min(super::LOWEST));
        assert_eq!(lowered.join().expect("no panic"), expected);
        assert_eq!(niceness(), ours);
    }
}
