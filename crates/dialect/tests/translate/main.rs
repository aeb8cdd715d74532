//! Translation between dialects: wire text in `tests/fixtures/DIALECT/`, and beside it what becomes
//! of it in each other dialect. `UPDATE_EXPECTED=1` writes the latter.

mod calls;
mod ends;
mod errors;
mod failed_tools;
mod fixtures;
mod frames;
mod fuzz;
mod indent;
mod lone_parts;
mod models;
mod odd_answers;
mod odd_values;
mod properties;
mod provider_only;
mod shape;
mod streams;
mod thoughts;
mod told_places;
mod wrong_kinds;
