//! What goes to stdout. Nobody may be reading: a gateway does not die of that, and neither does a command whose reader has enough.

use std::fmt::Display;
use std::io::Write as _;

/// Prints a line, if anybody takes it.
pub(crate) fn line(text: impl Display) {
    // Said to nobody is said well enough.
    let _ = writeln!(std::io::stdout(), "{text}");
}
