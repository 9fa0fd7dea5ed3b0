//! Cold starts, memory and processor time.

use crate::group::{Group, label, varying};
use crate::plot::{Bar, Bars, Figure};
use crate::run::{PHASES, Run};
use crate::text;

/// More bars than this are too many to look at.
const MOST_BARS: usize = 24;

pub(super) fn figures(workload: &str, groups: &[&Group<'_>]) -> Vec<Figure> {
    let bars = [cold_starts(workload, groups), memory(workload, groups), processor(workload, groups)];
    bars.into_iter().filter(Bars::has_values).map(Figure::Bars).collect()
}

fn cold_starts(workload: &str, groups: &[&Group<'_>]) -> Bars {
    // Loading the data is no part of what back ends differ in, and would hide the rest.
    let phases = 1..PHASES.len();
    let values = |group: &Group<'_>| phases.clone().map(|phase| group.median_of(|run| run.phases()[phase])).collect();
    Bars {
        title: "Cold start".to_owned(),
        note: format!(
            "{workload}. What happens once before training, without loading the data; medians over the runs."
        ),
        parts: PHASES[1..].iter().map(|&phase| phase.to_owned()).collect(),
        unit: "seconds".to_owned(),
        show: text::seconds,
        rows: rows(groups, values),
    }
}

fn memory(workload: &str, groups: &[&Group<'_>]) -> Bars {
    let of = |run: &Run<'_>| run.workload.resources.resident_memory_maximum_bytes.map(|bytes| bytes as f64);
    Bars {
        title: "Memory of the process".to_owned(),
        note: format!(
            "{workload}. The most that the whole process held while training; medians over the runs. What the back end \
             allocated on its device is in the table of all runs."
        ),
        parts: vec!["resident memory, most".to_owned()],
        unit: "bytes".to_owned(),
        show: text::mebibytes,
        rows: rows(groups, |group| vec![group.median_of(of)]),
    }
}

fn processor(workload: &str, groups: &[&Group<'_>]) -> Bars {
    let user = |run: &Run<'_>| run.workload.resources.cpu_user_percent;
    let system = |run: &Run<'_>| run.workload.resources.cpu_system_percent;
    Bars {
        title: "Processor time".to_owned(),
        note: format!("{workload}. Of the whole process over wall time; 100 % is one core. Medians over the runs."),
        parts: vec!["user".to_owned(), "system".to_owned()],
        unit: "percent".to_owned(),
        show: |percent| format!("{percent:.0} %"),
        rows: rows(groups, |group| vec![group.median_of(user), group.median_of(system)]),
    }
}

fn rows(groups: &[&Group<'_>], values: impl Fn(&Group<'_>) -> Vec<Option<f64>>) -> Vec<Bar> {
    let fields = varying(groups);
    let completed = groups.iter().filter(|group| group.is_completed()).take(MOST_BARS);
    completed.map(|group| Bar { name: label(group, &fields), values: values(group) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Made, groups};

    #[test]
    fn what_was_measured_has_bars_and_loading_data_is_no_part_of_a_start() {
        let records = [Made::new("caffe-mnist").cold_start([Some(9.0), Some(1.0), None, None, Some(0.5)]).record()];
        let groups = groups(&records);
        let figures = figures("caffe-mnist", &groups.iter().collect::<Vec<_>>());
        let titles: Vec<&str> = figures.iter().map(Figure::title).collect();
        assert_eq!(titles, ["Cold start", "Memory of the process", "Processor time"]);
        let Figure::Bars(start) = &figures[0] else { panic!("costs are bars") };
        assert_eq!(start.rows[0].values, [Some(1.0), None, None, Some(0.5)]);
        let Figure::Bars(processor) = &figures[2] else { panic!("costs are bars") };
        assert_eq!(processor.rows[0].values, [Some(180.0), Some(12.0)]);
    }

    #[test]
    fn what_no_run_tells_has_no_bars() {
        let mut record = Made::new("caffe-mnist").cold_start([None; 5]).record();
        record.workloads[0].resources = results::Resources::default();
        let records = [record];
        let groups = groups(&records);
        assert!(figures("caffe-mnist", &groups.iter().collect::<Vec<_>>()).is_empty());
    }
}
