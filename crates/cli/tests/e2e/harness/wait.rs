//! Waiting for what can be observed, within a bound.

use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval, timeout};

/// Longer than anything here takes on a slow machine; what takes longer hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The value of `future`, which must come within [`PATIENCE`].
pub(crate) async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    match timeout(PATIENCE, future).await {
        Ok(value) => value,
        Err(_) => panic!("{what}: not within {PATIENCE:?}"),
    }
}

/// Looks again and again until `look` finds what it looks for, and panics with what it saw last after [`PATIENCE`].
///
/// The only way in which a test waits for something that nobody tells it: a counter of another process, say. It never
/// waits for time to pass.
pub(crate) async fn eventually<T, Seen: std::fmt::Debug>(
    what: &str,
    mut look: impl AsyncFnMut() -> Result<T, Seen>,
) -> T {
    let mut seen = None;
    let looking = async {
        let mut turns = interval(Duration::from_millis(10));
        turns.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            turns.tick().await;
            match look().await {
                Ok(found) => return found,
                Err(instead) => seen = Some(instead),
            }
        }
    };
    let found = timeout(PATIENCE, looking).await;
    match found {
        Ok(found) => found,
        Err(_) => panic!("{what}: not within {PATIENCE:?}; last seen: {seen:?}"),
    }
}
