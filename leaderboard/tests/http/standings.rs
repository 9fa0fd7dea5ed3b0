//! Places of devices: from all proven runs, with one voice for each submitter and day.

use std::time::{Duration, Instant};

use leaderboard::reference_of;
use results::api::{
    Completion, DeviceSource, RunStanding, Standings, StandingsPlace, StandingsTable, StartedRun, Tier,
};
use results::{ClientKind, DeviceKind};

use crate::support::people::{ANN, BOB, accepted_by, announced_by, board, in_browser, on, proven_by};
use crate::support::{TestServer, record};

const QUICK: &str = "/api/v1/standings?suite=quick";
fn standings(server: &TestServer, query: &str) -> Standings {
    let answer = server.get(&format!("{QUICK}{query}"));
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.parse()
}

/// The places of the suite's first workload.
fn places(server: &TestServer, query: &str) -> Vec<StandingsPlace> {
    standings(server, query).tables.swap_remove(0).places
}

#[test]
fn one_answer_has_a_table_for_each_workload_in_the_order_of_the_suite() {
    let server = board();
    let empty = standings(&server, "");
    assert_eq!(empty.suite, record::suite());
    let names: Vec<&str> = empty.tables.iter().map(|table| table.workload.as_str()).collect();
    assert_eq!(names, engine::SUITES[0].workloads);
    assert!(empty.tables.iter().all(|table| table.places.is_empty()));
    proven_by(&server, ANN, |_| {});
    accepted_by(&server, BOB, |_| {});
    for table in standings(&server, "").tables {
        assert_eq!(table.places.len(), 1, "what is not proven has no place: {table:?}");
        assert_eq!((table.places[0].place, table.places[0].figure.runs, table.total), (101, 1, 1));
    }
}

#[test]
fn a_hundred_uploads_of_one_submitter_on_one_day_are_one_voice() {
    let server = board();
    for _ in 0..100 {
        accepted_by(&server, ANN, on("Example GPU 9000", 10));
    }
    let best = accepted_by(&server, BOB, on("Example GPU 9000", 20)).run_id;
    server.prove_all();
    let places = places(&server, "");
    assert_eq!(places.len(), 1, "one device has one place");
    let line = &places[0];
    let figure = line.figure;
    assert_eq!((line.place, figure.runs, figure.submitters), (101, 101, 2));
    assert_eq!(line.device_key, "reported-example-gpu-9000");
    assert_eq!(line.completion, Some(Completion { finished: 101, announced: 101 }));
    assert_eq!(line.outlier_runs, 1);
    assert_eq!(line.outliers, [best], "what stands apart is marked, and not what is linked to");
    assert!(!line.outliers.contains(&line.best_run_id));
    let middle = (figure.lower_quartile + figure.upper_quartile) / 2.0;
    assert!((figure.median / middle - 1.0).abs() < 1e-9, "the median is between the two voices: {line:?}");
}

#[test]
fn devices_that_cannot_be_told_apart_share_a_place() {
    let server = board();
    let devices = [("Example GPU A", [2, 6]), ("Example GPU B", [3, 7]), ("Example GPU C", [1, 1])];
    for (device, factors) in devices {
        for (who, factor) in [ANN, BOB].into_iter().zip(factors) {
            proven_by(&server, who, on(device, factor));
        }
    }
    let are_placed = |expected: [u64; 3]| {
        let found: Vec<(String, u64)> =
            places(&server, "").into_iter().map(|line| (line.device_name, line.place)).collect();
        let names = ["Example GPU B", "Example GPU A", "Example GPU C"].map(str::to_owned);
        assert_eq!(found, names.into_iter().zip(expected).collect::<Vec<_>>());
    };
    are_placed([101; 3]);
    // A third voice, on a second day, in the middle of the two.
    server.pass(86_400.0);
    for (device, factors) in devices {
        proven_by(&server, ANN, on(device, factors.iter().sum::<u32>() / 2));
    }
    are_placed([1, 1, 3]);
}

#[test]
fn software_and_processors_are_never_among_gpus() {
    let server = board();
    proven_by(&server, ANN, |_| {});
    // One says what it is, and one does not.
    proven_by(&server, ANN, |record| {
        record.device.adapter.software = true;
        record.device.adapter.name = "llvmpipe (LLVM 15)".to_owned();
        record.device.adapter.kind = DeviceKind::Cpu;
        record.device.requested_adapter = "cpu".to_owned();
    });
    proven_by(&server, ANN, |record| record.device.adapter.name = "SwiftShader Device".to_owned());
    proven_by(&server, ANN, |record| {
        record.device.requested_backend = "burn-flex".to_owned();
        record.device.backend = "burn-flex".to_owned();
        record.device.requested_adapter = "any".to_owned();
        record.device.adapter.name = "Example Processor (Burn, all cores)".to_owned();
        record.device.adapter.kind = DeviceKind::Cpu;
        record.device.adapter.api = "CPU".to_owned();
    });
    let keys = |query| -> Vec<String> { places(&server, query).into_iter().map(|line| line.device_key).collect() };
    assert_eq!(keys(""), ["reported-example-gpu-9000"]);
    assert_eq!(keys("&class=gpu"), ["reported-example-gpu-9000"]);
    let processors = places(&server, "&class=processor");
    assert_eq!(processors.len(), 1, "{processors:?}");
    assert_eq!(processors[0].backend, "burn-flex");
}

#[test]
fn runs_that_were_announced_and_never_came_are_counted() {
    let server = board();
    for _ in 0..3 {
        announced_by(&server, ANN);
    }
    announced_by(&server, BOB);
    proven_by(&server, ANN, |_| {});
    let before = places(&server, "")[0].completion;
    assert_eq!(before, Some(Completion { finished: 1, announced: 4 }), "others' announcements are not this device's");
    // Announced rows are forgotten; what they were counted for is not.
    server.database().execute("DELETE FROM started_runs");
    assert_eq!(places(&server, "")[0].completion, before);
}

#[test]
fn what_was_announced_after_the_last_proven_run_is_counted_within_the_hour() {
    let mut server = board();
    proven_by(&server, ANN, |_| {});
    for _ in 0..5 {
        announced_by(&server, ANN);
    }
    // At its start, and each hour.
    server.restart();
    let expected = Some(Completion { finished: 1, announced: 6 });
    let counted = || places(&server, "")[0].completion == expected;
    let waited = (0..100).find(|_| {
        std::thread::sleep(Duration::from_millis(100));
        counted()
    });
    assert!(waited.is_some(), "{:?}", places(&server, "")[0].completion);
}

#[test]
fn a_run_belongs_to_who_announced_it_and_the_next_day_is_another_voice() {
    let server = board();
    let another = server.another();
    let hand_in = |started: &StartedRun, from: &str| {
        let headers = [("content-type", "application/json"), ("x-forwarded-for", from)];
        let record = serde_json::to_vec(&record::for_run(started)).unwrap();
        let answer = another.send("PUT", &format!("/api/v1/runs/{}", started.run_id), &headers, &record);
        assert_eq!(answer.status, 201, "{}", answer.text());
    };
    // Two servers make the same word, and a run is its announcer's wherever it is handed in.
    let (first, second) = (announced_by(&server, ANN), announced_by(&another, ANN));
    server.pass(100.0);
    hand_in(&first, ANN);
    hand_in(&second, BOB);
    server.prove_all();
    assert_eq!(places(&server, "")[0].figure.submitters, 1);
    server.pass(86_400.0);
    proven_by(&server, ANN, |_| {});
    assert_eq!(places(&server, "")[0].figure.submitters, 2);
    server.pass(2.0 * 86_400.0);
    proven_by(&server, ANN, |_| {});
    let salts = server.database().count("SELECT COUNT(*) FROM submitter_salts");
    assert_eq!(salts, 1, "salts of days before yesterday are gone");
}

#[test]
fn a_browser_that_hides_its_gpu_has_a_line_of_its_own_and_a_claim_is_marked() {
    let server = board();
    proven_by(&server, ANN, |_| {});
    proven_by(&server, ANN, in_browser);
    proven_by(&server, BOB, |record| {
        in_browser(record);
        record.device.claimed_name = Some("Example GPU 3000".to_owned());
    });
    let browsers = places(&server, "&client=browser");
    let told: Vec<_> = browsers.iter().map(|line| (line.device_key.as_str(), line.device_source)).collect();
    assert!(told.contains(&("masked-nvidia-ampere", DeviceSource::Masked)), "{told:?}");
    assert!(told.contains(&("claimed-example-gpu-3000", DeviceSource::Claimed)), "{told:?}");
    assert!(browsers.iter().all(|line| line.client_kind == ClientKind::Browser));
    let native = places(&server, "&client=native&backend=wgsl&precision=f32");
    assert_eq!(native.len(), 1);
    assert_eq!(native[0].device_source, DeviceSource::Reported);
    assert_eq!(places(&server, "").len(), 3);
    assert!(places(&server, "&backend=burn-wgpu").is_empty() && places(&server, "&precision=f16").is_empty());
}

#[test]
fn whoever_trained_the_whole_suite_has_a_score_and_half_of_it_has_none() {
    let server = board();
    let complete = proven_by(&server, ANN, on("Example GPU A", 1));
    let half = proven_by(&server, BOB, |record| {
        on("Example GPU B", 1)(record);
        record::diverge(&mut record.workloads[1]);
    });
    let found = standings(&server, "");
    let scores = found.scores.expect("a reference of this suite is frozen");
    let reference = reference_of(&found.suite).unwrap();
    let ratio = |table: &StandingsTable| {
        let line = table.places.iter().find(|line| line.device_name == "Example GPU A").unwrap();
        line.figure.median / reference.samples_per_second[&table.workload]
    };
    let expected = (ratio(&found.tables[0]) * ratio(&found.tables[1])).sqrt();
    let told: Vec<_> = scores.places.iter().map(|line| (line.device_name.as_str(), line.place)).collect();
    assert_eq!((told, scores.total), (vec![("Example GPU A", 101)], 1));
    assert!((scores.places[0].figure.median / expected - 1.0).abs() < 1e-9);
    assert_eq!(scores.reference, reference.description);
    let score = |run_id: &str| -> Option<f64> {
        server.get(&format!("/api/v1/runs/{run_id}/standing")).parse::<RunStanding>().score
    };
    assert!((score(&complete).unwrap() / expected - 1.0).abs() < 1e-9, "a single run's is its device's");
    assert_eq!(score(&half), None);
}

#[test]
fn a_table_may_be_cut_and_says_how_many_lines_it_has() {
    let server = board();
    for (device, factor) in [("Example GPU A", 1), ("Example GPU B", 3), ("Example GPU C", 2)] {
        proven_by(&server, ANN, on(device, factor));
    }
    let table = standings(&server, "&limit=2").tables.swap_remove(0);
    let names: Vec<&str> = table.places.iter().map(|line| line.device_name.as_str()).collect();
    assert_eq!((names.as_slice(), table.total), (&["Example GPU B", "Example GPU C"][..], 3));
}

#[test]
fn a_run_that_is_hidden_or_deleted_takes_its_share_of_the_figures_with_it() {
    let server = board();
    let [slow, fast] = [1, 3].map(|factor| accepted_by(&server, ANN, on("Example GPU A", factor)));
    server.prove_all();
    assert_eq!(places(&server, "")[0].figure.runs, 2);
    assert_eq!(server.delete(&fast.run_id, &fast.deletion_secret).status, 204);
    let left = places(&server, "");
    assert_eq!((left[0].figure.runs, left[0].best_run_id.as_str()), (1, slow.run_id.as_str()));
    server.set_tier(&slow.run_id, Tier::Hidden);
    assert!(places(&server, "").is_empty());
    server.set_tier(&slow.run_id, Tier::Proven);
    assert_eq!(places(&server, "").len(), 1);
}

#[test]
fn figures_that_a_stopped_server_left_stale_are_made_at_the_next_start() {
    let mut server = board();
    proven_by(&server, ANN, |_| {});
    server.database().execute(
        "DELETE FROM figures; INSERT INTO stale_devices (device_key, mark) VALUES ('reported-example-gpu-9000', 'a')",
    );
    server.restart();
    assert_eq!(places(&server, "").len(), 1);
    // A server that begins also makes the figures of the last days again, so that they may be stale once more.
    let deadline = Instant::now() + Duration::from_secs(20);
    while server.database().count("SELECT COUNT(*) FROM stale_devices") > 0 {
        assert!(Instant::now() < deadline, "the figures stay stale");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_query_that_makes_no_sense_is_refused() {
    let server = TestServer::start();
    for (query, field) in [
        ("", ""),
        ("?suite=", "suite"),
        ("?suite=unheard-of", "suite"),
        ("?suite=quick&class=software", ""),
        ("?suite=quick&client=both", ""),
        ("?suite=quick&precision=f8", ""),
        ("?suite=quick&backend=%00", "backend"),
        ("?suite=quick&limit=0", "limit"),
        ("?suite=quick&limit=501", "limit"),
        ("?suite=quick&order=price", ""),
    ] {
        server.get(&format!("/api/v1/standings{query}")).assert_refused(400, "bad_query", field);
    }
}
