//! Acknowledged writes after the end of a server, and obstacles to its start.

use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering};

use sqlx::Executor;

use crate::support::*;

/// Shortens a record to fit the time between announcement and upload.
fn short(mut record: RunRecord) -> RunRecord {
    record::scale_time(&mut record, 0.05);
    record
}

const ENOUGH: usize = 20;

#[test]
fn a_killed_server_has_kept_every_run_secret_and_announcement() {
    let database = TestDatabase::new();
    let server = ServerProcess::start(&database);
    let open = server.begin();
    let count = AtomicUsize::new(0);
    let accepted: Vec<AcceptedRun> = std::thread::scope(|scope| {
        let clients = [(); 2].map(|()| {
            let (client, count) = ((*server).clone(), &count);
            scope.spawn(move || std::iter::from_fn(|| upload(&client, count)).collect::<Vec<_>>())
        });
        // Early ends of both clients are reported below.
        while count.load(Ordering::SeqCst) < ENOUGH && clients.iter().any(|client| !client.is_finished()) {
            std::thread::sleep(Duration::from_millis(1));
        }
        server.kill();
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
    });
    assert!(accepted.len() >= ENOUGH, "only {} runs were accepted", accepted.len());

    let server = ServerProcess::start(&database);
    for run in &accepted {
        server.stored(&run.run_id);
    }
    let first = &accepted[0];
    assert_eq!(server.delete(&first.run_id, &first.deletion_secret).status, 204);
    assert_eq!(server.upload(&open.run_id, &short(record::for_run(&open))).status, 201);
}

/// Announces, uploads and counts a run, unless the server no longer answers.
fn upload(client: &TestClient, count: &AtomicUsize) -> Option<AcceptedRun> {
    let announced = client.try_json("POST", "/api/v1/runs", &record::start()).ok()?;
    let started: StartedRun = announced.with_status(201).parse();
    let path = format!("/api/v1/runs/{}", started.run_id);
    let uploaded = client.try_json("PUT", &path, &short(record::for_run(&started))).ok()?;
    count.fetch_add(1, Ordering::SeqCst);
    Some(uploaded.with_status(201).parse())
}

#[cfg(unix)]
#[test]
fn asked_to_stop_the_server_stops_cleanly() {
    for signal in ["INT", "TERM"] {
        let database = TestDatabase::new();
        let server = ServerProcess::start(&database);
        server.imported(1);
        // An idle connection must not delay the server.
        let idle = server.idle_connection();
        assert!(server.signal(signal).success(), "SIG{signal}");
        drop(idle);
        if let Some(file) = database.file() {
            assert!(!file.with_extension("sqlite-wal").exists(), "the log was written back");
        }
        let server = ServerProcess::start(&database);
        assert_eq!(server.list("").total, 2);
    }
}

#[test]
fn startup_errors_come_with_advice() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(folder.path().join("no-database"), "certainly no database  ".repeat(100)).unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let database = path("good.sqlite");
    let fails = |arguments: &[&str], told: &str| {
        let errors = failed(&command().args(arguments).output().unwrap());
        assert!(errors.contains(told), "{arguments:?}: {errors}");
    };
    fails(&["--listen", &address, "--database", &database], "--listen");
    fails(&["--listen", "nowhere", "--database", &database], "--listen");
    fails(&["--listen", "127.0.0.1:0", "--database", &path("no-database")], "no-database");
    fails(&["--listen", "127.0.0.1:0", "--database", &path("missing/x.sqlite")], "missing/x.sqlite");
    fails(&["--listen", "127.0.0.1:0", "--database", &database, "--page", &path("no-page")], "cargo xtask run");
    fails(&["--listen", "127.0.0.1:0", "--database", &database, "--data", &path("no-data")], "fetch-data");
    fails(&["--run-lifetime-seconds", "0"], "--run-lifetime-seconds");
    fails(&["--log", "a=b=c"], "--log");
    fails(&["--trusted-proxy-header", "x-whatever"], "x-forwarded-for, x-real-ip");
    let help = done(&command().arg("--help").output().unwrap());
    assert!(help.contains("Examples:") && help.contains("--page dist"), "{help}");
}

#[test]
#[ignore = "waits for 10 s"]
fn locked_database_is_busy_until_free() {
    let server = TestServer::start();
    let lock = if crate::on_postgres() { "BEGIN; LOCK TABLE started_runs, runs" } else { "BEGIN EXCLUSIVE" };
    block_on(async {
        let mut somebody = server.database().connect().await;
        somebody.execute(lock).await.unwrap();
        let refused = server.json("POST", "/api/v1/runs", &record::start());
        refused.assert_refused(503, "busy", "");
        refused.assert_headers(&[("retry-after", "5")]);
        somebody.execute("ROLLBACK").await.unwrap();
    });
    server.accepted(|_| {});
    assert_eq!(server.list("").total, 2);
}
