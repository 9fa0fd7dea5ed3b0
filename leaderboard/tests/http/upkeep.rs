//! What a host types beside the server: signs of life, and taking a run away.

use std::ffi::OsStr;
use std::process::Output;

use results::api::{AcceptedRun, RunList};

use crate::support::{ServerProcess, TestDatabase, TestServer, process, record};

pub(crate) fn run(arguments: &[&str], files: &[&OsStr]) -> Output {
    process::command().args(arguments).args(files).output().unwrap()
}

/// What a task that went well said.
#[track_caller]
pub(crate) fn done(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// What a task that failed said.
#[track_caller]
pub(crate) fn failed(output: &Output) -> String {
    assert!(!output.status.success() && output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stderr.clone()).unwrap()
}

pub(crate) fn stored(server: &ServerProcess, seed: u32) -> String {
    let answer = server.import(&record::unregistered(seed));
    assert_eq!(answer.status, 201, "{}", answer.text());
    answer.parse::<AcceptedRun>().run_id
}

pub(crate) fn ids(server: &ServerProcess) -> Vec<String> {
    let mut ids: Vec<String> =
        server.get("/api/v1/runs").parse::<RunList>().rows.into_iter().map(|row| row.run_id).collect();
    ids.sort();
    ids.dedup();
    ids
}

#[test]
fn a_running_server_is_well_and_a_stopped_one_is_not() {
    let server = TestServer::start();
    let url = format!("http://{}", server.address);
    assert!(done(&run(&["health", &url], &[])).contains("is well"));
    drop(server);
    let said = failed(&run(&["health", &url], &[]));
    assert!(said.contains("Is the server running"), "{said}");
    let said = failed(&run(&["health", "https://board.example"], &[]));
    assert!(said.contains("no proxy's"), "{said}");
}

#[test]
fn a_hidden_run_is_nowhere_and_cannot_come_back_until_it_is_shown_again() {
    let database = TestDatabase::new();
    let server = ServerProcess::start(&database);
    let (good, bad) = (stored(&server, 1), stored(&server, 2));
    let set = |tier: &str| run(&["set-tier", &bad, tier, "--database"], &[database.as_ref()]);
    let said = done(&set("hidden"));
    assert!(said.contains("was unverified and is hidden now"), "{said}");
    assert_eq!(ids(&server), std::slice::from_ref(&good));
    server.get(&format!("/api/v1/runs/{bad}")).assert_refused(404, "unknown_run", "");
    server.import(&record::unregistered(2)).assert_refused(409, "already_submitted", "");
    assert!(done(&set("unverified")).contains("was hidden"));
    assert_eq!(ids(&server).len(), 2);
    assert!(failed(&set("wonderful")).contains("proven, checked"));
}

#[test]
fn runs_are_removed_together_or_not_at_all() {
    let database = TestDatabase::new();
    let server = ServerProcess::start(&database);
    let (first, second, kept) = (stored(&server, 1), stored(&server, 2), stored(&server, 3));
    let remove = |ids: [&str; 2]| run(&["remove", ids[0], ids[1], "--database"], &[database.as_ref()]);
    let said = failed(&remove([&first, "0123456789abcdef"]));
    assert!(said.contains("no run 0123456789abcdef"), "{said}");
    assert_eq!(ids(&server).len(), 3);
    done(&remove([&first, &second]));
    assert_eq!(ids(&server), [kept]);
    assert!(failed(&run(&["remove", &first, "--database", "nowhere.sqlite"], &[])).contains("--database"));
}
