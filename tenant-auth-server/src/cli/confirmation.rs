//! Asking a person in a terminal before something that nothing brings back.

use std::io::{BufRead, IsTerminal};

use crate::{failure::Failure, logging};

/// Longer than what is asked for may be; what stands beyond is not read.
const MAX_LINE: u64 = 1024;

/// Has a person type once more what is lost; `noun` is what that is, such as a slug. A script, which has no terminal, has said what it
/// wants.
///
/// # Errors
/// [`Failure::Usage`] when something else is typed.
pub(super) fn confirm_in_terminal(lost: &str, noun: &str, warning: &str) -> Result<(), Failure> {
    let stdin = std::io::stdin().lock();
    if !stdin.is_terminal() {
        return Ok(());
    }
    logging::ask(&format!("{warning} Type the {noun} once more:"));
    expect_repeated(lost, noun, stdin)
}

fn expect_repeated(lost: &str, noun: &str, typed: impl BufRead) -> Result<(), Failure> {
    let mut line = String::new();
    typed.take(MAX_LINE).read_line(&mut line).map_err(Failure::system("Reading the answer from the terminal"))?;
    if line.trim() == lost {
        return Ok(());
    }
    Err(Failure::Usage(format!("Nothing was deleted: this is not the {noun}. With --yes it is not asked for.")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_lost_itself_confirms_it() {
        for typed in ["acme\n", " acme \n", "acme"] {
            expect_repeated("acme", "slug", typed.as_bytes()).expect("that is it");
        }
        for typed in ["", "\n", "globex\n", "acme2\n", "yes\nacme\n"] {
            let refused = expect_repeated("acme", "slug", typed.as_bytes()).expect_err("that is not it");
            assert!(refused.to_string().contains("Nothing was deleted: this is not the slug"), "{refused}");
        }
    }
}
