//! Keys that print nothing, as WebDriver writes them.

/// Moves on.
pub const TAB: &str = "\u{e004}";
/// Submits or presses.
pub const ENTER: &str = "\u{e007}";
/// Leaves a dialog.
pub const ESCAPE: &str = "\u{e00c}";
/// Presses a button.
pub const SPACE: &str = " ";
