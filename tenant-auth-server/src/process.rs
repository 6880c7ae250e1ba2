//! Process metrics, under the names that Prometheus' client libraries agree on (`process_*`): memory, file descriptors, threads,
//! processor time. Read from `/proc`; on systems without it they are left out.

use std::fmt::Write;

/// One metric, its value not read yet.
struct Metric {
    name: &'static str,
    kind: &'static str,
    unit: &'static str,
    help: &'static str,
    read: fn() -> Option<f64>,
}

const METRICS: [Metric; 6] = [
    Metric {
        name: "process_resident_memory_bytes",
        kind: "gauge",
        unit: "bytes",
        help: "Memory that is in use, as the system counts it.",
        read: || number_after(&read("/proc/self/status")?, "VmRSS:").map(|kib| kib * 1_024.0),
    },
    Metric {
        name: "process_open_fds",
        kind: "gauge",
        unit: "",
        help: "Open file descriptors.",
        // One of them is the directory that is being read.
        read: || std::fs::read_dir("/proc/self/fd").ok().map(|entries| entries.count().saturating_sub(1) as f64),
    },
    Metric {
        name: "process_max_fds",
        kind: "gauge",
        unit: "",
        help: "The most file descriptors there may be.",
        read: || number_after(&read("/proc/self/limits")?, "Max open files"),
    },
    Metric {
        name: "process_threads",
        kind: "gauge",
        unit: "",
        help: "Threads.",
        read: || number_after(&read("/proc/self/status")?, "Threads:"),
    },
    Metric {
        name: "process_start_time_seconds",
        kind: "gauge",
        unit: "seconds",
        help: "When the process started, in seconds since 1970.",
        read: || Some(number_after(&read("/proc/stat")?, "btime")? + ticks(&[19])?),
    },
    Metric {
        name: "process_cpu_seconds",
        kind: "counter",
        unit: "seconds",
        help: "Processor time, the system's on our behalf included.",
        read: || ticks(&[11, 12]),
    },
];

/// The process metrics as OpenMetrics text.
pub(crate) fn metrics() -> String {
    let mut text = String::new();
    for Metric { name, kind, unit, help, read } in &METRICS {
        let Some(value) = read() else { continue };
        let suffix = if *kind == "counter" { "_total" } else { "" };
        let unit = if unit.is_empty() { String::new() } else { format!("# UNIT {name} {unit}\n") };
        // Writing to a string does not fail.
        let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n{unit}{name}{suffix} {value}\n");
    }
    text
}

fn read(path: &str) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

/// The first number behind a word at the beginning of a line.
fn number_after(text: &str, word: &str) -> Option<f64> {
    text.lines().find_map(|line| line.strip_prefix(word))?.split_whitespace().next()?.parse().ok()
}

/// The sum of these fields of `/proc/self/stat`, counted from the one behind the program's name, in seconds.
fn ticks(fields: &[usize]) -> Option<f64> {
    let stat = read("/proc/self/stat")?;
    // The name may hold spaces and parentheses.
    let numbers: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let sum: Option<f64> = fields.iter().map(|field| numbers.get(*field)?.parse::<f64>().ok()).sum();
    Some(sum? / rustix::param::clock_ticks_per_second() as f64)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #[test]
    fn each_is_told() {
        let text = super::metrics();
        for metric in super::METRICS {
            let suffix = if metric.kind == "counter" { "_total" } else { "" };
            let value = super::number_after(&text, &format!("{}{suffix} ", metric.name)).expect("it is told");
            assert!(value >= 0.0 && (value > 0.0 || metric.kind == "counter"), "{} {value}", metric.name);
        }
    }
}
