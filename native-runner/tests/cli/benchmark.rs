use std::fs;

use results::{Outcome, RunRecord, summary};

use crate::support::{Runner, any_adapter, one_line};

#[test]
fn a_run_shows_every_figure_and_keeps_a_record_that_can_be_summarised_again() {
    let Some(adapter) = any_adapter("a_run_shows_every_figure_and_keeps_a_record_that_can_be_summarised_again") else {
        return;
    };
    let line = format!(
        "{adapter} --workload keras-mnist-mlp --steps 4 --batch-size 16 --seed 7 --json result.json --name Mine"
    );
    let finished = Runner::new(&line).run().expect_status(0);
    for metric in results::metrics_of(&[results::Summary::default()]) {
        assert!(finished.stdout.contains(metric.title), "{} is missing in:\n{}", metric.title, finished.stdout);
    }
    let json = fs::read_to_string(finished.folder.path().join("result.json")).unwrap();
    let record: RunRecord = serde_json::from_str(&json).unwrap();
    assert_eq!(record.seed, 7);
    assert_eq!(record.device.claimed_name.as_deref(), Some("Mine"));
    assert_eq!(record.non_standard, ["1 of the suite's 2 networks", "batch size 16", "4 steps"]);
    assert_eq!(record.provenance.client.name, "native-runner");
    let [workload] = record.workloads.as_slice() else { panic!("{} workloads", record.workloads.len()) };
    assert_eq!(workload.outcome, Outcome::Completed);
    assert_eq!(workload.first_losses.len(), 4);
    assert_eq!(workload.summary, summary::summarise(workload));
    assert!(workload.resources.resident_memory_maximum_bytes.is_some_and(|bytes| bytes > 1 << 20));

    let verdict = finished.stdout.lines().find(|line| line.contains("Verdict")).expect("there is a verdict");
    assert!(verdict.contains("Mine"), "{verdict}");
    let shown = one_line(&finished.stdout);
    assert!(shown.contains("Cold start keras-mnist-mlp: data ") && shown.contains("· first step "), "{shown}");
    assert!(shown.contains("Resources keras-mnist-mlp: ") && shown.contains("· memory "), "{shown}");
    assert!(shown.contains("wgsl") && shown.contains("not ranked: "), "{shown}");
    for warning in &record.warnings {
        let text = one_line(&warning.to_string());
        assert!(one_line(&finished.stderr).contains(&text), "{text} is missing in:\n{}", finished.stderr);
    }
    assert!(finished.stderr.contains("seed      7 (as asked)"), "{}", finished.stderr);
}

#[test]
#[ignore = "trains for 4 s"]
fn a_run_that_ends_where_it_was_told_to_is_given_as_a_share_of_the_peak_too() {
    let Some(adapter) = any_adapter("a_run_that_ends_where_it_was_told_to_is_given_as_a_share_of_the_peak_too") else {
        return;
    };
    let line = format!("{adapter} --seconds 4 --seed 7 --json -");
    let record: RunRecord = serde_json::from_str(&Runner::new(&line).tiny().run().expect_status(0).stdout).unwrap();
    let workload = &record.workloads[0];
    let [peak] = workload.peaks.as_slice() else { panic!("{:?}", workload.peaks) };
    assert!(peak.flops_per_second > 0.0 && (peak.window as usize) < workload.windows.len(), "{peak:?}");
    assert!(workload.summary.share_of_peak.is_some_and(|share| share > 0.0), "{:?}", workload.summary);
}

#[test]
fn json_on_standard_output_is_pure_and_the_table_is_on_standard_error() {
    let line = "--backend reference --steps 3 --batch-size 16 --learning-rate 1e30 --json -";
    let finished = Runner::new(line).tiny().run().expect_status(3);
    let record: RunRecord = serde_json::from_str(&finished.stdout).expect("standard output holds one record");
    finished.expect_errors(&["Training throughput", "Verdict", &format!("repeat with --seed {}", record.seed)]);
}

#[test]
#[cfg(unix)]
fn ctrl_c_keeps_what_was_measured() {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;

    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;

    let Some(adapter) = any_adapter("ctrl_c_keeps_what_was_measured") else { return };
    let line = format!("{adapter} --seconds 300 --batch-size 16 --json result.json");
    let mut runner = Runner::new(&line).tiny();
    let mut child = runner.command().stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let stderr = BufReader::new(child.stderr.take().unwrap());
    let mut lines = stderr.lines().map(Result::unwrap);
    lines.find(|line| line.starts_with("tiny (1 of 1)")).expect("the workload begins");
    kill(Pid::from_raw(child.id().try_into().unwrap()), Signal::SIGINT).unwrap();
    let rest: Vec<String> = lines.collect();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{rest:?}");
    assert!(rest.last().unwrap().contains("cancelled"), "{rest:?}");

    let json = fs::read_to_string(runner.folder.path().join("result.json")).unwrap();
    let record: RunRecord = serde_json::from_str(&json).unwrap();
    assert_eq!(record.workloads[0].outcome, Outcome::Cancelled);
    assert!(!record.workloads[0].windows.is_empty());
}
