use results::{Outcome, RunRecord, Settings};

use crate::support::{Runner, adapters, one_line, skipped};

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
        let line = format!(
            "--adapter cpu --devices {devices} --workload keras-mnist-mlp --steps 4 --batch-size 15 --seed 7 --json -"
        );
        let finished = Runner::new(&line).run().expect_status(0);
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
    assert!(shown.contains("Devices keras-mnist-mlp: 2 devices · communication "), "{shown}");
}

#[test]
fn several_devices_are_refused_where_they_mean_nothing_and_nothing_of_them_is_uploaded() {
    let cases = [
        ("--backend reference --devices 2", "trains on one device"),
        ("--adapter cpu --devices 0", "1..=64"),
        ("--adapter cpu --devices 2 --workload keras-mnist-mlp --batch-size 1", "which have 1 samples"),
        ("--adapter cpu --devices 2 --upload http://127.0.0.1:9 --yes", "no run on several devices"),
        ("--backend own --program own=cat --devices 2", "chooses its devices itself"),
    ];
    for (line, part) in cases {
        Runner::new(line).run().expect_status(2).expect_errors(&[part]);
    }
}
