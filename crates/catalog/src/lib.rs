//! What providers do, as data: one row each, with source and confidence.
