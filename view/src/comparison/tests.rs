use results::{Compared, Precision};

use super::testing::{WORKLOAD, run};
use super::*;

/// Creates runs of backends `a`, `b`, … with these final accuracies, one per seed.
fn with_accuracies(accuracies: &[&[f64]]) -> Vec<RunRecord> {
    let named = accuracies.iter().zip(["a", "b", "c"]);
    named.flat_map(|(of, name)| (1..).zip(*of).map(move |(seed, accuracy)| run(name, seed, 2.0, *accuracy))).collect()
}

fn agreement(accuracies: &[&[f64]]) -> Agreement {
    compare(WORKLOAD, &with_accuracies(accuracies), &[]).agreement
}

fn figures(comparison: &Comparison, row: usize) -> &Figures {
    comparison.rows[row].figures.as_ref().expect("the row has metrics")
}

#[test]
fn runs_from_one_seed_count_once_in_accuracies() {
    let records = [run("a", 1, 2.0, 0.90), run("a", 1, 2.0, 0.92), run("a", 2, 2.0, 0.97)];
    let comparison = compare(WORKLOAD, &records, &[]);
    let of = figures(&comparison, 0);
    assert!((of.accuracy.unwrap() - 0.94).abs() < 1e-12);
    assert!((of.accuracy_deviation.unwrap() - 0.03 * 2.0_f64.sqrt()).abs() < 1e-12);
}

#[test]
fn times_have_ratios_to_the_fastest() {
    let records = [
        run("slow", 1, 6.0, 0.97),
        run("fast", 1, 2.0, 0.97),
        run("slow", 2, 8.0, 0.97),
        run("fast", 2, 2.0, 0.98),
        run("slow", 3, 6.0, 0.97),
    ];
    let comparison = compare(WORKLOAD, &records, &[]);
    let names: Vec<&str> = comparison.rows.iter().map(|row| row.contender.backend.as_str()).collect();
    assert_eq!(names, ["slow", "fast"]);
    let (slow, fast) = (figures(&comparison, 0), figures(&comparison, 1));
    let timing = |timing: Option<Timing>| timing.map(|t| (t.seconds, t.to_fastest.unwrap())).unwrap();
    assert_eq!((timing(slow.epoch), timing(fast.epoch)), ((6.0, 3.0), (2.0, 1.0)));
    // Two epochs; the third window is trained only for measurement.
    assert_eq!((timing(slow.training), timing(fast.training)), ((12.0, 3.0), (4.0, 1.0)));
    assert_eq!((timing(slow.testing).1, timing(fast.testing)), (3.0, (0.25, 1.0)));
    // Cold start is from the first run, without data loading.
    assert_eq!((timing(slow.cold_start), timing(fast.cold_start)), ((18.0, 3.0), (6.0, 1.0)));
    assert_eq!(fast.accuracy, Some(0.975));
    assert!((fast.accuracy_deviation.unwrap() - 0.01 / 2.0_f64.sqrt()).abs() < 1e-12);
    assert_eq!((slow.seeds.as_slice(), slow.steps, slow.epoch_is_projected), ([1, 2, 3].as_slice(), Some(20), false));
    assert_eq!((fast.device_memory_bytes, fast.host_memory_bytes), (Some(1 << 20), Some(5 << 20)));
    assert_eq!(comparison.rows[1].settings, ["compiler of fast"]);
    // Geometric means of the runs.
    let (slowed, lead) = (slow.rate_to_fastest.unwrap(), fast.rate_to_fastest.unwrap());
    let (expected, interval) = (2.0 / (6.0 * 8.0 * 6.0_f64).cbrt(), slowed.interval.unwrap());
    assert!(
        (slowed.value - expected).abs() < 1e-9 && (lead.value, lead.interval) == (1.0, None),
        "{slowed:?}, {lead:?}"
    );
    assert!(interval.low < expected && expected < interval.high && interval.high < 1.0, "{slowed:?}");
}

#[test]
fn lead_is_over_the_second_fastest_across_networks() {
    let records: Vec<RunRecord> = [("slow", 8.0), ("fast", 2.0), ("middle", 4.0)]
        .into_iter()
        .map(|(backend, seconds)| {
            let mut record = run(backend, 1, seconds, 0.97);
            let mut other = run(backend, 1, if backend == "slow" { 8.0 } else { 4.0 }, 0.97).workloads.remove(0);
            other.workload = "other".to_owned();
            record.workloads.push(other);
            record
        })
        .collect();
    let lead_of = |networks: &[&str]| {
        let compared: Vec<Comparison> = networks.iter().map(|name| compare(name, &records, &[])).collect();
        lead(&compared, &records).unwrap()
    };
    let one = lead_of(&[WORKLOAD]);
    assert_eq!((one.fastest.backend.as_str(), one.next.backend.as_str()), ("fast", "middle"));
    assert!((one.ratio.value - 2.0).abs() < 1e-9, "{one:?}");
    let both = lead_of(&[WORKLOAD, "other"]);
    assert_eq!((both.fastest.backend.as_str(), both.next.backend.as_str()), ("fast", "middle"));
    assert!((both.ratio.value - 2.0_f64.sqrt()).abs() < 1e-9, "{both:?}");
    assert_eq!(lead(&[compare(WORKLOAD, &records[..1], &[])], &records[..1]), None, "a single backend has no lead");
    assert_eq!(lead(&[], &records), None);
}

#[test]
fn a_metric_of_one_row_has_no_ratio() {
    let mut unsettled = run("unsettled", 1, 2.0, 0.97);
    unsettled.workloads[0].windows.truncate(1);
    unsettled.workloads[0].epochs.clear();
    let comparison = compare(WORKLOAD, &[unsettled, run("settled", 1, 8.0, 0.97)], &[]);
    assert_eq!((figures(&comparison, 0).epoch, figures(&comparison, 0).rate_to_fastest), (None, None));
    let settled = figures(&comparison, 1);
    assert_eq!((settled.epoch.unwrap().to_fastest, settled.rate_to_fastest), (None, None));
    assert_eq!(settled.training.unwrap().to_fastest, Some(4.0), "both trained and were tested");
}

#[test]
fn accuracies_within_paired_spread_agree() {
    let found = agreement(&[&[0.970, 0.972, 0.974], &[0.971, 0.972, 0.973]]);
    let Agreement::Agree { evidence } = &found else { panic!("{found:?}") };
    assert_eq!((evidence.basis, evidence.step, evidence.is_final), (Basis::Seeds, 20, true));
    assert_eq!(evidence.seeds, [1, 2, 3]);
    // Differences of -1, 0 and 1 thousandth; Student's bound for two degrees of freedom is 4.303.
    assert!((evidence.spread - 5e-7_f64.sqrt()).abs() < 1e-9, "{}", evidence.spread);
    let allowed = 4.302_653 * 0.001 / 3.0_f64.sqrt();
    assert!((evidence.allowed_difference / allowed - 1.0).abs() < 1e-6, "{}", evidence.allowed_difference);
    assert!((evidence.largest_same_seed_difference - 0.001).abs() < 1e-9);
    let expected = "Final accuracies: no difference found; they differ by up to 0.00 points, and 0.25 points are expected \
                    by chance (the paired differences of 3 seeds)";
    assert_eq!(found.to_string(), expected);
}

#[test]
fn accuracies_beyond_the_spread_disagree() {
    let found = agreement(&[&[0.970, 0.972, 0.974], &[0.971, 0.972, 0.973], &[0.950, 0.951, 0.952]]);
    let Agreement::Disagree { evidence, pairs } = &found else { panic!("{found:?}") };
    let named: Vec<String> = pairs.iter().map(|pair| format!("{} over {}", pair.higher, pair.lower)).collect();
    assert_eq!(named, ["a over c", "b over c"]);
    assert!((evidence.largest_difference - 0.021).abs() < 1e-9);
    let text = found.to_string();
    assert!(text.contains("disagree: a is 2.10 points above c, b is 2.10 points above c"), "{text}");
}

#[test]
fn verdicts_depend_on_seeds_and_test_samples() {
    let verdict = |one: &[f64], other: &[f64]| match agreement(&[one, other]) {
        Agreement::Agree { .. } => "agree",
        Agreement::Disagree { .. } => "disagree",
        Agreement::Unclear { .. } => "unclear",
        Agreement::NotCompared { .. } => "not compared",
    };
    let (good, chance) = ([0.9712, 0.9731, 0.9702], [0.1, 0.098, 0.1032]);
    for (one, other, expected) in [
        (&good[..1], &chance[..1], "disagree"),
        (&good[..2], &chance[..2], "disagree"),
        (&good[..], &chance[..], "disagree"),
        // A difference of one test sample is no disagreement, even if the spread over seeds is zero.
        (&[0.9700, 0.9700], &[0.9701, 0.9701], "agree"),
        (&[0.9700, 0.9700], &[0.9702, 0.9702], "disagree"),
        (&[0.970], &[0.976], "disagree"),
        // The means are close, but differences below 64 points could not be detected.
        (&[0.3, 0.5], &[0.35, 0.45], "unclear"),
    ] {
        assert_eq!(verdict(one, other), expected, "{one:?} and {other:?}");
    }
    // √(0.97 · 0.03 / 10,000) is 0.17 points, so 0.47 points are explained.
    let near = agreement(&[&[0.970], &[0.974]]);
    let Agreement::Agree { evidence } = &near else { panic!("{near:?}") };
    assert_eq!((evidence.basis, evidence.test_samples), (Basis::TestSamples, 10_000));
    assert!((0.0040..0.0050).contains(&evidence.allowed_difference), "{}", evidence.allowed_difference);
    assert!(near.to_string().contains("10000 test samples (one seed)"), "{near}");
    let wide = agreement(&[&[0.3, 0.5], &[0.4, 0.5]]);
    let Agreement::Unclear { evidence } = &wide else { panic!("{wide:?}") };
    assert!(evidence.allowed_difference > 0.05);
    assert!(wide.to_string().contains("more seeds"), "{wide}");
}

#[test]
fn runs_are_compared_after_the_last_common_test() {
    let mut short = run("short", 1, 6.0, 0.9);
    short.workloads[0].evaluations.truncate(1);
    short.workloads[0].evaluations[0].accuracy = 0.485;
    let comparison = compare(WORKLOAD, &[run("long", 1, 2.0, 0.97), short.clone()], &[]);
    let Agreement::Agree { evidence } = &comparison.agreement else { panic!("{:?}", comparison.agreement) };
    assert_eq!((evidence.step, evidence.is_final, evidence.largest_difference), (10, false, 0.0));
    assert!(comparison.agreement.to_string().starts_with("Accuracies after step 10"));
    let ratio = |row| figures(&comparison, row).training.unwrap().to_fastest;
    assert_eq!((ratio(0), ratio(1)), (None, None), "different work has no ratio");
    assert!(figures(&comparison, 0).epoch.unwrap().to_fastest.is_some());

    short.workloads[0].evaluations[0].step = 7;
    let found = compare(WORKLOAD, &[run("long", 1, 2.0, 0.97), short], &[]).agreement;
    assert_eq!(found, Agreement::NotCompared { obstacle: Obstacle::NoCommonStep });
}

#[test]
fn only_common_seeds_are_compared() {
    let mut cancelled = run("b", 2, 2.0, 0.5);
    cancelled.workloads[0].outcome = Outcome::Cancelled;
    let records = [run("a", 1, 2.0, 0.97), run("b", 1, 2.0, 0.97), run("a", 2, 2.0, 0.99), cancelled];
    let comparison = compare(WORKLOAD, &records, &[]);
    let Agreement::Agree { evidence } = &comparison.agreement else { panic!("{:?}", comparison.agreement) };
    assert_eq!((evidence.seeds.as_slice(), evidence.basis), ([1].as_slice(), Basis::TestSamples));
    assert_eq!(comparison.rows[1].outcome, RowOutcome::Cancelled);
    assert_eq!(figures(&comparison, 1).seeds, [1]);

    let alone = compare(WORKLOAD, &records[..1], &[]).agreement;
    assert_eq!(alone, Agreement::NotCompared { obstacle: Obstacle::TooFewBackEnds });
    let apart = compare(WORKLOAD, &records[1..3], &[]).agreement;
    assert_eq!(apart, Agreement::NotCompared { obstacle: Obstacle::NoCommonSeed });
}

#[test]
fn one_incorrect_run_removes_all_metrics() {
    let mut wrong = run("b", 2, 2.0, 0.97);
    wrong.workloads[0].outcome = Outcome::Incorrect;
    wrong.workloads[0].correctness =
        Some(Correctness { tolerance: 1e-3, largest_difference: 0.087, ..Correctness::default() });
    let comparison = compare(WORKLOAD, &[run("a", 1, 2.0, 0.97), run("b", 1, 1.0, 0.97), wrong], &[]);
    let row = &comparison.rows[1];
    assert_eq!(row.figures, None);
    let disagreement = Disagreement { compared: Compared::Losses, largest_difference: 0.087, tolerance: 1e-3 };
    assert_eq!(row.outcome, RowOutcome::Incorrect { seed: 2, disagreement: Some(disagreement) });
    assert_eq!(figures(&comparison, 0).epoch.unwrap().to_fastest, None);
    assert_eq!(comparison.agreement, Agreement::NotCompared { obstacle: Obstacle::TooFewBackEnds });
}

#[test]
fn diverged_and_refused_rows_have_reasons() {
    let mut diverged = run("b", 1, 2.0, 0.1);
    diverged.workloads[0].outcome = Outcome::Diverged { step: 7 };
    let refused = Refused {
        contender: Contender { backend: "c".to_owned(), precision: Precision::F32 },
        reason: "it does not fit".to_owned(),
    };
    let comparison = compare(WORKLOAD, &[run("a", 1, 2.0, 0.97), diverged], &[refused]);
    let outcomes: Vec<&RowOutcome> = comparison.rows.iter().map(|row| &row.outcome).collect();
    let reason = "it does not fit".to_owned();
    let expected = [RowOutcome::Completed, RowOutcome::Diverged { seed: 1, step: 7 }, RowOutcome::Refused { reason }];
    assert_eq!(outcomes, expected.iter().collect::<Vec<_>>());
    assert!(comparison.rows[1].figures.is_none() && comparison.rows[2].figures.is_none());
    assert_eq!((&comparison.rows[2].adapter, comparison.rows[2].settings.len()), (&None, 0));
}

#[test]
fn unfinished_epochs_are_projected() {
    let mut short = run("a", 1, 2.0, 0.97);
    short.workloads[0].epochs.clear();
    let comparison = compare(WORKLOAD, &[short], &[]);
    let found = figures(&comparison, 0);
    assert_eq!((found.epoch.unwrap().seconds, found.epoch_is_projected), (2.0, true));
}

#[test]
fn workload_has_a_row_for_each_backend_and_precision() {
    let mut records = with_accuracies(&[&[0.97], &[0.97]]);
    let (mut half, mut other) = (records[1].clone(), records[0].workloads[0].clone());
    half.workloads[0].settings.precision = Precision::F16;
    other.workload = "other".to_owned();
    records[0].workloads.push(other);
    records.push(half);
    for (workload, expected) in [(WORKLOAD, &["a", "b", "b f16"][..]), ("other", &["a"]), ("none", &[])] {
        let rows = compare(workload, &records, &[]).rows;
        assert_eq!(rows.iter().map(|row| row.contender.to_string()).collect::<Vec<_>>(), expected, "{workload}");
    }
}
