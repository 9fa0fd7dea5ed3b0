//! A network that a device cannot hold, or that failed half-way, takes nothing from the others of its run.

use results::api::{RunList, StoredRun, Tier, Verdict};
use results::{FailureCause, Outcome, Phase, RunRecord, Stretch, Summary, WorkloadRecord};

use crate::support::TestServer;
use crate::support::rehearsal::{self, Rehearsal};

const SENTENCE: &str = "the device ran out of memory: a test took all of it; try a smaller batch size";

/// What the engine leaves of a workload that failed.
fn fail(workload: &mut WorkloadRecord, timeline: Vec<Stretch>) {
    workload.outcome = Outcome::failed(FailureCause::OutOfMemory, SENTENCE);
    workload.correctness = None;
    workload.settings.chance_accuracy = None;
    workload.cold_start = results::ColdStart::default();
    workload.first_losses.clear();
    workload.curve.clear();
    workload.evaluations.clear();
    workload.epochs.clear();
    workload.windows.clear();
    workload.peaks.clear();
    workload.checkpoints.clear();
    workload.weight_samples.clear();
    workload.timeline = timeline;
    let target = workload.target.as_mut().unwrap();
    (target.reached_seconds, target.reached_step) = (None, None);
    workload.summary = Summary::default();
}

/// The honest run, whose workload number `place` fails after `told` of its checkpoints.
fn failing(place: usize, told: usize) -> Rehearsal {
    let mut run = rehearsal::honest();
    let workload = &mut run.record.workloads[place];
    let name = workload.workload.clone();
    let mut timeline = workload.timeline.clone();
    if told == 0 {
        timeline.retain(|stretch| matches!(stretch.phase, Phase::LoadingData | Phase::Building | Phase::Checking));
    }
    fail(workload, timeline);
    let mut number = 0;
    run.told.retain(|message| {
        number += usize::from(message.workload == name);
        message.workload != name || number <= told
    });
    run
}

fn ranked(server: &TestServer) -> Vec<String> {
    let list: RunList = server.get("/api/v1/runs?ranked=true").parse();
    list.rows.into_iter().map(|row| row.workload).collect()
}

#[track_caller]
fn other_is_proven(run: &Rehearsal, place: usize) {
    let server = rehearsal::server();
    let verdict = run.verdict(&server);
    let names = |place: usize| run.record.workloads[place].workload.clone();
    let note = format!("{} could not be trained on this device and is left out of the table.", names(place));
    assert_eq!((verdict.tier, verdict.notes), (Tier::Proven, vec![note]));
    assert_eq!(ranked(&server), [names(1 - place)]);
    let listed: RunList = server.get("/api/v1/runs").parse();
    assert_eq!(listed.total, 1, "only what was completed has a row");
    let id = &listed.rows[0].run_id;
    let shown: StoredRun = server.get(&format!("/api/v1/runs/{id}")).parse();
    assert_eq!(shown.record.workloads[place].outcome, Outcome::failed(FailureCause::OutOfMemory, SENTENCE));
    let table = server.get("/api/v1/export?format=csv").text();
    assert!(table.contains(",failed,") && table.contains(",completed,"), "{table}");
    let badge = server.get(&format!("/api/v1/runs/{id}/badge.json?workload={}", names(place))).text();
    assert!(badge.contains("not completed"), "{badge}");
    assert!(server.get(&format!("/api/v1/runs/{id}/badge.json")).text().contains("samples/s"));
}

#[test]
fn the_other_network_is_proven_and_ranked_where_one_could_not_be_built() {
    for place in [0, 1] {
        other_is_proven(&failing(place, 0), place);
    }
}

#[test]
fn the_other_network_is_proven_and_ranked_where_one_failed_half_way() {
    for place in [0, 1] {
        other_is_proven(&failing(place, 2), place);
    }
}

/// The second network began so much later, because the first one failed so slowly.
fn failing_slowly(seconds: f64, named: bool) -> Rehearsal {
    let mut run = failing(0, 0);
    run.told.iter_mut().for_each(|message| message.at += seconds);
    run.record.provenance.wall_seconds += seconds;
    if named {
        run.record.workloads[0].timeline = vec![Stretch { phase: Phase::Building, seconds }];
    }
    run
}

#[test]
fn the_time_that_a_failing_network_took_is_accounted_for_where_its_timeline_names_it() {
    other_is_proven(&failing_slowly(600.0, true), 0);
    let verdict = failing_slowly(600.0, false).verdict(&rehearsal::server());
    assert_eq!(verdict.tier, Tier::Checked);
    assert!(verdict.notes.iter().any(|note| note.contains("passed before it began to train")), "{:?}", verdict.notes);
    // Nobody may take as long as he likes to prepare.
    let verdict = failing_slowly(2000.0, true).verdict(&rehearsal::server());
    assert_eq!(verdict.tier, Tier::Checked);
}

#[test]
fn weights_that_were_asked_for_are_not_got_around_by_saying_that_the_network_failed() {
    let server = rehearsal::server();
    let run = failing(0, usize::MAX);
    let name = run.record.workloads[0].workload.clone();
    // All of its checkpoints are told, so that one of them is asked for; nothing is shown.
    let started = server.begin();
    let mut now = 0.0;
    for message in &run.told {
        server.pass(message.at - now);
        now = message.at;
        let answer = message.tell(&server, &started);
        let wanted = answer.status == 200 && answer.parse::<results::api::CheckpointAnswer>().weights_wanted;
        if wanted && message.workload != name {
            assert_eq!(message.show(&server, &started).status, 204);
        }
    }
    server.pass((run.record.provenance.wall_seconds - now).max(0.0));
    let answer = server.upload(&started.run_id, &run.record_of(&started));
    assert_eq!(answer.status, 201, "{}", answer.text());
    let verdict: Verdict = server.get(&format!("/api/v1/runs/{}/verdict", started.run_id)).parse();
    assert_eq!(verdict.tier, Tier::Checked);
    assert!(verdict.notes.iter().any(|note| note.contains("asked for did not come")), "{:?}", verdict.notes);
    assert!(ranked(&server).is_empty());
}

/// What is done to the record, and the code and field of the refusal.
type Refused = (fn(&mut WorkloadRecord), &'static str, &'static str);

#[test]
fn a_network_that_failed_has_a_reason_of_a_line_and_no_figures() {
    let cases: [Refused; 4] = [
        (
            |of| of.outcome = Outcome::Failed { cause: FailureCause::Data, reason: "x".repeat(301) },
            "too_long",
            "outcome.reason",
        ),
        (
            |of| of.outcome = Outcome::Failed { cause: FailureCause::Data, reason: "a\nb".to_owned() },
            "control_character",
            "outcome.reason",
        ),
        (
            |of| of.outcome = Outcome::Failed { cause: FailureCause::Data, reason: "  ".to_owned() },
            "empty",
            "outcome.reason",
        ),
        (|of| of.first_losses.push(2.3), "inconsistent", "outcome"),
    ];
    let server = TestServer::start();
    for (spoil, code, field) in cases {
        let mut record = crate::support::record::unregistered(5);
        fail(&mut record.workloads[0], Vec::new());
        spoil(&mut record.workloads[0]);
        server.import(&record).assert_refused(422, code, &format!("workloads[0].{field}"));
    }
}

#[test]
fn a_run_of_which_nothing_was_trained_is_no_result() {
    let server = TestServer::start();
    let mut record: RunRecord = crate::support::record::unregistered(5);
    record.workloads.iter_mut().for_each(|workload| fail(workload, Vec::new()));
    server.import(&record).assert_refused(422, "nothing_completed", "workloads");
}

#[test]
fn a_suite_names_the_network_that_failed_too() {
    let server = TestServer::start();
    let mut record = crate::support::record::unregistered(5);
    fail(&mut record.workloads[0], Vec::new());
    assert_eq!(server.import(&record).status, 201);
    record.workloads.remove(0);
    server.import(&record).assert_refused(422, "incomplete_suite", "workloads");
}

#[test]
fn a_record_of_a_layout_before_is_taken_as_it_was() {
    let server = TestServer::start();
    let mut record = crate::support::record::unregistered(6);
    for (layout, status) in [(2, 201), (3, 201), (4, 201), (results::SCHEMA_VERSION + 1, 422)] {
        record.schema_version = layout;
        assert_eq!(server.import(&record).status, status, "layout {layout}");
    }
}

#[test]
fn an_outcome_that_this_version_does_not_know_breaks_no_list() {
    let server = TestServer::start();
    let known = server.accepted(|_| {});
    let newer = server.accepted(|record| fail(&mut record.workloads[1], Vec::new()));
    let change = format!(
        "UPDATE runs SET record = REPLACE(record, '\"kind\":\"failed\"', '\"kind\":\"vanished\"') WHERE run_id = '{}'",
        newer.run_id
    );
    server.database().execute(&change);
    assert_eq!(server.get("/api/v1/runs").parse::<RunList>().total, 3);
    let exported = server.get("/api/v1/export?format=jsonl").text();
    assert!(exported.lines().count() == 1 && exported.contains(&known.run_id), "{exported}");
    for path in ["/api/v1/standings?suite=quick", "/api/v1/export?format=csv"] {
        assert_eq!(server.get(path).status, 200, "{path}");
    }
}
