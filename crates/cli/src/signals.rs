//! What the operating system asks of the process.

use std::future::Future;

/// Ends when the process is asked to end: an interrupt or a termination.
///
/// # Errors
///
/// When the system does not let the process listen.
pub(crate) fn termination() -> std::io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

/// What asks for the configuration to be read again: a hangup. Without somebody who listens it would end the process.
///
/// # Errors
///
/// When the system does not let the process listen.
pub(crate) fn hangups() -> std::io::Result<tokio::signal::unix::Signal> {
    use tokio::signal::unix::{SignalKind, signal};
    signal(SignalKind::hangup())
}
