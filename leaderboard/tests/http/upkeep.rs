//! Tasks of the command line: health, import, removal and migration.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Output;

use results::api::{AcceptedRun, RunList, StoredRun, Tier};

use crate::support::{ServerProcess, TestDatabase, TestServer, record, server};

pub(crate) fn run(arguments: &[&str], files: &[&OsStr]) -> Output {
    server::command().args(arguments).args(files).output().unwrap()
}

#[track_caller]
pub(crate) fn done(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[track_caller]
pub(crate) fn failed(output: &Output) -> String {
    assert!(!output.status.success() && output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stderr.clone()).unwrap()
}

pub(crate) fn stored(server: &ServerProcess, seed: u32) -> String {
    server.import(&record::unregistered(seed)).with_status(201).parse::<AcceptedRun>().run_id
}

pub(crate) fn ids(server: &ServerProcess) -> Vec<String> {
    let mut ids: Vec<String> =
        server.get("/api/v1/runs").parse::<RunList>().rows.into_iter().map(|row| row.run_id).collect();
    ids.sort();
    ids.dedup();
    ids
}

#[test]
fn a_running_server_is_well_and_a_stopped_one_is_not() {
    let server = TestServer::start();
    let url = format!("http://{}", server.address);
    assert!(done(&run(&["health", &url], &[])).contains("is healthy"));
    drop(server);
    let said = failed(&run(&["health", &url], &[]));
    assert!(said.contains("Is the server running"), "{said}");
    let said = failed(&run(&["health", "https://board.example"], &[]));
    assert!(said.contains("not a proxy's"), "{said}");
}

#[test]
fn hidden_run_is_absent_everywhere_until_shown() {
    let database = TestDatabase::new();
    let server = ServerProcess::start(&database);
    let (good, bad) = (stored(&server, 1), stored(&server, 2));
    let set = |tier: &str| run(&["set-tier", &bad, tier, "--database"], &[database.as_ref()]);
    let said = done(&set("hidden"));
    assert!(said.contains("was unverified and is hidden now"), "{said}");
    assert_eq!(ids(&server), std::slice::from_ref(&good));
    server.get(&format!("/api/v1/runs/{bad}")).assert_refused(404, "unknown_run", "");
    server.import(&record::unregistered(2)).assert_refused(409, "already_submitted", "");
    assert!(done(&set("unverified")).contains("was hidden"));
    assert_eq!(ids(&server).len(), 2);
    assert!(failed(&set("wonderful")).contains("proven, checked"));
}

#[test]
fn runs_are_removed_together_or_not_at_all() {
    let database = TestDatabase::new();
    let server = ServerProcess::start(&database);
    let (first, second, kept) = (stored(&server, 1), stored(&server, 2), stored(&server, 3));
    let remove = |ids: [&str; 2]| run(&["remove", ids[0], ids[1], "--database"], &[database.as_ref()]);
    let said = failed(&remove([&first, "0123456789abcdef"]));
    assert!(said.contains("no run 0123456789abcdef"), "{said}");
    assert_eq!(ids(&server).len(), 3);
    done(&remove([&first, &second]));
    assert_eq!(ids(&server), [kept]);
    assert!(failed(&run(&["remove", &first, "--database", "nowhere.sqlite"], &[])).contains("--database"));
}

pub(crate) fn import_into(file: &Path, words: &[&str], database: &TestDatabase) -> Output {
    run(&[&["import"], words].concat(), &[file.as_ref(), "--database".as_ref(), database.as_ref()])
}

pub(crate) fn import(file: &Path, words: &[&str], database: &TestDatabase) -> String {
    done(&import_into(file, words, database))
}

pub(crate) fn exported(server: &TestServer, folder: &Path) -> std::path::PathBuf {
    let file = folder.join("results.jsonl");
    std::fs::write(&file, server.get("/api/v1/export?format=jsonl").body).unwrap();
    file
}

fn runs(server: &TestServer) -> Vec<StoredRun> {
    let lines = server.get("/api/v1/export?format=jsonl").text();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn trusted_import_reproduces_the_same_runs() {
    let (server, other) = (TestServer::start(), TestServer::start());
    server.proven(|record| record.device.claimed_name = Some("显卡 “九千”".to_owned()));
    server.accepted(|_| {});
    assert_eq!(server.import(&record::unregistered(3)).status, 201);
    let folder = tempfile::tempdir().unwrap();
    let file = exported(&server, folder.path());
    let said = import(&file, &["--trust"], other.database());
    assert!(said.contains("imported 3 runs") && said.contains("; 0 were there already"), "{said}");
    assert_eq!(runs(&other), runs(&server));
    let list = |server: &TestServer| server.get("/api/v1/runs?ranked=true").text();
    assert_eq!(list(&other), list(&server), "what was ranked is ranked");
    assert!(import(&file, &["--trust"], other.database()).contains("imported 0 runs"));
    assert!(import(&file, &["--trust"], server.database()).contains("3 were there already"));
}

#[test]
fn listed_metrics_survive_a_trusted_import() {
    let (server, other) = (TestServer::start(), TestServer::start());
    server.proven(|_| {});
    let folder = tempfile::tempdir().unwrap();
    let file = exported(&server, folder.path());
    let mut run: StoredRun = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    run.listed = run.record.workloads.iter().map(|workload| workload.summary.clone()).collect();
    run.listed[0].samples_per_second = Some(1.5);
    let listed = run.listed.clone();
    std::fs::write(&file, serde_json::to_string(&StoredRun { listed: listed[1..].to_vec(), ..run.clone() }).unwrap())
        .unwrap();
    assert!(failed(&import_into(&file, &["--trust"], other.database())).contains("wrong_length"));
    std::fs::write(&file, serde_json::to_string(&run).unwrap()).unwrap();
    assert!(import(&file, &["--trust"], other.database()).contains("imported 1 runs"));
    assert_eq!(runs(&other)[0].listed, listed);
}

#[test]
fn untrusted_file_imports_as_a_stranger_would() {
    let (server, other) = (TestServer::start(), TestServer::start());
    let proven = server.proven(|_| {});
    let folder = tempfile::tempdir().unwrap();
    let file = exported(&server, folder.path());
    let good = std::fs::read_to_string(&file).unwrap();
    let mut forged: StoredRun = serde_json::from_str(&good).unwrap();
    forged.record.workloads[0].summary.samples_per_second = Some(1e9);
    let lines = ["run_id,workload\n", &good, &serde_json::to_string(&forged).unwrap(), "\n\n"].concat();
    std::fs::write(&file, lines).unwrap();
    let said = failed(&import_into(&file, &[], other.database()));
    assert!(said.contains("imported 1 runs") && said.contains("3 lines were refused"), "{said}");
    assert!(
        said.contains("line 1: malformed_json") && said.contains("line 3: summary_mismatch: workloads[0]"),
        "{said}"
    );
    let [run] = &runs(&other)[..] else { panic!("one run") };
    assert_eq!(run.tier, Tier::Unverified);
    assert_ne!(run.run_id, proven.run_id);
    assert_eq!(run.record.run_id, None);
}

#[test]
fn import_skips_a_byte_order_mark_and_names_other_content() {
    let (server, other) = (TestServer::start(), TestServer::start());
    server.accepted(|_| {});
    let folder = tempfile::tempdir().unwrap();
    let file = exported(&server, folder.path());
    let text = std::fs::read(&file).unwrap();
    std::fs::write(&file, [b"\xef\xbb\xbf", &text[..]].concat()).unwrap();
    assert!(import(&file, &["--trust"], other.database()).contains("imported 1 runs"));
    for (content, part) in [(&b"\x1f\x8b\x08"[..], "gzip"), (b"\xff\xfe{\0", "UTF-16")] {
        std::fs::write(&file, content).unwrap();
        assert!(failed(&import_into(&file, &[], other.database())).contains(part));
    }
}

#[test]
fn deleted_runs_cannot_be_uploaded_again() {
    let server = TestServer::start();
    let (first, second) = (server.accepted(|_| {}), server.accepted(|_| {}));
    let imported: AcceptedRun = server.import(&record::unregistered(9)).parse();
    let folder = tempfile::tempdir().unwrap();
    let file = exported(&server, folder.path());
    assert_eq!(server.delete(&first.run_id, &first.deletion_secret).status, 204);
    done(&run(&["remove", &imported.run_id, "--database"], &[server.database().as_ref()]));
    for words in [&[][..], &["--trust"]] {
        let said = failed(&import_into(&file, words, server.database()));
        assert!(said.contains("imported 0 runs") && said.contains("; 1 were there already; 2 lines"), "{said}");
        assert!(said.contains(": deleted: "), "{said}");
    }
    assert_eq!(runs(&server).iter().map(|run| run.run_id.as_str()).collect::<Vec<_>>(), [second.run_id]);
    server.import(&record::unregistered(9)).assert_refused(410, "deleted", "");
}

#[test]
fn nobody_takes_the_id_of_another_run() {
    let server = TestServer::start();
    let kept = server.accepted(|_| {});
    let announced = server.begin();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("results.jsonl");
    let ids = [kept.run_id.as_str(), &announced.run_id, "../../etc/passwd"];
    let lines: String = ids
        .iter()
        .zip(1..)
        .map(|(id, seed)| {
            let mut run = runs(&server).remove(0);
            (run.run_id, run.record) = ((*id).to_owned(), record::unregistered(seed));
            serde_json::to_string(&run).unwrap() + "\n"
        })
        .collect();
    std::fs::write(&file, lines).unwrap();
    let said = failed(&import_into(&file, &["--trust"], server.database()));
    assert!(said.contains("imported 0 runs") && said.matches("taken_run_id").count() == 2, "{said}");
    assert!(said.contains("line 3: bad_run_id"), "{said}");
    assert_eq!(runs(&server).len(), 1);
}

#[test]
fn tasks_report_tables_that_need_an_upgrade() {
    let database = TestDatabase::empty();
    let said = failed(&run(&["remove", "0123456789abcdef", "--database"], &[database.as_ref()]));
    assert!(said.contains("0001_schema") && said.contains("leaderboard migrate"), "{said}");
    let migrate = || done(&run(&["migrate", "--database"], &[database.as_ref()]));
    let said = migrate();
    assert!(said.contains("up to date: 0001_schema"), "{said}");
    assert!(migrate().contains("up to date already"));
    let said = failed(&run(&["remove", "0123456789abcdef", "--database"], &[database.as_ref()]));
    assert!(said.contains("no run 0123456789abcdef"), "{said}");
    assert!(failed(&run(&["migrate", "--database", "nowhere.sqlite"], &[])).contains("no database"));
}
