//! The commands `completions` and `man`: what a shell and `man` need to know of this program, made from the same definitions as
//! `--help`.

use std::{
    fs,
    io::{self, Write},
    path::PathBuf,
};

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::Cli;
use crate::failure::Failure;

/// For which shell.
#[derive(Debug, Args)]
pub(super) struct Completions {
    /// bash, zsh, fish, elvish or powershell
    shell: Shell,
}

impl Completions {
    pub(super) fn run(&self) -> Result<(), Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), env!("CARGO_PKG_NAME"), &mut script);
        let mut stdout = io::stdout().lock();
        stdout.write_all(&script).and_then(|()| stdout.flush()).map_err(Failure::system("Printing the completions to stdout"))
    }
}

/// Where the pages go.
#[derive(Debug, Args)]
pub(super) struct Man {
    /// A directory, such as /usr/local/share/man/man1
    directory: PathBuf,
}

impl Man {
    pub(super) fn run(&self) -> Result<(), Failure> {
        let doing = || format!("Writing the man pages to {}", self.directory.display());
        fs::create_dir_all(&self.directory).map_err(Failure::system(doing()))?;
        clap_mangen::generate_to(Cli::command(), &self.directory).map_err(Failure::system(doing()))
    }
}
