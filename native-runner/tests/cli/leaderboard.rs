//! The whole way to the real leaderboard, whose program `GRADMARK_LEADERBOARD` names (`cargo xtask test` sets it).

use std::env;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::support::{Runner, any_adapter, one_line, skipped};

const TEST: &str = "a_run_reaches_the_real_leaderboard_and_counts_once";

/// The server on a free port with a data base of its own; it ends with the test.
struct RealLeaderboard {
    process: Child,
    url: String,
    _folder: TempDir,
}

impl RealLeaderboard {
    /// `None`, with a report, where no program is named.
    fn start() -> Option<Self> {
        let Some(program) = env::var_os("GRADMARK_LEADERBOARD") else {
            skipped(TEST, "GRADMARK_LEADERBOARD names no leaderboard; `cargo xtask test` does");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(program);
        command
            .args(["--listen", "127.0.0.1:0", "--log", "error", "--database"])
            .arg(folder.path().join("runs.sqlite"));
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("listening on ").expect("the address is the first line").to_owned();
        Some(Self { process, url, _folder: folder })
    }
}

impl Drop for RealLeaderboard {
    fn drop(&mut self) {
        // It may have ended by itself, which the test has then noticed.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn a_run_reaches_the_real_leaderboard_and_counts_once() {
    let (Some(server), Some(adapter)) = (RealLeaderboard::start(), any_adapter(TEST)) else { return };
    let line =
        format!("{adapter} --workload keras-mnist-mlp --steps 3 --batch-size 16 --json kept.json --yes --upload");
    let finished = Runner::new(&line).arg(&server.url).run().expect_status(0);
    assert!(finished.stdout.contains("checked"), "{}", finished.stdout);
    let permalink = finished.stdout.lines().find_map(|line| line.trim().strip_prefix("Permalink")).unwrap().trim();
    assert!(permalink.starts_with(&format!("{}/runs/", server.url)), "{permalink}");

    // The same record once more, because an answer may have been lost: it is the same run.
    let file = finished.folder.path().join("kept.json");
    let again = Runner::new("upload --yes").arg(&file).arg("--to").arg(&server.url).run().expect_status(0);
    assert!(one_line(&again.stdout).contains(&format!("Permalink {permalink}")), "{}", again.stdout);

    // Under another flag it is still the same record.
    let copy = Runner::new("upload --yes --unverified").arg(&file).arg("--to").arg(&server.url).run().expect_status(5);
    copy.expect_errors(&["the leaderboard refused", "already_submitted"]);
}
