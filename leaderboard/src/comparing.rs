//! Puts a few runs, or a few devices, side by side: their figures with ratios to the first, and what differs around them.
//! Pure functions; no data base.

use results::api::{ComparedFigure, ComparedSide, ComparedWorkload, Comparing, SideDifference, SideVerdict, StoredRun};
use results::{Outcome, RunRecord, WorkloadRecord};

use crate::devices::Identity;
use crate::figures::{DeviceDescription, DeviceFigure};

/// A device with its figures in every category.
pub(crate) struct DeviceSide {
    pub(crate) device: DeviceDescription,
    pub(crate) figures: Vec<DeviceFigure>,
}

/// Compares runs with the first of them.
pub(crate) fn of_runs(runs: &[StoredRun]) -> Comparing {
    let records: Vec<&RunRecord> = runs.iter().map(|run| &run.record).collect();
    let name = |run: &StoredRun| Identity::of(&run.record).group.label;
    let mut names: Vec<&str> = Vec::new();
    for workload in records.iter().flat_map(|record| &record.workloads) {
        if !names.contains(&workload.workload.as_str()) {
            names.push(&workload.workload);
        }
    }
    let compared = names.into_iter().filter_map(|name| {
        let figures = records.iter().map(|record| completed(record, name).map(figure_of_run)).collect();
        Some(ComparedWorkload {
            workload: name.to_owned(),
            suite: None,
            backend: None,
            client_kind: None,
            figures: related(figures)?,
        })
    });
    Comparing {
        workloads: compared.collect(),
        sides: runs.iter().map(|run| ComparedSide { id: run.run_id.clone(), name: name(run) }).collect(),
        differences: differences_of_runs(&records),
    }
}

/// Compares devices with the first of them, in every category in which several have proven runs.
pub(crate) fn of_devices(sides: &[DeviceSide]) -> Comparing {
    let mut lines: Vec<&DeviceFigure> = Vec::new();
    for line in sides.iter().flat_map(|side| &side.figures).filter(|line| !line.category.workload.is_empty()) {
        if !lines.iter().any(|other| of_one_kind(other, line)) {
            lines.push(line);
        }
    }
    let compared = lines.into_iter().filter_map(|line| {
        let of_side =
            |side: &DeviceSide| side.figures.iter().find(|other| of_one_kind(other, line)).map(figure_of_device);
        Some(ComparedWorkload {
            workload: line.category.workload.clone(),
            suite: Some(line.category.suite.clone()),
            backend: Some(line.category.backend.clone()),
            client_kind: Some(line.category.client_kind),
            figures: related(sides.iter().map(of_side).collect())?,
        })
    });
    let devices: Vec<&DeviceDescription> = sides.iter().map(|side| &side.device).collect();
    let differing = |what: &str, value: &dyn Fn(&DeviceDescription) -> Option<String>| {
        difference(what, devices.iter().map(|device| value(device)).collect())
    };
    let differences = [
        differing("vendor", &|device| device.vendor.clone()),
        differing("source", &|device| Some(device.source.name().to_owned())),
        differing("inferred", &|device| device.inferred.clone()),
    ];
    Comparing {
        workloads: compared.collect(),
        sides: devices
            .iter()
            .map(|device| ComparedSide { id: device.key.clone(), name: device.name.clone() })
            .collect(),
        differences: differences.into_iter().flatten().collect(),
    }
}

fn of_one_kind(a: &DeviceFigure, b: &DeviceFigure) -> bool {
    a.class == b.class && a.category == b.category
}

fn completed<'a>(record: &'a RunRecord, name: &str) -> Option<&'a WorkloadRecord> {
    record.workloads.iter().find(|workload| workload.workload == name && workload.outcome == Outcome::Completed)
}

fn figure_of_run(workload: &WorkloadRecord) -> ComparedFigure {
    let summary = &workload.summary;
    ComparedFigure {
        batch_size: Some(workload.settings.batch_size),
        precision: workload.settings.precision,
        samples_per_second: summary.samples_per_second,
        samples_per_second_low: summary.samples_per_second_low,
        samples_per_second_high: summary.samples_per_second_high,
        to_first: None,
        verdict: None,
        accuracy: summary.accuracy,
        seconds_to_target: summary.seconds_to_target,
    }
}

fn figure_of_device(line: &DeviceFigure) -> ComparedFigure {
    ComparedFigure {
        batch_size: None,
        precision: line.category.precision,
        samples_per_second: Some(line.figure.median),
        samples_per_second_low: Some(line.figure.lower_quartile),
        samples_per_second_high: Some(line.figure.upper_quartile),
        to_first: None,
        verdict: None,
        accuracy: None,
        seconds_to_target: None,
    }
}

/// Relates the figures of one workload to the first side's; nothing where fewer than two sides have one.
fn related(mut figures: Vec<Option<ComparedFigure>>) -> Option<Vec<Option<ComparedFigure>>> {
    if figures.iter().flatten().count() < 2 {
        return None;
    }
    if let Some((Some(first), others)) = figures.split_first_mut() {
        for other in others.iter_mut().flatten() {
            relate(first, other);
        }
    }
    Some(figures)
}

fn relate(first: &ComparedFigure, other: &mut ComparedFigure) {
    let (Some(its), Some(rate)) = (first.samples_per_second, other.samples_per_second) else { return };
    if first.batch_size != other.batch_size || its <= 0.0 {
        return;
    }
    other.to_first = Some(rate / its);
    let interval = |of: &ComparedFigure| Some((of.samples_per_second_low?, of.samples_per_second_high?));
    other.verdict = interval(first).zip(interval(other)).map(|((low, high), (other_low, other_high))| {
        if low <= other_high && other_low <= high {
            SideVerdict::Tied
        } else if rate > its {
            SideVerdict::Faster
        } else {
            SideVerdict::Slower
        }
    });
}

/// What differs around runs, each with a value for every one of them.
fn differences_of_runs(records: &[&RunRecord]) -> Vec<SideDifference> {
    let text = |text: &str| Some(text.to_owned());
    let value = |what: &str, of: &dyn Fn(&RunRecord) -> Option<String>| {
        difference(what, records.iter().map(|record| of(record)).collect())
    };
    let found = [
        value("suite", &|record| Some(format!("{} {}", record.suite.name, record.suite.version))),
        value("adapter", &|record| text(&record.device.adapter.name)),
        value("vendor", &|record| text(&record.device.adapter.vendor)),
        value("architecture", &|record| text(&record.device.adapter.architecture)),
        value("claimed_name", &|record| record.device.claimed_name.clone()),
        value("api", &|record| text(&record.device.adapter.api)),
        value("driver", &|record| text(&record.device.adapter.driver)),
        value("backend", &|record| text(&record.device.backend)),
        value("precision", &|record| Some(precisions(record))),
        value("client", &|record| {
            let client = &record.provenance.client;
            Some(format!("{} {}", client.name, client.version))
        }),
        value("operating_system", &|record| text(&record.provenance.client.operating_system)),
        value("engine_version", &|record| text(&record.provenance.engine_version)),
        value("non_standard", &|record| text(&record.non_standard.join("; "))),
    ];
    found.into_iter().flatten().collect()
}

fn precisions(record: &RunRecord) -> String {
    let mut names: Vec<&str> = record.workloads.iter().map(|workload| workload.settings.precision.name()).collect();
    names.dedup();
    names.join(", ")
}

/// Nothing where all are alike. What is empty was not said.
fn difference(what: &str, values: Vec<Option<String>>) -> Option<SideDifference> {
    let values: Vec<Option<String>> = values.into_iter().map(|value| value.filter(|text| !text.is_empty())).collect();
    let differ = values.windows(2).any(|pair| pair[0] != pair[1]);
    differ.then(|| SideDifference { what: what.to_owned(), values })
}

#[cfg(test)]
mod tests {
    use results::Precision;

    use super::*;

    fn figure(rate: Option<f64>, interval: Option<(f64, f64)>) -> Option<ComparedFigure> {
        Some(ComparedFigure {
            batch_size: Some(128),
            precision: Precision::F32,
            samples_per_second: rate,
            samples_per_second_low: interval.map(|(low, _)| low),
            samples_per_second_high: interval.map(|(_, high)| high),
            to_first: None,
            verdict: None,
            accuracy: None,
            seconds_to_target: None,
        })
    }

    fn second(figures: Vec<Option<ComparedFigure>>) -> (Option<f64>, Option<SideVerdict>) {
        let second = related(figures).unwrap().swap_remove(1).unwrap();
        (second.to_first, second.verdict)
    }

    #[test]
    fn intervals_that_overlap_tie_and_others_tell_who_is_faster() {
        let first = figure(Some(100.0), Some((90.0, 110.0)));
        for (rate, interval, verdict) in [
            (105.0, (95.0, 120.0), SideVerdict::Tied),
            (120.0, (110.0, 130.0), SideVerdict::Tied),
            (200.0, (190.0, 210.0), SideVerdict::Faster),
            (50.0, (49.0, 51.0), SideVerdict::Slower),
        ] {
            let found = second(vec![first.clone(), figure(Some(rate), Some(interval))]);
            assert_eq!(found, (Some(rate / 100.0), Some(verdict)));
        }
    }

    #[test]
    fn without_both_figures_there_is_no_ratio_and_without_both_intervals_no_verdict() {
        let (some, none) = (figure(Some(100.0), Some((90.0, 110.0))), figure(None, None));
        assert_eq!(second(vec![some.clone(), none.clone()]), (None, None));
        assert_eq!(second(vec![none, some.clone()]), (None, None));
        assert_eq!(second(vec![some.clone(), figure(Some(50.0), None)]), (Some(0.5), None));
        assert_eq!(related(vec![some.clone(), None]), None, "nothing to compare");
        let without_first = related(vec![None, some.clone(), some]).unwrap();
        assert!(without_first.iter().flatten().all(|figure| figure.to_first.is_none() && figure.verdict.is_none()));
    }

    #[test]
    fn other_batch_sizes_are_shown_and_not_compared() {
        let first = figure(Some(100.0), Some((90.0, 110.0)));
        let other = first.clone().map(|figure| ComparedFigure { batch_size: Some(64), ..figure });
        assert_eq!(second(vec![first, other]), (None, None));
    }

    #[test]
    fn only_what_differs_is_told_and_what_is_empty_was_not_said() {
        let values = |texts: [&str; 3]| texts.map(|text| Some(text.to_owned())).to_vec();
        assert_eq!(difference("driver", values(["1", "1", "1"])), None);
        let found = difference("driver", values(["1", "", "1"])).unwrap();
        assert_eq!(found.values, [Some("1".to_owned()), None, Some("1".to_owned())]);
    }
}
