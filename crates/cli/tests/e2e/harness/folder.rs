//! A folder of a test's own.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A new folder, removed with all that is in it when dropped.
#[derive(Debug)]
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        // Tests may run in threads of one process or in a process each.
        let name = format!(
            "{}-{}",
            std::process::id(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        );
        let path = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join("e2e")
            .join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Writes a file in place.
    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Puts a file where another was, as editors and orchestrators do: written beside it, then renamed over it.
    pub(crate) fn replace(&self, name: &str, text: &str) {
        let beside = self.write(&format!(".{name}.new"), text);
        std::fs::rename(beside, self.path(name)).unwrap();
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed lies below the build's own folder.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
