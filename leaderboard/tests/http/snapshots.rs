//! Daily files: created once, offered for a week, and then deleted.

use std::fs;
use std::path::PathBuf;

use results::open_data::{Snapshot, SnapshotList};

use crate::export::{assert_checksum, json_lines};
use crate::support::*;

const ENDINGS: [&str; 3] = ["csv.gz", "jsonl.gz", "parquet"];

fn server() -> TestServer {
    TestServer::with(|config, folder| config.snapshots = Some(folder.join("snapshots")))
}

fn folder(server: &TestServer) -> PathBuf {
    server.folder().join("snapshots")
}

fn listed(server: &TestServer) -> Vec<Snapshot> {
    server.get("/api/v1/snapshots").parse::<SnapshotList>().snapshots
}

#[track_caller]
fn files_of(server: &TestServer, day: &str) -> Vec<Snapshot> {
    let files = || -> Vec<_> { listed(server).into_iter().filter(|file| file.day == day).collect() };
    wait_until(|| files().len() == ENDINGS.len());
    files()
}

/// Restarts the server after these days, and returns the files of the new day.
fn files_after(server: &mut TestServer, days: f64, day: &str) -> Vec<Snapshot> {
    server.pass(days * DAY);
    server.restart();
    files_of(server, day)
}

fn ids(server: &TestServer, name: &str) -> Vec<String> {
    let text = unpacked(&server.get(&format!("/snapshots/{name}")).body);
    json_lines(&String::from_utf8(text).unwrap()).into_iter().map(|run| run.run_id).collect()
}

#[test]
fn daily_snapshot_has_all_formats_with_the_same_runs_and_is_cacheable() {
    let mut server = server();
    files_of(&server, "2027-01-15");
    for seed in 0..20 {
        server.imported(seed);
    }
    let files = files_after(&mut server, 1.0, "2027-01-16");
    let names: Vec<_> = files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(names, ENDINGS.map(|ending| format!("gradmark-2027-01-16.{ending}")));
    for (file, format) in files.iter().zip(["csv", "jsonl", "parquet"]) {
        let body = server.get(&format!("/snapshots/{}", file.name)).with_status(200).body;
        assert_eq!(body.len() as u64, file.bytes);
        assert_checksum(&file.name, &body, &format!("{}  {}\n", file.sha256, file.name));
        assert_checksum(&file.name, &body, &server.get(&format!("/snapshots/{}.sha256", file.name)).text());
        // The tests of exports compare the formats.
        let content = if format == "parquet" { body } else { unpacked(&body) };
        assert_eq!(content, server.get(&format!("/api/v1/export?format={format}")).body);
    }
    assert_eq!(ids(&server, &files[1].name).len(), 20);
    assert_eq!(listed(&server)[3].day, "2027-01-15", "the newest are first");

    let path = format!("/snapshots/{}", files[2].name);
    let whole = server.get_with(&path, "accept-encoding", "gzip");
    whole.assert_headers(&[("content-encoding", ""), ("cache-control", "public, max-age=86400, immutable")]);
    whole.assert_headers(&[("access-control-allow-origin", "*"), ("cross-origin-resource-policy", "cross-origin")]);
    assert_eq!(server.get_with(&path, "if-none-match", whole.header("etag")).with_status(304).body.len(), 0);
    assert_eq!(server.get_with(&path, "range", "bytes=-4").with_status(206).body, b"PAR1");
    assert_eq!(server.send("POST", &path, &[], b"x").status, 405);
    assert_eq!(server.send("POST", "/api/v1/snapshots", &[], b"x").status, 405);
}

#[test]
fn snapshots_are_written_once_and_nothing_else_is_offered_or_touched() {
    let mut server = server();
    let files = files_of(&server, "2027-01-15");
    server.imported(1);
    let other = server.another();
    server.restart();
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(files_of(&server, "2027-01-15"), files);
    assert_eq!(files_of(&other, "2027-01-15"), files);
    let made: Vec<_> = fs::read_dir(folder(&server)).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(made.len(), 2 * ENDINGS.len() + 1, "the files, their sums and the lock: {made:?}");
    drop(other);

    let others = ["gradmark.sqlite", "notes.txt", "gradmark-2027-01-15.csv", ".gradmark-2027-01-14.csv.gz.partial.txt"];
    for name in others {
        fs::write(folder(&server).join(name), "not for anyone").unwrap();
    }
    fs::write(folder(&server).join(".gradmark-2027-01-15.parquet.partial"), "left by a crash").unwrap();
    server.restart();
    for name in others.iter().chain(&["", "..", "%2e%2e/notes.txt", ".gradmark-snapshots.lock", "a/b"]) {
        assert_eq!(server.get(&format!("/snapshots/{name}")).status, 404, "{name}");
    }
    assert_eq!(listed(&server).len(), 3);
    files_after(&mut server, 30.0, "2027-02-14");
    for name in others {
        assert_eq!(fs::read_to_string(folder(&server).join(name)).unwrap(), "not for anyone");
    }
    assert!(!folder(&server).join(".gradmark-2027-01-15.parquet.partial").exists());
}

#[test]
fn deleted_runs_leave_snapshots_within_a_week() {
    let mut server = server();
    files_of(&server, "2027-01-15");
    let (kept, gone) = (server.imported(1), server.imported(2));
    let before = files_after(&mut server, 1.0, "2027-01-16")[1].name.clone();
    server.database().execute(&format!("DELETE FROM runs WHERE run_id = '{gone}'"));
    assert_eq!(ids(&server, &before).len(), 2, "a file never changes");
    // On the seventh day the file is no longer offered, even before its deletion.
    server.pass(6.0 * DAY);
    assert_eq!(server.get(&format!("/snapshots/{before}")).status, 200);
    server.pass(DAY);
    assert_eq!(server.get(&format!("/snapshots/{before}")).status, 404);
    assert_eq!(server.get(&format!("/snapshots/{before}.sha256")).status, 404);
    assert!(listed(&server).is_empty() && folder(&server).join(&before).exists());
    let after = files_after(&mut server, 0.0, "2027-01-23");
    assert_eq!(ids(&server, &after[1].name), [kept]);
    assert!(!folder(&server).join(&before).exists() && !folder(&server).join(format!("{before}.sha256")).exists());
}

#[test]
fn unwritable_snapshot_folder_does_not_stop_the_server() {
    let server = TestServer::with(|config, folder| {
        // A folder with the name of the lock, so that even root cannot write it.
        fs::create_dir_all(folder.join("snapshots/.gradmark-snapshots.lock")).unwrap();
        config.snapshots = Some(folder.join("snapshots"));
    });
    assert_eq!(server.get("/healthz").status, 200);
    assert!(listed(&server).is_empty());

    let file = server.folder().join("file");
    fs::write(&file, "").unwrap();
    let words = ["--listen", "127.0.0.1:0", "--snapshots", file.to_str().unwrap()];
    let database = TestDatabase::new();
    assert_says(&failed(&run(&words, &database)), &["--snapshots"]);
}

#[cfg(unix)]
#[test]
fn shutdown_during_a_snapshot_leaves_no_partial_files() {
    let folder = tempfile::tempdir().unwrap();
    let database = TestDatabase::new();
    let server = ServerProcess::start(&database);
    for seed in 0..30 {
        server.imported(seed);
    }
    drop(server);
    let mut command = command();
    command.args(["--log", "error", "--snapshots"]).arg(folder.path());
    assert!(ServerProcess::start_as(command, &database).signal("TERM").success());
    let names = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(!names.into_iter().any(|name| name.ends_with(".partial")));
}
