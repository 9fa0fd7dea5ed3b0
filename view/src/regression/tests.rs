use std::ops::Range;

use results::{Communication, DeviceKind, FailureCause, InputMode, InputPipeline, Outcome, Window, WorkloadRecord};
use serde_json::json;

use super::*;
use crate::comparison::testing::{WORKLOAD, run};
use crate::normal::Normal;

/// Creates a run of twelve windows of 1,000 samples at about `rate` samples per second; the first is the warm-up.
fn run_at(rate: f64, seed: u32) -> RunRecord {
    let mut record = run("wgsl", seed, 2.0, 0.97);
    let windows = (0..12).map(|number| {
        let wobble = 1.0 + 0.002 * f64::from(number % 5 - 2);
        Window { steps: 10, samples: 1000, seconds: 1000.0 / (rate * wobble) }
    });
    record.workloads[0].windows = windows.collect();
    record
}

fn runs_at(rates: &[f64], first_seed: u32) -> Vec<RunRecord> {
    (first_seed..).zip(rates).map(|(seed, rate)| run_at(*rate, seed)).collect()
}

fn with_tolerance(tolerance: f64) -> Rules {
    Rules { fail_if_slower: Some(tolerance), fail_if_missing: false }
}

fn only_line(found: &Regressions) -> &Line {
    let [line] = &found.lines[..] else { panic!("one line: {found:?}") };
    line
}

#[test]
fn equal_runs_are_tied_and_slowed_runs_slower() {
    let base = [run_at(1000.0 / 1.1, 1)];
    let found = compare(&base, &base, with_tolerance(0.05));
    let line = only_line(&found);
    assert_eq!((line.throughput.unwrap().ratio.value, &line.verdict), (1.0, &RegressionVerdict::Tied));
    assert!(found.failures().next().is_none() && found.has_verdicts());
    assert!(found.differences.is_empty() && found.mismatches.is_empty(), "{found:?}");

    let slowed = compare(&base, &[run_at(900.0 / 1.1, 2)], with_tolerance(0.05));
    let line = only_line(&slowed);
    assert!((line.throughput.unwrap().ratio.value - 0.9).abs() < 1e-3, "{line:?}");
    assert_eq!((&line.verdict, slowed.failures().count()), (&RegressionVerdict::Slower, 1));
    assert!(compare(&base, &[run_at(900.0 / 1.1, 2)], Rules::default()).failures().next().is_none(), "not requested");
}

#[test]
fn several_runs_are_compared_by_their_variation() {
    // Each run's interval is about half a percent wide, but runs differ by five percent.
    let base = runs_at(&[880.0, 930.0, 980.0], 1);
    let candidate = runs_at(&[840.0, 880.0, 920.0], 4);
    let alone = compare(&base[1..2], &candidate[1..2], with_tolerance(0.02));
    assert_eq!(only_line(&alone).verdict, RegressionVerdict::Slower, "{alone:?}");
    let together = compare(&base, &candidate, with_tolerance(0.02));
    let line = only_line(&together);
    assert_eq!((&line.verdict, together.failures().count()), (&RegressionVerdict::PerhapsSlower, 0), "{line:?}");
    let side = line.baseline.as_ref().unwrap();
    assert_eq!((side.runs, side.completed, side.seeds.as_slice()), (3, 3, [1, 2, 3].as_slice()));
    let throughput = line.throughput.unwrap();
    assert!((throughput.candidate / throughput.baseline / throughput.ratio.value - 1.0).abs() < 1e-12);
}

#[test]
fn settings_are_not_mixed_and_missing_runs_are_listed() {
    let base = run_at(900.0, 1);
    let mut other = run_at(100.0, 1);
    other.workloads[0].settings.batch_size *= 2;
    let both = [base.clone(), other];
    let rules = Rules { fail_if_slower: Some(0.05), fail_if_missing: true };
    let found = compare(&both, std::slice::from_ref(&base), rules);
    let verdicts: Vec<(u32, &RegressionVerdict)> =
        found.lines.iter().map(|line| (line.key.batch_size, &line.verdict)).collect();
    assert_eq!(verdicts, [(100, &RegressionVerdict::Tied), (200, &RegressionVerdict::OnlyInBaseline)]);
    assert_eq!(found.failures().count(), 1, "missing workloads fail on request");
    assert_eq!(compare(&both, std::slice::from_ref(&base), with_tolerance(0.05)).failures().count(), 0);
    let reversed = compare(std::slice::from_ref(&base), &both, rules);
    let verdict = &reversed.lines[1].verdict;
    assert_eq!((verdict, reversed.failures().count()), (&RegressionVerdict::OnlyInCandidate, 0));
    let mut elsewhere = base.clone();
    elsewhere.device.backend = "burn-wgpu".to_owned();
    assert!(!compare(&[base], &[elsewhere], rules).has_verdicts());
}

#[test]
fn workloads_that_break_fail_at_any_speed() {
    let base = runs_at(&[900.0, 901.0], 1);
    let failed = Outcome::failed(FailureCause::OutOfMemory, "the memory is full");
    for outcome in [Outcome::Diverged { step: 7 }, Outcome::Incorrect, failed] {
        let mut candidate = runs_at(&[9000.0, 9001.0], 1);
        candidate[1].workloads[0].outcome = outcome;
        let found = compare(&base, &candidate, Rules::default());
        assert!(matches!(only_line(&found).verdict, RegressionVerdict::Broken { .. }), "{found:?}");
        assert_eq!(found.failures().count(), 1);
        // There is no verdict if the baseline could not train the workload either.
        for baseline in [&candidate, &base] {
            let found = compare(&candidate, baseline, Rules::default());
            assert!(matches!(only_line(&found).verdict, RegressionVerdict::Untold { .. }), "{found:?}");
            assert!(found.failures().next().is_none() && !found.has_verdicts());
        }
    }
}

#[test]
fn cancelled_and_unsteady_runs_are_counted() {
    let base = runs_at(&[900.0, 901.0], 1);
    let mut candidate = runs_at(&[900.0, 902.0, 905.0], 1);
    candidate[0].workloads[0].outcome = Outcome::Cancelled;
    for (number, window) in candidate[1].workloads[0].windows.iter_mut().enumerate() {
        window.seconds *= 1.0 + (number % 3) as f64;
    }
    let found = compare(&base, &candidate, Rules::default());
    let side = only_line(&found).candidate.clone().unwrap();
    assert_eq!((side.runs, side.completed, side.unsteady), (3, 2, 1));
    assert_eq!(only_line(&found).baseline.as_ref().unwrap().unsteady, 0);
}

#[test]
fn too_short_runs_and_other_networks_have_no_verdict() {
    let base = run_at(900.0, 1);
    let has_none = |change: fn(&mut WorkloadRecord), expected: &str| {
        let mut candidate = base.clone();
        change(&mut candidate.workloads[0]);
        let found = compare(std::slice::from_ref(&base), &[candidate], Rules::default());
        let verdict = &only_line(&found).verdict;
        assert!(matches!(verdict, RegressionVerdict::Untold { reason } if reason.contains(expected)), "{verdict:?}");
    };
    has_none(|workload| workload.windows.truncate(1), "too short");
    has_none(|workload| workload.windows.truncate(4), "fewer than five windows");
    has_none(|workload| workload.settings.parameters += 1, "11 parameters, and 10 in the baseline");
}

#[test]
fn times_and_memory_need_all_runs() {
    let base = runs_at(&[900.0, 901.0, 902.0], 1);
    let mut candidate = base.clone();
    for record in &mut candidate {
        record.workloads[0].cold_start.build_seconds = Some(10.0);
        record.workloads[0].settings.device_memory_bytes *= 2;
    }
    candidate[2].workloads[0].resources.resident_memory_maximum_bytes = None;
    let found = compare(&base, &candidate, Rules::default());
    let change = |id: &str| only_line(&found).changes.iter().find(|change| change.id == id).unwrap();
    // 4 s of building plus a first step of 2 s, against 10 s plus 2 s.
    let start = change("cold_start_seconds");
    assert!((start.ratio.unwrap().value - 2.0).abs() < 1e-9 && start.is_certain(), "{start:?}");
    assert!((change("device_memory_bytes").ratio.unwrap().value - 2.0).abs() < 1e-9);
    let host = change("host_memory_bytes");
    assert_eq!((host.baseline, host.candidate, host.ratio), (Some(5_242_880.0), None, None));
    assert!(!change("step_seconds_p50").is_certain() && change("seconds_to_target").ratio.is_none());
}

#[test]
fn accuracies_are_compared_by_the_spread_of_seeds() {
    let with = |accuracies: &[f64], seeds: &[u32]| -> Vec<RunRecord> {
        let mut records = runs_at(&vec![900.0; accuracies.len()], 1);
        for ((record, accuracy), seed) in records.iter_mut().zip(accuracies).zip(seeds) {
            record.workloads[0].evaluations[1].accuracy = *accuracy;
            record.requested.seed = *seed;
        }
        records
    };
    let accuracy = |baseline: &[RunRecord], candidate: &[RunRecord]| {
        only_line(&compare(baseline, candidate, Rules::default())).accuracy.clone().unwrap()
    };
    let base = with(&[0.970, 0.971, 0.972], &[1, 2, 3]);
    let lower = accuracy(&base, &with(&[0.960, 0.961, 0.962], &[4, 5, 6]));
    let allowance = lower.allowance.unwrap();
    // Student's bound for four degrees of freedom is 2.776, and the standard deviation is 0.001.
    assert_eq!((lower.verdict, allowance.basis), (AccuracyVerdict::Lower, Basis::Seeds));
    assert!((allowance.difference / (2.776 * 0.001 * (2.0_f64 / 3.0).sqrt()) - 1.0).abs() < 1e-3, "{allowance:?}");
    assert_eq!(accuracy(&base, &with(&[0.970, 0.971], &[1, 2])).verdict, AccuracyVerdict::Alike);
    assert_eq!(accuracy(&base, &with(&[0.98, 0.981], &[1, 2])).verdict, AccuracyVerdict::Higher);
    // Three runs with the same seed have no spread; sampling error of 10,000 test samples explains a thousandth.
    let once = [with(&[0.970; 3], &[7; 3]), with(&[0.969; 3], &[7; 3])];
    let found = accuracy(&once[0], &once[1]);
    assert_eq!((found.verdict, found.allowance.unwrap().basis), (AccuracyVerdict::Alike, Basis::TestSamples));
    let mut longer = with(&[0.99], &[1]);
    longer[0].workloads[0].evaluations[1].step = 30;
    assert_eq!(accuracy(&base, &longer).verdict, AccuracyVerdict::OtherSteps);
}

#[test]
fn other_devices_and_suite_versions_are_mismatches() {
    let base = [run_at(900.0, 1)];
    let kinds = |change: &dyn Fn(&mut RunRecord)| -> Vec<MismatchKind> {
        let mut candidate = base.clone();
        change(&mut candidate[0]);
        compare(&base, &candidate, Rules::default()).mismatches.iter().map(|mismatch| mismatch.kind).collect()
    };
    assert_eq!(kinds(&|record| record.device.adapter.name = "Other GPU".to_owned()), [MismatchKind::Devices]);
    assert_eq!(kinds(&|record| record.suite.version = 2), [MismatchKind::SuiteVersions]);
    assert!(kinds(&|record| record.suite.name = "complete".to_owned()).is_empty());
    assert!(kinds(&|record| record.device.adapter.name = "Some GPU (RADV, LLVM 20)".to_owned()).is_empty());
    assert!(kinds(&|record| record.device.adapter.driver = "2".to_owned()).is_empty());
    let mut two = [run_at(900.0, 1), run_at(900.0, 2)];
    two[1].device.adapter.name = "Other GPU".to_owned();
    let mixed = compare(&two, &two, Rules::default());
    assert_eq!(mixed.mismatches.len(), 1);
    assert_eq!(mixed.mismatches[0].kind, MismatchKind::MixedDevices);
    assert!(mixed.mismatches[0].to_string().contains("Other GPU | Some GPU"), "{}", mixed.mismatches[0]);
}

#[test]
fn devices_are_named_without_driver_details() {
    let mut record = run_at(900.0, 1);
    let mut named = |name: &str, kind| {
        (record.device.adapter.name, record.device.adapter.kind) = (name.to_owned(), kind);
        device(&record)
    };
    assert_eq!(named("llvmpipe (LLVM 19.1.7, 256 bits)", DeviceKind::Cpu), "llvmpipe");
    assert_eq!(named("AMD Radeon RX 7900 XTX (RADV NAVI31)", DeviceKind::Discrete), "AMD Radeon RX 7900 XTX");
    let processor = "AMD EPYC (Burn, 2 cores)";
    assert_eq!(named(processor, DeviceKind::Cpu), processor, "the number of cores is a part of the device");
    record.device.claimed_name = Some("Example 9000".to_owned());
    assert_eq!(device(&record), "Example 9000");
    record.workloads[0].communication = Some(Communication::among(2));
    assert_eq!(device(&record), "2 × Example 9000", "several devices are another device");
    record.workloads[0].communication = None;
    record.workloads[0].input = Some(InputPipeline::new(InputMode::Stream));
    assert_eq!(device(&record), "Example 9000, input streamed without prefetch");
}

#[test]
fn differences_of_machines_and_variants_are_listed() {
    let base = runs_at(&[900.0, 900.0], 1);
    let mut candidate = base.clone();
    candidate[0].device.adapter.driver = "Mesa 25".to_owned();
    candidate[1].device.adapter.driver = "Mesa 26".to_owned();
    candidate.iter_mut().for_each(|record| record.provenance.commit = "abcdef0".to_owned());
    candidate.iter_mut().for_each(|record| record.workloads[0].settings.variants.push("dense: tile".to_owned()));
    let found = compare(&base, &candidate, Rules::default());
    let expected = json!([
        { "what": "driver", "values": [null, "Mesa 25 | Mesa 26"] },
        { "what": "commit", "values": ["unknown", "abcdef0"] },
    ]);
    assert_eq!(json!(found.differences), expected);
    let line = only_line(&found);
    assert_eq!(line.key.workload, WORKLOAD);
    assert_eq!(line.variants_only_in_candidate, ["dense: tile"]);
    assert!(line.variants_only_in_baseline.is_empty());
}

#[test]
fn noisy_programs_fail_only_if_slower_than_the_tolerance() {
    // Runs of one program differ by about 1 %, and windows of one run by 0.5 %. Windows are long enough to count.
    let runs = |noise: &mut Normal, rate: f64, seeds: Range<u32>| -> Vec<RunRecord> {
        let run = |seed| {
            let mut record = run_at(rate * (1.0 + 0.01 * noise.next()), seed);
            record.workloads[0].windows.iter_mut().for_each(|window| window.seconds *= 1.0 + 0.005 * noise.next());
            record
        };
        seeds.map(run).collect()
    };
    let alike = [(600.0, 1, 0), (600.0, 3, 0), (600.0, 5, 0), (588.0, 3, 0), (588.0, 5, 0)];
    for (rate, count, expected) in alike.into_iter().chain([(540.0, 3, 10), (540.0, 5, 10)]) {
        let mut noise = Normal(u64::from(count));
        let fails = |_: &u32| {
            let base = runs(&mut noise, 600.0, 0..count);
            let candidate = runs(&mut noise, rate, count..2 * count);
            compare(&base, &candidate, with_tolerance(0.05)).failures().next().is_some()
        };
        assert_eq!((0..10).filter(fails).count(), expected, "{rate} samples/s, {count} runs a side");
    }
}

#[test]
fn verdicts_follow_from_interval_and_tolerance() {
    for (low, high, tolerance, expected) in [
        (0.80, 0.94, 0.05, RegressionVerdict::Slower),
        (0.80, 0.95, 0.05, RegressionVerdict::PerhapsSlower),
        (0.94, 0.99, 0.05, RegressionVerdict::PerhapsSlower),
        (0.50, 1.80, 0.05, RegressionVerdict::PerhapsSlower),
        (0.96, 0.99, 0.05, RegressionVerdict::SlightlySlower),
        (0.96, 1.00, 0.05, RegressionVerdict::Tied),
        (0.95, 1.20, 0.05, RegressionVerdict::Tied),
        (1.01, 1.20, 0.05, RegressionVerdict::Faster),
        (0.80, 0.99, 0.0, RegressionVerdict::Slower),
        (0.95, 1.05, 0.0, RegressionVerdict::Tied),
        (0.50, 1.80, 0.0, RegressionVerdict::Undecided),
        (1.01, 1.20, 0.0, RegressionVerdict::Faster),
    ] {
        assert_eq!(RegressionVerdict::of_speed(Interval { low, high }, tolerance), expected, "{low} to {high}");
    }
    assert!(!RegressionVerdict::PerhapsSlower.fails(&Rules { fail_if_slower: Some(0.0), fail_if_missing: true }));
}

#[test]
fn accuracy_verdicts_are_named_as_in_their_json() {
    assert!(AccuracyVerdict::ALL.iter().all(|verdict| json!(verdict) == verdict.name()));
}
