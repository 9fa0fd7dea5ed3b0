//! A device's page, distributions, and where a run is among all others.

use results::api::{DeviceSource, DeviceSummary, Distribution, RunStanding, Tier};
use results::{ClientKind, DeviceKind, RunRecord};

use crate::support::TestServer;
use crate::support::people::{ANN, BOB, accepted_by, board, in_browser, on, proven_by};

fn device(server: &TestServer, key: &str) -> DeviceSummary {
    let answer = server.get(&format!("/api/v1/devices/{key}"));
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.parse()
}

fn standing(server: &TestServer, run_id: &str) -> RunStanding {
    let answer = server.get(&format!("/api/v1/runs/{run_id}/standing"));
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.parse()
}

fn distribution(server: &TestServer, more: &str) -> Distribution {
    let answer = server.get(&format!("/api/v1/distribution?suite=quick&workload=caffe-mnist{more}"));
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.parse()
}

#[test]
fn a_device_has_its_figures_with_places_and_its_latest_runs() {
    let server = board();
    proven_by(&server, ANN, on("Example GPU A", 3));
    proven_by(&server, ANN, on("Example GPU B", 1));
    let latest = accepted_by(&server, BOB, on("Example GPU B", 2));
    let found = device(&server, "reported-example-gpu-b");
    assert_eq!((found.device_name.as_str(), found.device_source), ("Example GPU B", DeviceSource::Reported));
    let figures: Vec<_> = found
        .figures
        .iter()
        .filter_map(|figure| Some((figure.workload.as_deref()?, figure.place, figure.of, figure.figure.runs)))
        .collect();
    assert_eq!(figures, [("caffe-mnist", 101, 2, 1), ("keras-mnist-mlp", 101, 2, 1)]);
    assert_eq!(found.recent.len(), 4, "both runs, of whatever tier, with two networks each");
    assert_eq!((&found.recent[0].run_id, found.recent[0].tier), (&latest.run_id, Tier::Checked), "the newest first");
    assert!(found.browser_taxes.is_empty(), "one kind of client compares with nothing");
}

const RTX_4090: &str = "NVIDIA GeForce RTX 4090";

/// Sets the measured peak to a plausible one for an RTX 4090.
fn fit_rtx_4090(record: &mut RunRecord) {
    let peaks = record.workloads.iter_mut().flat_map(|of| &mut of.peaks);
    peaks.for_each(|peak| peak.flops_per_second = 7e13);
}

#[test]
fn a_device_too_slow_for_its_name_is_unknown() {
    let server = board();
    let run = accepted_by(&server, ANN, |record| {
        record.device.adapter.name = RTX_4090.to_owned();
        record.device.adapter.vendor = "nvidia".to_owned();
    });
    assert!(run.notes.iter().any(|note| note.contains("is not ranked as NVIDIA GeForce RTX 4090")), "{:?}", run.notes);
    server.set_tier(&run.run_id, Tier::Proven);
    let found = device(&server, "unknown-nvidia");
    assert_eq!((found.device_name.as_str(), found.device_source), ("unknown device (NVIDIA)", DeviceSource::Masked));
    assert_eq!(found.figures.iter().filter(|figure| figure.workload.is_some()).count(), 2);
    server.get("/api/v1/devices/nvidia-geforce-rtx-4090").assert_refused(404, "unknown_device", "");
}

#[test]
fn what_a_browser_costs_is_said_where_both_kinds_of_client_have_a_figure() {
    let server = board();
    proven_by(&server, ANN, |record| {
        on(RTX_4090, 2)(record);
        fit_rtx_4090(record);
    });
    proven_by(&server, BOB, |record| {
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
fn a_device_whose_runs_are_all_hidden_is_unknown_and_so_is_any_other_word() {
    let server = board();
    let run = proven_by(&server, ANN, on("Example GPU A", 1));
    server.set_tier(&run, Tier::Hidden);
    for key in ["reported-example-gpu-a", "nothing", "%00", "a%2Fb", "x%27--", &"a".repeat(2000)] {
        server.get(&format!("/api/v1/devices/{key}")).assert_refused(404, "unknown_device", "");
    }
}

#[test]
fn a_distribution_counts_each_proven_run_of_its_choice() {
    let server = board();
    for (device, factor) in [("Example GPU A", 1), ("Example GPU B", 2), ("Example GPU C", 8)] {
        proven_by(&server, ANN, on(device, factor));
    }
    accepted_by(&server, BOB, on("Example GPU D", 4));
    proven_by(&server, BOB, in_browser);
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
fn a_run_is_placed_among_all_those_of_its_device_and_those_of_its_vendor() {
    let server = board();
    let on = |device: &'static str, factor| {
        move |record: &mut RunRecord| {
            on(device, factor)(record);
            record.device.adapter.vendor = "nvidia".to_owned();
        }
    };
    let slow = proven_by(&server, ANN, on("Example GPU A", 1));
    proven_by(&server, BOB, on("Example GPU A", 4));
    proven_by(&server, BOB, on("Example GPU B", 8));
    proven_by(&server, ANN, |record| {
        record.device.adapter.name = "Example GPU C".to_owned();
        crate::support::record::speed_up(record, 16);
    });
    let found = standing(&server, &slow);
    assert_eq!(found.device_key, "reported-example-gpu-a");
    assert_eq!(found.workloads.len(), 2);
    for workload in &found.workloads {
        assert_eq!(workload.runs, [4, 2, 3]);
        assert_eq!((workload.among_all, workload.of_device), (Some(0.125), Some(0.25)));
        assert!((workload.of_vendor.unwrap() - 1.0 / 6.0).abs() < 1e-12);
    }
}

#[test]
fn a_run_that_does_not_rank_is_compared_without_counting() {
    let server = board();
    proven_by(&server, ANN, on("Example GPU A", 1));
    let checked = accepted_by(&server, BOB, on("Example GPU A", 4)).run_id;
    let found = standing(&server, &checked);
    assert!(found.workloads.iter().all(|workload| workload.among_all == Some(1.0) && workload.runs == [1, 1, 0]));
    let software = accepted_by(&server, BOB, |record| {
        record.device.adapter.software = true;
        record.device.adapter.kind = DeviceKind::Cpu;
        record.device.adapter.name = "llvmpipe (LLVM 15)".to_owned();
        record.device.requested_adapter = "cpu".to_owned();
    });
    let found = standing(&server, &software.run_id);
    assert!(found.workloads.iter().all(|workload| workload.among_all.is_none() && workload.runs == [0, 0, 0]));
    server.get("/api/v1/runs/0123456789abcdef/standing").assert_refused(404, "unknown_run", "");
}

#[test]
fn browsers_are_not_compared_with_the_command_line() {
    let server = board();
    proven_by(&server, ANN, on("Example GPU A", 1));
    let browser = proven_by(&server, BOB, in_browser);
    let found = device(&server, "masked-nvidia-ampere");
    assert!(found.figures.iter().all(|figure| figure.client_kind == ClientKind::Browser));
    assert!(standing(&server, &browser).workloads.iter().all(|workload| workload.runs[0] == 1));
}

#[test]
fn a_query_that_makes_no_sense_is_refused() {
    let server = TestServer::start();
    for (query, field) in [
        ("", ""),
        ("?suite=quick", ""),
        ("?suite=unheard-of&workload=caffe-mnist", "suite"),
        ("?suite=quick&workload=airbench94", "workload"),
        ("?suite=quick&workload=%00", "workload"),
        ("?suite=quick&workload=caffe-mnist&backend=%00", "backend"),
        ("?suite=quick&workload=caffe-mnist&bins=3", ""),
    ] {
        server.get(&format!("/api/v1/distribution{query}")).assert_refused(400, "bad_query", field);
    }
}
