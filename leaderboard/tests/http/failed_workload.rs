//! A network that does not fit on a device, or that failed half-way, does not affect the others of its run, unless it
//! failed after its draws were known.

use results::api::{RunList, StoredRun, Tier};
use results::{FailureCause, Outcome, RunRecord, WorkloadRecord};

use crate::support::TestServer;
use crate::support::record::{self, OUT_OF_MEMORY, fail};
use crate::support::rehearsal::{self, LARGE, Rehearsal, SMALL};

/// Returns the honest run, whose larger network fails after `requests` of its requests.
fn failing(requests: usize) -> Rehearsal {
    let mut run = rehearsal::honest();
    run.fail(LARGE, requests);
    run
}

/// Returns the note that the larger network failed.
fn left_out() -> String {
    format!("{LARGE} could not be trained on this device and is left out of the table.")
}

#[track_caller]
fn other_is_proven(run: &Rehearsal) {
    let server = rehearsal::server();
    let verdict = run.verdict(&server);
    assert_eq!((verdict.tier, verdict.notes), (Tier::Proven, vec![left_out()]));
    let ranked: RunList = server.get("/api/v1/runs?ranked=true").parse();
    assert_eq!(ranked.rows.iter().map(|row| row.workload.as_str()).collect::<Vec<_>>(), [SMALL]);
    let listed: RunList = server.get("/api/v1/runs").parse();
    assert_eq!(listed.total, 1, "only what was completed has a row");
    let id = &listed.rows[0].run_id;
    let shown: StoredRun = server.get(&format!("/api/v1/runs/{id}")).parse();
    let failed = shown.record.workloads.iter().find(|of| of.workload == LARGE).unwrap();
    assert_eq!(failed.outcome, Outcome::failed(FailureCause::OutOfMemory, OUT_OF_MEMORY));
    let table = server.get("/api/v1/export?format=csv").text();
    assert!(table.contains(",failed,") && table.contains(",completed,"), "{table}");
    let badge = server.get(&format!("/api/v1/runs/{id}/badge.json?workload={LARGE}")).text();
    assert!(badge.contains("not completed"), "{badge}");
    assert!(server.get(&format!("/api/v1/runs/{id}/badge.json")).text().contains("samples/s"));
}

#[test]
fn the_other_network_is_proven_where_one_could_not_be_built() {
    other_is_proven(&failing(0));
}

#[test]
fn the_other_network_is_proven_where_one_failed_in_its_first_segment() {
    other_is_proven(&failing(1));
}

#[test]
fn a_run_is_checked_where_a_network_failed_after_a_segment() {
    let server = rehearsal::server();
    let verdict = failing(2).verdict(&server);
    let given_up =
        format!("{LARGE}: it was not completed, and its client knew already what of it would be computed again.");
    assert_eq!((verdict.tier, verdict.notes), (Tier::Checked, vec![given_up, left_out()]));
    assert_eq!(server.get("/api/v1/runs?ranked=true").parse::<RunList>().total, 0);
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
        let mut record = record::unregistered(5);
        fail(&mut record.workloads[0], Vec::new());
        spoil(&mut record.workloads[0]);
        server.import(&record).assert_refused(422, code, &format!("workloads[0].{field}"));
    }
}

#[test]
fn a_run_of_which_nothing_was_trained_is_no_result() {
    let server = TestServer::start();
    let mut record: RunRecord = record::unregistered(5);
    record.workloads.iter_mut().for_each(|workload| fail(workload, Vec::new()));
    server.import(&record).assert_refused(422, "nothing_completed", "workloads");
}

#[test]
fn a_suite_names_the_network_that_failed_too() {
    let server = TestServer::start();
    let mut record = record::unregistered(5);
    fail(&mut record.workloads[0], Vec::new());
    assert_eq!(server.import(&record).status, 201);
    record.workloads.remove(0);
    server.import(&record).assert_refused(422, "incomplete_suite", "workloads");
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
