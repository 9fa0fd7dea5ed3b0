use results::{Outcome, RunRecord, Settings};

use crate::support::{Runner, adapters, claim_suite_network, one_line, skipped};

/// Whether there is a software adapter, which is as many logical devices as are wanted.
fn has_software(test: &str) -> bool {
    let found = adapters().iter().any(|adapter| adapter.adapter.software);
    if !found {
        skipped(test, "there is no software adapter");
    }
    found
}

#[test]
fn two_logical_devices_train_as_one_and_say_what_they_told_each_other() {
    if !has_software("two_logical_devices_train_as_one_and_say_what_they_told_each_other") {
        return;
    }
    let run = |devices: &str| {
        let line = format!("--adapter cpu --devices {devices} --steps 4 --batch-size 15 --seed 7 --json -");
        let finished = Runner::new(&line).tiny().run().expect_status(0);
        let record: RunRecord = serde_json::from_str(&finished.stdout).unwrap();
        (record, one_line(&finished.stderr))
    };
    let ((one, _), (two, shown)) = (run("1"), run("2"));
    let (of_one, of_two) = (&one.workloads[0], &two.workloads[0]);
    assert_eq!((&of_one.outcome, &of_two.outcome), (&Outcome::Completed, &Outcome::Completed));
    for (found, expected) in of_two.first_losses.iter().zip(&of_one.first_losses) {
        assert!((found - expected).abs() < 1e-4 * expected, "{found} instead of {expected}");
    }
    let told = of_two.communication.expect("two devices tell each other their gradients");
    let Settings { parameters, .. } = of_two.settings;
    assert_eq!(told.devices, 2);
    assert!(told.bytes >= 4 * 4 * 4 * parameters, "four steps, to and from two devices: {told:?}");
    assert!(told.seconds() > 0.0 && told.seconds() < of_two.summary.training_seconds, "{told:?}");
    assert!(of_one.communication.is_none());
    assert!(two.non_standard.contains(&"2 devices, logical ones on one software adapter".to_owned()));
    assert!(shown.contains("Devices tiny: 2 devices · communication "), "{shown}");
}

#[test]
fn exchanges_that_wait_for_the_end_of_the_backward_pass_change_no_loss_and_the_record_says_so() {
    let test = "exchanges_that_wait_for_the_end_of_the_backward_pass_change_no_loss_and_the_record_says_so";
    if !has_software(test) {
        return;
    }
    let run = |overlap: &str| {
        let line = "--adapter cpu --devices 2 --steps 4 --batch-size 15 --seed 7 --json -";
        let finished = Runner::new(&format!("{line} --overlap {overlap}")).tiny().run().expect_status(0);
        let record: RunRecord = serde_json::from_str(&finished.stdout).unwrap();
        let says = |what: &str| one_line(&finished.stderr).contains(what);
        (says("more while they computed"), record)
    };
    let ((on_says, on), (off_says, off)) = (run("on"), run("off"));
    assert_eq!((on_says, off_says), (true, false));
    assert_eq!(on.workloads[0].first_losses, off.workloads[0].first_losses);
    let overlapped = |record: &RunRecord| record.workloads[0].communication.unwrap().overlapped;
    assert!(overlapped(&on).is_some() && overlapped(&off).is_none());
    for (record, asked) in [(on, "overlap on"), (off, "overlap off")] {
        assert!(record.non_standard.contains(&asked.to_owned()), "{asked}: {:?}", record.non_standard);
    }
}

#[test]
fn a_list_that_names_a_software_adapter_twice_is_two_logical_devices() {
    let test = "a_list_that_names_a_software_adapter_twice_is_two_logical_devices";
    let Some(index) = adapters().iter().position(|adapter| adapter.adapter.software) else {
        return skipped(test, "there is no software adapter");
    };
    let line = format!("--adapter {index},{index} --steps 1 --batch-size 4 --json -");
    let finished = Runner::new(&line).tiny().run().expect_status(0);
    let record: RunRecord = serde_json::from_str(&finished.stdout).unwrap();
    assert_eq!((record.devices(), record.device.requested_adapter), (2, format!("{index},{index}")));
}

#[test]
fn what_several_devices_trained_is_not_uploaded_from_a_file_either_and_says_what_more_would_bring() {
    let test = "what_several_devices_trained_is_not_uploaded_from_a_file_either_and_says_what_more_would_bring";
    if !has_software(test) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = |devices: u32| {
        let path = folder.path().join(format!("{devices}.json"));
        let line = format!("--adapter cpu --steps 2 --batch-size 8 --seed 1 --devices {devices} --json");
        Runner::new(&line).arg(&path).tiny().run().expect_status(0);
        path
    };
    let (one, two) = (file(1), file(2));
    scaling_says_what_more_devices_would_bring(&one.display().to_string(), &two.display().to_string());
    claim_suite_network(&two);
    let refused = Runner::new("upload --to http://127.0.0.1:9 --yes").arg(&two).run();
    refused.expect_status(2).expect_errors(&["nothing that 2 devices trained together is uploaded"]);
}

fn scaling_says_what_more_devices_would_bring(one: &str, two: &str) {
    let shown = Runner::new(&format!("scaling {one} {two}")).run().expect_status(0).stdout;
    for part in ["tiny, 2 devices, batch 8", "the only record of several", "1024 devices", "through one host"] {
        assert!(one_line(&shown).contains(part), "`{part}` is missing in:\n{shown}");
    }
    let json = Runner::new(&format!("scaling {one} {two} --json -")).run().expect_status(0).stdout;
    let document: serde_json::Value = serde_json::from_str(&json).unwrap();
    let held = &document["held"][0];
    let [model, measured] = ["model", "measured_seconds"].map(|field| &held[field]);
    let modelled = model["compute_seconds"].as_f64().unwrap() + model["communication_seconds"].as_f64().unwrap();
    assert!(modelled > 0.0 && measured.as_f64().unwrap() > 0.0, "{held}");
    let scaled = document["networks"][0]["scaled"].as_array().unwrap();
    assert_eq!((scaled[0]["devices"].as_u64(), scaled[0]["strong"]["speed_up"].as_f64()), (Some(1), Some(1.0)));
    // A batch of eight is shared by eight devices at most.
    assert!(scaled.iter().all(|of| of["strong"].is_null() == (of["devices"].as_u64().unwrap() > 8)), "{json}");
    Runner::new(&format!("scaling {one}")).run().expect_status(2).expect_errors(&["say --bandwidth"]);
    Runner::new(&format!("scaling {one} --bandwidth 1e9 --latency 1e-5")).run().expect_status(0);
}

#[test]
fn without_records_scaling_says_what_was_published_of_few_gpus_and_what_that_says_of_eight() {
    let shown = one_line(&Runner::new("scaling").run().expect_status(0).stdout);
    for part in ["Inception-v3 on ImageNet", "GTDLBench, Table VIII", "1117.812 ms", "8 devices –"] {
        assert!(shown.contains(part), "`{part}` is missing in:\n{shown}");
    }
    Runner::new("scaling --bandwidth 1e9").run().expect_status(2).expect_errors(&["--bandwidth is for records"]);
    Runner::new("scaling --latency 1").run().expect_status(2).expect_errors(&["--bandwidth"]);
}

#[test]
fn several_devices_are_refused_where_they_mean_nothing_and_nothing_of_them_is_uploaded() {
    let cases = [
        ("--backend reference --devices 2", "plain loops on one core"),
        ("--backend burn-flex --devices 2", "that is the processor, of which it uses every core"),
        ("--backend burn-flex --adapter all", "`--backend wgsl` trains on several"),
        ("--backend burn-wgpu --adapter 0,1", "serve each device with `native-runner serve-device --adapter N`"),
        ("--backend burn-cuda --devices 2", "`--backend burn-remote --remote HOST:PORT,HOST:PORT`"),
        ("--backend burn-remote --remote 127.0.0.1:9 --devices 2", "left out, or 1, which is how many addresses"),
        ("--backend own --program own=cat --devices 2", "chooses its devices itself"),
        ("--adapter cpu --devices 2 --seeds 2", "trains on one device each"),
        ("--adapter cpu --devices 0", "1..=64"),
        ("--adapter cpu --overlap off", "a single device trains: it exchanges nothing (see --devices)"),
        ("steps --adapter cpu --backend wgsl --overlap on", "a single device trains: it exchanges nothing"),
        ("--adapter 0,4096", "no adapter fits `0,4096`"),
        ("steps --adapter all --backend wgsl", "name a single adapter here"),
    ];
    for (line, part) in cases {
        Runner::new(line).run().expect_status(2).expect_errors(&[part]);
    }
    if has_software("several_devices_are_refused_where_they_mean_nothing_and_nothing_of_them_is_uploaded") {
        let cases = [
            ("--workload keras-mnist-mlp --batch-size 1", "one sample for each device, but is 1"),
            ("--upload http://127.0.0.1:9 --yes", "nothing that 2 devices trained together is uploaded"),
        ];
        for (line, part) in cases {
            Runner::new(&format!("--adapter cpu --devices 2 {line}")).run().expect_status(2).expect_errors(&[part]);
        }
    }
}
