//! Wire formats: bytes and headers to requests, usage, signals and error classes, and the estimates.
