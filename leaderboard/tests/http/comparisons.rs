//! Shared comparisons of backends, and comparisons of runs and devices.

use leaderboard::load::{Board, PastRun};
use results::api::{
    AcceptedComparison, Comparing, DeviceHistory, HistoryLine, IDEMPOTENCY_KEY, ModerationLog, RunList,
    SharedComparison, SideVerdict, StoredComparison, Tier,
};
use results::comparison::{Contender, Refused};
use results::{ClientKind, Date, Precision, RunRecord};

use crate::support::database::block_on;
use crate::support::{Answer, Client, ServerProcess, TestDatabase, TestServer, record};
use crate::upkeep::{done, failed, run};

fn of(backend: &str, seed: u32) -> RunRecord {
    let mut record = record::unregistered(seed);
    record.requested.backend = backend.to_owned();
    record.device.backend = backend.to_owned();
    record::declare(&mut record);
    record
}

fn comparison() -> SharedComparison {
    let contender = Contender { backend: "burn-wgpu".to_owned(), precision: Precision::F32 };
    SharedComparison {
        records: vec![of("wgsl", 1), of("tfjs-webgpu", 1)],
        refused: vec![Refused { contender, reason: "It was not built into this page.".to_owned() }],
    }
}

fn share(server: &Client, comparison: &SharedComparison) -> Answer {
    server.json("POST", "/api/v1/comparisons", comparison)
}

fn delete(server: &Client, path: &str, secret: Option<&str>) -> Answer {
    let bearer = secret.map(|secret| format!("Bearer {secret}"));
    let headers: Vec<(&str, &str)> = bearer.iter().map(|bearer| ("authorization", bearer.as_str())).collect();
    server.send("DELETE", path, &headers, b"")
}

#[test]
fn comparison_allows_any_backend_name_and_adds_no_runs() {
    let server = TestServer::start();
    let answer = share(&server, &comparison()).with_status(201);
    let accepted: AcceptedComparison = answer.parse();
    assert_eq!(accepted.permalink, format!("/comparisons/{}", accepted.comparison_id));
    assert_eq!(answer.header("location"), format!("/api/v1/comparisons/{}", accepted.comparison_id));
    let stored: StoredComparison = server.get(&format!("/api/v1/comparisons/{}", accepted.comparison_id)).parse();
    assert_eq!(stored.comparison, comparison());
    assert_eq!(server.get("/api/v1/runs").parse::<RunList>().total, 0);
    assert_eq!(server.get("/api/v1/export?format=jsonl").text(), "");
    server.get(&format!("/api/v1/runs/{}", accepted.comparison_id)).assert_refused(404, "unknown_run", "");
}

#[test]
fn ids_and_nonces_of_its_records_stay_with_their_runs() {
    let server = TestServer::start();
    let (started, record) = server.honest_run();
    let shared = SharedComparison { records: vec![record, of("burn-wgpu", 1)], refused: Vec::new() };
    let accepted: AcceptedComparison = share(&server, &shared).parse();
    let kept = server.get(&format!("/api/v1/comparisons/{}", accepted.comparison_id)).text();
    assert!(!kept.contains(&started.nonce) && !kept.contains(&started.run_id));
}

#[test]
fn the_secret_of_its_upload_deletes_it_and_no_other() {
    let server = TestServer::start();
    let accepted: AcceptedComparison = share(&server, &comparison()).parse();
    let path = format!("/api/v1/comparisons/{}", accepted.comparison_id);
    delete(&server, &path, None).assert_refused(401, "missing_secret", "");
    delete(&server, &path, Some("guessed")).assert_refused(403, "wrong_secret", "");
    assert_eq!(delete(&server, &path, Some(&accepted.deletion_secret)).status, 204);
    server.get(&path).assert_refused(404, "unknown_comparison", "");
    delete(&server, &path, Some(&accepted.deletion_secret)).assert_refused(404, "unknown_comparison", "");
}

#[test]
fn idempotency_key_repeats_a_lost_answer() {
    let server = TestServer::start();
    let key = "a word that cannot be guessed, truly";
    let headers = [("content-type", "application/json"), (IDEMPOTENCY_KEY, key)];
    let send = |comparison: &SharedComparison| {
        server.send("POST", "/api/v1/comparisons", &headers, &serde_json::to_vec(comparison).unwrap())
    };
    let (first, again) = (send(&comparison()), send(&comparison()));
    assert_eq!((first.status.as_u16(), again.status.as_u16()), (201, 200));
    assert_eq!(first.parse::<AcceptedComparison>(), again.parse::<AcceptedComparison>());
    let other = SharedComparison { records: vec![of("wgsl", 2), of("burn-wgpu", 2)], refused: Vec::new() };
    assert_ne!(
        send(&other).parse::<AcceptedComparison>().comparison_id,
        first.parse::<AcceptedComparison>().comparison_id
    );
}

#[test]
fn invalid_comparisons_are_refused_with_the_field() {
    let server = TestServer::start();
    let refuse = |change: fn(&mut SharedComparison), code: &str, field: &str| {
        let mut changed = comparison();
        change(&mut changed);
        share(&server, &changed).assert_refused(422, code, field);
    };
    refuse(|of| of.records.clear(), "too_few", "records");
    refuse(
        |of| {
            of.records.pop();
            of.refused.clear()
        },
        "too_few",
        "records",
    );
    refuse(
        |of| of.records[1].workloads[0].summary.accuracy = Some(0.999),
        "summary_mismatch",
        "records[1].workloads[0].summary.accuracy",
    );
    refuse(
        |of| {
            of.records[0].suite.name = "unheard-of".to_owned();
            of.records[0].requested.suite = "unheard-of".to_owned();
        },
        "unknown_suite",
        "records[0].suite",
    );
    refuse(|of| of.refused[0].reason.clear(), "empty", "refused[0].reason");
    refuse(|of| of.records = vec![of.records[0].clone(); 25], "too_many", "records");
    server.json("POST", "/api/v1/comparisons", &serde_json::json!({})).assert_refused(400, "missing_field", "");
}

#[test]
fn a_host_removes_it_and_the_log_says_so() {
    let database = TestDatabase::new();
    let server = ServerProcess::start(&database);
    let accepted: AcceptedComparison = share(&server, &comparison()).parse();
    let id = accepted.comparison_id.as_str();
    let remove = |id: &str| run(&["remove", id], &["--database".as_ref(), database.as_ref()]);
    assert!(failed(&remove("0123456789abcdef")).contains("0123456789abcdef"));
    assert!(done(&remove(id)).contains(id));
    server.get(&format!("/api/v1/comparisons/{id}")).assert_refused(404, "unknown_comparison", "");
    let log: ModerationLog = server.get("/api/v1/moderation").parse();
    assert_eq!(log.entries[0].run_id.as_deref(), Some(id));
    assert_eq!(log.entries[0].reason.as_deref(), Some("It was a comparison of backends."));
}

const DAY: f64 = 86_400.0;
const BEGINNING: f64 = 1.8e9;

/// Returns a server on a board with these proven runs, one per day, each from another submitter.
fn server_with(changes: &[&dyn Fn(&mut RunRecord)]) -> (TestServer, Vec<String>) {
    let database = TestDatabase::new();
    let ids = block_on(async {
        let board = Board::open(&database.address()).await.unwrap();
        let past = |(number, change): (u32, &&dyn Fn(&mut RunRecord))| {
            let mut record = record::unregistered(number);
            change(&mut record);
            PastRun {
                record,
                tier: Tier::Proven,
                submitted_unix_seconds: BEGINNING + f64::from(number) * DAY,
                submitter: format!("{number:016x}"),
            }
        };
        let ids = board.store((0..).zip(changes).map(past).collect()).await.unwrap();
        board.settle().await.unwrap();
        board.close().await;
        ids
    });
    (TestServer::on(database), ids)
}

fn named(name: &'static str, factor: u32) -> impl Fn(&mut RunRecord) {
    move |record| {
        record.device.adapter.name = name.to_owned();
        record::speed_up(record, factor);
        record::summarise(record);
    }
}

fn compared(server: &TestServer, query: &str) -> Comparing {
    server.read(&format!("/api/v1/compare?{query}"))
}

#[test]
fn runs_are_compared_with_the_first() {
    let usual = |_: &mut RunRecord| {};
    let fast = |record: &mut RunRecord| {
        named("Example GPU 9001", 3)(record);
        record.provenance.engine_version = "0.2.0".to_owned();
        record.workloads[1].settings.batch_size *= 2;
    };
    let (server, ids) = server_with(&[&usual, &fast, &usual]);
    let found = compared(&server, &format!("runs={},{},{}", ids[0], ids[1], ids[2]));
    assert_eq!(found.sides.iter().map(|side| &side.id).collect::<Vec<_>>(), ids.iter().collect::<Vec<_>>());
    assert_eq!(found.sides[1].name, "Example GPU 9001");
    let whats: Vec<&str> = found.differences.iter().map(|difference| difference.what.as_str()).collect();
    assert_eq!(whats, ["adapter", "engine_version"]);
    assert_eq!(found.workloads.len(), 2);
    let figures = |workload: usize| found.workloads[workload].figures.iter().map(|figure| figure.as_ref().unwrap());
    let ratios: Vec<Option<f64>> = figures(0).map(|figure| figure.to_first).collect();
    // Windows end with whole steps, and batches at the end of an epoch are smaller.
    assert!((ratios[1].unwrap() / 3.0 - 1.0).abs() < 1e-3, "{ratios:?}");
    assert_eq!((ratios[0], ratios[2]), (None, Some(1.0)));
    let verdicts: Vec<Option<SideVerdict>> = figures(0).map(|figure| figure.verdict).collect();
    assert_eq!(verdicts, [None, Some(SideVerdict::Faster), Some(SideVerdict::Tied)]);
    assert_eq!(figures(1).map(|figure| figure.to_first).collect::<Vec<_>>(), [None, None, Some(1.0)], "other batches");
    assert!(figures(0).all(|figure| figure.accuracy == Some(0.985) && figure.seconds_to_target.is_some()));
}

#[test]
fn devices_are_compared_in_what_they_both_have() {
    let in_browser = |record: &mut RunRecord| {
        named("Example GPU 1", 1)(record);
        record.provenance.client.kind = ClientKind::Browser;
    };
    let (server, _) =
        server_with(&[&named("Example GPU 1", 1), &named("Example GPU 2", 5), &named("Example GPU 2", 5), &in_browser]);
    let found = compared(&server, "devices=reported-example-gpu-2,reported-example-gpu-1");
    assert_eq!(found.sides[0].name, "Example GPU 2");
    assert_eq!(found.workloads.len(), 2, "what only one has is left out: {found:?}");
    for workload in &found.workloads {
        assert_eq!((workload.backend.as_deref(), workload.client_kind), (Some("wgsl"), Some(ClientKind::Native)));
        let second = workload.figures[1].as_ref().unwrap();
        assert!((second.to_first.unwrap() / 0.2 - 1.0).abs() < 1e-3);
        assert_eq!(second.verdict, Some(SideVerdict::Slower));
    }
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let usual = |_: &mut RunRecord| {};
    let (server, ids) = server_with(&[&usual, &usual]);
    let path = |query: &str| format!("/api/v1/compare{query}");
    for (query, field) in [
        (String::new(), ""),
        (format!("?runs={},{}&devices=a,b", ids[0], ids[1]), ""),
        (format!("?runs={}", ids[0]), "runs"),
        (format!("?runs={},{}", ids[0], ids[0]), "runs"),
        ("?devices=a,b,c,d,e".to_owned(), "devices"),
        ("?price=1".to_owned(), ""),
    ] {
        server.get(&path(&query)).assert_refused(400, "bad_query", field);
    }
    server.get(&path(&format!("?runs={},0123456789abcdef", ids[0]))).assert_refused(404, "unknown_run", "runs");
    server.get(&path("?devices=reported-example-gpu-9000,no-such")).assert_refused(404, "unknown_device", "devices");
    server.set_tier(&ids[1], Tier::Hidden);
    let hidden = path(&format!("?runs={},{}", ids[0], ids[1]));
    server.get(&hidden).assert_refused(404, "unknown_run", "runs");
}

fn history(server: &TestServer, query: &str) -> DeviceHistory {
    server.read(&format!("/api/v1/devices/reported-example-gpu-9000/history{query}"))
}

#[test]
fn device_history_is_grouped_by_version_driver_and_month() {
    let of = |version: &'static str, driver: &'static str, factor: u32| {
        move |record: &mut RunRecord| {
            record::speed_up(record, factor);
            record::summarise(record);
            record.provenance.engine_version = version.to_owned();
            record.device.adapter.driver = driver.to_owned();
        }
    };
    let in_browser = |record: &mut RunRecord| record.provenance.client.kind = ClientKind::Browser;
    let unranked = |record: &mut RunRecord| {
        record.requested.learning_rate = Some(0.01);
        record::declare(record);
    };
    let runs: [&dyn Fn(&mut RunRecord); 7] = [
        &of("0.1.0", "", 1),
        &of("0.1.0", "example 1", 3),
        &of("0.2.0", "example 2", 10),
        &of("0.2.0", "example 2", 20),
        &of("0.2.0", "example 1", 30),
        &in_browser,
        &unranked,
    ];
    let (server, _) = server_with(&runs);
    let found = history(&server, "?workload=caffe-mnist");
    let category = found.category.clone().unwrap();
    assert_eq!((category.suite.name.as_str(), category.client_kind), ("quick", ClientKind::Native));
    assert_eq!((found.results, found.older_left_out), (5, false));
    let told = |lines: &[HistoryLine]| -> Vec<(String, u64)> {
        lines.iter().map(|line| (line.label.clone(), line.figure.runs)).collect()
    };
    let pair = |label: &str, runs: u64| (label.to_owned(), runs);
    assert_eq!(told(&found.engine_versions), [pair("0.1.0", 2), pair("0.2.0", 3)]);
    assert_eq!(told(&found.drivers), [pair("example 1", 2), pair("example 2", 2)], "where the platform tells it");
    let month = |day: f64| Date::of(BEGINNING + day * DAY).iso()[..7].to_owned();
    assert_eq!(found.months.iter().map(|line| line.figure.runs).sum::<u64>(), 5);
    assert_eq!(found.months.first().map(|line| line.label.clone()), Some(month(0.0)));
    let [before, after] = &found.engine_versions[..] else { panic!("two versions") };
    assert!((after.figure.median / before.figure.median / 10.0 - 1.0).abs() < 1e-3, "20 over the middle of 1 and 3");
    assert_eq!((before.figure.submitters, before.first_unix_seconds), (2, BEGINNING));

    let in_browsers = history(&server, "?client=browser&workload=keras-mnist-mlp");
    assert_eq!((in_browsers.results, in_browsers.category.unwrap().workload.as_str()), (1, "keras-mnist-mlp"));
    let nothing = history(&server, "?backend=burn-wgpu");
    assert_eq!((nothing.category, nothing.results), (None, 0));
    assert!(nothing.engine_versions.is_empty() && nothing.drivers.is_empty() && nothing.months.is_empty());
    server.get("/api/v1/devices/no-such/history").assert_refused(404, "unknown_device", "");
    let bad = "/api/v1/devices/reported-example-gpu-9000/history?client=toaster";
    server.get(bad).assert_refused(400, "bad_query", "");
}
