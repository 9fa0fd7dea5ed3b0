//! Proof of real training, and of nothing else.

use leaderboard::Protection;
use results::api::{AcceptedRun, RunList, StartedRun, StoredRun, Tier, Verdict};
use results::badge::Badge;
use results::{Phase, RunRecord, Stretch, Warning, WorkloadRecord};

use crate::support::cheat::{Cheated, bent_step, each_step, guessed_test, map};
use crate::support::people::{ANN, BOB, proven_by};
use crate::support::pretended::Tricks;
use crate::support::rehearsal::{LARGE, Rehearsal, SMALL, light, verdict_on};
use crate::support::requests::Call;
use crate::support::{TestServer, record, rehearsal};

#[test]
fn a_run_that_trained_is_proven_and_ranked() {
    let server = rehearsal::server();
    let run = rehearsal::honest();
    let verdict = run.verdict(&server);
    assert_eq!((verdict.tier, verdict.notes), (Tier::Proven, Vec::new()));
    let ranking: RunList = server.get("/api/v1/runs?ranked=true").parse();
    assert_eq!(ranking.total, 2);
    for row in ranking.rows {
        let workload = run.record.workloads.iter().find(|of| of.workload == row.workload).unwrap();
        assert_eq!(row.summary, workload.summary, "the server's clock agrees, and its test");
    }
}

/// Returns a server that verifies nothing, and an honest run in its queue.
fn server_with_a_waiting_run() -> (TestServer, StartedRun) {
    let mut server = rehearsal::server();
    server.restart_with_verifiers(0);
    let started = light().play_accepted(&server);
    (server, started)
}

#[test]
fn a_run_that_waits_is_verified_by_the_next_server() {
    let (mut server, started) = server_with_a_waiting_run();
    let path = format!("/api/v1/runs/{}/verdict", started.run_id);
    assert!(server.get(&path).parse::<Verdict>().being_verified);
    server.restart_with_verifiers(1);
    assert_eq!(server.verdict_of(&started.run_id).tier, Tier::Proven);
}

#[test]
fn interrupted_verifications_do_not_count() {
    let (mut server, started) = server_with_a_waiting_run();
    (0..4).for_each(|_| server.restart_with_verifiers(1));
    assert_eq!(server.verdict_of(&started.run_id).tier, Tier::Proven);
}

#[test]
fn the_next_server_verifies_what_a_killed_one_held() {
    let (mut server, started) = server_with_a_waiting_run();
    server.restart_as_if_killed();
    let verdict = server.verdict_of(&started.run_id);
    assert_eq!(verdict.tier, Tier::Proven, "{verdict:?}");
}

fn small(record: &mut RunRecord) -> &mut WorkloadRecord {
    record.workloads.iter_mut().find(|of| of.workload == SMALL).unwrap()
}

/// Plays a run that lacks something for a proof, and asserts that its tier is `checked`, with this reason.
#[track_caller]
fn is_checked(server: &TestServer, run: &Rehearsal, reason: &str) {
    let verdict = run.verdict(server);
    assert_eq!(verdict.tier, Tier::Checked, "{:?}", verdict.notes);
    assert!(verdict.notes.iter().any(|note| note.to_string().contains(reason)), "{:?}", verdict.notes);
    assert_eq!(server.get("/api/v1/runs?ranked=true").parse::<RunList>().total, 0);
}

#[test]
fn slower_server_clock_determines_the_rate() {
    let server = rehearsal::server();
    let mut run = light();
    run.messages.iter_mut().for_each(|message| message.at *= 2.0);
    let started = run.play_accepted(&server);
    let most = 1.03 * run.server_rate();
    let list: RunList = server.get("/api/v1/runs").parse();
    let listed = list.rows.iter().find(|row| row.run_id == started.run_id).unwrap();
    let rate = listed.summary.samples_per_second.unwrap();
    assert!((rate / most - 1.0).abs() < 1e-6, "{rate} and {most}");
    let shown: StoredRun = server.get(&format!("/api/v1/runs/{}", started.run_id)).parse();
    let claimed = shown.record.workloads.iter().find(|of| of.workload == SMALL).unwrap();
    assert!(claimed.summary.samples_per_second.unwrap() > 1.9 * rate, "the record stays what it is");
    let place = shown.record.workloads.iter().position(|of| of.workload == SMALL).unwrap();
    assert_eq!(shown.listed[place], listed.summary);
    // The same applies to the badge, which is drawn like the card, and to the open data.
    let badge: Badge = server.get(&format!("/api/v1/runs/{}/badge.json?workload={SMALL}", started.run_id)).parse();
    assert!(badge.message.contains(&format!("{rate:.1} samples/s")), "{} and {rate}", badge.message);
    let csv = server.get("/api/v1/export?format=csv").text();
    assert!(csv.contains(&rate.to_string()), "{csv}");
}

#[test]
fn states_that_do_not_train_into_each_other_flag_a_run() {
    let server = rehearsal::server();
    let run = Cheated::on(
        &server,
        Tricks {
            lacks: Some(LARGE),
            train: |plain, steps| {
                each_step(plain, steps, |plain| {
                    bent_step(plain, |_, after| {
                        // RMSprop's memory of the last ten biases.
                        let rest = after.memory.len() - 4 * 10;
                        map(&mut after.memory[rest..], |value| 1.1 * value);
                    })
                })
            },
            test: guessed_test,
            ..Tricks::default()
        },
    );
    let verdict = run.verdict(&server);
    assert_eq!(verdict.tier, Tier::Flagged, "{:?}", verdict.notes);
    assert!(verdict.notes[0].to_string().contains("of its change"), "{:?}", verdict.notes);
}

#[test]
fn first_losses_that_are_guessed_flag_a_run() {
    let server = rehearsal::server();
    let mut run = light();
    small(&mut run.record).first_losses.iter_mut().for_each(|loss| *loss *= 1.01);
    let verdict = run.verdict(&server);
    assert_eq!(verdict.tier, Tier::Flagged, "{:?}", verdict.notes);
    assert!(verdict.notes[0].to_string().contains("from its seed, step 1"), "{:?}", verdict.notes);
}

#[test]
fn flagged_run_is_noted_on_its_submitters_proven_runs() {
    let server = rehearsal::server_behind_a_proxy(Protection::default());
    let proven =
        |who: &'static str| proven_by(&server, who, |record| record.device.claimed_name = Some(who.to_owned()));
    let [same, another] = [ANN, BOB].map(proven);
    let mut fake = light();
    small(&mut fake.record).first_losses.fill(9.0);
    let (started, answer) = fake.play_as(&server.seen_at(ANN), &server);
    assert_eq!(verdict_on(&server, &started, &answer).tier, Tier::Flagged);
    let note = "Another run of this submitter on this day was flagged.";
    for (run_id, is_noted) in [(same, true), (another, false)] {
        let verdict: Verdict = server.get(&format!("/api/v1/runs/{run_id}/verdict")).parse();
        assert_eq!(verdict.tier, Tier::Proven);
        assert_eq!(verdict.notes.iter().any(|said| said.to_string() == note), is_noted, "{:?}", verdict.notes);
    }
}

/// Returns [`light`] with `by` added to the accuracy.
fn more_accurate(by: f64) -> Rehearsal {
    let mut run = light();
    small(&mut run.record).evaluations.iter_mut().for_each(|look| look.accuracy += by);
    record::summarise(&mut run.record);
    run
}

#[test]
fn an_accuracy_is_the_one_that_the_server_finds() {
    let server = rehearsal::server();
    let right = small(&mut light().record).summary.accuracy.unwrap();
    // Another device may break a tie differently.
    let verdict = more_accurate(0.001).verdict(&server);
    assert_eq!(verdict.tier, Tier::Proven, "{:?}", verdict.notes);
    let listed: RunList = server.get("/api/v1/runs").parse();
    assert!((listed.rows[0].summary.accuracy.unwrap() - right).abs() < 5e-4, "{:?} {right}", listed.rows[0].summary);
}

#[test]
fn an_accuracy_one_point_above_the_servers_is_flagged() {
    let verdict = more_accurate(0.01).verdict(&rehearsal::server());
    assert_eq!(verdict.tier, Tier::Flagged, "{:?}", verdict.notes);
    assert!(verdict.notes[0].to_string().contains("classify"), "{:?}", verdict.notes);
}

#[test]
fn two_runs_from_one_announcement_are_one() {
    let server = rehearsal::server();
    let run = light();
    let started = run.play_accepted(&server);
    // The nonce is used up, for other records and further requests.
    let mut second = run.record_of(&started);
    small(&mut second).resources.cpu_user_percent = Some(1.0);
    server.upload(&started.run_id, &second).assert_refused(409, "already_submitted", "");
    for message in &run.messages {
        message.call.send(&server, &started).assert_refused(409, "already_submitted", "");
    }
    // The same record for another announcement of the same seed.
    let again = server.begin();
    run.send_all(&server, &again);
    server.upload(&again.run_id, &run.record_of(&again)).assert_refused(409, "already_submitted", "");
    // Another run's nonce.
    let third = server.begin();
    let mut stolen = run.record_of(&third);
    stolen.nonce = Some(started.nonce);
    server.upload(&third.run_id, &stolen).assert_refused(403, "wrong_nonce", "nonce");
}

#[test]
fn a_public_record_under_another_name_is_never_ranked() {
    let server = rehearsal::server();
    let run = light();
    run.play_accepted(&server);
    let named = |name: &str| {
        let mut record = run.record.clone();
        record.device.claimed_name = Some(name.to_owned());
        record
    };
    let imported = server.import(&named("Mine"));
    assert_eq!(imported.parse::<AcceptedRun>().tier, Tier::Unverified);
    let started = server.begin();
    server.pass(run.record.provenance.wall_seconds);
    let renamed = Rehearsal { messages: Vec::new(), record: named("Mine, announced") }.record_of(&started);
    let verdict = verdict_on(&server, &started, &server.upload(&started.run_id, &renamed));
    assert_eq!(verdict.tier, Tier::Checked, "{:?}", verdict.notes);
    assert!(verdict.notes[0].to_string().contains("received no segments"), "{:?}", verdict.notes);
}

/// Returns [`light`] with a pause of `seconds` between its first two laps.
fn paused(seconds: f64) -> Rehearsal {
    let mut run = light();
    let second = |call: &Call| matches!(call, Call::OpenLap(lap) if lap.segment > 0);
    let from = run.messages.iter().position(|message| second(&message.call)).unwrap();
    run.messages[from..].iter_mut().for_each(|message| message.at += seconds);
    small(&mut run.record).timeline.insert(1, Stretch { phase: Phase::Paused, seconds });
    run.record.provenance.wall_seconds += seconds;
    run
}

#[test]
fn run_with_a_long_pause_is_proven_but_not_ranked() {
    let server = rehearsal::server();
    let mut run = paused(1000.0);
    run.record.warnings.push(Warning::TabHidden { seconds: 1000.0, paused_seconds: 1000.0 });
    let verdict = run.verdict(&server);
    assert_eq!(verdict.tier, Tier::Proven, "{:?}", verdict.notes);
    assert_eq!(server.get("/api/v1/runs?ranked=true").parse::<RunList>().total, 0);
}

#[test]
fn paused_run_is_checked_without_ranking() {
    is_checked(&rehearsal::server(), &paused(40.0), "paused for 40.0 s");
}
