use std::collections::BTreeMap;
use std::net::TcpListener;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use std::{env, fs, iter};

use results::api::{
    AcceptedRun, CommitSegment, ProofWanted, ProvePart, StartRun, StartedRun, Tier, Verdict, WantedHashes, WantedState,
};
use results::{RunRecord, Segment, StateBytes, Warning};

use crate::support::{
    Answer, FakeServer, Finished, RealLeaderboard, Received, Runner, accepted, any_adapter, beacon, expect_parts,
    follow, leaderboard, one_line, paths, refusal, skipped, started,
};

/// Arguments of a run that trains on the processor if the leaderboard allows it.
const RUN: &str = "--backend reference --workload keras-mnist-mlp --steps 2 --batch-size 16 --yes";

fn run_against(url: &str) -> Finished {
    Runner::new(RUN).arg("--upload").arg(url).run()
}

/// Expects the failure before any workload begins.
#[track_caller]
fn expect_refusal_before_training(finished: Finished, parts: &[&str]) {
    assert!(!finished.stderr.contains("(1 of 1)"), "training began:\n{}", finished.stderr);
    assert_eq!(finished.stdout, "");
    finished.expect_status(5).expect_errors(parts);
}

#[test]
fn unreachable_or_unwilling_server_is_reported_before_training() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let down = format!("http://{}", free.local_addr().unwrap());
    drop(free);
    expect_refusal_before_training(run_against(&down), &[&down, "cannot be reached", "is it running"]);
    let unknown = "http://leaderboard.invalid";
    expect_refusal_before_training(run_against(unknown), &[unknown, "cannot be reached"]);
    let body = refusal("suite_unknown", "This leaderboard does not know version 1 of the suite.");
    let refusing = FakeServer::start(move |_| Answer::json(403, &body));
    let parts = ["This leaderboard does not know version 1 of the suite", "suite_unknown in suite.version", "403"];
    expect_refusal_before_training(run_against(&refusing.url), &parts);
    let broken = FakeServer::start(|_| Answer::Http(500, &[], "<html>Internal error</html>".to_owned()));
    expect_refusal_before_training(run_against(&broken.url), &["failed with status 500", "try again later"]);
}

#[track_caller]
fn expect_no_leaderboard(answer: impl Fn() -> Answer + Send + Sync + 'static, found: &str) {
    let server = FakeServer::start(move |_| answer());
    let parts = [server.url.as_str(), "does not answer like a Gradmark leaderboard", found];
    expect_refusal_before_training(run_against(&server.url), &parts);
}

#[test]
fn reports_servers_that_are_no_leaderboard() {
    let page = "<!DOCTYPE html><title>Hello</title>";
    let other_json = "{\"run_id\": 5}";
    expect_no_leaderboard(|| Answer::Http(200, &[("content-type", "text/html")], page.to_owned()), "a web page");
    expect_no_leaderboard(|| Answer::Http(200, &[], other_json.to_owned()), "not the expected JSON");
    expect_no_leaderboard(|| Answer::Http(404, &[], other_json.to_owned()), "status 404");
    expect_no_leaderboard(|| Answer::Raw(b"SSH-2.0-OpenSSH_9.2\r\n".to_vec()), "not HTTP");
    let no_text = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n\xff\xfe";
    expect_no_leaderboard(|| Answer::Raw(no_text.to_vec()), "not");
    // A run id that is a path is rejected.
    let started = || StartedRun { run_id: "../../etc/passwd".to_owned(), ..started() };
    expect_no_leaderboard(move || Answer::json(201, &started()), "an invalid run id");
}

#[test]
fn a_redirect_is_shown_and_not_followed() {
    let other = FakeServer::start(|_| Answer::Silence);
    let server = FakeServer::start(|_| Answer::Http(301, &[("location", "https://elsewhere.example/")], String::new()));
    expect_refusal_before_training(run_against(&server.url), &["redirects to https://elsewhere.example/"]);
    assert!(other.received().is_empty());
}

#[test]
fn a_server_that_never_answers_is_given_up() {
    let server = FakeServer::start(|_| Answer::Silence);
    let start = Instant::now();
    let finished = Runner::new(RUN).arg("--upload").arg(&server.url).arg("--upload-timeout").arg("0.5").run();
    expect_refusal_before_training(finished, &["did not answer within 0.5 s", "--upload-timeout"]);
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

#[test]
fn nothing_is_uploaded_without_agreement() {
    let server = FakeServer::start(|_| Answer::Silence);
    let finished = Runner::new("--backend reference --steps 2 --upload").arg(&server.url).run().expect_status(2);
    finished.expect_errors(&["needs your agreement", "--yes"]);
    assert!(server.received().is_empty());
}

/// Leaderboard that loses its first answer to a commitment, and requests the longest segment and the last state.
#[derive(Default)]
struct Curious {
    /// State hashes by number of steps at the end of their segment.
    committed: Mutex<BTreeMap<u64, String>>,
    /// Body of the received state.
    shown: Mutex<Option<Vec<u8>>>,
}

impl Curious {
    fn answer(&self, request: &Received) -> Answer {
        match (request.method.as_str(), request.path.as_str()) {
            ("POST", "/api/v1/runs") => Answer::json(201, &started()),
            ("POST", "/api/v1/runs/run-1/segments") => {
                let CommitSegment { step, state_sha256, .. } = request.json();
                let mut committed = self.committed.lock().unwrap();
                let is_first = committed.is_empty();
                committed.insert(step, state_sha256);
                if is_first { Answer::Raw(Vec::new()) } else { follow(request) }
            }
            ("POST", "/api/v1/runs/run-1/proof") => Answer::json(200, &self.wanted(&request.json())),
            ("PUT", path) if path.contains("/states/") => {
                *self.shown.lock().unwrap() = Some(request.bytes.clone());
                Answer::json(200, &())
            }
            ("PUT", _) => Answer::json(201, &AcceptedRun { being_verified: true, ..accepted("run-1", Tier::Checked) }),
            ("GET", "/api/v1/runs/run-1/verdict") => {
                Answer::json(200, &Verdict { tier: Tier::Proven, notes: Vec::new(), being_verified: false })
            }
            _ => follow(request),
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
    let segment =
        |(number, state_sha256): (u32, &String)| Segment { beacon: beacon(number), state_sha256: state_sha256.clone() };
    let expected: Vec<Segment> = (0..).zip(&hashes).map(segment).collect();
    assert_eq!(record.workloads[0].segments, expected);
    assert_eq!(record.workloads[0].windows.len(), expected.len());
    let shown = curious.shown.lock().unwrap().clone().unwrap();
    let (weights, memory_sha256) = shown.split_at(shown.len() - 32);
    assert_eq!(&StateBytes::joined_sha256(weights, memory_sha256), hashes.last().unwrap());
    let kept = fs::read_to_string(finished.folder.path().join("kept.json")).unwrap();
    assert_eq!(kept.trim_end(), uploaded.body, "what is kept is what was uploaded");

    let url = &server.url;
    expect_parts(
        &finished.stdout,
        &["checked", "Not reviewed yet", &format!("{url}/runs/run-1"), &format!("{url}/runs/run-1/delete#secret")],
    );
    let shown = one_line(&finished.stdout);
    assert!(shown.contains("being verified") && shown.contains("Verified proven"), "{shown}");
}

#[test]
fn lost_leaderboard_costs_the_proof_but_not_the_run() {
    let Some(adapter) = any_adapter() else { return };
    let runs = "/api/v1/runs";
    let (laps, segments) = ("/api/v1/runs/run-1/laps", "/api/v1/runs/run-1/segments");
    for (refused, asked) in [(laps, vec![runs, laps]), (segments, vec![runs, laps, segments])] {
        let server = FakeServer::start(move |request| match (request.method.as_str(), request.path.as_str()) {
            ("POST", "/api/v1/runs") => Answer::json(201, &started()),
            ("PUT", "/api/v1/runs/run-1") => Answer::json(201, &accepted("run-1", Tier::Checked)),
            (_, path) if path == refused => Answer::json(429, &refusal("too_many_requests", "Ask again tomorrow.")),
            _ => follow(request),
        });
        let line = format!("{adapter} --workload keras-mnist-mlp --steps 12 --batch-size 16 --yes --upload");
        let finished = Runner::new(&line).arg(&server.url).run().expect_status(0);
        let received = server.received();
        let mut expected: Vec<String> = asked.iter().map(|path| format!("POST {path}")).collect();
        expected.push("PUT /api/v1/runs/run-1".to_owned());
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
    let closing = FakeServer::start(|_| Answer::json(503, &refusal("closed", "The leaderboard is closed today.")));
    let line = format!("{adapter} --workload keras-mnist-mlp --steps 2 --batch-size 16 --seed 5 --yes --upload");
    let finished = Runner::new(&line).arg(&closing.url).run().expect_status(5);
    assert_eq!(paths(&closing.received()), ["POST /api/v1/runs/import"], "a seed of one's own is not registered");
    assert!(finished.stdout.contains("Verdict"), "the metrics are still shown:\n{}", finished.stdout);
    let command = format!("native-runner upload gradmark-seed-5.json --to {}", closing.url);
    let finished =
        finished.expect_errors(&["The leaderboard is closed today", &command, "the upload will be unverified"]);

    let server = leaderboard();
    let file = finished.folder.path().join("gradmark-seed-5.json");
    let second = Runner::new("upload --yes").arg(&file).arg("--to").arg(&server.url).run().expect_status(0);
    let received = server.received();
    assert_eq!(paths(&received), ["POST /api/v1/runs/import"]);
    let record: RunRecord = received[0].json();
    assert_eq!((record.requested.seed, record.run_id), (5, None));
    assert!(record.warnings.iter().any(|warning| matches!(warning, Warning::Unregistered { .. })));
    assert!(second.stdout.contains("unverified") && second.stdout.contains("/runs/run-2"), "{}", second.stdout);
}

#[test]
fn a_file_that_is_no_record_is_not_uploaded() {
    let server = leaderboard();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("some.json");
    fs::write(&file, "{\"schema_version\": 1}").unwrap();
    let finished = Runner::new("upload --yes").arg(&file).arg("--to").arg(&server.url).run().expect_status(2);
    finished.expect_errors(&["some.json is not a record", "missing field"]);
    let missing = Runner::new("upload --yes missing.json --to").arg(&server.url).run().expect_status(1);
    missing.expect_errors(&["cannot read missing.json"]);
    assert!(server.received().is_empty());
}

#[test]
fn a_run_that_diverged_is_not_uploaded() {
    let server = leaderboard();
    let finished = Runner::new(RUN).arg("--learning-rate").arg("1e30").arg("--upload").arg(&server.url).run();
    let paths = paths(&server.received());
    assert_eq!(paths[..2], ["POST /api/v1/runs", "POST /api/v1/runs/run-1/laps"]);
    assert!(!paths.iter().any(|path| path.starts_with("PUT")), "{paths:?}");
    finished.expect_status(3).expect_errors(&["diverged"]);
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

    // The same record again, as after a lost answer, is the same run.
    let file = finished.folder.path().join("kept.json");
    Runner::new("upload --yes")
        .arg(&file)
        .arg("--to")
        .arg(&server.url)
        .run()
        .expect_status(0)
        .expect_output(&[&format!("Permalink {permalink}")]);

    // With another flag, it is still the same record.
    let copy = Runner::new("upload --yes --unverified").arg(&file).arg("--to").arg(&server.url).run().expect_status(5);
    copy.expect_errors(&["the leaderboard refused", "already_submitted"]);
}
