//! A run from its announcement to its deletion.

use results::api::{Note, StartRun};
use results::{FailureCause, Outcome, Suite};

use crate::support::record::{OUT_OF_MEMORY, fail, start};
use crate::support::*;

#[test]
fn a_run_is_announced_handed_in_listed_shown_and_deleted() {
    let server = TestServer::start();
    let (started, record) = server.honest_run();
    let other = server.begin();
    // Equal seeds by chance once in four billion.
    assert!(other.run_id != started.run_id && other.nonce != started.nonce && other.seed != started.seed);
    assert_eq!((started.run_id.len(), started.nonce.len()), (16, 64));
    assert_eq!(started.expires_unix_seconds, BEGINNING + 6.0 * 3600.0);

    let answer = server.upload(&started.run_id, &record).with_status(201);
    let accepted: AcceptedRun = answer.parse();
    assert_eq!((accepted.verdict.tier, accepted.verdict.being_verified), (Tier::Checked, false));
    let is_reason = |note: &Note| note.to_string().contains("received no segments");
    assert!(accepted.verdict.notes.iter().all(is_reason), "{:?}", accepted.verdict.notes);
    server.set_tier(&accepted.run_id, Tier::Proven);
    assert_eq!(accepted.permalink, format!("/runs/{}", started.run_id));
    assert_eq!(accepted.deletion_link, format!("/runs/{}/delete#{}", started.run_id, accepted.deletion_secret));
    answer.assert_headers(&[("location", &format!("/api/v1/runs/{}", started.run_id))]);
    // No cache stores an answer with a secret.
    answer.assert_headers(&[("cache-control", "no-store"), ("etag", "")]);

    let list = server.list("");
    assert_eq!(list.total, 2);
    let row = &list.rows[1];
    assert_eq!((row.workload.as_str(), row.backend.as_str(), row.batch_size), ("keras-mnist-mlp", "wgsl", 128));
    assert_eq!((row.client.as_str(), row.operating_system.as_str()), ("native-runner 0.1.0", "Linux"));
    assert!(row.ranked && row.standard);
    assert_eq!(row.adapter, record.device.adapter);
    assert_eq!(row.submitted_unix_seconds, BEGINNING + record.provenance.wall_seconds);
    assert_eq!(row.summary, record.workloads.iter().find(|w| w.workload == row.workload).unwrap().summary);

    let shown = server.get_run(&started.run_id, "");
    assert!(!shown.text().contains(&started.nonce) && !shown.text().contains(&accepted.deletion_secret));
    let stored = server.stored(&started.run_id);
    assert_eq!(stored.record, RunRecord { nonce: None, ..record.clone() });
    assert_eq!(shown.text(), serde_json::to_string(&stored).unwrap(), "to the letter what the type is written as");
    shown.assert_headers(&[("content-type", "application/json")]);

    // Its owner may delete it even while it is hidden.
    server.set_tier(&started.run_id, Tier::Hidden);
    server.assert_unknown(&started.run_id);
    let gone = server.delete(&started.run_id, &accepted.deletion_secret);
    assert_eq!((gone.status.as_u16(), gone.body.len()), (204, 0));
    server.assert_unknown(&started.run_id);
    server.delete(&started.run_id, &accepted.deletion_secret).assert_refused(404, "unknown_run", "");
    assert_eq!(server.list("").total, 0);
    // The nonce stays used up.
    server.upload(&started.run_id, &record).assert_refused(409, "already_submitted", "");
}

#[test]
fn deleting_takes_the_secret_and_says_what_is_missing() {
    let server = TestServer::start();
    let (run, other) = (server.accepted(|_| {}), server.accepted(|_| {}));
    let path = format!("/api/v1/runs/{}", run.run_id);
    let answer = server.send("DELETE", &path, &[], b"");
    answer.assert_refused(401, "missing_secret", "");
    answer.assert_headers(&[("www-authenticate", "Bearer")]);
    server.send("DELETE", &path, &[("authorization", "Basic abc")], b"").assert_refused(401, "missing_secret", "");
    for secret in ["0000", &other.deletion_secret] {
        server.delete(&run.run_id, secret).assert_refused(403, "wrong_secret", "");
    }
    assert_eq!(server.get(&path).status, 200);
    let record = record::unregistered(1);
    for id in
        ["0123456789abcdef", "0123456789ABCDEF", "x", "..%2f..", "%00", "%ff", "'%20OR%201=1--", "0123456789abcdef0"]
    {
        server.upload(id, &record).assert_refused(404, "unknown_run", "");
        server.assert_unknown(id);
        server.delete(id, "abc").assert_refused(404, "unknown_run", "");
    }
}

#[test]
fn an_imported_record_is_unverified_and_never_ranked() {
    let server = TestServer::start();
    let mut record = record::unregistered(7);
    record.run_id = Some("of-another-leaderboard".to_owned());
    record.nonce = Some("of-another-leaderboard-too".to_owned());
    let body = serde_json::to_vec(&record).unwrap();
    let import = |key: &str| {
        let headers = [("content-type", "application/json"), ("idempotency-key", key)];
        server.send("POST", "/api/v1/runs/import", &headers, &body)
    };
    let (mine, anothers) = ("a random key of the original sender", "a random key of a reader of the data");
    let accepted: AcceptedRun = import(mine).with_status(201).parse();
    assert_eq!((accepted.verdict.tier, accepted.verdict.notes.len()), (Tier::Unverified, 1));
    assert_ne!(accepted.run_id, "of-another-leaderboard");
    let stored = server.stored(&accepted.run_id);
    assert_eq!((stored.record.run_id, stored.record.nonce), (None, None));
    let list = server.list("");
    assert!(list.rows.iter().all(|row| !row.ranked && row.tier == Tier::Unverified) && list.total == 2);

    // The same key gives the same secret again.
    assert_eq!(import(mine).with_status(200).parse::<AcceptedRun>(), accepted);
    for again in [import(anothers), server.import(&record)] {
        assert_says(&again.assert_refused(409, "already_submitted", ""), &[&accepted.run_id]);
    }
    import("guessed").assert_refused(400, "bad_idempotency_key", "");
    assert_eq!(server.delete(&accepted.run_id, &accepted.deletion_secret).status, 204);
    for deleted in [import(mine), server.import(&record)] {
        assert_says(&deleted.assert_refused(410, "deleted", ""), &["cannot be uploaded again"]);
    }
}

#[test]
fn other_network_is_proven_if_one_fails_before_its_draws() {
    // It cannot be built, fails after its first request, or after its parts were drawn.
    for (requests, tier) in [(0, Tier::Proven), (1, Tier::Proven), (2, Tier::Checked)] {
        let server = rehearsal::server();
        let mut run = rehearsal::honest();
        run.fail(LARGE, requests);
        let verdict = run.verdict(&server);
        let given_up =
            format!("{LARGE}: it was not completed, although its client already knew which parts would be recomputed.");
        let left_out = Note::NotTrained { workload: LARGE.to_owned() };
        let given_up = (tier == Tier::Checked).then(|| Note::finding(given_up));
        assert_eq!((verdict.tier, verdict.notes), (tier, given_up.into_iter().chain([left_out]).collect()));
        let ranked = server.list("?ranked=true").rows.into_iter().map(|row| row.workload);
        assert_eq!(ranked.collect::<Vec<_>>(), if tier == Tier::Proven { vec![SMALL] } else { vec![] });
        let listed = server.list("");
        assert_eq!(listed.total, 1, "only what was completed has a row");
        let shown = server.stored(&listed.rows[0].run_id).record;
        let failed = shown.workloads.iter().find(|of| of.workload == LARGE).unwrap();
        assert_eq!(failed.outcome, Outcome::failed(FailureCause::OutOfMemory, OUT_OF_MEMORY));
        let table = server.get("/api/v1/export?format=csv").text();
        assert!(table.contains(",failed,") && table.contains(",completed,"), "{table}");
    }
}

#[test]
fn failed_network_has_one_line_reason_and_no_metrics() {
    fn fail_with(of: &mut WorkloadRecord, reason: &str) {
        of.outcome = Outcome::Failed { cause: FailureCause::Data, reason: reason.to_owned() };
    }
    let server = TestServer::start();
    let mut failed = record::unregistered(5);
    fail(&mut failed.workloads[0], Vec::new());
    let refused = |change: Edit<WorkloadRecord>, code: &str, field: &str| {
        let mut record = failed.clone();
        change(&mut record.workloads[0]);
        server.import(&record).assert_refused(422, code, &format!("workloads[0].{field}"));
    };
    refused(|of| fail_with(of, &"x".repeat(301)), "too_long", "outcome.reason");
    refused(|of| fail_with(of, "a\nb"), "control_character", "outcome.reason");
    refused(|of| fail_with(of, "  "), "empty", "outcome.reason");
    refused(|of| of.first_losses.push(2.3), "inconsistent", "outcome");
    assert_eq!(server.import(&failed).status, 201);
    // A suite names the network that failed, too.
    failed.workloads.remove(0);
    server.import(&failed).assert_refused(422, "not_standard", "departures");
}

#[test]
fn unknown_outcomes_and_damaged_records_do_not_break_lists() {
    let server = TestServer::start();
    let known = server.accepted(|_| {});
    let newer = server.accepted(|record| fail(&mut record.workloads[1], Vec::new()));
    let change = format!(
        "UPDATE runs SET record = REPLACE(record, '\"kind\":\"failed\"', '\"kind\":\"vanished\"') WHERE run_id = '{}'",
        newer.run_id
    );
    server.database().execute(&change);
    let damaged = server.accepted(|_| {}).run_id;
    server.database().execute(&format!("UPDATE runs SET record = '{{' WHERE run_id = '{damaged}'"));
    server.get_run(&damaged, "").assert_refused(500, "internal", "");
    assert_eq!(server.list("").total, 5);
    let exported = server.get("/api/v1/export?format=jsonl").text();
    assert!(exported.lines().count() == 1 && exported.contains(&known.run_id), "{exported}");
    for path in ["/api/v1/standings?suite=quick", "/api/v1/export?format=csv"] {
        assert_eq!(server.get(path).status, 200, "{path}");
    }
}

#[test]
fn bad_announcements_and_records_of_other_runs_are_refused() {
    let server = TestServer::start();
    let (started, record) = server.honest_run();
    let other = server.begin();
    let version = "provenance.engine_version";
    let refused = |change: Edit<RunRecord>, status, code: &str, field: &str| {
        let mut wrong = record.clone();
        change(&mut wrong);
        server.upload(&started.run_id, &wrong).assert_refused(status, code, field);
    };
    refused(|r| r.run_id = None, 422, "wrong_run_id", "run_id");
    refused(|r| r.run_id = Some("0".repeat(16)), 422, "wrong_run_id", "run_id");
    refused(|r| r.nonce = None, 403, "wrong_nonce", "nonce");
    refused(|r| r.nonce = Some("0".repeat(64)), 403, "wrong_nonce", "nonce");
    refused(|r| r.requested.seed ^= 1, 422, "wrong_seed", "seed");
    refused(|r| r.suite.version += 1, 422, "wrong_suite", "suite");
    refused(|r| r.suite.name = "other".to_owned(), 422, "wrong_suite", "suite");
    refused(|r| r.provenance.engine_version = "0.0.9".to_owned(), 422, "wrong_engine_version", version);
    server.upload(&other.run_id, &record).assert_refused(422, "wrong_run_id", "run_id");
    let stolen = RunRecord { nonce: Some(other.nonce), ..record.clone() };
    server.upload(&started.run_id, &stolen).assert_refused(403, "wrong_nonce", "nonce");
    // The run is still unused after these refusals.
    assert_eq!(server.upload(&started.run_id, &record).status, 201);

    let suite = |name: &str, version| StartRun { suite: Suite { name: name.to_owned(), version }, ..start() };
    let engine = |version: &str| StartRun { engine_version: version.to_owned(), ..start() };
    let refused = |request: StartRun, code: &str, field: &str| {
        server.json("POST", "/api/v1/runs", &request).assert_refused(422, code, field);
    };
    refused(suite("Quick!", 1), "bad_name", "suite.name");
    refused(suite("quick", 0), "out_of_range", "suite.version");
    refused(suite("quick", 2), "unknown_suite", "suite");
    refused(suite("quicker", 1), "unknown_suite", "suite");
    refused(engine(""), "empty", "engine_version");
    refused(engine(&"1".repeat(65)), "too_long", "engine_version");
    refused(engine("1\n2"), "control_character", "engine_version");
}

#[test]
fn a_run_is_accepted_until_it_expires_and_not_later() {
    let server = TestServer::start();
    let (early, early_record) = server.honest_run();
    let (late, late_record) = server.honest_run();
    server.pass(early.expires_unix_seconds - late.expires_unix_seconds);
    server.pass(6.0 * 3600.0 - early_record.provenance.wall_seconds);
    assert_eq!(server.upload(&early.run_id, &early_record).status, 201, "at the last moment");
    server.pass(2.0 * late_record.provenance.wall_seconds + 1.0);
    assert_says(&server.upload(&late.run_id, &late_record).assert_refused(410, "expired", ""), &["import"]);
    assert_eq!(server.import(&late_record).status, 201);
    // It is forgotten a week after it expired.
    let (started, record) = server.honest_run();
    for (days, status, code) in [(6.9, 410, "expired"), (2.0, 404, "unknown_run")] {
        server.pass(days * DAY);
        server.begin();
        server.upload(&started.run_id, &record).assert_refused(status, code, "");
    }
}

#[test]
fn client_with_lost_answer_gets_its_own_secret() {
    let server = TestServer::start();
    let (started, record) = server.honest_run();
    let first: AcceptedRun = server.upload(&started.run_id, &record).with_status(201).parse();
    server.pass(599.0);
    let second: AcceptedRun = server.upload(&started.run_id, &record).with_status(200).parse();
    assert_ne!(second.deletion_secret, first.deletion_secret);
    let shown = |run: &AcceptedRun| (run.run_id.clone(), run.verdict.tier, run.permalink.clone());
    assert_eq!(shown(&second), shown(&first));
    assert_eq!(server.list("").total, 2, "still one run of two workloads");
    let mut other = record.clone();
    other.provenance.commit = "another".to_owned();
    server.upload(&started.run_id, &other).assert_refused(409, "already_submitted", "");
    assert_eq!(server.delete(&first.run_id, &first.deletion_secret).status, 204, "the first secret stays valid");

    let (started, record) = server.honest_run();
    assert_eq!(server.upload(&started.run_id, &record).status, 201);
    server.pass(601.0);
    server.upload(&started.run_id, &record).assert_refused(409, "already_submitted", "");
    server.import(&record).assert_refused(409, "already_submitted", "");
}
