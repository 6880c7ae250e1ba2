//! The CPU time that a server and its database have used, as the kernel accounts it in `/proc/<pid>/stat`: user and system time,
//! in hundredths of a second. Rounds last long enough for that to be fine.

use std::{fs, time::Duration};

use crate::Failure;

/// Linux shows times to user space in this unit, whatever the kernel's own is.
const TICK: Duration = Duration::from_millis(10);

/// Whose time is counted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Watched {
    /// The server's process.
    pub(crate) server: u32,
    /// PostgreSQL's first process; all of its children count.
    pub(crate) postmaster: Option<u32>,
}

impl Watched {
    /// What they have used so far: the server, and its database.
    pub(crate) fn used(&self) -> Result<[Duration; 2], Failure> {
        let server = Stat::of(self.server)?.own;
        let database = match self.postmaster {
            Some(postmaster) => {
                let children = all().filter(|stat| stat.parent == postmaster);
                Stat::of(postmaster)?.with_ended_children() + children.map(|child| child.with_ended_children()).sum::<u32>()
            }
            None => 0,
        };
        Ok([TICK * server, TICK * database])
    }
}

struct Stat {
    parent: u32,
    own: u32,
    of_ended_children: u32,
}

impl Stat {
    fn of(process: u32) -> Result<Self, Failure> {
        let text = fs::read_to_string(format!("/proc/{process}/stat"))?;
        // The second field is the program's name, in parentheses, and may hold anything.
        let (_, fields) = text.rsplit_once(") ").ok_or("an unreadable /proc/<pid>/stat")?;
        let fields: Vec<&str> = fields.split(' ').collect();
        let number = |index: usize| fields.get(index).and_then(|field| field.parse::<u32>().ok()).unwrap_or_default();
        // proc(5) counts from 1, and state, the third, is our first: ppid 4, utime 14, stime 15, cutime 16, cstime 17.
        Ok(Self { parent: number(1), own: number(11) + number(12), of_ended_children: number(13) + number(14) })
    }

    /// Children that ended are in their parent's account.
    fn with_ended_children(&self) -> u32 {
        self.own + self.of_ended_children
    }
}

/// Every process there is; those that end while we look are left out.
fn all() -> impl Iterator<Item = Stat> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    ids.filter_map(|id| Stat::of(id).ok())
}
