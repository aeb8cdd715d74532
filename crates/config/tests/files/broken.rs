//! Files that are wrong, and what is said about them.

use std::fmt::Write as _;
use std::path::Path;

use sluicegate_config::parse;

use crate::{SECRET, env, read, yaml_files};

/// One way to break a file each; `.txt` beside it holds the errors. `UPDATE_EXPECTED=1` rewrites them.
///
/// The folders are the steps at which a file fails: it is no single YAML document (`text`), has a form that the schema refuses
/// too (`form`), holds a value that only units or the environment tell (`value`), or makes no sense as a whole (`meaning`).
#[test]
fn every_broken_file_says_what_is_wrong() {
    let mut wrong = String::new();
    let mut files = 0;
    for folder in ["text", "form", "value", "meaning"] {
        for path in yaml_files(&format!("broken/{folder}")) {
            files += 1;
            let name = path.file_name().expect("a file").to_string_lossy();
            let said = match parse(&name, &read(&path), &env) {
                Ok(_) => "nothing is wrong".to_owned(),
                Err(errors) => {
                    assert!(!format!("{errors:?}").contains(SECRET), "{name}: in Debug");
                    errors.to_string()
                }
            };
            assert!(!said.contains(SECRET), "{name}: a secret is printed");
            check(&path.with_extension("txt"), &said, &mut wrong);
        }
    }
    assert!(files > 60, "only {files} files were found");
    assert!(wrong.is_empty(), "{wrong}");
}

/// Compares with the file at `expected`, or rewrites it.
fn check(expected: &Path, said: &str, wrong: &mut String) {
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        std::fs::write(expected, format!("{said}\n")).expect("the expected text can be written");
        return;
    }
    let wanted = if expected.exists() {
        read(expected)
    } else {
        String::new()
    };
    if wanted.trim_end() != said {
        let name = expected.display();
        let _ = write!(wrong, "\n{name}\n--- expected\n{wanted}+++ said\n{said}\n");
    }
}
