//! The configuration file: raw text to a resolved policy, all errors at once.
