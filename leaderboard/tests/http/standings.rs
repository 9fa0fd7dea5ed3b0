//! Places of devices: from all proven runs, with one voice for each submitter and day.

use results::api::{
    CategoryFigure, Completion, DeviceSource, DeviceSummary, Distribution, RunStanding, Standings, StandingsPlace,
    StandingsTable,
};

use crate::support::*;

fn standings(server: &TestServer, query: &str) -> Standings {
    server.read(&format!("/api/v1/standings?suite=quick{query}"))
}

pub(crate) fn places(server: &TestServer, query: &str) -> Vec<StandingsPlace> {
    standings(server, query).tables.swap_remove(0).places
}

pub(crate) fn device(server: &TestServer, key: &str) -> DeviceSummary {
    server.read(&format!("/api/v1/devices/{key}"))
}

fn standing(server: &TestServer, run_id: &str) -> RunStanding {
    server.read(&format!("/api/v1/runs/{run_id}/standing"))
}

fn distribution(server: &TestServer, more: &str) -> Distribution {
    server.read(&format!("/api/v1/distribution?suite=quick&workload=caffe-mnist{more}"))
}

#[test]
fn standings_have_a_table_per_workload_in_suite_order() {
    let server = board();
    let empty = standings(&server, "");
    assert_eq!(empty.suite, record::suite());
    let names: Vec<&str> = empty.tables.iter().map(|table| table.workload.as_str()).collect();
    assert_eq!(names, engine::SUITES[0].workloads);
    assert!(empty.tables.iter().all(|table| table.places.is_empty()));
    server.proven_by(ANN, |_| {});
    server.accepted_by(BOB, |_| {});
    for table in standings(&server, "").tables {
        assert_eq!(table.places.len(), 1, "what is not proven has no place: {table:?}");
        assert_eq!((table.places[0].place, table.places[0].figure.runs, table.total), (101, 1, 1));
    }
    for (device, factor) in [("Example GPU B", 3), ("Example GPU C", 2)] {
        server.proven_by(ANN, on(device, factor));
    }
    let cut = standings(&server, "&limit=2").tables.swap_remove(0);
    let names: Vec<&str> = cut.places.iter().map(|line| line.device_name.as_str()).collect();
    assert_eq!((names.as_slice(), cut.total), (&["Example GPU B", "Example GPU C"][..], 3));
}

#[test]
fn a_submitter_has_one_voice_per_day() {
    let server = board();
    for _ in 0..20 {
        server.accepted_by(ANN, on("Example GPU 9000", 10));
    }
    let best = server.accepted_by(BOB, on("Example GPU 9000", 20)).run_id;
    server.prove_all();
    let places = places(&server, "");
    assert_eq!(places.len(), 1, "one device has one place");
    let line = &places[0];
    let figure = line.figure;
    assert_eq!((line.place, figure.runs, figure.submitters), (101, 21, 2));
    assert_eq!(line.device_key, "reported-example-gpu-9000");
    assert_eq!(line.completion, Some(Completion { finished: 21, announced: 21 }));
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
            server.proven_by(who, on(device, factor));
        }
    }
    let told = |line: StandingsPlace| format!("{} {}", line.device_name, line.place);
    let placed = || places(&server, "").into_iter().map(told).collect::<Vec<_>>();
    assert_eq!(placed(), ["Example GPU B 101", "Example GPU A 101", "Example GPU C 101"]);
    // A third voice on a second day, between the other two.
    server.pass(DAY);
    for (device, factors) in devices {
        server.proven_by(ANN, on(device, factors.iter().sum::<u32>() / 2));
    }
    assert_eq!(placed(), ["Example GPU B 1", "Example GPU A 1", "Example GPU C 3"]);
}

#[test]
fn startup_counts_missing_runs_and_refreshes_stale_metrics() {
    let mut server = board();
    let announce = |server: &TestServer, who, times| (0..times).for_each(|_| drop(server.seen_at(who).begin()));
    announce(&server, ANN, 3);
    announce(&server, BOB, 1);
    server.proven_by(ANN, |_| {});
    let completion = |server: &TestServer| places(server, "")[0].completion.unwrap();
    let before = Completion { finished: 1, announced: 4 };
    assert_eq!(completion(&server), before, "others' announcements are not this device's");
    announce(&server, ANN, 5);
    // At startup, and every hour.
    server.restart();
    wait_until(|| completion(&server) == Completion { finished: 1, announced: 9 });
    // Announced rows are deleted, but their counts remain.
    server.database().execute("DELETE FROM started_runs");
    assert_eq!(completion(&server).announced, 9);

    server.database().execute(
        "DELETE FROM figures; INSERT INTO stale_devices (device_key, mark) VALUES ('reported-example-gpu-9000', 'a')",
    );
    server.restart();
    assert_eq!(places(&server, "").len(), 1);
    // A starting server also refreshes recent metrics, so they may become stale again.
    wait_until(|| server.database().count("SELECT COUNT(*) FROM stale_devices") == 0);
}

#[test]
fn run_counts_for_its_announcer_on_that_day() {
    let server = board();
    let another = server.another();
    let hand_in = |started: &StartedRun, from: Who| {
        another.seen_at(from).upload(&started.run_id, &record::for_run(started)).with_status(201);
    };
    // Two servers derive the same pseudonym, and a run belongs to its announcer regardless of the uploading server.
    let (first, second) = (server.seen_at(ANN).begin(), another.seen_at(ANN).begin());
    server.pass(100.0);
    hand_in(&first, ANN);
    hand_in(&second, BOB);
    server.prove_all();
    assert_eq!(places(&server, "")[0].figure.submitters, 1);
    server.pass(DAY);
    server.proven_by(ANN, |_| {});
    assert_eq!(places(&server, "")[0].figure.submitters, 2);
    server.pass(2.0 * DAY);
    server.proven_by(ANN, |_| {});
    let salts = server.database().count("SELECT COUNT(*) FROM submitter_salts");
    assert_eq!(salts, 1, "salts of days before yesterday are gone");
}

#[test]
fn masked_gpus_software_and_processors_have_their_own_rows() {
    let server = board();
    server.proven_by(ANN, |_| {});
    let masked = server.proven_by(ANN, in_browser);
    server.proven_by(BOB, |record| {
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
    let found = device(&server, "masked-nvidia-ampere");
    assert!(found.figures.iter().all(|figure| figure.client_kind == ClientKind::Browser));
    let among = standing(&server, &masked).workloads;
    assert!(among.iter().all(|workload| workload.runs[0] == 2), "not compared with the command line: {among:?}");

    // One run names its device, and one does not.
    server.proven_by(ANN, in_software);
    server.proven_by(ANN, |record| record.device.adapter.name = "SwiftShader Device".to_owned());
    server.proven_by(ANN, |record| {
        record::on_backend(record, "burn-flex");
        record.requested.adapter = "any".to_owned();
        let adapter = &mut record.device.adapter;
        (adapter.kind, adapter.api) = (results::DeviceKind::Cpu, "CPU".to_owned());
        adapter.name = "Example Processor (Burn, all cores)".to_owned();
    });
    let keys = |query: &str| -> Vec<String> {
        places(&server, &format!("&client=native{query}")).into_iter().map(|line| line.device_key).collect()
    };
    assert_eq!(keys(""), ["reported-example-gpu-9000"]);
    assert_eq!(keys("&class=gpu"), ["reported-example-gpu-9000"]);
    let processors = places(&server, "&class=processor");
    assert_eq!(processors.len(), 1, "{processors:?}");
    assert_eq!(processors[0].backend, "burn-flex");
}

#[test]
fn score_needs_the_whole_suite() {
    let server = board();
    let complete = server.proven_by(ANN, on("Example GPU A", 1));
    let half = server.proven_by(BOB, |record| {
        on("Example GPU B", 1)(record);
        record::diverge(&mut record.workloads[1]);
    });
    let found = standings(&server, "");
    let scores = found.scores;
    let gflops = |table: &StandingsTable| {
        let line = table.places.iter().find(|line| line.device_name == "Example GPU A").unwrap();
        let operations = engine::workload(&table.workload).unwrap().model.operations().unwrap();
        line.figure.median * operations.training_flops() as f64 / 1e9
    };
    let expected = (gflops(&found.tables[0]) * gflops(&found.tables[1])).sqrt();
    let told: Vec<_> = scores.places.iter().map(|line| (line.device_name.as_str(), line.place)).collect();
    assert_eq!((told, scores.total), (vec![("Example GPU A", 101)], 1));
    assert!((scores.places[0].figure.median / expected - 1.0).abs() < 1e-9);
    let score = standing(&server, &complete).score.unwrap();
    assert!((score / expected - 1.0).abs() < 1e-9, "a single run's is its device's");
    assert_eq!(standing(&server, &half).score, None);
}

#[test]
fn hidden_or_deleted_runs_do_not_count_in_metrics() {
    let server = board();
    let [slow, fast] = [1, 3].map(|factor| server.accepted_by(ANN, on("Example GPU A", factor)));
    server.prove_all();
    assert_eq!(places(&server, "")[0].figure.runs, 2);
    assert_eq!(server.delete(&fast.run_id, &fast.deletion_secret).status, 204);
    let left = places(&server, "");
    assert_eq!((left[0].figure.runs, left[0].best_run_id.as_str()), (1, slow.run_id.as_str()));
    server.set_tier(&slow.run_id, Tier::Hidden);
    assert!(places(&server, "").is_empty());
    for key in ["reported-example-gpu-a", "nothing", "%00", "a%2Fb", "x%27--", &"a".repeat(2000)] {
        server.get(&format!("/api/v1/devices/{key}")).assert_refused(404, "unknown_device", "");
    }
    server.set_tier(&slow.run_id, Tier::Proven);
    assert_eq!(places(&server, "").len(), 1);
}

#[test]
fn device_page_has_places_and_latest_runs() {
    let server = board();
    server.proven_by(ANN, on("Example GPU A", 3));
    server.proven_by(ANN, on("Example GPU B", 1));
    let latest = server.accepted_by(BOB, on("Example GPU B", 2));
    let found = device(&server, "reported-example-gpu-b");
    assert_eq!((found.device_name.as_str(), found.device_source), ("Example GPU B", DeviceSource::Reported));
    let of_network = |of: &CategoryFigure| Some((of.workload.clone()?, of.place, of.of, of.figure.runs));
    let expected = [LARGE, SMALL].map(|name| (name.to_owned(), 101, 2, 1));
    assert_eq!(found.figures.iter().filter_map(of_network).collect::<Vec<_>>(), expected);
    assert_eq!(found.recent.len(), 4, "both runs, of whatever tier, with two networks each");
    assert_eq!((&found.recent[0].run_id, found.recent[0].tier), (&latest.run_id, Tier::Checked), "the newest first");
    assert!(found.browser_taxes.is_empty(), "one kind of client compares with nothing");
}

const RTX_4090: &str = "NVIDIA GeForce RTX 4090";

fn fit_rtx_4090(record: &mut RunRecord) {
    record.workloads.iter_mut().flat_map(|of| &mut of.peaks).for_each(|peak| peak.flops_per_second = 7e13);
}

#[test]
fn known_devices_need_their_speed_and_have_a_browser_tax() {
    let server = board();
    let run = server.accepted_by(ANN, |record| {
        record.device.adapter.name = RTX_4090.to_owned();
        record.device.adapter.vendor = "nvidia".to_owned();
    });
    let is_noted = |note: &results::api::Note| note.to_string().contains("is not ranked as NVIDIA GeForce RTX 4090");
    assert!(run.verdict.notes.iter().any(is_noted), "{:?}", run.verdict.notes);
    server.set_tier(&run.run_id, Tier::Proven);
    let found = device(&server, "unknown-nvidia");
    assert_eq!((found.device_name.as_str(), found.device_source), ("unknown device (NVIDIA)", DeviceSource::Masked));
    assert_eq!(found.figures.iter().filter(|figure| figure.workload.is_some()).count(), 2);
    server.get("/api/v1/devices/nvidia-geforce-rtx-4090").assert_refused(404, "unknown_device", "");

    server.proven_by(ANN, |record| {
        on(RTX_4090, 2)(record);
        fit_rtx_4090(record);
    });
    server.proven_by(BOB, |record| {
        in_browser(record);
        fit_rtx_4090(record);
        record.device.adapter.architecture = "lovelace".to_owned();
        record.device.adapter.name = "nvidia lovelace".to_owned();
        record.device.claimed_name = Some("RTX 4090".to_owned());
    });
    let found = device(&server, "nvidia-geforce-rtx-4090");
    assert_eq!((found.device_name.as_str(), found.device_source), (RTX_4090, DeviceSource::Claimed));
    assert_eq!(found.browser_taxes.len(), 2, "one for each network: {:?}", found.browser_taxes);
    for tax in &found.browser_taxes {
        assert!((tax.native_over_browser - 2.0).abs() < 0.05, "{tax:?}");
        assert_eq!((tax.native_submitters, tax.browser_submitters), (1, 1));
    }
}

#[test]
fn a_distribution_counts_each_proven_run_of_its_choice() {
    let server = board();
    for (device, factor) in [("Example GPU A", 1), ("Example GPU B", 2), ("Example GPU C", 8)] {
        server.proven_by(ANN, on(device, factor));
    }
    server.accepted_by(BOB, on("Example GPU D", 4));
    server.proven_by(BOB, in_browser);
    let all = distribution(&server, "");
    assert_eq!((all.runs, all.devices), (4, 4), "what is not proven does not count");
    assert_eq!(all.bins.iter().map(|bin| bin.runs).sum::<u64>(), 4);
    assert!(all.bins.windows(2).all(|pair| pair[0].to <= pair[1].from * (1.0 + 1e-9)), "{:?}", all.bins);
    let natives = distribution(&server, "&client=native&backend=wgsl&precision=f32&class=gpu");
    assert_eq!((natives.runs, natives.devices), (3, 3));
    let (slowest, fastest) = (natives.bins[0], natives.bins[2]);
    assert!((fastest.from / slowest.from / 8.0 - 1.0).abs() < 0.06, "{natives:?}");
    assert!(distribution(&server, "&class=processor").bins.is_empty());
}

#[test]
fn run_has_places_among_its_device_and_vendor() {
    let server = board();
    let of_nvidia = |device: &'static str, factor| {
        move |record: &mut RunRecord| {
            on(device, factor)(record);
            record.device.adapter.vendor = "nvidia".to_owned();
        }
    };
    let slow = server.proven_by(ANN, of_nvidia("Example GPU A", 1));
    server.proven_by(BOB, of_nvidia("Example GPU A", 4));
    server.proven_by(BOB, of_nvidia("Example GPU B", 8));
    server.proven_by(ANN, on("Example GPU C", 16));
    let found = standing(&server, &slow);
    assert_eq!(found.device_key, "reported-example-gpu-a");
    assert_eq!(found.workloads.len(), 2);
    for workload in &found.workloads {
        assert_eq!(workload.runs, [4, 2, 3]);
        assert_eq!((workload.among_all, workload.of_device), (Some(0.125), Some(0.25)));
        assert!((workload.of_vendor.unwrap() - 1.0 / 6.0).abs() < 1e-12);
    }

    // A run that does not rank is compared without counting.
    let found = standing(&server, &server.accepted_by(BOB, on("Example GPU D", 32)).run_id);
    assert!(found.workloads.iter().all(|workload| workload.among_all == Some(1.0) && workload.runs == [4, 0, 0]));
    let found = standing(&server, &server.accepted_by(BOB, in_software).run_id);
    assert!(found.workloads.iter().all(|workload| workload.among_all.is_none() && workload.runs == [0, 0, 0]));
    server.get_run("0123456789abcdef", "/standing").assert_refused(404, "unknown_run", "");
}
