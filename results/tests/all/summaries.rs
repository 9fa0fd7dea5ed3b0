//! Summaries of raw samples.

use results::summary::{counted_windows, has_learned, summarise, thin_curve};
use results::{
    CurvePoint, EnergySource, Epoch, Evaluation, Goal, PeakSample, Phase, ResourceSample, Resources, Settings, Stretch,
    Summary, Target, Window, WorkloadRecord,
};

fn workload(windows: Vec<Window>) -> WorkloadRecord {
    let settings = Settings {
        training_samples: 1000,
        test_samples: 100,
        chance_accuracy: Some(0.1135),
        training_flops_per_sample: 1000,
        ..Settings::default()
    };
    WorkloadRecord { settings, windows, ..WorkloadRecord::default() }
}

/// Creates a window at `rate` samples per second.
fn window(rate: u32, seconds: f64) -> Window {
    let samples = f64::from(rate) * seconds;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small whole numbers")]
    let (steps, samples) = ((samples / 100.0) as u32, samples as u64);
    Window { steps, samples, seconds }
}

#[test]
fn throughput_is_the_median_of_counted_windows() {
    let summary = summarise(&workload(vec![
        window(1000, 2.0), // warm-up
        window(1000, 0.5), // too short
        window(1000, 2.0),
        window(1300, 2.0),
        window(1100, 2.0),
    ]));
    assert_eq!(summary.samples_per_second, Some(1100.0));
    assert_eq!(summary.flops_per_second, Some(1_100_000.0));
    assert_eq!(summary.measured_windows, 3);
    assert_eq!(summary.sustained_ratio, Some(1000.0 / 1300.0));
    assert_eq!(summary.step_seconds_p50, Some(2.0 / 22.0));
    // Totals include the windows that do not count.
    assert_eq!((summary.training_seconds, summary.samples, summary.steps), (8.5, 9300, 93));
}

#[test]
fn windows_count_regardless_of_their_own_speed() {
    let usual = Window { steps: 11, samples: 1100, seconds: 1.1 };
    for seconds in [0.1, 0.9, 1.1, 5.0] {
        let odd = Window { seconds, ..usual };
        let windows = [usual, usual, odd, usual];
        // A window after a fast one is expected to be too short, so it does not count.
        let counted = if seconds < 1.0 { 2 } else { 3 };
        assert_eq!(counted_windows(&windows).count(), counted, "{seconds} s");
        assert!(counted_windows(&windows).any(|window| window.seconds == seconds), "{seconds} s");
    }
    let too_few = Window { steps: 9, ..usual };
    assert_eq!(counted_windows(&[usual, too_few]).count(), 0, "nine steps are expected to take 0.9 seconds");
}

#[test]
fn stable_runs_have_five_agreeing_windows() {
    let equal = |count| summarise(&workload(vec![window(1000, 1.1); count]));
    assert!(!equal(5).stable, "the first is the warm-up");
    assert!(equal(6).stable);
    let mut windows = vec![window(1000, 1.1); 4];
    windows.extend([window(1300, 1.1), window(1300, 1.1)]);
    let uneven = summarise(&workload(windows));
    assert_eq!((uneven.measured_windows, uneven.stable), (5, false));
}

#[test]
fn share_of_peak_uses_the_windows_before_each_peak() {
    let mut record = workload(vec![window(1000, 1.0), window(1000, 2.0), window(2000, 2.0)]);
    let peak = |window, flops_per_second| PeakSample { window, flops_per_second, copied_bytes_per_second: None };
    // A sample takes a thousand operations.
    record.peaks = vec![peak(1, 2e6), peak(2, 10e6), peak(2, 5e6)];
    assert_eq!(summarise(&record).share_of_peak, Some(0.4));
    record.peaks = vec![peak(3, 2e6), peak(0, 0.0)];
    assert_eq!(summarise(&record).share_of_peak, None, "no such window, and no peak");
}

#[test]
fn missing_samples_give_absent_metrics() {
    assert_eq!(summarise(&workload(Vec::new())), Summary::default());
}

#[test]
fn accuracy_and_test_time_come_from_the_last_evaluation() {
    let mut record = workload(vec![window(1000, 1.0)]);
    let evaluation = Evaluation { step: 5, training_seconds: 0.5, seconds: 0.2, loss: 0.9, accuracy: 0.5 };
    record.evaluations =
        vec![evaluation, Evaluation { step: 10, training_seconds: 1.0, seconds: 0.3, loss: 0.4, accuracy: 0.8 }];
    let epoch = |(epoch, seconds)| Epoch { epoch, seconds, loss: 1.0, accuracy: 0.5 };
    record.epochs = [(1, 3.0), (2, 1.0), (3, 2.0)].map(epoch).to_vec();
    record.target = Some(Target { goal: Goal::Accuracy(0.7), reached_seconds: Some(1.0), reached_step: Some(10) });
    let summary = summarise(&record);
    assert_eq!((summary.accuracy, summary.test_loss, summary.testing_seconds), (Some(0.8), Some(0.4), Some(0.3)));
    assert_eq!((summary.seconds_per_epoch, summary.seconds_to_target), (Some(2.0), Some(1.0)));
}

#[test]
fn learned_networks_beat_the_most_frequent_class() {
    let mut record = workload(Vec::new());
    record.settings.test_samples = 10_000;
    assert!(!has_learned(&record), "it was never tested");
    for (accuracy, expected) in [(0.10, false), (0.1135, false), (0.12, false), (0.125, true), (0.9, true)] {
        record.evaluations = vec![Evaluation { step: 5, training_seconds: 0.5, seconds: 0.2, loss: 0.9, accuracy }];
        assert_eq!(has_learned(&record), expected, "{accuracy}");
    }
    record.settings.chance_accuracy = None;
    assert!(!has_learned(&record), "chance is unknown");
}

/// Creates samples, half a second apart, of a GPU whose counter and power have these readings.
fn sampled(samples: u32, source: EnergySource, reading: fn(f64) -> Option<f64>) -> Resources {
    let sample = |place: u32| {
        let seconds = f64::from(place) / 2.0;
        let (gpu_energy_joules, gpu_power_watts) = (reading(seconds), reading(seconds));
        ResourceSample { seconds, gpu_energy_joules, gpu_power_watts, ..ResourceSample::default() }
    };
    Resources { energy_source: Some(source), samples: (0..samples).map(sample).collect(), ..Resources::default() }
}

fn timed(resources: Resources) -> WorkloadRecord {
    let stretch = |phase, seconds| Stretch { phase, seconds };
    let timeline = vec![
        stretch(Phase::LoadingData, 7.0),
        stretch(Phase::Checking, 3.0),
        // Sampling starts here.
        stretch(Phase::Training, 1.0),
        stretch(Phase::MeasuringPeak, 1.5),
        stretch(Phase::Measuring, 1.0),
    ];
    WorkloadRecord { resources, timeline, ..workload(vec![window(1000, 1.0), window(1000, 1.0)]) }
}

#[test]
fn energy_counts_only_timed_training() {
    let power = sampled(10, EnergySource::GpuPower, |seconds| Some(100.0 + 10.0 * seconds));
    let counter = sampled(10, EnergySource::GpuCounter, |seconds| Some(100.0 * seconds + 5.0 * seconds * seconds));
    for resources in [power, counter] {
        let summary = summarise(&timed(resources));
        // The integrals from 0 to 1 and from 2.5 to 3.5, for 2,000 samples.
        assert_eq!(summary.joules_per_sample, Some(235.0 / 2000.0));
        assert_eq!(summary.joules_per_epoch, Some(117.5));
        assert_eq!(summary.samples_per_joule, Some((235.0_f64 / 2000.0).recip()));
    }
}

#[test]
fn energy_needs_samples_phases_and_every_reading() {
    let constant = |samples| sampled(samples, EnergySource::GpuPower, |_| Some(100.0));
    let gap = sampled(10, EnergySource::GpuPower, |seconds| (seconds < 2.0).then_some(100.0));
    let without_phases = WorkloadRecord { timeline: Vec::new(), ..timed(constant(10)) };
    for record in [without_phases, timed(constant(0)), timed(constant(7)), timed(gap)] {
        assert_eq!(summarise(&record).joules_per_sample, None);
    }
    assert!(summarise(&timed(constant(8))).joules_per_sample.is_some());
}

#[test]
fn throughput_has_an_interval_from_five_counted_windows() {
    let with = |windows: usize| summarise(&workload(vec![window(1000, 2.0); windows]));
    assert_eq!(with(5).throughput().unwrap().interval, None, "the first one is warm-up");
    assert!(with(6).throughput().unwrap().interval.is_some());
    let cold = with(1);
    assert_eq!((cold.throughput(), cold.samples_per_second_of_all_training()), (None, Some(1000.0)));
}

fn point(step: u64, loss: f64) -> CurvePoint {
    CurvePoint { step, training_seconds: step as f64 / 10.0, loss, accuracy: 0.0 }
}

#[test]
fn short_windows_are_drawn_with_the_one_before() {
    let drawn = thin_curve(&[point(1, 2.3), point(9, 2.0), point(19, 1.0), point(20, 2.1)], 200);
    assert_eq!(drawn.iter().map(|point| point.step).collect::<Vec<_>>(), [1, 9, 20]);
    assert!((drawn[2].loss - 1.1).abs() < 1e-12, "{drawn:?}");
    assert_eq!(thin_curve(&[], 200), []);
}

#[test]
fn many_points_become_few_means() {
    let points: Vec<CurvePoint> = (1..=1000).map(|step| point(step, if step % 2 == 0 { 1.0 } else { 3.0 })).collect();
    let drawn = thin_curve(&points, 200);
    assert!(drawn.len() <= 200, "{}", drawn.len());
    let last = drawn.last().unwrap();
    assert_eq!(last.step, 1000);
    assert!((last.loss - 2.0).abs() < 0.5, "{last:?}");
}
