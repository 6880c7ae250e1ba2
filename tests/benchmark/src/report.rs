//! What is printed: headings, and figures beside their goals.

use std::time::Instant;

use crate::{cores, load::Round, options::Options, statistics::median};

/// Prints as it goes.
#[derive(Debug)]
pub(crate) struct Report {
    started: Instant,
    rounds: usize,
}

/// What a figure should be.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Goal {
    AtLeast(f64),
    AtMost(f64),
}

impl Report {
    /// Says where and how it is measured.
    pub(crate) fn start(options: &Options) -> Self {
        let cores = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = cores.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or("an unknown processor");
        let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
        println!("Tenant Auth benchmark on {}", model.trim_start_matches([' ', '\t', ':']));
        println!("load before the run: {}", load.split(' ').take(3).collect::<Vec<_>>().join(" "));
        match cores::is_moved() {
            true => println!("servers and PostgreSQL on core {}, the load on the other", cores::SERVERS),
            false => println!("NOT PINNED: taskset or a second core is missing, and the figures mean less"),
        }
        if cfg!(debug_assertions) {
            println!("A DEBUG BUILD: run with --release");
        }
        println!("medians of {} interleaved rounds; CPU time of all server processes", options.rounds);
        println!("{} load connections, {} database connections", options.connections, options.pool);
        Self { started: Instant::now(), rounds: options.rounds }
    }

    /// Begins a group of figures.
    pub(crate) fn heading(&mut self, text: &str) {
        println!("\n{text}");
    }

    /// A line without a goal.
    pub(crate) fn note(&mut self, text: &str) {
        println!("  {text}");
    }

    /// CPU time for each request: the median, its range over the rounds, what of it was the database's, and how much of the core
    /// the servers had. Where that is far below all of it, others used the core too and left the caches cold.
    pub(crate) fn micros(&mut self, name: &str, rounds: &[Round]) {
        let mut each: Vec<f64> = rounds.iter().map(|round| round.micros).collect();
        each.sort_by(f64::total_cmp);
        let (least, most) = (each.first().copied().unwrap_or_default(), each.last().copied().unwrap_or_default());
        let of_database = median(rounds.iter().map(|round| round.of_database));
        let of_database = if of_database > 0.0 { format!(", PostgreSQL's part {of_database:.1}") } else { String::new() };
        let share = 100.0 * median(rounds.iter().map(|round| round.micros * round.rate / 1e6));
        let value = format!("{:.1} µs", median(rounds.iter().map(|round| round.micros)));
        println!("  {name:<44} {value:>14}   [{least:.1} to {most:.1}], {share:.0} % of the core{of_database}");
    }

    /// A ratio beside its goal.
    pub(crate) fn ratio(&mut self, name: &str, value: f64, unit: &str, goal: Goal) {
        let (sign, bound, met) = match goal {
            Goal::AtLeast(bound) => ('≥', bound, value >= bound),
            Goal::AtMost(bound) => ('≤', bound, value <= bound),
        };
        let verdict = if met { "met" } else { "MISSED" };
        println!("  {name:<44} {:>14}   goal {sign} {bound}{unit}: {verdict}", format!("{value:.2}{unit}"));
    }

    /// The end.
    pub(crate) fn end(&mut self) {
        println!("\n{:.0} s, {} rounds", self.started.elapsed().as_secs_f64(), self.rounds);
    }
}
