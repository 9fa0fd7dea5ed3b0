//! A record must belong to the run that was announced, in time, and only once.

use results::RunRecord;
use results::Suite;
use results::api::{AcceptedRun, RunList, StartRun, StoredRun};

use crate::support::{TestServer, record};

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
        (|r| r.seed ^= 1, 422, "wrong_seed", "seed"),
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
    // None of that used the run up.
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
fn a_client_whose_answer_was_lost_gets_a_secret_of_its_own() {
    let server = TestServer::start();
    let (started, record) = server.honest_run();
    let first: AcceptedRun = server.upload(&started.run_id, &record).parse();
    server.pass(599.0);
    let answer = server.upload(&started.run_id, &record);
    assert_eq!(answer.status, 200, "{}", answer.text());
    let second: AcceptedRun = answer.parse();
    assert_eq!((&second.run_id, second.tier, &second.permalink), (&first.run_id, first.tier, &first.permalink));
    assert_ne!(second.deletion_secret, first.deletion_secret);
    assert_eq!(server.get("/api/v1/runs").parse::<RunList>().total, 2, "still one run of two workloads");
    assert_eq!(server.delete(&first.run_id, &first.deletion_secret).status, 204, "the first secret stays valid");
}

#[test]
fn the_further_secret_deletes_as_well() {
    let server = TestServer::start();
    let (started, record) = server.honest_run();
    assert_eq!(server.upload(&started.run_id, &record).status, 201);
    let second: AcceptedRun = server.upload(&started.run_id, &record).parse();
    assert_eq!(server.delete(&second.run_id, &second.deletion_secret).status, 204);
}

#[test]
fn a_second_record_is_refused_whether_it_differs_or_comes_late_or_too_often() {
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
fn of_equal_records_sent_at_once_one_is_stored_and_the_others_are_recognised() {
    let server = TestServer::start();
    let (started, record) = server.honest_run();
    let mut statuses: Vec<u16> = std::thread::scope(|scope| {
        let send = || server.upload(&started.run_id, &record).status.as_u16();
        let sent: Vec<_> = (0..4).map(|_| scope.spawn(send)).collect();
        sent.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 200, 200, 201]);
    assert_eq!(server.get("/api/v1/runs").parse::<RunList>().total, 2);
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
