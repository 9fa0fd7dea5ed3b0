//! Runs recomputed for a host: permitted and forbidden changes.

use std::path::Path;

use results::api::{RunList, StoredRun, Tier, Verdict};

use crate::support::pretended::data_folder;
use crate::support::rehearsal::{self, SEED, SMALL};
use crate::support::{TestServer, record, wait_until};
use crate::upkeep::{done, failed, run};

const IN_PART: &str = "could be computed again in part only";
/// Part of the note on a record without a training.
const ANOTHER_LOSS: &str = "from its seed, step 1 has a loss of";

fn replay(server: &TestServer, words: &[&str], data: Option<&Path>) -> std::process::Output {
    let here: &[&std::ffi::OsStr] = match data {
        Some(data) => &["--here".as_ref(), "--data".as_ref(), data.as_ref()],
        None => &["--no-wait".as_ref()],
    };
    let database: &[&std::ffi::OsStr] = &["--database".as_ref(), server.database().as_ref()];
    run(&[&["replay"], words].concat(), &[here, database].concat())
}

/// Recomputes runs in another process and returns its output.
#[track_caller]
fn replayed_here(server: &TestServer, words: &[&str]) -> String {
    done(&replay(server, words, Some(&data_folder())))
}

fn verdict(server: &TestServer, run_id: &str) -> Verdict {
    server.get(&format!("/api/v1/runs/{run_id}/verdict")).parse()
}

fn ranked(server: &TestServer) -> u64 {
    server.get("/api/v1/runs?ranked=true").parse::<RunList>().total
}

/// Returns a server without data sets, and an honest run that it could not verify.
fn checked_without_data() -> (TestServer, String) {
    let nothing = tempfile::tempdir().unwrap();
    let server = TestServer::of_rehearsals(SEED, nothing.path().to_owned());
    let started = rehearsal::light().play_accepted(&server);
    let verdict = server.verdict_of(&started.run_id);
    assert_eq!(verdict.tier, Tier::Checked);
    assert!(verdict.notes[0].to_string().contains("cannot recompute"), "{:?}", verdict.notes);
    (server, started.run_id)
}

#[test]
fn a_proven_run_stays_proven_when_its_first_steps_fit() {
    let server = rehearsal::server();
    let (started, _) = rehearsal::light().play(&server);
    assert_eq!(server.verdict_of(&started.run_id).tier, Tier::Proven);
    let before = server.get(&format!("/api/v1/runs/{}", started.run_id)).text();
    let said = replayed_here(&server, &[&started.run_id]);
    assert!(said.contains(&format!("run {}: It stays proven: ", started.run_id)) && said.contains(IN_PART), "{said}");
    assert_eq!(server.get(&format!("/api/v1/runs/{}", started.run_id)).text(), before);
    assert_eq!(ranked(&server), 1);
}

#[test]
fn wrong_first_losses_flag_a_proven_run() {
    let server = rehearsal::server();
    let run = server.proven(|_| {});
    assert_eq!(ranked(&server), 2);
    let said = replayed_here(&server, &["--tier", "proven"]);
    assert!(said.starts_with("recomputed 1 runs") && said.contains("was proven and is flagged now"), "{said}");
    let verdict = verdict(&server, &run.run_id);
    assert_eq!(verdict.tier, Tier::Flagged);
    assert!(verdict.notes[0].to_string().contains(ANOTHER_LOSS), "{:?}", verdict.notes);
    assert_eq!(ranked(&server), 0);
    assert_eq!(server.database().count("SELECT COUNT(*) FROM figures"), 0);
    // No result of a replay makes the run proven again.
    replayed_here(&server, &["--tier", "flagged"]);
    assert_eq!(crate::replays::verdict(&server, &run.run_id), verdict);
}

#[test]
fn unverifiable_run_is_proven_after_data_arrives() {
    let (server, run_id) = checked_without_data();
    // Still cannot be verified, so its states are kept.
    let nothing = tempfile::tempdir().unwrap();
    let said = done(&replay(&server, &[&run_id], Some(nothing.path())));
    assert!(said.contains("It stays checked: This leaderboard cannot recompute"), "{said}");
    let said = replayed_here(&server, &["--all-checked"]);
    assert!(said.contains(&format!("run {run_id}: It was checked and is proven now.")), "{said}");
    assert_eq!(verdict(&server, &run_id).tier, Tier::Proven);
    assert_eq!(ranked(&server), 1);
    for forgotten in ["SELECT COUNT(*) FROM shown_states", "SELECT COUNT(*) FROM unexamined_runs"] {
        assert_eq!(server.database().count(forgotten), 0, "{forgotten}");
    }
}

#[test]
fn without_its_states_a_checked_run_is_never_proven() {
    let (server, run_id) = checked_without_data();
    server.database().execute("DELETE FROM started_runs");
    let said = replayed_here(&server, &[&run_id]);
    assert!(said.contains("It stays checked: ") && said.contains(IN_PART), "{said}");
    let found = verdict(&server, &run_id);
    assert_eq!(found.tier, Tier::Checked);
    assert!(found.notes.iter().any(|note| note.to_string().contains(IN_PART)), "{:?}", found.notes);
    replayed_here(&server, &[&run_id]);
    assert_eq!(verdict(&server, &run_id), found, "it is said once");
    assert_eq!(ranked(&server), 0);
}

#[test]
fn run_is_not_proven_after_its_states_expire() {
    let mut server = rehearsal::server();
    server.restart_with_verifiers(0);
    let started = rehearsal::light().play_accepted(&server);
    server.database().execute("DELETE FROM started_runs");
    server.restart_with_verifiers(1);
    let verdict = server.verdict_of(&started.run_id);
    assert_eq!(verdict.tier, Tier::Checked);
    assert!(verdict.notes.iter().any(|note| note.to_string().contains(IN_PART)), "{:?}", verdict.notes);
}

#[test]
fn states_of_some_networks_prove_nothing_of_the_others() {
    let server = rehearsal::server();
    let mut half = rehearsal::honest();
    half.messages.retain(|message| message.call.workload() == SMALL);
    assert_eq!(half.verdict(&server).tier, Tier::Checked);
    let said = replayed_here(&server, &["--all-checked"]);
    assert!(said.contains("It stays checked: ") && said.contains(IN_PART), "{said}");
    assert_eq!(ranked(&server), 0);
}

#[test]
fn moderator_decisions_override_replays() {
    let server = rehearsal::server();
    let run = server.proven(|_| {});
    let moderate = |deed: &str| {
        let words = ["moderate", deed, &run.run_id, "--reason", "It is mine to say", "--database"];
        done(&crate::upkeep::run(&words, &[server.database().as_ref()]))
    };
    moderate("hide");
    let said = replayed_here(&server, &[&run.run_id]);
    assert!(said.contains("was proven and is flagged now") && said.contains("The moderator's decision"), "{said}");
    server.get(&format!("/api/v1/runs/{}", run.run_id)).assert_refused(404, "unknown_run", "");
    moderate("flag");
    let flagged = verdict(&server, &run.run_id);
    assert_eq!(flagged.notes[0].to_string(), "A moderator flagged this run: It is mine to say.");
    assert!(moderate("restore").contains("is flagged now"));
    assert!(verdict(&server, &run.run_id).notes[0].to_string().contains(ANOTHER_LOSS));
}

#[test]
fn run_hidden_during_verification_keeps_its_result() {
    let mut server = rehearsal::server();
    server.restart_with_verifiers(0);
    let (started, _) = rehearsal::light().play(&server);
    let moderate = |server: &TestServer, deed: &str| {
        let words = ["moderate", deed, &started.run_id, "--reason", "For a while", "--database"];
        done(&run(&words, &[server.database().as_ref()]))
    };
    moderate(&server, "hide");
    server.restart_with_verifiers(1);
    let waits = || server.database().count("SELECT COUNT(*) FROM verifications") > 0;
    wait_until(|| !waits());
    server.get(&format!("/api/v1/runs/{}", started.run_id)).assert_refused(404, "unknown_run", "");
    let said = moderate(&server, "restore");
    let outcome = server.database().words("SELECT COALESCE(outcome, '') FROM replays");
    assert!(said.contains("is proven now"), "{said} {outcome:?} {:?}", verdict(&server, &started.run_id).notes);
    assert_eq!(ranked(&server), 1);
}

#[test]
fn running_server_replays_the_queue_and_keeps_tiers() {
    let mut server = rehearsal::server();
    server.restart_with_verifiers(0);
    let run = server.proven(|_| {});
    let said = done(&replay(&server, &[&run.run_id], None));
    assert!(said.starts_with("1 runs wait for a server"), "{said}");
    let waiting = verdict(&server, &run.run_id);
    assert_eq!((waiting.tier, waiting.being_verified), (Tier::Proven, false));
    assert_eq!(ranked(&server), 2);
    server.restart_with_verifiers(1);
    wait_until(|| verdict(&server, &run.run_id).tier == Tier::Flagged);
}

#[test]
fn whoever_waits_is_told_what_another_process_found() {
    let mut server = rehearsal::server();
    let run = server.proven(|_| {});
    server.restart_with_verifiers(0);
    let said = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let words = ["replay", &run.run_id, "--database"];
            done(&crate::upkeep::run(&words, &[server.database().as_ref()]))
        });
        wait_until(|| server.database().count("SELECT COUNT(*) FROM verifications") > 0);
        let other = server.another_with_verifiers(1);
        let said = waiting.join().unwrap();
        drop(other);
        said
    });
    assert!(said.contains("was proven and is flagged now"), "{said}");
}

#[test]
fn replay_skips_impossible_runs_and_refuses_unknown_ones() {
    let server = rehearsal::server();
    let other = server.accepted(|record| record.requested.learning_rate = Some(0.01));
    let standard = server.accepted(|_| {});
    let said = failed(&replay(&server, &[&standard.run_id, "0123456789abcdef"], None));
    assert!(said.contains("no run 0123456789abcdef"), "{said}");
    assert_eq!(server.database().count("SELECT COUNT(*) FROM verifications"), 0);
    let said = replayed_here(&server, &[&other.run_id]);
    assert!(said.starts_with("recomputed 0 runs"), "{said}");
    assert!(said.contains(&format!("run {} was left out: It is not a standard run", other.run_id)), "{said}");
}

#[test]
fn an_imported_run_can_be_doubted_and_not_proven() {
    let server = rehearsal::server();
    for record in [rehearsal::light().record, record::unregistered(7)] {
        let answer = server.import(&record);
        assert_eq!(answer.status, 201, "{}", answer.text());
    }
    let said = replayed_here(&server, &["--tier", "unverified"]);
    assert!(said.contains("It stays unverified: ") && said.contains("was unverified and is flagged now"), "{said}");
    let text = server.get("/api/v1/export?format=jsonl").text();
    let runs: Vec<StoredRun> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut tiers: Vec<Tier> = runs.iter().map(|run| run.tier).collect();
    tiers.sort();
    assert_eq!(tiers, [Tier::Unverified, Tier::Flagged]);
}
