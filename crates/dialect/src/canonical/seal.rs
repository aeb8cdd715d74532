//! Whose a seal of thoughts is.
//!
//! Only the provider that sealed a thought takes it back; another one refuses the whole request for
//! it. A seal travels through the client, so that it has to say itself whose it is. Claude's bear no
//! name, whoever serves it; others stand behind a name and a `#`, which no base64 holds.

/// Whether it is Claude's.
pub(crate) fn bears_no_name(seal: &str) -> bool {
    !seal.contains('#')
}
