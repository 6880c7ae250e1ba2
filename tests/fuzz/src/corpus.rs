//! The kept inputs: `tests/fuzz/corpus/<target>.txt`, one input a line as a JSON string in which each character below U+0100 is a byte.

use std::{fs, path::PathBuf};

/// The kept inputs of a target.
///
/// # Panics
/// When a line is no such string.
pub(crate) fn of(target: &str) -> Vec<Vec<u8>> {
    let text = fs::read_to_string(folder("corpus").join(format!("{target}.txt"))).unwrap_or_default();
    text.lines().filter(|line| !line.is_empty()).map(|line| bytes(line).unwrap_or_else(|| panic!("{target}.txt: {line}"))).collect()
}

/// Writes an input that was found.
///
/// # Errors
/// When the file cannot be written.
pub(crate) fn keep(target: &str, input: &[u8]) -> std::io::Result<PathBuf> {
    fs::create_dir_all(folder("found"))?;
    let file = folder("found").join(format!("{target}.txt"));
    fs::write(&file, line(input) + "\n")?;
    Ok(file)
}

/// An input as one line.
pub(crate) fn line(input: &[u8]) -> String {
    serde_json::Value::String(input.iter().copied().map(char::from).collect()).to_string()
}

fn bytes(line: &str) -> Option<Vec<u8>> {
    let text: String = serde_json::from_str(line).ok()?;
    text.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect()
}

fn folder(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(name)
}

#[test]
fn a_line_holds_any_bytes() {
    let all: Vec<u8> = (0..=255).collect();
    assert_eq!(bytes(&line(&all)), Some(all));
}
