//! The question before an upload, on a real pseudo-terminal.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

use crate::support::{Runner, computed_once, leaderboard, on_a_terminal, paths};

/// A record in a file; that its run diverged does not matter here and makes it quick.
fn record() -> (TempDir, PathBuf) {
    let record = computed_once("record-of-a-run-that-diverged", || {
        let line = "--backend reference --workload keras-mnist-mlp --steps 3 --batch-size 16 --learning-rate 1e30";
        Runner::new(line).args("--json -").run().expect_status(3).stdout
    });
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.json");
    fs::write(&path, record).unwrap();
    (folder, path)
}

#[test]
fn record_is_shown_on_request_and_uploaded_after_yes() {
    let (_folder, path) = record();
    let server = leaderboard();
    let arguments = format!("upload {} --to {}", path.display(), server.url);
    let Some(text) = on_a_terminal(&arguments, 100, &[], "s\ny\n") else { return };
    let question = "Upload this record? [y]es, [N]o, [s]how it first";
    assert_eq!(text.matches(question).count(), 2, "{text}");
    let before = text.split(question).next().unwrap();
    assert!(before.contains("open data under CC0"), "it is not said before it is asked:\n{text}");
    assert!(text.contains(&format!("\"schema_version\": {}", results::SCHEMA_VERSION)), "{text}");
    assert!(text.contains("/runs/run-2"), "{text}");
    let received = server.received();
    assert_eq!(paths(&received), ["POST /api/v1/runs/import"]);
    let shown = text.replace('\r', "");
    assert!(shown.contains(&received[0].body), "what was shown is not what was sent:\n{shown}");
}

#[test]
fn no_answer_and_a_no_upload_nothing() {
    let (_folder, path) = record();
    let server = leaderboard();
    let arguments = format!("upload {} --to {}", path.display(), server.url);
    for typed in ["\n", "n\n", "what?\nno\n"] {
        let Some(text) = on_a_terminal(&arguments, 100, &[], typed) else { return };
        assert!(text.contains("Not uploaded."), "{typed:?}: {text}");
    }
    assert!(server.received().is_empty());
}
