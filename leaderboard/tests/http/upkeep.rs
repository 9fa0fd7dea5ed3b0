//! What a host types beside the server: signs of life, back-ups, and taking a run away.

use std::path::Path;
use std::process::Output;

use results::api::{AcceptedRun, RunList};

use crate::support::{ServerProcess, TestServer, process, record};

fn run(arguments: &[&str], files: &[&Path]) -> Output {
    process::command().args(arguments).args(files).output().unwrap()
}

/// What a task that went well said.
#[track_caller]
fn done(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// What a task that failed said.
#[track_caller]
fn failed(output: &Output) -> String {
    assert!(!output.status.success() && output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn stored(server: &ServerProcess, seed: u32) -> String {
    let answer = server.import(&record::unregistered(seed));
    assert_eq!(answer.status, 201, "{}", answer.text());
    answer.parse::<AcceptedRun>().run_id
}

fn ids(server: &ServerProcess) -> Vec<String> {
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
fn a_back_up_of_a_running_server_holds_what_was_stored_and_can_be_put_back() {
    let folder = tempfile::tempdir().unwrap();
    let (database, copy) = (folder.path().join("leaderboard.sqlite"), folder.path().join("monday.sqlite"));
    let server = ServerProcess::start(&database);
    let kept = stored(&server, 1);
    let database_flag = ["--database".as_ref(), database.as_path()];
    let backup = |to: &Path| run(&["backup"], &[&[to], &database_flag[..]].concat());
    assert!(done(&backup(&copy)).contains("(1 runs)"));
    assert!(failed(&backup(&copy)).contains("is not overwritten"));
    let later = stored(&server, 2);
    assert_eq!(ids(&server).len(), 2);

    let restore = |from: &Path| run(&["restore"], &[&[from], &database_flag[..]].concat());
    let said = failed(&restore(&copy));
    assert!(said.contains("in use: stop the server"), "{said}");
    assert_eq!(ids(&server).len(), 2, "nothing was replaced under a running server");

    server.kill();
    assert!(done(&restore(&copy)).contains("(1 runs)"));
    let server = ServerProcess::start(&database);
    assert_eq!(ids(&server), [kept]);
    drop(server);

    // What was there before is there still, the killed server's log included.
    let server = ServerProcess::start(&folder.path().join("leaderboard.sqlite.replaced"));
    assert!(ids(&server).contains(&later));
    let said = failed(&restore(&copy));
    assert!(said.contains("leaderboard.sqlite.replaced exists"), "{said}");
}

#[test]
fn only_a_whole_data_base_of_a_leaderboard_is_restored() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("leaderboard.sqlite");
    let server = ServerProcess::start(&database);
    let kept = stored(&server, 1);
    drop(server);
    let (missing, text, cut) =
        (folder.path().join("missing"), folder.path().join("text"), folder.path().join("cut.sqlite"));
    std::fs::write(&text, "certainly no data base ".repeat(1000)).unwrap();
    assert!(done(&run(&["backup"], &[&cut, "--database".as_ref(), &database])).contains("copied"));
    let whole = std::fs::read(&cut).unwrap();
    std::fs::write(&cut, &whole[..whole.len() / 2]).unwrap();
    for bad in [&missing, &text, &cut] {
        let said = failed(&run(&["restore"], &[bad, "--database".as_ref(), &database]));
        assert!(said.contains("is no back-up of a leaderboard"), "{said}");
    }
    let server = ServerProcess::start(&database);
    assert_eq!(ids(&server), [kept]);
}

#[test]
fn a_hidden_run_is_nowhere_and_cannot_come_back_until_it_is_shown_again() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("leaderboard.sqlite");
    let server = ServerProcess::start(&database);
    let (good, bad) = (stored(&server, 1), stored(&server, 2));
    let set = |tier: &str| run(&["set-tier", &bad, tier, "--database"], &[&database]);
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
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("leaderboard.sqlite");
    let server = ServerProcess::start(&database);
    let (first, second, kept) = (stored(&server, 1), stored(&server, 2), stored(&server, 3));
    let remove = |ids: [&str; 2]| run(&["remove", ids[0], ids[1], "--database"], &[&database]);
    let said = failed(&remove([&first, "0123456789abcdef"]));
    assert!(said.contains("no run 0123456789abcdef"), "{said}");
    assert_eq!(ids(&server).len(), 3);
    done(&remove([&first, &second]));
    assert_eq!(ids(&server), [kept]);
    assert!(failed(&run(&["remove", &first, "--database", "nowhere.sqlite"], &[])).contains("--database"));
}
