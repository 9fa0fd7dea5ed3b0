//! What a run tells while it trains, and what the leaderboard answers.

use std::sync::Arc;

use leaderboard::Protection;
use results::api::{CheckpointAnswer, RunList};
use results::{Phase, Stretch};

use crate::support::rehearsal::{self, HONEST};

#[test]
fn checkpoints_come_in_order_and_say_one_thing_only() {
    let server = rehearsal::server();
    let rehearsal = rehearsal::honest();
    let started = server.begin();
    let name = rehearsal.told[0].workload.clone();
    let told: Vec<_> = rehearsal.told.iter().filter(|message| message.workload == name).cloned().collect();
    let refused = |message: &rehearsal::Message, status, code, field| {
        message.tell(&server, &started).assert_refused(status, code, field);
    };
    refused(&told[1], 409, "unexpected_checkpoint", "number");
    let mut late = told[0].clone();
    late.checkpoint.step = 5;
    refused(&late, 409, "unexpected_checkpoint", "step");
    assert_eq!(told[0].tell(&server, &started).status, 200);
    assert_eq!(told[0].tell(&server, &started).status, 200, "a lost answer is given again");
    let mut other = told[0].clone();
    other.checkpoint.weights_sha256 = "0".repeat(64);
    refused(&other, 409, "unexpected_checkpoint", "number");
    let mut unknown = told[0].clone();
    unknown.workload = "imagenet".to_owned();
    refused(&unknown, 422, "unknown_workload", "workload");
    let mut bad = told[0].clone();
    bad.checkpoint.measured_sha256 = "x".repeat(64);
    refused(&bad, 422, "bad_hash", "measured_sha256");
    told[0].show(&server, &started).assert_refused(409, "unexpected_checkpoint", "");

    // The last one is asked for if none before was.
    let mut asked = None;
    for message in &told[1..] {
        let answer: results::api::CheckpointAnswer = message.tell(&server, &started).parse();
        if answer.weights_wanted {
            asked = Some(message);
            break;
        }
    }
    let asked = asked.expect("one checkpoint of each network is asked for");
    let wrong = rehearsal::Message { weights: Arc::new(vec![0; asked.weights.len()]), ..asked.clone() };
    wrong.show(&server, &started).assert_refused(422, "wrong_weights", "");
    let stranger = results::api::StartedRun { nonce: "0".repeat(64), ..started.clone() };
    asked.show(&server, &stranger).assert_refused(403, "wrong_nonce", "nonce");
    assert_eq!(asked.show(&server, &started).status, 204);
}

#[test]
fn a_network_has_no_more_checkpoints_than_its_suite_plans() {
    let server = rehearsal::server_behind_a_proxy(Protection::default());
    let rehearsal = rehearsal::honest();
    let started = server.begin();
    let [start, look] = [&rehearsal.told[0], &rehearsal.told[1]];
    let planned = engine::workload(&start.workload).unwrap().evaluations_per_epoch * engine::SUITES[0].epochs;
    for number in 0..=planned + 2 {
        let mut message = if number == 0 { start.clone() } else { look.clone() };
        (message.number, message.checkpoint.step) = (number, u64::from(number));
        let answer = message.tell(&server, &started);
        if number == planned + 2 {
            answer.assert_refused(409, "unexpected_checkpoint", "number");
        } else if answer.parse::<CheckpointAnswer>().weights_wanted {
            assert_eq!(message.show(&server, &started).status, 204);
        }
    }
    rehearsal::prove_honest_run(&server, HONEST);
}

#[test]
fn weights_that_were_asked_for_and_did_not_come_leave_a_run_unproven() {
    let server = rehearsal::server();
    let rehearsal = rehearsal::honest();
    let started = server.begin();
    let mut now = 0.0;
    for message in &rehearsal.told {
        server.pass(message.at - now);
        now = message.at;
        message.tell(&server, &started);
    }
    server.pass(60.0);
    // What came after the question was refused, so the record has checkpoints that were not told.
    let answer = server.upload(&started.run_id, &rehearsal.record_of(&started));
    assert!(answer.status == 422 || answer.text().contains("did not come"), "{}", answer.text());
    assert_eq!(server.get("/api/v1/runs?ranked=true").parse::<RunList>().total, 0);
}

#[test]
fn the_timeline_names_everything_between_two_checkpoints() {
    let record = rehearsal::honest().record;
    for workload in &record.workloads {
        let of = |phase: Phase| workload.timeline.iter().filter(move |stretch: &&Stretch| stretch.phase == phase);
        assert_eq!(of(Phase::Proving).count(), workload.checkpoints.len());
        let trained: f64 = of(Phase::Training).chain(of(Phase::Measuring)).map(|stretch| stretch.seconds).sum();
        let windows: f64 = workload.windows.iter().map(|window| window.seconds).sum();
        assert!((trained - windows).abs() < 1e-6, "{trained} and {windows}");
    }
}
