use std::collections::BTreeMap;
use std::net::TcpListener;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use std::{env, fs, iter};

use results::api::{
    CommitSegment, ProofWanted, ProvePart, StartRun, StartedRun, Tier, Verdict, WantedHashes, WantedState,
};
use results::{RunRecord, Segment, StateBytes, Warning};

use crate::support::*;

/// Arguments of a run that trains on the processor if the leaderboard allows it.
const RUN: &str = "--backend reference --workload keras-mnist-mlp --steps 2 --batch-size 16 --yes";

/// Expects the failure of a run that uploads to this address before any workload begins.
#[track_caller]
fn expect_refusal_before_training(url: &str, parts: &[&str]) {
    expect_refusals_of(|line| Runner::new(line).args(&format!("--upload {url}")), &[(RUN, 5, parts)]);
}

#[test]
fn useless_server_is_reported_before_training() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let down = format!("http://{}", free.local_addr().unwrap());
    drop(free);
    expect_refusal_before_training(&down, &[&down, "cannot be reached", "is it running"]);
    let unknown = "http://leaderboard.invalid";
    expect_refusal_before_training(unknown, &[unknown, "cannot be reached"]);

    let page = "<!DOCTYPE html><title>Hello</title>";
    let other_json = "{\"run_id\": 5}";
    let refused = refusal("suite_unknown", "This leaderboard does not know version 1 of the suite.");
    let path = StartedRun { run_id: "../../etc/passwd".to_owned(), ..started() };
    let moved = "location: https://elsewhere.example/\r\n";
    let stranger = "does not answer like a Gradmark leaderboard";
    let cases: [(FakeAnswer, &[&str]); 9] = [
        (
            FakeAnswer::json(403, &refused),
            &["This leaderboard does not know version 1 of the suite", "suite_unknown in suite.version", "403"],
        ),
        (FakeAnswer::http(500, "", "<html>Internal error</html>"), &["failed with status 500", "try again later"]),
        (FakeAnswer::http(200, "content-type: text/html\r\n", page), &[stranger, "a web page"]),
        (FakeAnswer::http(200, "", other_json), &[stranger, "not the expected JSON"]),
        (FakeAnswer::http(404, "", other_json), &[stranger, "status 404"]),
        (FakeAnswer::Raw(b"SSH-2.0-OpenSSH_9.2\r\n".to_vec()), &[stranger, "not HTTP"]),
        (FakeAnswer::http(200, "", b"\xff\xfe"), &[stranger, "not"]),
        // A run id that is a path is rejected.
        (FakeAnswer::json(201, &path), &[stranger, "an invalid run id"]),
        (FakeAnswer::http(301, moved, ""), &["redirects to https://elsewhere.example/"]),
    ];
    for (answer, parts) in cases {
        let server = FakeServer::start(move |_| answer.clone());
        let url = parts.contains(&stranger).then_some(server.url.as_str());
        expect_refusal_before_training(&server.url, &parts.iter().copied().chain(url).collect::<Vec<_>>());
    }

    let silent = FakeServer::start(|_| FakeAnswer::Silence);
    let start = Instant::now();
    let parts = ["did not answer within 0.5 s", "--upload-timeout"];
    expect_refusal_before_training(&format!("{} --upload-timeout 0.5", silent.url), &parts);
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

#[test]
fn nothing_is_uploaded_without_agreement_or_record() {
    let server = FakeServer::start(|_| FakeAnswer::Silence);
    let refused = run(&format!("--backend reference --steps 2 --upload {}", server.url), 2);
    refused.expect_errors(&["needs your agreement", "--yes"]);
    assert!(server.received().is_empty());

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("some.json");
    fs::write(&file, "{\"schema_version\": 1}").unwrap();
    let upload = format!("upload --yes --to {}", server.url);
    let invalid = run(&format!("{upload} {}", file.display()), 2);
    invalid.expect_errors(&["some.json is not a record", "missing field"]);
    run(&format!("{upload} missing.json"), 1).expect_errors(&["cannot read missing.json"]);
    assert!(server.received().is_empty());
}

/// Leaderboard that loses its first answer to a commitment, and requests the longest segment and the last state.
#[derive(Default)]
struct Curious {
    /// State hashes by number of steps at the end of their segment.
    committed: Mutex<BTreeMap<u64, String>>,
    shown: Mutex<Option<Vec<u8>>>,
}

impl Curious {
    fn answer(&self, request: &ReceivedCall) -> FakeAnswer {
        match request.call.as_str() {
            "POST /api/v1/runs/run-1/segments" => {
                let CommitSegment { step, state_sha256, .. } = request.json();
                let mut committed = self.committed.lock().unwrap();
                let is_first = committed.is_empty();
                committed.insert(step, state_sha256);
                if is_first { FakeAnswer::Raw(Vec::new()) } else { answer_like_a_leaderboard(request) }
            }
            "POST /api/v1/runs/run-1/proof" => FakeAnswer::json(200, &self.wanted(&request.json())),
            call if call.starts_with("PUT") && call.contains("/states/") => {
                *self.shown.lock().unwrap() = Some(request.body.clone());
                FakeAnswer::json(200, &())
            }
            call if call.starts_with("PUT") => {
                let mut accepted = accepted("run-1", Tier::Checked);
                accepted.verdict.being_verified = true;
                FakeAnswer::json(201, &accepted)
            }
            "GET /api/v1/runs/run-1/verdict" => {
                FakeAnswer::json(200, &Verdict { tier: Tier::Proven, notes: Vec::new(), being_verified: false })
            }
            _ => answer_like_a_leaderboard(request),
        }
    }

    /// Returns the next request: first hashes, then a state, then none.
    fn wanted(&self, part: &ProvePart) -> ProofWanted {
        let ends: Vec<u64> = iter::once(0).chain(self.committed.lock().unwrap().keys().copied()).collect();
        if self.shown.lock().unwrap().is_some() {
            return ProofWanted::default();
        }
        if part.hashes.is_some() {
            let state = WantedState { step: ends[ends.len() - 1], weights_only: true };
            return ProofWanted { hashes: None, states: vec![state] };
        }
        let longest = ends.windows(2).max_by_key(|ends| ends[1] - ends[0]).unwrap();
        let hashes = WantedHashes { draw: 0, steps: [longest[0], longest[1]], at: vec![longest[0] + 1], losses: true };
        ProofWanted { hashes: Some(hashes), states: Vec::new() }
    }
}

#[test]
fn a_registered_run_is_followed_proven_and_awaits_the_verdict() {
    let Some(adapter) = any_adapter() else { return };
    let curious = Arc::new(Curious::default());
    let answering = Arc::clone(&curious);
    let server = FakeServer::start(move |request| answering.answer(request));
    let line =
        format!("{adapter} --workload keras-mnist-mlp --steps 12 --batch-size 16 --json kept.json --yes --upload");
    let finished = Runner::new(&line).arg(&server.url).run().expect_status(0);

    let received = server.received();
    let paths = paths(&received);
    let segments = "POST /api/v1/runs/run-1/segments";
    assert_eq!(paths[..4], ["POST /api/v1/runs", "POST /api/v1/runs/run-1/laps", segments, segments]);
    assert_eq!(received[2].body, received[3].body, "a lost answer is asked for again");
    let proof = "POST /api/v1/runs/run-1/proof";
    let state = "PUT /api/v1/runs/run-1/states/keras-mnist-mlp/12";
    let handed_in = ["PUT /api/v1/runs/run-1", "GET /api/v1/runs/run-1/verdict"];
    let (training, end) = paths.split_at(paths.len() - 6);
    assert_eq!(end, [&[proof, proof, state, proof], &handed_in[..]].concat());
    let last: CommitSegment = received[training.len() - 1].json();
    assert!(last.ends_lap && last.step == 12, "{last:?}");
    let start: StartRun = received[0].json();
    assert_eq!((start.suite.name.as_str(), start.suite.version), ("quick", 1));

    let uploaded = &received[received.len() - 2];
    let record: RunRecord = uploaded.json();
    assert_eq!((record.run_id.as_deref(), record.nonce.as_deref()), (Some("run-1"), Some("once")));
    assert_eq!((record.requested.seed, record.workloads.len()), (987_654_321, 1));
    let hashes = curious.committed.lock().unwrap().values().cloned().collect::<Vec<_>>();
    let segment = |(number, hash): (u32, &String)| Segment { beacon: beacon(number), state_sha256: hash.clone() };
    let expected: Vec<Segment> = (0..).zip(&hashes).map(segment).collect();
    assert_eq!(record.workloads[0].segments, expected);
    assert_eq!(record.workloads[0].windows.len(), expected.len());
    let shown = curious.shown.lock().unwrap().clone().unwrap();
    let (weights, memory_sha256) = shown.split_at(shown.len() - 32);
    assert_eq!(&StateBytes::joined_sha256(weights, memory_sha256), hashes.last().unwrap());
    let kept = fs::read_to_string(finished.folder.path().join("kept.json")).unwrap();
    assert_eq!(kept.trim_end().as_bytes(), uploaded.body, "what is kept is what was uploaded");

    let permalink = format!("{}/runs/run-1", server.url);
    let parts = ["checked", "Not reviewed yet", &permalink, &format!("{permalink}/delete#secret")];
    finished.expect_output(&parts).expect_output(&["being verified", "Verified proven"]);
}

#[test]
fn lost_leaderboard_costs_the_proof_but_not_the_run() {
    let Some(adapter) = any_adapter() else { return };
    let runs = "POST /api/v1/runs";
    let (laps, segments) = ("POST /api/v1/runs/run-1/laps", "POST /api/v1/runs/run-1/segments");
    let uploaded = "PUT /api/v1/runs/run-1";
    for (refused, expected) in [(laps, vec![runs, laps, uploaded]), (segments, vec![runs, laps, segments, uploaded])] {
        let server = FakeServer::start(move |request| match request.call == refused {
            true => FakeAnswer::json(429, &refusal("too_many_requests", "Ask again tomorrow.")),
            false => answer_like_a_leaderboard(request),
        });
        let line = format!("{adapter} --workload keras-mnist-mlp --steps 12 --batch-size 16 --yes --upload");
        let finished = Runner::new(&line).arg(&server.url).run().expect_status(0);
        let received = server.received();
        assert_eq!(paths(&received), expected, "it is asked once");
        let record: RunRecord = received[received.len() - 1].json();
        let reasons = record.warnings.iter().filter_map(|warning| match warning {
            Warning::CheckpointMissed { reason, .. } => Some(reason),
            _ => None,
        });
        assert!(reasons.clone().any(|reason| reason.contains("Ask again tomorrow")), "{:?}", record.warnings);
        let shown = one_line(&finished.stderr);
        assert_eq!(shown.matches("will not be proven").count(), 2, "at once and at the end: {shown}");
    }
}

#[test]
fn refused_record_can_be_uploaded_later_as_unverified() {
    let Some(adapter) = any_adapter() else { return };
    let closing = FakeServer::start(|_| FakeAnswer::json(503, &refusal("closed", "The leaderboard is closed today.")));
    let line = format!("{adapter} --workload keras-mnist-mlp --steps 2 --batch-size 16 --seed 5 --yes --upload");
    let finished = Runner::new(&line).arg(&closing.url).run().expect_status(5);
    assert_eq!(paths(&closing.received()), ["POST /api/v1/runs/import"], "a seed of one's own is not registered");
    assert!(finished.stdout.contains("Verdict"), "the metrics are still shown:\n{}", finished.stdout);
    let command = format!("native-runner upload gradmark-seed-5.json --to {}", closing.url);
    expect_parts(&finished.stderr, &["The leaderboard is closed today", &command, "the upload will be unverified"]);

    let server = leaderboard();
    let file = finished.folder.path().join("gradmark-seed-5.json");
    let second = run(&format!("upload --yes {} --to {}", file.display(), server.url), 0);
    let received = server.received();
    assert_eq!(paths(&received), ["POST /api/v1/runs/import"]);
    let record: RunRecord = received[0].json();
    assert_eq!((record.requested.seed, record.run_id), (5, None));
    assert!(record.warnings.iter().any(|warning| matches!(warning, Warning::Unregistered { .. })));
    assert!(second.stdout.contains("unverified") && second.stdout.contains("/runs/run-2"), "{}", second.stdout);
}

#[test]
fn a_run_that_diverged_is_not_uploaded() {
    let server = leaderboard();
    let finished = run(&format!("{RUN} --learning-rate 1e30 --upload {}", server.url), 3);
    let paths = paths(&server.received());
    assert_eq!(paths[..2], ["POST /api/v1/runs", "POST /api/v1/runs/run-1/laps"]);
    assert!(!paths.iter().any(|path| path.starts_with("PUT")), "{paths:?}");
    finished.expect_errors(&["diverged"]);
}

#[test]
fn a_run_reaches_the_real_leaderboard_and_counts_once() {
    let Some(program) = env::var_os("GRADMARK_LEADERBOARD") else {
        return skipped("GRADMARK_LEADERBOARD names no leaderboard; `cargo xtask test` does");
    };
    let Some(adapter) = any_adapter() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(program);
    command.args(["--log", "error", "--database"]).arg(folder.path().join("runs.sqlite"));
    let server = RealLeaderboard::start(&mut command);
    let line =
        format!("{adapter} --workload keras-mnist-mlp --steps 3 --batch-size 16 --json kept.json --yes --upload");
    let finished = Runner::new(&line).arg(&server.url).run().expect_status(0);
    assert!(finished.stdout.contains("checked"), "{}", finished.stdout);
    let permalink = finished.stdout.lines().find_map(|line| line.trim().strip_prefix("Permalink")).unwrap().trim();
    assert!(permalink.starts_with(&format!("{}/runs/", server.url)), "{permalink}");

    let file = finished.folder.path().join("kept.json");
    let upload = format!("upload --yes {} --to {}", file.display(), server.url);
    // The same record again, as after a lost answer, is the same run. With another flag, it is still the same record.
    run(&upload, 0).expect_output(&[&format!("Permalink {permalink}")]);
    let parts = ["the leaderboard refused", "already_submitted"];
    run(&format!("{upload} --unverified"), 5).expect_errors(&parts);
}
