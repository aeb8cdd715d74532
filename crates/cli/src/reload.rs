//! The configuration file while it is edited.
//!
//! The folder is watched and not the file: editors and orchestrators replace files by renaming, and a watch on the old file would
//! see nothing any more. An edit comes as several events, so reading waits until they have stopped.

use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use sluicegate_config::Policy;
use sluicegate_gateway::{Reloaded, Running};
use tokio::sync::mpsc;

use crate::file;

/// Events further apart than that are different edits.
const QUIET: Duration = Duration::from_millis(100);

/// Something happened beside the file.
#[derive(Debug)]
pub(crate) struct Changes {
    happened: mpsc::Receiver<()>,
    _watcher: RecommendedWatcher,
}

/// Watches the folder of `path`.
///
/// # Errors
///
/// When the system does not let the folder be watched.
pub(crate) fn watch(path: &Path) -> anyhow::Result<Changes> {
    let path = std::path::absolute(path)?;
    let folder = path.parent().unwrap_or(&path).to_path_buf();
    // One unread event says all: the file is read after it.
    let (tell, happened) = mpsc::channel(1);
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        let read_only = matches!(&event, Ok(event) if matches!(event.kind, EventKind::Access(_)));
        if !read_only {
            // Full means that one is still unread.
            let _ = tell.try_send(());
        }
    })?;
    watcher
        .watch(&folder, RecursiveMode::NonRecursive)
        .with_context(|| format!("{} cannot be watched", folder.display()))?;
    Ok(Changes {
        happened,
        _watcher: watcher,
    })
}

/// Reloads the policy whenever the file says something else than `in_force`, until dropped.
pub(crate) async fn follow(
    running: &Running,
    path: &Path,
    changes: &mut Changes,
    in_force: Policy,
    overridden: impl Fn(Policy) -> Policy,
) {
    let mut before = Some(in_force);
    while changes.happened.recv().await.is_some() {
        while tokio::time::timeout(QUIET, changes.happened.recv())
            .await
            .is_ok_and(|more| more.is_some())
        {}
        let owned = path.to_path_buf();
        let read = tokio::task::spawn_blocking(move || file::read(&owned)).await;
        match read {
            Ok(Ok(policy)) => {
                let policy = overridden(policy);
                if before.as_ref() != Some(&policy) {
                    reload(running, &policy);
                    before = Some(policy);
                }
            }
            Ok(Err(errors)) => {
                running.reload_failed();
                tracing::error!("the configuration stays as it was:\n{errors}");
                before = None;
            }
            Err(error) => tracing::error!(%error, "the configuration was not read"),
        }
    }
}

fn reload(running: &Running, policy: &Policy) {
    match running.reload(policy.clone()) {
        Ok(Reloaded::Whole) => tracing::info!("the configuration was reloaded"),
        Ok(Reloaded::RestartFor(settings)) => tracing::warn!(
            "the configuration was reloaded, but for what needs a restart: {}",
            settings.join(", ")
        ),
        Err(error) => tracing::error!("the configuration stays as it was: {error}"),
    }
}
