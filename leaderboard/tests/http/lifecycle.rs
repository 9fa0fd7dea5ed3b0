//! A run from its announcement to its deletion.

use results::api::{AcceptedRun, Note, RunList, StartRun, StoredRun, Tier};
use results::{FailureCause, Outcome, RunRecord, Suite, WorkloadRecord};

use crate::support::record::{OUT_OF_MEMORY, fail};
use crate::support::rehearsal::{LARGE, Rehearsal, SMALL};
use crate::support::server::BEGINNING;
use crate::support::{TestServer, record, rehearsal};

#[test]
fn a_run_is_announced_handed_in_listed_shown_and_deleted() {
    let server = TestServer::start();
    let (started, record) = server.honest_run();
    assert_eq!(started.expires_unix_seconds, BEGINNING + 6.0 * 3600.0);

    let answer = server.upload(&started.run_id, &record).with_status(201);
    let accepted: AcceptedRun = answer.parse();
    assert_eq!((accepted.tier, accepted.being_verified), (Tier::Checked, false));
    assert!(
        accepted.notes.iter().all(|note| note.to_string().contains("received no segments")),
        "{:?}",
        accepted.notes
    );
    server.set_tier(&accepted.run_id, Tier::Proven);
    assert_eq!(accepted.permalink, format!("/runs/{}", started.run_id));
    assert_eq!(accepted.deletion_link, format!("/runs/{}/delete#{}", started.run_id, accepted.deletion_secret));
    assert_eq!(answer.header("location"), format!("/api/v1/runs/{}", started.run_id));

    let list: RunList = server.get("/api/v1/runs").parse();
    assert_eq!(list.total, 2);
    let row = &list.rows[1];
    assert_eq!((row.workload.as_str(), row.backend.as_str(), row.batch_size), ("keras-mnist-mlp", "wgsl", 128));
    assert_eq!((row.client.as_str(), row.operating_system.as_str()), ("native-runner 0.1.0", "Linux"));
    assert!(row.ranked && row.standard);
    assert_eq!(row.adapter, record.device.adapter);
    assert_eq!(row.submitted_unix_seconds, BEGINNING + record.provenance.wall_seconds);
    let workload = record.workloads.iter().find(|w| w.workload == row.workload).unwrap();
    assert_eq!(row.summary, workload.summary);

    let shown = server.get(&format!("/api/v1/runs/{}", started.run_id));
    assert!(!shown.text().contains(&started.nonce) && !shown.text().contains(&accepted.deletion_secret));
    let stored: StoredRun = shown.parse();
    assert_eq!(stored.record, RunRecord { nonce: None, ..record.clone() });
    assert_eq!(shown.text(), serde_json::to_string(&stored).unwrap(), "to the letter what the type is written as");
    assert_eq!(shown.header("content-type"), "application/json");

    server.delete(&started.run_id, "0000").assert_refused(403, "wrong_secret", "");
    let gone = server.delete(&started.run_id, &accepted.deletion_secret);
    assert_eq!((gone.status.as_u16(), gone.body.len()), (204, 0));
    server.get(&format!("/api/v1/runs/{}", started.run_id)).assert_refused(404, "unknown_run", "");
    server.delete(&started.run_id, &accepted.deletion_secret).assert_refused(404, "unknown_run", "");
    assert_eq!(server.get("/api/v1/runs").parse::<RunList>().total, 0);
    // The nonce stays used up.
    server.upload(&started.run_id, &record).assert_refused(409, "already_submitted", "");
}

#[test]
fn every_run_has_its_own_id_nonce_and_seed() {
    let server = TestServer::start();
    let (a, b) = (server.begin(), server.begin());
    assert_ne!(a.run_id, b.run_id);
    assert_ne!(a.nonce, b.nonce);
    // Equal by chance once in four billion.
    assert_ne!(a.seed, b.seed);
    assert_eq!((a.run_id.len(), a.nonce.len()), (16, 64));
}

#[test]
fn deleting_takes_the_secret_and_says_what_is_missing() {
    let server = TestServer::start();
    let run = server.accepted(|_| {});
    let path = format!("/api/v1/runs/{}", run.run_id);
    let answer = server.send("DELETE", &path, &[], b"");
    answer.assert_refused(401, "missing_secret", "");
    assert_eq!(answer.header("www-authenticate"), "Bearer");
    server.send("DELETE", &path, &[("authorization", "Basic abc")], b"").assert_refused(401, "missing_secret", "");
    let other = server.accepted(|_| {});
    server.delete(&run.run_id, &other.deletion_secret).assert_refused(403, "wrong_secret", "");
    assert_eq!(server.get(&path).status, 200);
}

#[test]
fn an_imported_record_is_unverified_and_never_ranked() {
    let server = TestServer::start();
    let mut record = record::unregistered(7);
    record.run_id = Some("of-another-leaderboard".to_owned());
    record.nonce = Some("of-another-leaderboard-too".to_owned());
    let accepted: AcceptedRun = server.import(&record).with_status(201).parse();
    assert_eq!((accepted.tier, accepted.notes.len()), (Tier::Unverified, 1));
    assert_ne!(accepted.run_id, "of-another-leaderboard");

    let stored: StoredRun = server.get(&format!("/api/v1/runs/{}", accepted.run_id)).parse();
    assert_eq!((stored.record.run_id, stored.record.nonce), (None, None));
    let list: RunList = server.get("/api/v1/runs").parse();
    assert!(list.rows.iter().all(|row| !row.ranked && row.tier == Tier::Unverified) && list.total == 2);

    let again = server.import(&record);
    let refusal = again.assert_refused(409, "already_submitted", "");
    assert!(refusal.message.contains(&accepted.run_id), "{}", refusal.message);
    assert_eq!(server.delete(&accepted.run_id, &accepted.deletion_secret).status, 204);
    let refusal = server.import(&record).assert_refused(410, "deleted", "");
    assert!(refusal.message.contains("cannot be uploaded again"), "{}", refusal.message);
}

#[test]
fn repeated_import_returns_the_same_secret() {
    let server = TestServer::start();
    let record = record::unregistered(7);
    let body = serde_json::to_vec(&record).unwrap();
    let import = |key: &str| {
        let headers = [("content-type", "application/json"), ("idempotency-key", key)];
        server.send("POST", "/api/v1/runs/import", &headers, &body)
    };
    let (mine, anothers) = ("a random key of the original sender", "a random key of a reader of the data");
    let first = import(mine);
    assert_eq!(first.status, 201, "{}", first.text());
    let first: AcceptedRun = first.parse();
    let again = import(mine);
    assert_eq!(again.status, 200, "{}", again.text());
    assert_eq!(again.parse::<AcceptedRun>(), first);
    import(anothers).assert_refused(409, "already_submitted", "");
    server.import(&record).assert_refused(409, "already_submitted", "");
    import("guessed").assert_refused(400, "bad_idempotency_key", "");
    assert_eq!(server.delete(&first.run_id, &first.deletion_secret).status, 204);
    import(mine).assert_refused(410, "deleted", "");
}

#[test]
fn failed_workload_is_stored_without_a_row() {
    let server = TestServer::start();
    let run = server.accepted(|record| record::diverge(&mut record.workloads[1]));
    assert_eq!(run.tier, Tier::Checked);
    assert!(run.notes.iter().any(|note| note.to_string().contains("caffe-mnist was not completed")), "{:?}", run.notes);
    let list: RunList = server.get("/api/v1/runs").parse();
    assert_eq!(list.rows.iter().map(|row| row.workload.as_str()).collect::<Vec<_>>(), ["keras-mnist-mlp"]);
    let stored: StoredRun = server.get(&format!("/api/v1/runs/{}", run.run_id)).parse();
    assert_eq!(stored.record.workloads.len(), 2);
}

#[test]
fn texts_are_stored_verbatim() {
    let server = TestServer::start();
    for name in [
        "显卡 “九千”",
        "Графика",
        "🚀 GPU",
        "x'); DROP TABLE runs; --",
        "\" OR 1=1 --",
        "<script>alert(1)</script>",
        "%s%n\\",
    ] {
        let run = server.accepted(|record| {
            record.device.adapter.name = name.to_owned();
            record.device.claimed_name = Some(name.to_owned());
        });
        let stored: StoredRun = server.get(&format!("/api/v1/runs/{}", run.run_id)).parse();
        assert_eq!(stored.record.device.adapter.name, name);
        let list: RunList = server.get("/api/v1/runs").parse();
        assert!(list.rows.iter().any(|row| row.claimed_name.as_deref() == Some(name)), "{name}");
    }
}

#[test]
fn the_schema_describes_what_the_server_takes() {
    let server = TestServer::start();
    let answer = server.get("/api/v1/schema");
    assert_eq!((answer.status.as_u16(), answer.header("content-type")), (200, "application/schema+json"));
    let checked_in = include_str!("../../../results/schema/run-record.schema.json");
    assert_eq!(answer.parse::<serde_json::Value>(), serde_json::from_str::<serde_json::Value>(checked_in).unwrap());
}

/// Returns the honest run, whose larger network fails after `requests` of its requests.
fn failing(requests: usize) -> Rehearsal {
    let mut run = rehearsal::honest();
    run.fail(LARGE, requests);
    run
}

fn left_out() -> Note {
    Note::NotTrained { workload: LARGE.to_owned() }
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
fn other_network_is_proven_after_one_cannot_be_built() {
    other_is_proven(&failing(0));
}

#[test]
fn other_network_is_proven_after_one_fails_early() {
    other_is_proven(&failing(1));
}

#[test]
fn run_is_checked_after_a_network_fails() {
    let server = rehearsal::server();
    let verdict = failing(2).verdict(&server);
    let given_up =
        format!("{LARGE}: it was not completed, although its client already knew which parts would be recomputed.");
    assert_eq!((verdict.tier, verdict.notes), (Tier::Checked, vec![Note::finding(given_up), left_out()]));
    assert_eq!(server.get("/api/v1/runs?ranked=true").parse::<RunList>().total, 0);
}

/// Change of the record, and the code and field of its refusal.
type Refused = (fn(&mut WorkloadRecord), &'static str, &'static str);

#[test]
fn failed_network_has_one_line_reason_and_no_metrics() {
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
fn a_suite_names_the_network_that_failed_too() {
    let server = TestServer::start();
    let mut record = record::unregistered(5);
    fail(&mut record.workloads[0], Vec::new());
    assert_eq!(server.import(&record).status, 201);
    record.workloads.remove(0);
    server.import(&record).assert_refused(422, "not_standard", "departures");
}

#[test]
fn unknown_outcomes_do_not_break_lists() {
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

#[test]
fn a_record_of_another_run_is_refused() {
    let server = TestServer::start();
    let (started, record) = server.honest_run();
    let other = server.begin();
    type Change = fn(&mut RunRecord);
    let cases: [(Change, u16, &str, &str); 8] = [
        (|r| r.run_id = None, 422, "wrong_run_id", "run_id"),
        (|r| r.run_id = Some("0".repeat(16)), 422, "wrong_run_id", "run_id"),
        (|r| r.nonce = None, 403, "wrong_nonce", "nonce"),
        (|r| r.nonce = Some("0".repeat(64)), 403, "wrong_nonce", "nonce"),
        (|r| r.requested.seed ^= 1, 422, "wrong_seed", "seed"),
        (|r| r.suite.version += 1, 422, "wrong_suite", "suite"),
        (|r| r.suite.name = "other".to_owned(), 422, "wrong_suite", "suite"),
        (
            |r| r.provenance.engine_version = "0.0.9".to_owned(),
            422,
            "wrong_engine_version",
            "provenance.engine_version",
        ),
    ];
    for (change, status, code, field) in cases {
        let mut wrong = record.clone();
        change(&mut wrong);
        server.upload(&started.run_id, &wrong).assert_refused(status, code, field);
    }
    server.upload(&other.run_id, &record).assert_refused(422, "wrong_run_id", "run_id");
    let mut stolen = record.clone();
    stolen.nonce = Some(other.nonce);
    server.upload(&started.run_id, &stolen).assert_refused(403, "wrong_nonce", "nonce");
    // The run is still unused after these refusals.
    assert_eq!(server.upload(&started.run_id, &record).status, 201);
}

#[test]
fn ids_that_were_never_given_are_unknown() {
    let server = TestServer::start();
    let record = record::unregistered(1);
    for id in
        ["0123456789abcdef", "0123456789ABCDEF", "x", "..%2f..", "%00", "%ff", "'%20OR%201=1--", "0123456789abcdef0"]
    {
        let path = format!("/api/v1/runs/{id}");
        server.json("PUT", &path, &record).assert_refused(404, "unknown_run", "");
        server.get(&path).assert_refused(404, "unknown_run", "");
        server.delete(id, "abc").assert_refused(404, "unknown_run", "");
    }
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
    let refusal = server.upload(&late.run_id, &late_record).assert_refused(410, "expired", "");
    assert!(refusal.message.contains("import"), "{}", refusal.message);
    assert_eq!(server.import(&late_record).status, 201);
}

#[test]
fn announcements_are_forgotten_a_week_after_they_expired() {
    let server = TestServer::start();
    let (started, record) = server.honest_run();
    server.pass(6.9 * 86_400.0);
    server.begin();
    server.upload(&started.run_id, &record).assert_refused(410, "expired", "");
    server.pass(2.0 * 86_400.0);
    server.begin();
    server.upload(&started.run_id, &record).assert_refused(404, "unknown_run", "");
}

#[test]
fn client_with_lost_answer_gets_its_own_secret() {
    let server = TestServer::start();
    let (started, record) = server.honest_run();
    let first: AcceptedRun = server.upload(&started.run_id, &record).parse();
    server.pass(599.0);
    let second: AcceptedRun = server.upload(&started.run_id, &record).with_status(200).parse();
    assert_eq!((&second.run_id, second.tier, &second.permalink), (&first.run_id, first.tier, &first.permalink));
    assert_ne!(second.deletion_secret, first.deletion_secret);
    assert_eq!(server.get("/api/v1/runs").parse::<RunList>().total, 2, "still one run of two workloads");
    assert_eq!(server.delete(&first.run_id, &first.deletion_secret).status, 204, "the first secret stays valid");
}

#[test]
fn second_record_of_a_run_is_refused() {
    let server = TestServer::start();
    let (started, record) = server.honest_run();
    assert_eq!(server.upload(&started.run_id, &record).status, 201);
    let mut other = record.clone();
    other.provenance.commit = "another".to_owned();
    server.upload(&started.run_id, &other).assert_refused(409, "already_submitted", "");
    for _ in 0..4 {
        assert_eq!(server.upload(&started.run_id, &record).status, 200);
    }
    server.upload(&started.run_id, &record).assert_refused(409, "already_submitted", "");

    let (started, record) = server.honest_run();
    assert_eq!(server.upload(&started.run_id, &record).status, 201);
    server.pass(601.0);
    server.upload(&started.run_id, &record).assert_refused(409, "already_submitted", "");
    server.import(&record).assert_refused(409, "already_submitted", "");
}

#[test]
fn of_different_records_sent_at_once_exactly_one_wins() {
    let server = TestServer::start();
    let (started, record) = server.honest_run();
    let commits: Vec<String> = (0..8).map(|i| format!("commit-{i}")).collect();
    let answers: Vec<_> = std::thread::scope(|scope| {
        let sent: Vec<_> = commits
            .iter()
            .map(|commit| {
                let (client, started, mut record) = ((*server).clone(), &started, record.clone());
                record.provenance.commit.clone_from(commit);
                scope.spawn(move || (commit, client.upload(&started.run_id, &record)))
            })
            .collect();
        sent.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let winners: Vec<_> = answers.iter().filter(|(_, answer)| answer.status == 201).collect();
    assert_eq!(winners.len(), 1);
    for (_, answer) in answers.iter().filter(|(_, answer)| answer.status != 201) {
        answer.assert_refused(409, "already_submitted", "");
    }
    let stored: StoredRun = server.get(&format!("/api/v1/runs/{}", started.run_id)).parse();
    assert_eq!(&stored.record.provenance.commit, winners[0].0);
}

#[test]
fn an_announcement_is_bounded_too() {
    let server = TestServer::start();
    let start = |name: &str, version, engine: &str| StartRun {
        suite: Suite { name: name.to_owned(), version },
        engine_version: engine.to_owned(),
    };
    let cases = [
        (start("Quick!", 1, "1"), "bad_name", "suite.name"),
        (start("quick", 0, "1"), "out_of_range", "suite.version"),
        (start("quick", 1, ""), "empty", "engine_version"),
        (start("quick", 1, &"1".repeat(65)), "too_long", "engine_version"),
        (start("quick", 1, "1\n2"), "control_character", "engine_version"),
    ];
    for (request, code, field) in cases {
        server.json("POST", "/api/v1/runs", &request).assert_refused(422, code, field);
    }
}
