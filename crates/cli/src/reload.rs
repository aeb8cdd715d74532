//! The configuration file while it is edited.
//!
//! The folder is watched and not the file: editors and orchestrators replace files by renaming, and a watch on the old file would
//! see nothing any more. What happens to other files there is no business of ours. An edit comes as several events, so reading
//! waits until they have stopped, but not for long: a file that is written without end is read all the same.

use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use sluicegate_config::Policy;
use sluicegate_gateway::{Reloaded, Running};
use tokio::signal::unix::Signal;
use tokio::sync::mpsc;

use crate::file;

/// Events further apart than that are different edits.
const QUIET: Duration = Duration::from_millis(100);
/// The longest wait for quiet.
const QUIET_WAIT_MAX: Duration = Duration::from_secs(1);
/// The link that Kubernetes moves to bring a new version of all files that it mounts in a folder.
const KUBERNETES_VERSION: &str = "..data";

/// Something happened to the file.
#[derive(Debug)]
pub(crate) struct Changes {
    happened: mpsc::Receiver<()>,
    _watcher: RecommendedWatcher,
}

/// Watches `path`.
///
/// # Errors
///
/// When the system does not let its folder be watched.
pub(crate) fn watch(path: &Path) -> anyhow::Result<Changes> {
    let path = std::path::absolute(path)?;
    let folder = path.parent().unwrap_or(&path).to_path_buf();
    let file = path.file_name().map(OsStr::to_owned).unwrap_or_default();
    // One unread event says all: the file is read after it.
    let (tell, happened) = mpsc::channel(1);
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        if event.map_or(true, |event| may_change(&event, &file)) {
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

/// Whether `file` may read otherwise after `event`. An event that names no file may mean any: some were lost.
fn may_change(event: &notify::Event, file: &OsStr) -> bool {
    if matches!(event.kind, EventKind::Access(_)) {
        return false;
    }
    let mut names = event.paths.iter().filter_map(|path| path.file_name());
    event.need_rescan()
        || event.paths.is_empty()
        || names.any(|name| name == file || name == KUBERNETES_VERSION)
}

/// Waits until `happened` is quiet, or until it has gone on for too long.
async fn quiet(happened: &mut mpsc::Receiver<()>) {
    let until_quiet =
        async { while let Ok(Some(())) = tokio::time::timeout(QUIET, happened.recv()).await {} };
    // Whether it was quiet or too long makes no difference: the file is read.
    let _ = tokio::time::timeout(QUIET_WAIT_MAX, until_quiet).await;
}

/// Reloads the policy whenever the file says something else than `in_force`, until dropped.
pub(crate) async fn follow(
    running: &Running,
    path: &Path,
    changes: &mut Changes,
    hangups: &mut Signal,
    in_force: Policy,
    overridden: impl Fn(Policy) -> Policy,
) {
    let mut before = Some(in_force);
    loop {
        tokio::select! {
            happened = changes.happened.recv() => {
                if happened.is_none() {
                    return;
                }
                quiet(&mut changes.happened).await;
            }
            // Asked for by name, it is read at once.
            _ = hangups.recv() => {}
        }
        let owned = path.to_path_buf();
        let read = tokio::task::spawn_blocking(move || file::read(&owned)).await;
        match read {
            Ok(Ok(policy)) => {
                let policy = overridden(policy);
                if before.as_ref() != Some(&policy) {
                    before = reload(running, &policy).then_some(policy);
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

/// Whether `policy` is in force now.
fn reload(running: &Running, policy: &Policy) -> bool {
    match running.reload(policy.clone()) {
        Ok(Reloaded::Whole) => tracing::info!("the configuration was reloaded"),
        Ok(Reloaded::RestartFor(settings)) => tracing::warn!(
            "the configuration was reloaded, but for what needs a restart: {}",
            settings.join(", ")
        ),
        Err(error) => {
            tracing::error!("the configuration stays as it was: {error}");
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use notify::Event;
    use notify::event::{AccessKind, CreateKind, Flag, ModifyKind, RenameMode};

    use super::*;

    #[test]
    fn only_what_happens_to_the_file_counts() {
        let renamed = EventKind::Modify(ModifyKind::Name(RenameMode::Both));
        let created = EventKind::Create(CreateKind::File);
        let read = EventKind::Access(AccessKind::Any);
        for (kind, paths, counts) in [
            (created, &["/etc/gate/gate.yaml"][..], true),
            (created, &["/etc/gate/noise.log"], false),
            (created, &["/etc/gate/gate.yaml.swp"], false),
            (read, &["/etc/gate/gate.yaml"], false),
            // An editor moves its new version over the old one.
            (
                renamed,
                &["/etc/gate/.gate.yaml.tmp", "/etc/gate/gate.yaml"],
                true,
            ),
            (renamed, &["/etc/gate/a", "/etc/gate/b"], false),
            // Kubernetes moves a link, and no file changes its name.
            (renamed, &["/etc/gate/..data_tmp", "/etc/gate/..data"], true),
            (created, &["/etc/gate/..2026_10_01"], false),
            (EventKind::Other, &[], true),
        ] {
            let event = paths
                .iter()
                .fold(Event::new(kind), |event, path| event.add_path(path.into()));
            let file = OsStr::new("gate.yaml");
            assert_eq!(may_change(&event, file), counts, "{event:?}");
        }
        let lost = Event::new(EventKind::Other)
            .add_path("/etc/gate".into())
            .set_flag(Flag::Rescan);
        assert!(may_change(&lost, OsStr::new("gate.yaml")));
    }

    #[tokio::test(start_paused = true)]
    async fn noise_without_end_is_waited_out_for_a_second() {
        let (tell, mut happened) = mpsc::channel(1);
        let noise = async {
            let mut every = tokio::time::interval(Duration::from_millis(40));
            loop {
                every.tick().await;
                let _ = tell.try_send(());
            }
        };
        let waited = async {
            let within = |millis| Duration::from_millis(millis);
            let early = tokio::time::timeout(within(990), quiet(&mut happened)).await;
            let late = tokio::time::timeout(within(1_010), quiet(&mut happened)).await;
            (early.is_ok(), late.is_ok())
        };
        let (early, late) = tokio::select! {
            waited = waited => waited,
            () = noise => unreachable!("it does not end"),
        };
        assert!(!early, "an edit goes on while events come");
        assert!(late, "it is read all the same after a second");
    }

    #[tokio::test(start_paused = true)]
    async fn an_edit_is_over_when_nothing_more_happens() {
        let (tell, mut happened) = mpsc::channel(1);
        tell.try_send(()).expect("room for one");
        let over = tokio::time::timeout(Duration::from_millis(110), quiet(&mut happened)).await;
        assert!(over.is_ok(), "one event, then a tenth of a second");
    }
}
