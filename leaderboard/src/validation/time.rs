//! Work takes time: what a record claims must fit into the time that passed.

use results::{RunRecord, WorkloadRecord};

use super::Origin;
use super::bounds::{Checked, FieldPath};

/// Two clocks that run for hours drift apart by far less than this share …
const DRIFT: f64 = 0.01;
/// … and a record travels, and clocks are read, in less than this.
const SLACK_SECONDS: f64 = 2.0;

pub(super) fn check(record: &RunRecord, origin: &Origin<'_>) -> Checked {
    let wall_seconds = record.provenance.wall_seconds;
    let path = FieldPath::ROOT.field("provenance");
    let path = path.field("wall_seconds");
    let worked: f64 = record.workloads.iter().map(worked_seconds).sum();
    if !fits(worked, wall_seconds) {
        let message = format!("The workloads took {worked:.1} s together and the whole run only {wall_seconds:.1} s.");
        return path.refuse("time_does_not_fit", message);
    }
    let Origin::Announced { seconds_ago, .. } = origin else { return Ok(()) };
    if !fits(wall_seconds, *seconds_ago) {
        let message = format!("The run claims {wall_seconds:.1} s, but it was announced only {seconds_ago:.1} s ago.");
        return path.refuse("time_does_not_fit", message);
    }
    Ok(())
}

/// Seconds that a workload says it worked, none of them counted twice.
///
/// The first step is part of the first window. Data may be loaded, and was in some clients, before
/// a run is announced, so that its seconds prove nothing either way.
fn worked_seconds(record: &WorkloadRecord) -> f64 {
    let trained: f64 = record.windows.iter().map(|w| w.seconds).sum();
    let tested: f64 = record.evaluations.iter().map(|e| e.seconds).sum();
    let cold = &record.cold_start;
    let built = [cold.build_seconds, cold.compiling_seconds, cold.tuning_seconds];
    trained + tested + built.into_iter().flatten().sum::<f64>()
}

fn fits(claimed: f64, available: f64) -> bool {
    claimed <= available * (1.0 + DRIFT) + SLACK_SECONDS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drift_and_travel_are_forgiven_and_more_is_not() {
        assert!(fits(3600.0, 3599.0));
        assert!(fits(1.9, 0.0));
        assert!(!fits(10.0, 7.0));
        assert!(!fits(4000.0, 3600.0));
    }
}
