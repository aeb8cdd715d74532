//! The shell: HTTP in and out, the driver of the core, telemetry.
