//! Runs recomputed for a host: permitted and forbidden changes.

use std::path::Path;

use crate::support::pretended::data_folder;
use crate::support::*;

const IN_PART: &str = "could be computed again in part only";
/// Part of the note on a record without a training.
const ANOTHER_LOSS: &str = "from its seed, step 1 has a loss of";

fn replay_with(server: &TestServer, words: &[&str], data: &Path) -> Output {
    run(&[&["replay", "--here", "--data", data.to_str().unwrap()], words].concat(), server.database())
}

#[track_caller]
fn replayed(server: &TestServer, words: &[&str]) -> String {
    done(&replay_with(server, words, &data_folder()))
}

fn moderated(server: &TestServer, deed: &str, run_id: &str) -> String {
    done(&run(&["moderate", deed, run_id, "--reason", "It is mine to say"], server.database()))
}

fn waiting(server: &TestServer) -> i64 {
    server.database().count("SELECT COUNT(*) FROM verifications")
}

/// Returns a server that verifies nothing until it is restarted.
fn idle_server() -> TestServer {
    let mut server = rehearsal::server();
    server.restart_with_verifiers(0);
    server
}

/// Returns a server without data sets, and an honest run that it could not verify.
fn checked_without_data() -> (TestServer, String) {
    let server = TestServer::with(|config, folder| {
        (config.data, config.seed) = (Some(folder.to_owned()), Some(rehearsal::SEED));
    });
    let started = light().play_accepted(&server);
    assert_tier(&server.verdict_of(&started.run_id), Tier::Checked, "cannot recompute");
    (server, started.run_id)
}

#[test]
fn a_proven_run_stays_proven_when_its_first_steps_fit() {
    let server = rehearsal::server();
    let run_id = light().play_accepted(&server).run_id;
    assert_tier(&server.verdict_of(&run_id), Tier::Proven, "");
    let before = server.stored(&run_id);
    assert_says(&replayed(&server, &[&run_id]), &[&format!("run {run_id}: It stays proven: "), IN_PART]);
    assert_eq!(server.stored(&run_id), before);
    assert_eq!(server.list("?ranked=true").total, 1);
}

/// Makes a second record of a server differ from the first.
fn another(record: &mut RunRecord) {
    record.device.claimed_name = Some("Another".to_owned());
}

#[test]
fn wrong_first_losses_flag_a_proven_run() {
    let server = rehearsal::server();
    let run = server.proven(|_| {});
    assert_eq!(server.list("?ranked=true").total, 2);
    let said = replayed(&server, &["--tier", "proven"]);
    assert!(said.starts_with("recomputed 1 runs") && said.contains("was proven and is flagged now"), "{said}");
    let verdict = server.verdict(&run);
    assert_tier(&verdict, Tier::Flagged, ANOTHER_LOSS);
    assert_eq!(server.list("?ranked=true").total, 0);
    assert_eq!(server.database().count("SELECT COUNT(*) FROM figures"), 0);
    // No result of a replay makes the run proven again.
    replayed(&server, &["--tier", "flagged"]);
    assert_eq!(server.verdict(&run), verdict);

    // The decisions of a moderator override replays.
    let run = server.proven(another);
    moderated(&server, "hide", &run);
    assert_says(&replayed(&server, &[&run]), &["was proven and is flagged now", "The moderator's decision"]);
    server.assert_unknown(&run);
    moderated(&server, "flag", &run);
    assert_eq!(server.verdict(&run).notes[0].to_string(), "A moderator flagged this run: It is mine to say.");
    assert_says(&moderated(&server, "restore", &run), &["is flagged now"]);
    assert_tier(&server.verdict(&run), Tier::Flagged, ANOTHER_LOSS);
}

#[test]
fn unverifiable_run_is_proven_after_data_arrives() {
    let (server, run_id) = checked_without_data();
    // Still cannot be verified, so its states are kept.
    let nothing = tempfile::tempdir().unwrap();
    let said = done(&replay_with(&server, &[&run_id], nothing.path()));
    assert_says(&said, &["It stays checked: This leaderboard cannot recompute"]);
    assert_says(&replayed(&server, &["--all-checked"]), &[&format!("run {run_id}: It was checked and is proven now.")]);
    assert_tier(&server.verdict(&run_id), Tier::Proven, "");
    assert_eq!(server.list("?ranked=true").total, 1);
    for forgotten in ["SELECT COUNT(*) FROM shown_states", "SELECT COUNT(*) FROM unexamined_runs"] {
        assert_eq!(server.database().count(forgotten), 0, "{forgotten}");
    }
}

#[test]
fn without_its_states_a_checked_run_is_never_proven() {
    let (server, run_id) = checked_without_data();
    server.database().execute("DELETE FROM started_runs");
    let said = replayed(&server, &[&run_id]);
    assert!(said.contains("It stays checked: ") && said.contains(IN_PART), "{said}");
    let found = server.verdict(&run_id);
    assert_tier(&found, Tier::Checked, IN_PART);
    replayed(&server, &[&run_id]);
    assert_eq!(server.verdict(&run_id), found, "it is said once");
    assert_eq!(server.list("?ranked=true").total, 0);
}

#[test]
fn run_is_not_proven_after_its_states_expire() {
    let mut server = idle_server();
    let started = light().play_accepted(&server);
    server.database().execute("DELETE FROM started_runs");
    server.restart_with_verifiers(1);
    assert_tier(&server.verdict_of(&started.run_id), Tier::Checked, IN_PART);
}

#[test]
fn states_of_some_networks_prove_nothing_of_the_others() {
    let server = rehearsal::server();
    let mut half = rehearsal::honest();
    half.messages.retain(|message| message.call.workload() == SMALL);
    assert_eq!(half.verdict(&server).tier, Tier::Checked);
    assert_says(&replayed(&server, &["--all-checked"]), &["It stays checked: ", IN_PART]);
    assert_eq!(server.list("?ranked=true").total, 0);
}

#[test]
fn run_hidden_during_verification_keeps_its_result() {
    let mut server = idle_server();
    let run_id = light().play_accepted(&server).run_id;
    moderated(&server, "hide", &run_id);
    server.restart_with_verifiers(1);
    wait_until(|| waiting(&server) == 0);
    server.assert_unknown(&run_id);
    let said = moderated(&server, "restore", &run_id);
    let outcome = server.database().words("SELECT COALESCE(outcome, '') FROM replays");
    assert!(said.contains("is proven now"), "{said} {outcome:?} {:?}", server.verdict(&run_id).notes);
    assert_eq!(server.list("?ranked=true").total, 1);
}

#[test]
fn running_servers_replay_the_queue_for_whoever_waits() {
    let mut server = idle_server();
    let run_id = server.proven(|_| {});
    let said = done(&run(&["replay", "--no-wait", &run_id], server.database()));
    assert!(said.starts_with("1 runs wait for a server"), "{said}");
    let verdict = server.verdict(&run_id);
    assert_eq!((verdict.tier, verdict.being_verified), (Tier::Proven, false));
    assert_eq!(server.list("?ranked=true").total, 2);
    server.restart_with_verifiers(1);
    wait_until(|| server.verdict(&run_id).tier == Tier::Flagged);

    server.restart_with_verifiers(0);
    let run_id = server.proven(another);
    server.settings.verifiers = 1;
    let said = std::thread::scope(|scope| {
        let told = scope.spawn(|| done(&run(&["replay", &run_id], server.database())));
        wait_until(|| waiting(&server) > 0);
        let _other = server.another();
        told.join().unwrap()
    });
    assert!(said.contains("was proven and is flagged now"), "{said}");
}

#[test]
fn replay_skips_impossible_runs_and_refuses_unknown_ones() {
    let server = rehearsal::server();
    let other = server.accepted(|record| record.requested.learning_rate = Some(0.01));
    let standard = server.accepted(|_| {});
    let words = ["replay", "--no-wait", &standard.run_id, "0123456789abcdef"];
    assert_says(&failed(&run(&words, server.database())), &["no run 0123456789abcdef"]);
    assert_eq!(waiting(&server), 0);
    let said = replayed(&server, &[&other.run_id]);
    assert!(said.starts_with("recomputed 0 runs"), "{said}");
    assert!(said.contains(&format!("run {} was left out: It is not a standard run", other.run_id)), "{said}");
}
