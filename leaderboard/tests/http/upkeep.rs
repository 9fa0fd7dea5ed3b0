//! Tasks of the command line: health, import, removal and migration.

use std::path::Path;

use tempfile::TempPath;

use crate::export::json_lines;
use crate::support::*;

pub(crate) fn ids(server: &TestClient) -> Vec<String> {
    let mut ids: Vec<String> = server.list("").rows.into_iter().map(|row| row.run_id).collect();
    ids.sort();
    ids.dedup();
    ids
}

#[test]
fn a_running_server_is_well_and_a_stopped_one_is_not() {
    let server = TestServer::start();
    let url = format!("http://{}", server.address);
    let health = |url: &str| command().args(["health", url]).output().unwrap();
    assert_says(&done(&health(&url)), &["is healthy"]);
    drop(server);
    for (url, told) in [(url.as_str(), "Is the server running"), ("https://board.example", "not a proxy's")] {
        assert_says(&failed(&health(url)), &[told]);
    }
}

#[test]
fn runs_are_hidden_and_removed_together_or_not_at_all() {
    let database = TestDatabase::new();
    let server = ServerProcess::start(&database);
    let (kept, first, second) = (server.imported(1), server.imported(2), server.imported(3));
    let set = |tier: &str| run(&["set-tier", &first, tier], &database);
    assert_says(&done(&set("hidden")), &["was unverified and is hidden now"]);
    assert_eq!(ids(&server).len(), 2);
    server.assert_unknown(&first);
    server.import(&record::unregistered(2)).assert_refused(409, "already_submitted", "");
    assert_says(&done(&set("unverified")), &["was hidden"]);
    assert_says(&failed(&set("wonderful")), &["proven, checked"]);

    let remove = |other: &str| run(&["remove", &first, other], &database);
    assert_says(&failed(&remove("0123456789abcdef")), &["no run 0123456789abcdef"]);
    assert_eq!(ids(&server).len(), 3);
    done(&remove(&second));
    assert_eq!(ids(&server), [kept]);
    assert_says(&failed(&run(&["remove", &first], "nowhere.sqlite")), &["--database"]);
}

pub(crate) fn import_into(file: &Path, words: &[&str], database: &TestDatabase) -> Output {
    run(&[&["import", file.to_str().unwrap()], words].concat(), database)
}

pub(crate) fn import(file: &Path, words: &[&str], database: &TestDatabase) -> String {
    done(&import_into(file, words, database))
}

pub(crate) fn exported(server: &TestServer) -> TempPath {
    let file = tempfile::NamedTempFile::new().unwrap().into_temp_path();
    std::fs::write(&file, server.get("/api/v1/export?format=jsonl").body).unwrap();
    file
}

fn runs(server: &TestServer) -> Vec<StoredRun> {
    json_lines(&server.get("/api/v1/export?format=jsonl").text())
}

#[test]
fn trusted_import_reproduces_the_same_runs() {
    let (server, other) = (TestServer::start(), TestServer::start());
    server.proven(|record| record.device.claimed_name = Some("显卡 “九千”".to_owned()));
    server.accepted(|_| {});
    server.imported(3);
    let file = exported(&server);
    assert_says(&import(&file, &["--trust"], other.database()), &["imported 3 runs", "; 0 were there already"]);
    assert_eq!(runs(&other), runs(&server));
    let list = |server: &TestServer| server.get("/api/v1/runs?ranked=true").text();
    assert_eq!(list(&other), list(&server), "what was ranked is ranked");
    assert_says(&import(&file, &["--trust"], other.database()), &["imported 0 runs"]);
    assert_says(&import(&file, &["--trust"], server.database()), &["3 were there already"]);

    // Listed metrics survive it.
    let other = TestServer::start();
    let mut run = runs(&server).remove(0);
    run.listed = run.record.workloads.iter().map(|workload| workload.summary.clone()).collect();
    run.listed[0].samples_per_second = Some(1.5);
    let listed = run.listed.clone();
    let write = |run: &StoredRun| std::fs::write(&file, serde_json::to_string(run).unwrap()).unwrap();
    write(&StoredRun { listed: listed[1..].to_vec(), ..run.clone() });
    assert_says(&failed(&import_into(&file, &["--trust"], other.database())), &["wrong_length"]);
    write(&run);
    assert_says(&import(&file, &["--trust"], other.database()), &["imported 1 runs"]);
    assert_eq!(runs(&other)[0].listed, listed);
}

#[test]
fn untrusted_file_imports_as_a_stranger_would() {
    let (server, other) = (TestServer::start(), TestServer::start());
    let proven = server.proven(|_| {});
    let file = exported(&server);
    let good = std::fs::read_to_string(&file).unwrap();
    let mut forged: StoredRun = serde_json::from_str(&good).unwrap();
    forged.record.workloads[0].summary.samples_per_second = Some(1e9);
    // A byte order mark is skipped.
    let forged = serde_json::to_string(&forged).unwrap();
    let lines = ["\u{feff}", &good, "run_id,workload\n", &forged, "\n\n"].concat();
    std::fs::write(&file, lines).unwrap();
    let said = failed(&import_into(&file, &[], other.database()));
    assert_says(&said, &["imported 1 runs", "3 lines were refused"]);
    assert_says(&said, &["line 2: malformed_json", "line 3: summary_mismatch: workloads[0]"]);
    let [run] = &runs(&other)[..] else { panic!("one run") };
    assert_eq!(run.tier, Tier::Unverified);
    assert_ne!(run.run_id, proven);
    assert_eq!(run.record.run_id, None);
    for (content, part) in [(&b"\x1f\x8b\x08"[..], "gzip"), (b"\xff\xfe{\0", "UTF-16")] {
        std::fs::write(&file, content).unwrap();
        assert_says(&failed(&import_into(&file, &[], other.database())), &[part]);
    }
}

#[test]
fn deleted_runs_cannot_be_uploaded_again() {
    let server = TestServer::start();
    let (first, second) = (server.accepted(|_| {}), server.accepted(|_| {}));
    let imported = server.imported(9);
    let file = exported(&server);
    assert_eq!(server.delete(&first.run_id, &first.deletion_secret).status, 204);
    done(&run(&["remove", &imported], server.database()));
    for words in [&[][..], &["--trust"]] {
        let said = failed(&import_into(&file, words, server.database()));
        assert_says(&said, &["imported 0 runs", "; 1 were there already; 2 lines", ": deleted: "]);
    }
    assert_eq!(runs(&server).iter().map(|run| run.run_id.as_str()).collect::<Vec<_>>(), [second.run_id]);
    server.import(&record::unregistered(9)).assert_refused(410, "deleted", "");
}

#[test]
fn nobody_takes_the_id_of_another_run() {
    let server = TestServer::start();
    let kept = server.accepted(|_| {});
    let announced = server.begin();
    let file = exported(&server);
    let line = |(id, seed): (&str, u32)| {
        let run = StoredRun { run_id: id.to_owned(), record: record::unregistered(seed), ..runs(&server).remove(0) };
        serde_json::to_string(&run).unwrap() + "\n"
    };
    let ids = [kept.run_id.as_str(), &announced.run_id, "../../etc/passwd"];
    std::fs::write(&file, ids.into_iter().zip(1..).map(line).collect::<String>()).unwrap();
    let said = failed(&import_into(&file, &["--trust"], server.database()));
    assert!(said.contains("imported 0 runs") && said.matches("taken_run_id").count() == 2, "{said}");
    assert!(said.contains("line 3: bad_run_id"), "{said}");
    assert_eq!(runs(&server).len(), 1);
}

#[test]
fn tasks_report_tables_that_need_an_upgrade() {
    let database = TestDatabase::new();
    let remove = || failed(&run(&["remove", "0123456789abcdef"], &database));
    assert_says(&remove(), &["0001_schema", "leaderboard migrate"]);
    let migrate = || done(&run(&["migrate"], &database));
    assert_says(&migrate(), &["up to date: 0001_schema"]);
    assert!(migrate().contains("up to date already"));
    assert_says(&remove(), &["no run 0123456789abcdef"]);
    assert_says(&failed(&run(&["migrate"], "nowhere.sqlite")), &["no database"]);
}
