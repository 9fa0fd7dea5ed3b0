//! Shared comparisons of backends, and comparisons of runs and devices.

use results::api::{
    AcceptedComparison, Comparing, DeviceHistory, HistoryLine, IDEMPOTENCY_KEY, ModerationLog, SharedComparison,
    SideVerdict, StoredComparison,
};
use results::{Contender, Refused};

use crate::support::*;

fn of(backend: &str, seed: u32) -> RunRecord {
    let mut record = record::unregistered(seed);
    record::on_backend(&mut record, backend);
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

const PATH: &str = "/api/v1/comparisons";

fn share(server: &TestClient, comparison: &SharedComparison) -> HttpAnswer {
    server.json("POST", PATH, comparison)
}

#[test]
fn a_comparison_is_shared_shown_deleted_and_removed_without_runs() {
    let server = TestServer::start();
    let answer = share(&server, &comparison()).with_status(201);
    let accepted: AcceptedComparison = answer.parse();
    let path = format!("{PATH}/{}", accepted.comparison_id);
    assert_eq!(accepted.permalink, format!("/comparisons/{}", accepted.comparison_id));
    answer.assert_headers(&[("location", &path)]);
    assert_eq!(server.read::<StoredComparison>(&path).comparison, comparison());
    assert_eq!(server.list("").total, 0);
    assert_eq!(server.get("/api/v1/export?format=jsonl").text(), "");
    server.assert_unknown(&accepted.comparison_id);

    // The ids and nonces of its records stay with their runs.
    let (started, record) = server.honest_run();
    let shared = SharedComparison { records: vec![record, of("burn-wgpu", 1)], refused: Vec::new() };
    let other: AcceptedComparison = share(&server, &shared).parse();
    let kept = server.get(&format!("{PATH}/{}", other.comparison_id)).text();
    assert!(!kept.contains(&started.nonce) && !kept.contains(&started.run_id));

    // An idempotency key repeats a lost answer.
    let headers = [("content-type", "application/json"), (IDEMPOTENCY_KEY, "a word that cannot be guessed, truly")];
    let send = |comparison: &SharedComparison, status| -> AcceptedComparison {
        server.send("POST", PATH, &headers, &serde_json::to_vec(comparison).unwrap()).with_status(status).parse()
    };
    let first = send(&comparison(), 201);
    assert_eq!(send(&comparison(), 200), first);
    let second = SharedComparison { records: vec![of("wgsl", 2), of("burn-wgpu", 2)], refused: Vec::new() };
    assert_ne!(send(&second, 201).comparison_id, first.comparison_id);

    // Only the secret of its upload deletes it.
    let delete = |secret: &str| server.send("DELETE", &path, &[("authorization", &format!("Bearer {secret}"))], b"");
    server.send("DELETE", &path, &[], b"").assert_refused(401, "missing_secret", "");
    delete("guessed").assert_refused(403, "wrong_secret", "");
    assert_eq!(delete(&accepted.deletion_secret).status, 204);
    for gone in [server.get(&path), delete(&accepted.deletion_secret)] {
        gone.assert_refused(404, "unknown_comparison", "");
    }

    // A host removes the other one, and the log says so.
    let id = other.comparison_id.as_str();
    let remove = |id: &str| run(&["remove", id], server.database());
    assert_says(&failed(&remove("0123456789abcdef")), &["0123456789abcdef"]);
    assert_says(&done(&remove(id)), &[id]);
    server.get(&format!("{PATH}/{id}")).assert_refused(404, "unknown_comparison", "");
    let log: ModerationLog = server.get("/api/v1/moderation").parse();
    assert_eq!(log.entries[0].run_id.as_deref(), Some(id));
    assert_eq!(log.entries[0].reason.as_deref(), Some("It was a comparison of backends."));
}

#[test]
fn invalid_comparisons_are_refused_with_the_field() {
    let server = TestServer::start();
    let refused = |code: &str, field: &str, change: Edit<SharedComparison>| {
        let mut changed = comparison();
        change(&mut changed);
        share(&server, &changed).assert_refused(422, code, field);
    };
    refused("too_few", "records", |of| of.records.clear());
    refused("too_few", "records", |of| {
        of.records.truncate(1);
        of.refused.clear();
    });
    refused("summary_mismatch", "records[1].workloads[0].summary.accuracy", |of| {
        of.records[1].workloads[0].summary.accuracy = Some(0.999);
    });
    refused("unknown_suite", "records[0].suite", |of| {
        of.records[0].suite.name = "unheard-of".to_owned();
        of.records[0].requested.suite = "unheard-of".to_owned();
    });
    refused("empty", "refused[0].reason", |of| of.refused[0].reason.clear());
    refused("too_many", "records", |of| of.records = vec![of.records[0].clone(); 25]);
    server.json("POST", PATH, &serde_json::json!({})).assert_refused(400, "missing_field", "");
}

/// Returns a server on a board with these proven runs, one per day, each from another submitter.
fn server_with(changes: &[&dyn Fn(&mut RunRecord)]) -> (TestServer, Vec<String>) {
    let past = |(number, change): (u32, &&dyn Fn(&mut RunRecord))| {
        let mut record = record::unregistered(number);
        change(&mut record);
        past_run(record, Tier::Proven, BEGINNING + f64::from(number) * DAY)
    };
    let database = TestDatabase::new();
    let ids = database.with_board((0..).zip(changes).map(past).collect(), async |board, ids| {
        board.settle().await.unwrap();
        ids
    });
    (TestServer::on(database, settings()), ids)
}

fn named(name: &'static str, factor: u32) -> impl Fn(&mut RunRecord) {
    move |record| {
        record::on(name, factor)(record);
        record::summarise(record);
    }
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
    let found: Comparing = server.read(&format!("/api/v1/compare?runs={}", ids.join(",")));
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

    let refused = |query: String, code: &str, field: &str| {
        server.get(&format!("/api/v1/compare?{query}")).assert_refused(404, code, field);
    };
    refused(format!("runs={},0123456789abcdef", ids[0]), "unknown_run", "runs");
    refused("devices=reported-example-gpu-9000,no-such".to_owned(), "unknown_device", "devices");
    server.set_tier(&ids[1], Tier::Hidden);
    refused(format!("runs={},{}", ids[0], ids[1]), "unknown_run", "runs");
}

#[test]
fn devices_are_compared_in_what_they_both_have() {
    let in_browser = |record: &mut RunRecord| {
        named("Example GPU 1", 1)(record);
        record.provenance.client.kind = ClientKind::Browser;
    };
    let (server, _) =
        server_with(&[&named("Example GPU 1", 1), &named("Example GPU 2", 5), &named("Example GPU 2", 5), &in_browser]);
    let found: Comparing = server.read("/api/v1/compare?devices=reported-example-gpu-2,reported-example-gpu-1");
    assert_eq!(found.sides[0].name, "Example GPU 2");
    assert_eq!(found.workloads.len(), 2, "what only one has is left out: {found:?}");
    for workload in &found.workloads {
        assert_eq!((workload.backend.as_deref(), workload.client_kind), (Some("wgsl"), Some(ClientKind::Native)));
        let second = workload.figures[1].as_ref().unwrap();
        assert!((second.to_first.unwrap() / 0.2 - 1.0).abs() < 1e-3);
        assert_eq!(second.verdict, Some(SideVerdict::Slower));
    }
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
    let (first, second) = (&of("0.1.0", "", 1), &of("0.1.0", "example 1", 3));
    let [third, fourth] = [10, 20].map(|factor| of("0.2.0", "example 2", factor));
    let fifth = &of("0.2.0", "example 1", 30);
    let (server, _) = server_with(&[first, second, &third, &fourth, fifth, &in_browser, &unranked]);
    let found = history(&server, "?workload=caffe-mnist");
    let category = found.category.clone().unwrap();
    assert_eq!((category.suite.name.as_str(), category.client_kind), ("quick", ClientKind::Native));
    assert_eq!((found.results, found.older_left_out), (5, false));
    let told = |line: &HistoryLine| format!("{}: {}", line.label, line.figure.runs);
    assert_eq!(found.engine_versions.iter().map(told).collect::<Vec<_>>(), ["0.1.0: 2", "0.2.0: 3"]);
    let drivers: Vec<String> = found.drivers.iter().map(told).collect();
    assert_eq!(drivers, ["example 1: 2", "example 2: 2"], "where the platform tells it");
    let month = |day: f64| results::Date::of(BEGINNING + day * DAY).iso()[..7].to_owned();
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
}
