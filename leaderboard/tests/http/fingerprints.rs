//! Fingerprints that an older version made of records as they were then.

use results::api::AcceptedRun;

use crate::support::{TestServer, record};

fn imported(server: &TestServer, seed: u32) -> AcceptedRun {
    let answer = server.import(&record::unregistered(seed));
    assert_eq!(answer.status, 201, "{}", answer.text());
    answer.parse()
}

/// Makes all fingerprints what they would be if an older version had stored the runs.
fn grow_old(server: &TestServer) {
    server.database().execute(
        "UPDATE runs SET fingerprint = 'old ' || run_id; INSERT INTO stale_fingerprints SELECT run_id FROM runs",
    );
}

fn stale(server: &TestServer) -> i64 {
    server.database().count("SELECT COUNT(*) FROM stale_fingerprints")
}

#[test]
fn they_are_made_again_when_a_server_opens_the_data_base() {
    let mut server = TestServer::start();
    // More than are read at once.
    let runs: Vec<AcceptedRun> = (1..=45).map(|seed| imported(&server, seed)).collect();
    let before = server.database().words("SELECT fingerprint FROM runs ORDER BY run_id");
    grow_old(&server);
    server.restart_with_verifiers(0);
    assert_eq!((stale(&server), server.database().words("SELECT fingerprint FROM runs ORDER BY run_id")), (0, before));
    for seed in [1, 45] {
        server.import(&record::unregistered(seed)).assert_refused(409, "already_submitted", "");
    }
    assert_eq!(server.delete(&runs[2].run_id, &runs[2].deletion_secret).status, 204);
    server.import(&record::unregistered(3)).assert_refused(410, "deleted", "");
}

#[test]
fn what_is_deleted_before_that_stays_away_too() {
    let server = TestServer::start();
    let (first, _second) = (imported(&server, 1), imported(&server, 2));
    grow_old(&server);
    assert_eq!(server.delete(&first.run_id, &first.deletion_secret).status, 204);
    server.import(&record::unregistered(1)).assert_refused(410, "deleted", "");
    assert_eq!(stale(&server), 1, "the other one waits for the next start");
}

#[test]
fn a_record_that_came_in_twice_meanwhile_and_one_that_cannot_be_read_keep_no_server_from_starting() {
    let mut server = TestServer::start();
    let (first, broken) = (imported(&server, 1), imported(&server, 2));
    grow_old(&server);
    let twice = imported(&server, 1);
    let break_it = format!("UPDATE runs SET record = 'no record' WHERE run_id = '{}'", broken.run_id);
    server.database().execute(&break_it);
    server.restart_with_verifiers(0);
    assert_eq!(stale(&server), 1, "that of the record which cannot be read");
    for run in [&first, &twice] {
        assert_eq!(server.get(&format!("/api/v1/runs/{}", run.run_id)).status, 200);
    }
    server.import(&record::unregistered(1)).assert_refused(409, "already_submitted", "");
}
