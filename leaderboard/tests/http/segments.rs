//! Requests of a run while it trains and right after, and the leaderboard's answers.

use results::StateBytes;
use results::api::{CommitSegment, CommittedSegment, PartHashes, ProofWanted};

use crate::support::requests::{hash, hashes, lap, proof, segment, send_hashes, send_lap, taken};
use crate::support::*;

fn commit(number: u32, steps: [u64; 2], ends_lap: bool) -> RunCall {
    RunCall::Commit(segment(number, steps, &hash(steps[1]), ends_lap))
}

#[test]
fn laps_and_segments_come_in_order() {
    let server = TestServer::start();
    let run = server.begin();
    let refused = |call: RunCall, field: &str| {
        call.send(&server, &run).assert_refused(409, "unexpected_segment", field);
    };
    refused(commit(0, [0, 5], false), "segment");
    refused(lap(1, &hash(5)), "segment");
    taken(&server, &run, &lap(0, &hash(0)));
    refused(commit(1, [0, 5], false), "segment");
    taken(&server, &run, &commit(0, [0, 5], false));
    refused(commit(1, [5, 5], false), "step");
    refused(lap(1, &hash(5)), "segment");
    refused(proof(5, None, None), "");
    assert_eq!(taken(&server, &run, &commit(1, [5, 9], true)).parse::<CommittedSegment>().beacon, None);
    refused(commit(2, [9, 12], false), "segment");
    refused(lap(2, &hash(8)), "state_sha256");
    taken(&server, &run, &lap(2, &hash(9)));
    taken(&server, &run, &commit(2, [9, 12], true));
    taken(&server, &run, &proof(12, None, None));
    refused(lap(3, &hash(12)), "");
    refused(commit(3, [12, 13], true), "");
}

#[test]
fn a_lost_answer_is_given_again_and_other_content_refused() {
    let mut server = TestServer::start();
    let run = server.begin();
    let calls = [lap(0, &hash(0)), commit(0, [0, 5], false), commit(1, [5, 9], true), proof(9, Some(5), None)];
    let answers: Vec<String> = calls.iter().map(|call| taken(&server, &run, call).text()).collect();
    // A restarted server gives the same answer.
    server.restart();
    for (call, answer) in calls.iter().zip(&answers) {
        assert_eq!(&taken(&server, &run, call).text(), answer);
    }
    let mut other_losses = segment(0, [0, 5], &hash(5), false);
    other_losses.losses_sha256 = hash(5);
    for other in [lap(0, &hash(1)), commit(0, [0, 6], false), commit(1, [5, 9], false), RunCall::Commit(other_losses)] {
        other.send(&server, &run).assert_refused(409, "unexpected_segment", "");
    }

    // The first requests set the times.
    let run = server.begin();
    for call in [lap(0, &hash(0)), commit(0, [0, 5], true)] {
        taken(&server, &run, &call);
        server.pass(100.0);
        taken(&server, &run, &call);
    }
    let seconds = "SELECT CAST(MAX(committed_unix_seconds) - MAX(opened_unix_seconds) AS BIGINT) FROM laps, segments";
    assert_eq!(server.database().count(seconds), 100);
}

#[test]
fn unknown_networks_bad_hashes_and_strangers_are_refused() {
    let server = TestServer::start();
    let run = server.begin();
    let refused = |change: Edit<CommitSegment>, code: &str, field: &str| {
        let mut commitment = segment(0, [0, 5], &hash(5), true);
        change(&mut commitment);
        RunCall::Commit(commitment).send(&server, &run).assert_refused(422, code, field);
    };
    refused(|of| of.workload = "imagenet".to_owned(), "unknown_workload", "workload");
    refused(|of| of.state_sha256 = "x".repeat(64), "bad_hash", "state_sha256");
    refused(|of| of.losses_sha256 = "0".repeat(63), "bad_hash", "losses_sha256");
    let stranger = StartedRun { nonce: "0".repeat(64), ..run.clone() };
    for call in [lap(0, &hash(0)), commit(0, [0, 5], true), proof(5, None, None)] {
        call.send(&server, &stranger).assert_refused(403, "wrong_nonce", "nonce");
    }
    server.pass(6.0 * 3600.0 + 1.0);
    lap(0, &hash(0)).send(&server, &run).assert_refused(410, "expired", "");
}

#[test]
fn each_draw_is_inside_its_segment() {
    let server = TestServer::start();
    let run = server.begin();
    taken(&server, &run, &lap(0, &hash(0)));
    let mut drawn = [[0, 0]; 2];
    for number in 0..8 {
        let steps = [5 * u64::from(number), 5 * u64::from(number) + 5];
        let commitment = commit(number, steps, number == 7);
        let draws = taken(&server, &run, &commitment).parse::<CommittedSegment>().draws;
        assert_eq!(taken(&server, &run, &commitment).parse::<CommittedSegment>().draws, draws);
        assert!(number > 0 || draws == [0, 1], "{draws:?}");
        draws.iter().for_each(|&draw| drawn[draw as usize] = steps);
    }
    let mut wanted: ProofWanted = taken(&server, &run, &proof(40, None, None)).parse();
    while let Some(part) = wanted.hashes {
        let [begin, end] = drawn[part.draw as usize];
        assert!(begin <= part.steps[0] && part.steps[1] <= end, "{part:?} {drawn:?}");
        assert!(!part.losses || part.steps == [begin, end], "{part:?} {drawn:?}");
        wanted = taken(&server, &run, &proof(40, None, Some(hashes(&part)))).parse();
    }
    assert!(wanted.states.len() >= 3, "{wanted:?}");
}

fn long_training(server: &TestServer) -> StartedRun {
    let run = server.begin();
    send_lap(server, &run, &hash(0), &[1000, 2000].map(|step| (step, hash(step))));
    run
}

#[test]
fn hashes_losses_and_steps_must_be_those_that_are_wanted() {
    let server = TestServer::start();
    let run = long_training(&server);
    let wanted: ProofWanted = taken(&server, &run, &proof(2000, None, None)).parse();
    let part = hashes(&wanted.hashes.unwrap());
    let refused = |change: fn(&mut PartHashes), status, code, field| {
        let mut changed = part.clone();
        change(&mut changed);
        proof(2000, None, Some(changed)).send(&server, &run).assert_refused(status, code, field);
    };
    refused(|part| part.losses[7] += 1e-3, 422, "wrong_losses", "hashes.losses");
    refused(|part| part.losses.truncate(999), 422, "wrong_losses", "hashes.losses");
    refused(|part| part.losses.clear(), 422, "wrong_losses", "hashes.losses");
    refused(|part| drop(part.state_sha256.pop()), 409, "unexpected_segment", "hashes");
    refused(|part| part.steps[0] += 1, 409, "unexpected_segment", "hashes");
    refused(|part| part.state_sha256[3] = "no".to_owned(), 422, "bad_hash", "hashes.state_sha256[3]");
    let next = taken(&server, &run, &proof(2000, None, Some(part.clone()))).text();
    // A lost answer is given again.
    for again in [Some(part.clone()), None] {
        assert_eq!(taken(&server, &run, &proof(2000, None, again)).text(), next);
    }
    refused(|part| part.state_sha256[3] = hash(7), 409, "unexpected_segment", "hashes");

    // A network is tested, and reaches its target, where segments end.
    let run = long_training(&server);
    let refused = |tested_step, target_step, status, code, field: &str| {
        proof(tested_step, target_step, None).send(&server, &run).assert_refused(status, code, field);
    };
    refused(0, None, 422, "out_of_range", "tested_step");
    refused(1999, None, 409, "unexpected_segment", "tested_step");
    refused(2000, Some(999), 409, "unexpected_segment", "target_step");
    taken(&server, &run, &proof(2000, Some(1000), None));
    let states = send_hashes(&server, &run, 2000).states;
    assert!([1000, 2000].iter().all(|step| states.iter().any(|state| state.step == *step)), "{states:?}");
}

/// Returns a state of the small network with all bytes set to `byte`.
fn state(byte: u8) -> StateBytes {
    let parameters = engine::workload(SMALL).unwrap().model.parameters().unwrap();
    let bytes = vec![byte; 4 * usize::try_from(parameters).unwrap()];
    StateBytes { weights: bytes.clone(), memory: bytes }
}

fn show(server: &TestServer, run: &StartedRun, step: u64, state: Vec<u8>) -> HttpAnswer {
    RunCall::Show { workload: SMALL.to_owned(), step, state: std::sync::Arc::new(state) }.send(server, run)
}

#[test]
fn states_must_be_those_that_were_committed_and_are_wanted() {
    let server = TestServer::start();
    let run = server.begin();
    let ends = [1, 2, 3].map(|step| (u64::from(step), state(step).sha256()));
    send_lap(&server, &run, &state(0).sha256(), &ends);
    show(&server, &run, 3, state(3).body(true)).assert_refused(409, "unexpected_segment", "");
    let wanted = send_hashes(&server, &run, 3);
    let stranger = StartedRun { nonce: "0".repeat(64), ..run.clone() };
    for (number, of) in wanted.states.iter().enumerate() {
        let right = state(u8::try_from(of.step).unwrap()).body(of.weights_only);
        show(&server, &run, of.step, state(9).body(of.weights_only)).assert_refused(422, "wrong_state", "");
        show(&server, &run, of.step, right[4..].to_vec()).assert_refused(422, "wrong_state", "");
        show(&server, &stranger, of.step, right.clone()).assert_refused(403, "wrong_nonce", "nonce");
        assert_eq!(show(&server, &run, of.step, right.clone()).status, 204);
        assert_eq!(show(&server, &run, of.step, right).status, 204, "a lost answer is given again");
        let left: ProofWanted = taken(&server, &run, &proof(3, None, None)).parse();
        assert_eq!(left.states, wanted.states[number + 1..]);
    }
    let path = format!("/api/v1/runs/{}/states/{SMALL}/3", run.run_id);
    let headers = [("content-type", "application/octet-stream")];
    server.send("PUT", &path, &headers, b"state").assert_refused(401, "missing_nonce", "");
    show(&server, &run, 4, state(4).body(true)).assert_refused(409, "unexpected_segment", "");
}
