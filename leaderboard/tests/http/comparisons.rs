//! Comparisons of back ends that somebody shares: kept with their records, and in no list.

use results::Precision;
use results::RunRecord;
use results::api::{AcceptedComparison, IDEMPOTENCY_KEY, ModerationLog, RunList, SharedComparison, StoredComparison};
use results::comparison::{Contender, Refused};

use crate::support::{Answer, Client, ServerProcess, TestDatabase, TestServer, record};
use crate::upkeep::{done, failed, run};

fn of(backend: &str, seed: u32) -> RunRecord {
    let mut record = record::unregistered(seed);
    record.device.requested_backend = backend.to_owned();
    record.device.backend = backend.to_owned();
    record
}

fn comparison() -> SharedComparison {
    let contender = Contender { backend: "burn-wgpu".to_owned(), precision: Precision::F32 };
    SharedComparison {
        records: vec![of("wgsl", 1), of("tfjs-webgpu", 1)],
        refused: vec![Refused { contender, reason: "It was not built into this page.".to_owned() }],
    }
}

fn share(server: &Client, comparison: &SharedComparison) -> Answer {
    server.json("POST", "/api/v1/comparisons", comparison)
}

fn delete(server: &Client, path: &str, secret: Option<&str>) -> Answer {
    let bearer = secret.map(|secret| format!("Bearer {secret}"));
    let headers: Vec<(&str, &str)> = bearer.iter().map(|bearer| ("authorization", bearer.as_str())).collect();
    server.send("DELETE", path, &headers, b"")
}

#[test]
fn a_comparison_is_kept_with_back_ends_of_any_name_and_its_records_are_no_runs() {
    let server = TestServer::start();
    let answer = share(&server, &comparison());
    assert_eq!(answer.status, 201, "{}", answer.text());
    let accepted: AcceptedComparison = answer.parse();
    assert_eq!(accepted.permalink, format!("/comparisons/{}", accepted.comparison_id));
    assert_eq!(answer.header("location"), format!("/api/v1/comparisons/{}", accepted.comparison_id));
    let stored: StoredComparison = server.get(&format!("/api/v1/comparisons/{}", accepted.comparison_id)).parse();
    assert_eq!(stored.comparison, comparison());
    assert_eq!(server.get("/api/v1/runs").parse::<RunList>().total, 0);
    assert_eq!(server.get("/api/v1/export?format=jsonl").text(), "");
    server.get(&format!("/api/v1/runs/{}", accepted.comparison_id)).assert_refused(404, "unknown_run", "");
}

#[test]
fn ids_and_nonces_of_its_records_stay_with_their_runs() {
    let server = TestServer::start();
    let (started, record) = server.honest_run();
    let shared = SharedComparison { records: vec![record, of("burn-wgpu", 1)], refused: Vec::new() };
    let accepted: AcceptedComparison = share(&server, &shared).parse();
    let kept = server.get(&format!("/api/v1/comparisons/{}", accepted.comparison_id)).text();
    assert!(!kept.contains(&started.nonce) && !kept.contains(&started.run_id));
}

#[test]
fn the_secret_of_its_upload_deletes_it_and_no_other() {
    let server = TestServer::start();
    let accepted: AcceptedComparison = share(&server, &comparison()).parse();
    let path = format!("/api/v1/comparisons/{}", accepted.comparison_id);
    delete(&server, &path, None).assert_refused(401, "missing_secret", "");
    delete(&server, &path, Some("guessed")).assert_refused(403, "wrong_secret", "");
    assert_eq!(delete(&server, &path, Some(&accepted.deletion_secret)).status, 204);
    server.get(&path).assert_refused(404, "unknown_comparison", "");
    delete(&server, &path, Some(&accepted.deletion_secret)).assert_refused(404, "unknown_comparison", "");
}

#[test]
fn whoever_lost_the_answer_gets_it_again_by_the_key_of_the_request() {
    let server = TestServer::start();
    let key = "a word that cannot be guessed, truly";
    let headers = [("content-type", "application/json"), (IDEMPOTENCY_KEY, key)];
    let send = |comparison: &SharedComparison| {
        server.send("POST", "/api/v1/comparisons", &headers, &serde_json::to_vec(comparison).unwrap())
    };
    let (first, again) = (send(&comparison()), send(&comparison()));
    assert_eq!((first.status.as_u16(), again.status.as_u16()), (201, 200));
    assert_eq!(first.parse::<AcceptedComparison>(), again.parse::<AcceptedComparison>());
    let other = SharedComparison { records: vec![of("wgsl", 2), of("burn-wgpu", 2)], refused: Vec::new() };
    assert_ne!(
        send(&other).parse::<AcceptedComparison>().comparison_id,
        first.parse::<AcceptedComparison>().comparison_id
    );
}

#[test]
fn what_is_no_comparison_or_contradicts_itself_is_refused_with_its_place() {
    let server = TestServer::start();
    let refuse = |change: fn(&mut SharedComparison), code: &str, field: &str| {
        let mut changed = comparison();
        change(&mut changed);
        share(&server, &changed).assert_refused(422, code, field);
    };
    refuse(|of| of.records.clear(), "too_few", "records");
    refuse(
        |of| {
            of.records.pop();
            of.refused.clear()
        },
        "too_few",
        "records",
    );
    refuse(
        |of| of.records[1].workloads[0].summary.accuracy = Some(0.999),
        "summary_mismatch",
        "records[1].workloads[0].summary.accuracy",
    );
    refuse(|of| of.records[0].suite.name = "unheard-of".to_owned(), "unknown_suite", "records[0].suite");
    refuse(|of| of.refused[0].reason.clear(), "empty", "refused[0].reason");
    refuse(|of| of.records = vec![of.records[0].clone(); 25], "too_many", "records");
    server.json("POST", "/api/v1/comparisons", &serde_json::json!({})).assert_refused(400, "missing_field", "");
}

#[test]
fn a_host_removes_it_and_the_log_says_so() {
    let database = TestDatabase::new();
    let server = ServerProcess::start(&database);
    let accepted: AcceptedComparison = share(&server, &comparison()).parse();
    let id = accepted.comparison_id.as_str();
    let remove = |id: &str| run(&["remove", id], &["--database".as_ref(), database.as_ref()]);
    assert!(failed(&remove("0123456789abcdef")).contains("0123456789abcdef"));
    assert!(done(&remove(id)).contains(id));
    server.get(&format!("/api/v1/comparisons/{id}")).assert_refused(404, "unknown_comparison", "");
    let log: ModerationLog = server.get("/api/v1/moderation").parse();
    assert_eq!(log.entries[0].run_id.as_deref(), Some(id));
    assert_eq!(log.entries[0].reason.as_deref(), Some("It was a comparison of back ends."));
}
