//! Limits on a record's metrics by the server's clock.

use results::summary::counted_windows;
use results::{RunRecord, Summary, Window, WorkloadRecord};

use super::SeenWorkload;

/// Factor by which a record may be faster than its laps on the server's clock.
const TOLERANCE: f64 = 1.03;
/// Shortest duration assumed for a lap, because clocks can jump.
const MIN_LAP_SECONDS: f64 = 1e-3;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Laps {
    /// Samples per second from the first lap with a counted window to the last one; absent if there is none.
    rate: Option<f64>,
    seconds: f64,
    /// Duration of the laps that begin before the target was reached.
    seconds_to_target: f64,
}

/// Returns the metrics to list for each workload, as [`limited_summary`] limits them.
pub(crate) fn limited_summaries(record: &RunRecord, seen: &[SeenWorkload]) -> Vec<Summary> {
    record.workloads.iter().map(|workload| limited_summary(workload, seen)).collect()
}

/// Limits a summary to the server's clock. Trainings that it did not follow to their end are unranked and not limited.
fn limited_summary(record: &WorkloadRecord, seen: &[SeenWorkload]) -> Summary {
    let mut summary = record.summary.clone();
    let is_whole = |seen: &&SeenWorkload| {
        let segments = seen.segments.len();
        seen.workload == record.workload && segments == record.windows.len() && segments == record.segments.len()
    };
    let Some(seen) = seen.iter().find(is_whole) else { return summary };
    let laps = laps(record, seen);
    if let (Some(rate), Some(claimed)) = (laps.rate, summary.samples_per_second) {
        slow_down(&mut summary, (TOLERANCE * rate / claimed).min(1.0));
    }
    summary.training_seconds = summary.training_seconds.max(laps.seconds / TOLERANCE);
    let seconds_to_target = summary.seconds_to_target.map(|seconds| seconds.max(laps.seconds_to_target / TOLERANCE));
    summary.seconds_to_target = seconds_to_target;
    summary
}

fn laps(record: &WorkloadRecord, seen: &SeenWorkload) -> Laps {
    let mut counted = counted_windows(&record.windows).peekable();
    let mut is_counted = |window: &Window| counted.next_if(|counted| std::ptr::eq(*counted, window)).is_some();
    let counts: Vec<bool> = record.windows.iter().map(&mut is_counted).collect();
    let target_step = record.target.and_then(|target| target.reached_step);
    let mut laps = Laps::default();
    // All laps since the first counted window count, because a client chooses which windows count.
    let (mut samples, mut seconds_since) = (0, 0.0);
    for (segments, seconds) in seen.ended_laps() {
        let seconds = seconds.max(MIN_LAP_SECONDS);
        laps.seconds += seconds;
        if Some(seen.steps_of(segments.start)[0]) < target_step {
            laps.seconds_to_target += seconds;
        }
        let is_counted = counts[segments.clone()].contains(&true);
        if is_counted || laps.rate.is_some() {
            samples += record.windows[segments].iter().map(|window| window.samples).sum::<u64>();
            seconds_since += seconds;
        }
        if is_counted {
            laps.rate = Some(samples as f64 / seconds_since);
        }
    }
    laps
}

fn slow_down(summary: &mut Summary, factor: f64) {
    let rates = [
        &mut summary.samples_per_second,
        &mut summary.samples_per_second_low,
        &mut summary.samples_per_second_high,
        &mut summary.flops_per_second,
        &mut summary.share_of_peak,
    ];
    rates.into_iter().flatten().for_each(|rate| *rate *= factor);
    let seconds = [&mut summary.step_seconds_p50, &mut summary.step_seconds_p95, &mut summary.seconds_per_epoch];
    seconds.into_iter().flatten().for_each(|seconds| *seconds /= factor);
}

#[cfg(test)]
mod tests {
    use results::{Beacon, Goal, Segment, Target};

    use super::*;
    use crate::devices::testing::native;
    use crate::proof::testing::seen;

    /// Returns a record with a warm-up lap of one second, and a lap of six windows that claim `seconds` each.
    fn record(seconds: f64) -> (WorkloadRecord, SeenWorkload) {
        let mut seen = seen(&[2, 6], 10);
        seen.laps[0].opened_unix_seconds += 1.0;
        let window = |seconds| Window { steps: 10, samples: 1000, seconds };
        let mut record = WorkloadRecord {
            windows: [vec![window(0.5); 2], vec![window(seconds); 6]].concat(),
            segments: vec![Segment { beacon: Beacon([0; 16]), state_sha256: String::new() }; 8],
            target: Some(Target { goal: Goal::Accuracy(0.9), reached_seconds: Some(1.0), reached_step: Some(20) }),
            ..native("Example GPU 9000", "").workloads.remove(0)
        };
        record.summary = results::summary::summarise(&record);
        (record, seen)
    }

    #[test]
    fn figures_within_the_servers_time_stay_as_they_are() {
        for seconds in [1.0, 1.5] {
            let (record, seen) = record(seconds);
            assert_eq!(limited_summary(&record, &[seen]), record.summary);
        }
    }

    #[test]
    fn figures_are_no_faster_than_the_servers_clock() {
        let (mut record, mut seen) = record(1.0);
        // Each lap takes twice as long as the record claims.
        seen.laps[0].opened_unix_seconds -= 1.0;
        seen.laps[1].opened_unix_seconds -= 6.0;
        record.summary.samples_per_second_low = Some(1000.0);
        record.summary.seconds_per_epoch = Some(6.0);
        let limited = limited_summary(&record, &[seen]);
        let is_close = |a: Option<f64>, b: f64| (a.unwrap() - b).abs() < 1e-9;
        assert!(is_close(limited.samples_per_second, 1.03 * 500.0), "{limited:?}");
        assert!(is_close(limited.samples_per_second_low, 1.03 * 500.0));
        assert!(is_close(limited.step_seconds_p50, 0.2 / 1.03));
        assert!(is_close(limited.seconds_per_epoch, 12.0 / 1.03));
        assert!(is_close(limited.seconds_to_target, 2.0 / 1.03));
        assert!(is_close(Some(limited.training_seconds), 14.0 / 1.03));
        assert_eq!(limited.accuracy, record.summary.accuracy);
    }

    #[test]
    fn a_target_inside_of_a_lap_takes_all_of_it() {
        let (mut record, seen) = record(1.0);
        for (reached_step, seconds) in [(10, 1.0), (20, 1.0), (30, 7.0), (80, 7.0)] {
            record.target.as_mut().unwrap().reached_step = Some(reached_step);
            assert!((laps(&record, &seen).seconds_to_target - seconds).abs() < 1e-9, "{reached_step}");
        }
    }

    #[test]
    fn laps_between_counted_windows_count_for_the_throughput() {
        let (mut record, _) = record(1.0);
        let mut seen = seen(&[2, 2, 2, 2], 10);
        // No window of the third lap counts, because the previous window of each is short.
        record.windows[3..6].iter_mut().for_each(|window| window.seconds = 1e-3);
        let rate = |seen: &SeenWorkload| laps(&record, seen).rate.unwrap();
        assert!((rate(&seen) - 1000.0).abs() < 1e-9);
        seen.laps[2].opened_unix_seconds -= 6.0;
        assert!((rate(&seen) - 500.0).abs() < 1e-9);
        seen.laps[0].opened_unix_seconds -= 6.0;
        assert!((rate(&seen) - 500.0).abs() < 1e-9, "before the first counted window");
    }

    #[test]
    fn warm_up_laps_do_not_lower_the_throughput() {
        let (record, mut seen) = record(1.0);
        seen.laps[0].opened_unix_seconds -= 100.0;
        let limited = limited_summary(&record, &[seen]);
        assert_eq!(limited.samples_per_second, record.summary.samples_per_second);
        assert!(limited.seconds_to_target > record.summary.seconds_to_target);
    }

    #[test]
    fn a_run_that_was_not_seen_as_a_whole_is_not_limited() {
        let (record, mut seen) = record(1.0);
        seen.laps[1].opened_unix_seconds -= 6.0;
        seen.segments.pop();
        assert_eq!(limited_summary(&record, &[seen]), record.summary);
        assert_eq!(limited_summary(&record, &[]), record.summary);
    }
}
