//! A run from its announcement to its deletion.

use results::RunRecord;
use results::api::{AcceptedRun, RunList, StoredRun, Tier};

use crate::support::server::BEGINNING;
use crate::support::{TestServer, record};

#[test]
fn a_run_is_announced_handed_in_listed_shown_and_deleted() {
    let server = TestServer::start();
    let (started, record) = server.honest_run();
    assert_eq!(started.expires_unix_seconds, BEGINNING + 6.0 * 3600.0);

    let answer = server.upload(&started.run_id, &record);
    assert_eq!(answer.status, 201, "{}", answer.text());
    let accepted: AcceptedRun = answer.parse();
    assert_eq!((accepted.tier, accepted.being_verified), (Tier::Checked, false));
    assert!(accepted.notes.iter().all(|note| note.contains("did not see its training")), "{:?}", accepted.notes);
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
fn every_run_gets_an_id_a_nonce_and_a_seed_of_its_own() {
    let server = TestServer::start();
    let (a, b) = (server.begin(), server.begin());
    assert_ne!(a.run_id, b.run_id);
    assert_ne!(a.nonce, b.nonce);
    // Equal by chance once in four thousand million.
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
    let answer = server.import(&record);
    assert_eq!(answer.status, 201, "{}", answer.text());
    let accepted: AcceptedRun = answer.parse();
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
    assert!(refusal.message.contains("stays away"), "{}", refusal.message);
}

#[test]
fn an_import_whose_answer_was_lost_gets_its_secret_again_and_nobody_else_does() {
    let server = TestServer::start();
    let record = record::unregistered(7);
    let body = serde_json::to_vec(&record).unwrap();
    let import = |key: &str| {
        let headers = [("content-type", "application/json"), ("idempotency-key", key)];
        server.send("POST", "/api/v1/runs/import", &headers, &body)
    };
    let (mine, anothers) = ("of whoever handed it in, at random", "of somebody who read the open data");
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
fn a_workload_that_failed_is_kept_with_the_record_and_makes_no_row() {
    let server = TestServer::start();
    let run = server.accepted(|record| record::diverge(&mut record.workloads[1]));
    assert_eq!(run.tier, Tier::Checked);
    assert!(run.notes.iter().any(|note| note.contains("caffe-mnist was not completed")), "{:?}", run.notes);
    let list: RunList = server.get("/api/v1/runs").parse();
    assert_eq!(list.rows.iter().map(|row| row.workload.as_str()).collect::<Vec<_>>(), ["keras-mnist-mlp"]);
    let stored: StoredRun = server.get(&format!("/api/v1/runs/{}", run.run_id)).parse();
    assert_eq!(stored.record.workloads.len(), 2);
}

#[test]
fn words_of_any_language_and_words_of_sql_are_stored_as_they_are() {
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

#[test]
fn health_is_told_after_asking_the_data_base() {
    let server = TestServer::start();
    let answer = server.get("/healthz");
    assert_eq!((answer.status.as_u16(), answer.text().as_str()), (200, "ok"));
}
