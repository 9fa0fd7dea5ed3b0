//! Daily files: created once, offered for a week, and then deleted.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::PathBuf;
use std::time::Duration;

use flate2::read::GzDecoder;
use results::open_data::{Snapshot, SnapshotList};
use sha2::{Digest, Sha256};

use crate::export::{cells, json_lines, open, rows};
use crate::support::{ServerProcess, TestDatabase, TestServer, record, server};

const DAY: f64 = 86_400.0;
const ENDINGS: [&str; 3] = ["csv.gz", "jsonl.gz", "parquet"];

fn server() -> TestServer {
    TestServer::with_snapshots(tempfile::tempdir().unwrap())
}

fn folder(server: &TestServer) -> PathBuf {
    server.folder().join("snapshots")
}

fn listed(server: &TestServer) -> Vec<Snapshot> {
    server.get("/api/v1/snapshots").parse::<SnapshotList>().snapshots
}

#[track_caller]
fn files_of(server: &TestServer, day: &str) -> Vec<Snapshot> {
    for _ in 0..600 {
        let files: Vec<_> = listed(server).into_iter().filter(|file| file.day == day).collect();
        if files.len() == ENDINGS.len() {
            return files;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("there is no snapshot of {day} after a minute: {:?}", listed(server));
}

fn unpacked(bytes: &[u8]) -> String {
    let mut text = String::new();
    GzDecoder::new(bytes).read_to_string(&mut text).unwrap();
    text
}

fn imported(server: &TestServer, seed: u32) -> String {
    server.import(&record::unregistered(seed)).with_status(201).parse::<results::api::AcceptedRun>().run_id
}

#[test]
fn daily_snapshot_has_all_formats_with_the_same_runs() {
    let mut server = server();
    files_of(&server, "2027-01-15");
    for seed in 0..20 {
        imported(&server, seed);
    }
    server.pass(DAY);
    server.restart();
    let files = files_of(&server, "2027-01-16");
    let names: Vec<_> = files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(names, ENDINGS.map(|ending| format!("gradmark-2027-01-16.{ending}")));
    let mut bodies = BTreeMap::new();
    for (file, ending) in files.iter().zip(ENDINGS) {
        let answer = server.get(&format!("/snapshots/{}", file.name));
        assert_eq!((answer.status.as_u16(), answer.body.len() as u64), (200, file.bytes));
        let digest: String = Sha256::digest(&answer.body).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(digest, file.sha256);
        let sum = server.get(&format!("/snapshots/{}.sha256", file.name)).text();
        assert_eq!(sum, format!("{digest}  {}\n", file.name), "as sha256sum --check reads it");
        bodies.insert(ending, answer.body);
    }
    assert_eq!(unpacked(&bodies["csv.gz"]), server.get("/api/v1/export?format=csv").text());
    assert_eq!(unpacked(&bodies["jsonl.gz"]), server.get("/api/v1/export?format=jsonl").text());
    assert_eq!(bodies["parquet"], server.get("/api/v1/export?format=parquet").body);
    let table = cells(&unpacked(&bodies["csv.gz"]));
    assert_eq!(rows(&open(bodies["parquet"].clone())).len(), table.len() - 1);
    assert_eq!(json_lines(&unpacked(&bodies["jsonl.gz"])).len(), 20);
    assert_eq!(listed(&server)[3].day, "2027-01-15", "the newest are first");
}

#[test]
fn data_files_are_cacheable_and_support_ranges_and_cors() {
    let server = server();
    let name = &files_of(&server, "2027-01-15")[2].name;
    let path = format!("/snapshots/{name}");
    let whole = server.get_accepting(&path, "gzip");
    assert_eq!(whole.header("content-encoding"), "");
    assert_eq!(whole.header("cache-control"), "public, max-age=86400, immutable");
    assert_eq!(whole.header("access-control-allow-origin"), "*");
    assert_eq!(whole.header("cross-origin-resource-policy"), "cross-origin");
    let again = server.send("GET", &path, &[("if-none-match", whole.header("etag"))], b"");
    assert_eq!((again.status.as_u16(), again.body.len()), (304, 0));
    let end = server.send("GET", &path, &[("range", "bytes=-4")], b"");
    assert_eq!((end.status.as_u16(), end.body.as_slice()), (206, &b"PAR1"[..]));
    assert_eq!(server.send("POST", &path, &[], b"x").status, 405);
    assert_eq!(server.send("POST", "/api/v1/snapshots", &[], b"x").status, 405);
}

#[test]
fn nothing_else_in_the_folder_is_offered_or_touched() {
    let mut server = server();
    files_of(&server, "2027-01-15");
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
    server.pass(30.0 * DAY);
    server.restart();
    files_of(&server, "2027-02-14");
    for name in others {
        assert_eq!(fs::read_to_string(folder(&server).join(name)).unwrap(), "not for anyone");
    }
    assert!(!folder(&server).join(".gradmark-2027-01-15.parquet.partial").exists());
}

#[test]
fn deleted_runs_leave_snapshots_within_a_week() {
    let mut server = server();
    files_of(&server, "2027-01-15");
    let (kept, gone) = (imported(&server, 1), imported(&server, 2));
    server.pass(DAY);
    server.restart();
    let before = files_of(&server, "2027-01-16")[1].name.clone();
    server.database().execute(&format!("DELETE FROM runs WHERE run_id = '{gone}'"));
    let ids = |name: &str| -> Vec<String> {
        let text = unpacked(&server.get(&format!("/snapshots/{name}")).body);
        json_lines(&text).into_iter().map(|run| run.run_id).collect()
    };
    assert_eq!(ids(&before).len(), 2, "a file never changes");
    // On the seventh day the file is no longer offered, even before its deletion.
    server.pass(6.0 * DAY);
    assert_eq!(server.get(&format!("/snapshots/{before}")).status, 200);
    server.pass(DAY);
    assert_eq!(server.get(&format!("/snapshots/{before}")).status, 404);
    assert_eq!(server.get(&format!("/snapshots/{before}.sha256")).status, 404);
    assert!(listed(&server).is_empty() && folder(&server).join(&before).exists());
    server.restart();
    let after = files_of(&server, "2027-01-23");
    let ids: Vec<_> = {
        let text = unpacked(&server.get(&format!("/snapshots/{}", after[1].name)).body);
        json_lines(&text).into_iter().map(|run| run.run_id).collect()
    };
    assert_eq!(ids, [kept]);
    assert!(!folder(&server).join(&before).exists() && !folder(&server).join(format!("{before}.sha256")).exists());
}

#[test]
fn existing_name_is_kept_by_every_server() {
    let mut server = server();
    let files = files_of(&server, "2027-01-15");
    imported(&server, 1);
    let other = server.another();
    server.restart();
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(files_of(&server, "2027-01-15"), files);
    assert_eq!(files_of(&other, "2027-01-15"), files);
    let made: Vec<_> = fs::read_dir(folder(&server)).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(made.len(), 2 * ENDINGS.len() + 1, "the files, their sums and the lock: {made:?}");
}

#[test]
fn unwritable_snapshot_folder_does_not_stop_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let snapshots = folder.path().join("snapshots");
    // A folder with the name of the lock, so that even root cannot write it.
    fs::create_dir_all(snapshots.join(".gradmark-snapshots.lock")).unwrap();
    let server = TestServer::with_snapshots(folder);
    assert_eq!(server.get("/healthz").status, 200);
    assert!(listed(&server).is_empty());

    let file = server.folder().join("file");
    fs::write(&file, "").unwrap();
    let database = TestDatabase::new();
    let mut command = server::command();
    command.args(["--listen", "127.0.0.1:0", "--snapshots"]).arg(&file).arg("--database").arg(database.as_ref());
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("--snapshots"), "{said}");
}

#[cfg(unix)]
#[test]
fn shutdown_during_a_snapshot_leaves_no_partial_files() {
    let folder = tempfile::tempdir().unwrap();
    let database = TestDatabase::new();
    let server = ServerProcess::start(&database);
    for seed in 0..30 {
        assert_eq!(server.import(&record::unregistered(seed)).status, 201);
    }
    drop(server);
    let mut command = server::command();
    command.args(["--log", "error", "--snapshots"]).arg(folder.path());
    let server = ServerProcess::start_as(command, &database);
    assert!(server.signal("TERM").success());
    let names = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(!names.into_iter().any(|name| name.ends_with(".partial")));
}

#[test]
fn a_server_without_a_folder_offers_nothing() {
    let server = TestServer::start();
    assert!(listed(&server).is_empty());
    assert_eq!(server.get("/snapshots/gradmark-2027-01-15.parquet").status, 404);
}
