use std::fs;

use results::{Departure, Outcome, RunRecord, Settings, summary};
use serde_json::Value;

use crate::external::{expect_golden, trace_line};
use crate::support::*;

#[test]
fn run_shows_metrics_and_keeps_a_valid_record() {
    let Some(adapter) = any_adapter() else { return };
    let line = "--workload keras-mnist-mlp --steps 4 --batch-size 16 --seed 7 --json result.json --name Mine";
    let finished = Runner::new(&adapter).args(line).run().expect_status(0);
    let metrics = results::metrics_of(&[results::Summary::default()]);
    let titles: Vec<&str> = metrics.iter().map(|metric| metric.title).collect();
    expect_parts(&finished.stdout, &titles);
    let record: RunRecord = finished.json_file("result.json");
    assert_eq!(record.requested.seed, 7);
    assert_eq!(record.device.claimed_name.as_deref(), Some("Mine"));
    assert_eq!(record.departures_text(", "), "1 of the suite's 2 networks, batch size 16, 4 steps");
    assert_eq!(record.provenance.client.name, "native-runner");
    let [workload] = record.workloads.as_slice() else { panic!("{} workloads", record.workloads.len()) };
    assert_eq!(workload.outcome, Outcome::Completed);
    assert_eq!(workload.first_losses.len(), 4);
    assert_eq!(workload.summary, summary::summarise(workload));
    assert!(workload.resources.resident_memory_maximum_bytes.is_some_and(|bytes| bytes > 1 << 20));

    let verdict = finished.stdout.lines().find(|line| line.contains("Verdict")).expect("there is a verdict");
    assert!(verdict.contains("Mine"), "{verdict}");
    let parts = ["Cold start keras-mnist-mlp: data ", "· first step ", "Resources keras-mnist-mlp: ", "· memory "];
    expect_parts(&finished.stdout, &parts);
    expect_parts(&finished.stdout, &["wgsl", "not ranked: "]);
    for warning in &record.warnings {
        expect_parts(&finished.stderr, &[&one_line(&warning.to_string())]);
    }
    finished.expect_errors(&["seed 7 (set with --seed)"]);
}

#[test]
#[cfg(unix)]
fn ctrl_c_keeps_what_was_measured() {
    let Some(adapter) = any_adapter() else { return };
    let line = "--seconds 300 --batch-size 16 --json result.json";
    let finished = Runner::new(&adapter).args(line).tiny().interrupt_after("tiny (1 of 1)").expect_status(130);
    assert!(finished.stderr.lines().last().unwrap().contains("cancelled"), "{}", finished.stderr);
    let record: RunRecord = finished.json_file("result.json");
    assert_eq!(record.workloads[0].outcome, Outcome::Cancelled);
    assert!(!record.workloads[0].windows.is_empty());
}

const LINE: &str = "--adapter cpu --steps 6 --batch-size 16 --seed 7";

#[test]
fn streamed_batches_train_like_resident_data() {
    if !has_software() {
        return;
    }
    let run = |input: &str| {
        let finished = Runner::new(&format!("{LINE} {input} --json -")).tiny().run().expect_status(0);
        (finished.json::<RunRecord>(), finished.stderr)
    };
    let (standard, _) = run("");
    let (resident, _) = run("--input resident");
    assert_eq!(resident.workloads[0].first_losses, standard.workloads[0].first_losses);
    assert!(resident.workloads[0].input.is_none() && resident.departures == standard.departures);
    for (mode, text) in [("prefetch", "streamed with prefetch"), ("stream", "streamed without prefetch")] {
        let (streamed, shown) = run(&format!("--input {mode}"));
        let of = &streamed.workloads[0];
        assert_eq!(of.outcome, Outcome::Completed);
        assert_eq!(of.first_losses, standard.workloads[0].first_losses, "{mode}");
        let brought = of.input.unwrap_or_else(|| panic!("{mode} says nothing of its input"));
        assert_eq!((brought.mode.name(), brought.batches, brought.bytes), (mode, 6, 6 * 16 * (784 + 2 + 4)));
        let share = of.input_share().unwrap();
        assert!(share > 0.0 && share < 1.0, "{brought:?}");
        assert!(streamed.departures_text(", ").contains(&format!("input {text}")), "{:?}", streamed.departures);
        expect_parts(&shown, &[&format!("Input tiny: {text} · waited "), &format!("input {text}")]);
    }
}

#[test]
fn inputs_and_devices_are_refused_where_meaningless() {
    expect_refusals(&[
        ("--backend reference --input stream", 2, &["it reads each sample from memory as it computes"]),
        ("--backend burn-flex --input resident", 2, &["Burn's queue decides"]),
        ("--backend burn-flex --input prefetch", 2, &["`burn-flex` does not support the input mode `prefetch`"]),
        ("--backend own --program own=cat --input stream", 2, &["receives its batches through a pipe"]),
        ("--adapter cpu --devices 2 --input stream", 2, &["share each batch, and each has the data set"]),
        ("--adapter cpu --seeds 2 --input stream", 2, &["start one run per value, or a study with `inputs`"]),
        ("--input streamed", 2, &["resident, prefetch, stream"]),
        ("--backend reference --devices 2", 2, &["plain loops on one core"]),
        ("--backend burn-flex --devices 2", 2, &["it uses the processor with all cores"]),
        ("--backend burn-flex --adapter all", 2, &["`--backend wgsl` trains on several"]),
        ("--backend burn-wgpu --adapter 0,1", 2, &["serve each device with `native-runner serve-device --adapter N`"]),
        ("--backend burn-cuda --devices 2", 2, &["`--backend burn-remote --remote HOST:PORT,HOST:PORT`"]),
        ("--backend burn-remote --remote 127.0.0.1:9 --devices 2", 2, &["omitted, or 1, the number of addresses"]),
        ("--backend own --program own=cat --devices 2", 2, &["chooses its devices itself"]),
        ("--adapter cpu --devices 2 --seeds 2", 2, &["trains on one device each"]),
        ("--adapter cpu --devices 0", 2, &["1..=64"]),
        ("--adapter cpu --overlap off", 2, &["a single device, which exchanges nothing (see --devices)"]),
        ("steps --adapter cpu --backend wgsl --overlap on", 2, &["a single device, which exchanges nothing"]),
        ("--adapter 0,4096", 2, &["no adapter fits `0,4096`"]),
        ("steps --adapter all --backend wgsl", 2, &["select a single adapter"]),
    ]);
    if has_software() {
        let cases: [(&str, i32, &[&str]); 3] = [
            (
                "--input prefetch --upload http://127.0.0.1:9 --yes",
                2,
                &["a run with --input prefetch cannot be uploaded"],
            ),
            ("--devices 2 --upload http://127.0.0.1:9 --yes", 2, &["a run on 2 devices cannot be uploaded"]),
            ("--devices 2 --batch-size 1", 2, &["one sample for each device, but is 1"]),
        ];
        expect_refusals_of(|line| Runner::new("--adapter cpu --workload keras-mnist-mlp").args(line), &cases);
        expect_no_upload(&format!("{LINE} --input stream"), "a run with --input stream cannot be uploaded");
    }
}

fn expect_no_upload(line: &str, reason: &str) {
    let finished = Runner::new(line).args("--json -").tiny().run().expect_status(0);
    let file = finished.folder.path().join("kept.json");
    fs::write(&file, serde_json::to_string(&claim_suite_network(finished.json())).unwrap()).unwrap();
    run(&format!("upload --to http://127.0.0.1:9 --yes {}", file.display()), 2).expect_errors(&[reason]);
}

#[test]
#[ignore = "runs a study"]
fn study_of_input_modes_shows_waiting_times() {
    if !has_software() {
        return;
    }
    let study = "study input-pipeline --adapter cpu --scale 0.002 --only workload=keras-mnist-mlp";
    let table = one_line(&run(&format!("{study} --only batch-size=own --output out"), 0).stdout);
    assert!(table.contains("input waits") && !table.contains("communication"), "{table}");
}

#[test]
fn a_trace_has_the_golden_layout_and_the_golden_numbers() {
    let name = "keras-mnist-mlp-small";
    let finished = run(&format!("{} --json trace.json", trace_line(name, "reference")), 0);
    assert_eq!(finished.stdout, "");
    expect_golden(name, "the command line", &fs::read_to_string(finished.folder.path().join("trace.json")).unwrap());
    let trace: Value = finished.json_file("trace.json");
    let described = [&trace["workload"], &trace["adapter"]["api"], &trace["dropout"]];
    assert_eq!(described, [&Value::from("keras-mnist-mlp"), &"CPU".into(), &false.into()]);
    assert_eq!((trace["logits"].as_array().unwrap().len(), trace["logits"][0].as_array().unwrap().len()), (4, 10));
    let accuracy = trace["test_accuracy"].as_f64().unwrap();
    assert!((0.0..=1.0).contains(&accuracy), "{accuracy}");

    let line = "trace --workload keras-mnist-mlp --backend reference --seed 1 --batch-size 2 --steps 1 --dropout on";
    let trace: Value = run(line, 0).json();
    // The trace has one row of logits per sample of the batch, up to four.
    assert_eq!((&trace["dropout"], trace["logits"].as_array().unwrap().len()), (&true.into(), 2));
}

#[test]
fn logical_devices_train_as_one_whenever_they_exchange() {
    let Some(index) = adapters().iter().position(|adapter| adapter.adapter.software) else {
        has_software();
        return;
    };
    let train = |devices: &str| {
        let line = format!("{devices} --steps 4 --batch-size 15 --seed 7 --json -");
        let finished = Runner::new(&line).tiny().run().expect_status(0);
        (finished.json::<RunRecord>(), one_line(&finished.stderr))
    };
    let (one, _) = train("--adapter cpu --devices 1");
    let (on, of_on) = train("--adapter cpu --devices 2 --overlap on");
    let (off, of_off) = train("--adapter cpu --devices 2 --overlap off");
    let (twice, _) = train(&format!("--adapter {index},{index}"));
    assert_eq!((twice.devices(), twice.requested.adapter), (2, format!("{index},{index}")));

    assert!(one.workloads[0].communication.is_none());
    for (record, shown, is_on) in [(&on, of_on, true), (&off, of_off, false)] {
        let [of_one, of_two] = [&one.workloads[0], &record.workloads[0]];
        assert_eq!((&of_one.outcome, &of_two.outcome), (&Outcome::Completed, &Outcome::Completed));
        for (found, expected) in of_two.first_losses.iter().zip(&of_one.first_losses) {
            assert!((found - expected).abs() < 1e-4 * expected, "{found} instead of {expected}");
        }
        let told = of_two.communication.expect("two devices tell each other their gradients");
        let Settings { parameters, .. } = of_two.settings;
        assert_eq!((told.devices, told.overlapped.is_some()), (2, is_on));
        assert!(told.bytes >= 4 * 4 * 4 * parameters, "four steps, to and from two devices: {told:?}");
        assert!(told.seconds() > 0.0 && told.seconds() < of_two.summary.training_seconds, "{told:?}");
        for departure in [Departure::Devices { count: 2, logical: true }, Departure::Overlap { on: is_on }] {
            assert!(record.departures.contains(&departure), "{departure:?}: {:?}", record.departures);
        }
        expect_parts(&shown, &["Devices tiny: 2 devices · communication "]);
        assert_eq!(shown.contains("more during computation"), is_on, "{shown}");
    }
    assert_eq!(on.workloads[0].first_losses, off.workloads[0].first_losses);
}

#[test]
fn record_of_several_devices_scales_but_is_not_uploaded() {
    if !has_software() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let line = |devices: u32| format!("--adapter cpu --steps 2 --batch-size 8 --seed 1 --devices {devices}");
    let [one, two] = [1, 2].map(|devices| {
        let path = folder.path().join(format!("{devices}.json"));
        Runner::new(&line(devices)).arg("--json").arg(&path).tiny().run().expect_status(0);
        path.display().to_string()
    });
    run(&format!("scaling {one} {two}"), 0).expect_output(&[
        "tiny, 2 devices, batch 8",
        "the only record of several",
        "1024 devices",
        "through one host",
    ]);
    let document: Value = run(&format!("scaling {one} {two} --json -"), 0).json();
    assert!(document["held"][0]["measured_seconds"].as_f64().unwrap() > 0.0, "{document}");
    let scaled = document["networks"][0]["scaled"].as_array().unwrap();
    assert_eq!((scaled[0]["devices"].as_u64(), scaled[0]["strong"]["speed_up"].as_f64()), (Some(1), Some(1.0)));
    // At most eight devices can share a batch of eight.
    assert!(scaled.iter().all(|of| of["strong"].is_null() == (of["devices"].as_u64().unwrap() > 8)), "{document}");
    run(&format!("scaling {one}"), 2).expect_errors(&["set --bandwidth"]);
    run(&format!("scaling {one} --bandwidth 1e9 --latency 1e-5"), 0);
    expect_no_upload(&line(2), "a run on 2 devices cannot be uploaded");
}

#[test]
fn scaling_without_records_shows_published_steps() {
    let shown = run("scaling", 0).stdout;
    expect_parts(&shown, &["Inception-v3 on ImageNet", "GTDLBench, Table VIII", "1117.812 ms", "8 devices –"]);
    expect_refusals(&[
        ("scaling --bandwidth 1e9", 2, &["--bandwidth needs records"]),
        ("scaling --latency 1", 2, &["--bandwidth"]),
    ]);
}

#[cfg(feature = "burn-flex")]
#[test]
fn a_number_of_threads_is_used_and_recorded() {
    let line = "--backend burn-flex --threads 1 --workload keras-mnist-mlp --steps 2 --batch-size 16 --seed 1 --json -";
    let record: RunRecord = Runner::new(line).run().expect_status(0).json();
    let name = record.device.adapter.name.strip_suffix(" (Burn, 1 thread)").expect("the name says the threads");
    // Some processors have no name, and only Linux reports it in a file.
    let facts = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let brand = facts.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    match brand.map(|(_, brand)| one_line(brand)).filter(|brand| !brand.is_empty()) {
        Some(brand) => assert_eq!(name, brand),
        None => assert!(!name.is_empty()),
    }
    assert_eq!(record.workloads[0].settings.threads, Some(1));
}
