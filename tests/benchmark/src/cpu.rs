//! The CPU time that a server and its database have used, and the server's memory. The kernel keeps it for each thread in nanoseconds and shows it in
//! `/proc/<pid>/task/<tid>/schedstat`; summed up it is what `/proc/<pid>/stat` shows in hundredths of a second, which is too coarse
//! for short rounds.

use std::{collections::HashMap, fs, path::Path};

use crate::Failure;

/// Whose time is counted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Watched {
    /// The server's process.
    pub(crate) server: u32,
    /// PostgreSQL's first process; all of its children count.
    pub(crate) postmaster: Option<u32>,
}

/// What every thread has used so far, in nanoseconds.
#[derive(Debug)]
pub(crate) struct Used {
    server: HashMap<u32, u64>,
    database: HashMap<u32, u64>,
}

impl Watched {
    /// Now.
    pub(crate) fn used(&self) -> Result<Used, Failure> {
        let mut used = Used { server: HashMap::new(), database: HashMap::new() };
        add(&mut used.server, self.server)?;
        if let Some(postmaster) = self.postmaster {
            add(&mut used.database, postmaster)?;
            for child in numbers(Path::new("/proc")).filter(|process| parent(*process) == Some(postmaster)) {
                let _ = add(&mut used.database, child); // it may have ended by now
            }
        }
        Ok(used)
    }
}

/// The memory of a process that is in use now, in MiB.
pub(crate) fn resident(process: u32) -> Result<f64, Failure> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let kib = status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB"));
    Ok(kib.ok_or("a process without memory")?.parse::<f64>()? / 1024.0)
}

impl Used {
    /// What the server and its database have used since, in microseconds. A thread that ended meanwhile was idle: it counts for
    /// nothing.
    pub(crate) fn since(&self, before: &Self) -> [f64; 2] {
        [(&self.server, &before.server), (&self.database, &before.database)].map(|(now, then)| {
            let of_thread = |(thread, used): (&u32, &u64)| used.saturating_sub(then.get(thread).copied().unwrap_or_default());
            now.iter().map(of_thread).sum::<u64>() as f64 / 1e3
        })
    }
}

fn add(threads: &mut HashMap<u32, u64>, process: u32) -> Result<(), Failure> {
    let tasks = format!("/proc/{process}/task");
    for thread in numbers(Path::new(&tasks)) {
        let Ok(text) = fs::read_to_string(format!("{tasks}/{thread}/schedstat")) else { continue };
        threads.insert(thread, text.split(' ').next().unwrap_or_default().parse()?);
    }
    if threads.is_empty() { Err(format!("process {process} has ended").into()) } else { Ok(()) }
}

/// The entries of a directory that are numbers.
fn numbers(directory: &Path) -> impl Iterator<Item = u32> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The parent's process id, the second field after the program's name, which stands in parentheses and may hold anything.
fn parent(process: u32) -> Option<u32> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    text.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
}
