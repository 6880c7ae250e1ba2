//! The benchmark's other processes: this program again, in a [`Role`]. A child is told its lines as one line of JSON, answers in
//! lines, and ends when its standard input does: none outlives us, however we end.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child as Process, ChildStdin, ChildStdout, Stdio},
};

use clap::ValueEnum;
use serde::{Serialize, de::DeserializeOwned};

use crate::{Failure, cores, roles::Role};

/// A process of this benchmark.
#[derive(Debug)]
pub(crate) struct Child {
    process: Process,
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Child {
    /// Starts a role with what it is told, on both cores or on the servers'.
    pub(crate) fn start(role: Role, told: &impl Serialize) -> Result<Self, Failure> {
        let program = std::env::current_exe()?;
        let mut command = if role.is_on_both() { cores::on_both(program) } else { cores::on_servers(program) };
        let name = role.to_possible_value().ok_or("a role without a name")?;
        let mut process = command.args(["--role", name.get_name()]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (orders, answers) = (process.stdin.take(), process.stdout.take().ok_or("a child without an output")?);
        let mut child = Self { process, orders, answers: BufReader::new(answers) };
        child.tell(&serde_json::to_string(told)?)?;
        Ok(child)
    }

    /// Sends one line.
    pub(crate) fn tell(&mut self, line: &str) -> Result<(), Failure> {
        Ok(writeln!(self.orders.as_mut().ok_or("the child was told to end")?, "{line}")?)
    }

    /// Waits for one line.
    pub(crate) fn hear<T: DeserializeOwned>(&mut self) -> Result<T, Failure> {
        let mut line = String::new();
        match self.answers.read_line(&mut line)? {
            0 => Err("a process of the benchmark ended; it said why above".into()),
            _ => Ok(serde_json::from_str(&line)?),
        }
    }

    /// The process whose CPU time counts.
    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.orders.take();
        let _ = self.process.wait();
    }
}
