//! Seconds of training against what they brought.

use crate::group::{Group, label, varying};
use crate::plot::{Extent, Figure, Look, Plot, Point, Quantity, Series, Strand};
use crate::published::{Published, of_workload};

pub(super) fn figures(workload: &str, groups: &[&Group<'_>]) -> Vec<Figure> {
    let fields = varying(groups);
    let own = groups.iter().enumerate().filter(|(_, group)| group.accuracy().is_some());
    let mut series: Vec<Series> = own.map(|(number, group)| of_group(number, label(group, &fields), group)).collect();
    if series.is_empty() {
        return Vec::new();
    }
    let published = of_published(workload);
    let has_published = !published.is_empty();
    series.extend(published);
    let beside = if has_published {
        " Hollow marks are published, on other hardware and in other years; times of theirs may include tests."
    } else {
        ""
    };
    let plot = Plot {
        title: "Time against accuracy".to_owned(),
        note: format!("{workload}. A mark for each run, at its last look at the test set.{beside}"),
        x: Quantity::new("seconds of training", Extent::FittedDecades),
        y: Quantity::share("test accuracy", Extent::Errors),
        series,
    };
    vec![Figure::Plot(plot)]
}

fn of_group(number: usize, name: String, group: &Group<'_>) -> Series {
    let strand = |run: &crate::run::Run<'_>| Strand {
        name: format!("seed {}", run.seed()),
        points: run.summary.accuracy.map(|accuracy| Point::new(run.training_seconds(), accuracy)).into_iter().collect(),
    };
    Series { name, look: Look::Marks(number), strands: group.completed().map(strand).collect() }
}

/// What was published of one device each, a series for each device and source.
fn of_published(workload: &str) -> Vec<Series> {
    let mut series: Vec<Series> = Vec::new();
    let mut drawn: Vec<&Published> = Vec::new();
    for row in of_workload(workload).into_iter().filter(|row| row.is_of_one_device()) {
        let Some((seconds, accuracy)) = row.training_seconds().zip(row.accuracy()) else { continue };
        if drawn.iter().any(|other| row.repeats(other)) {
            continue;
        }
        drawn.push(row);
        let name = format!("published: {}, {}", row.framework, row.device());
        let strand = Strand { name: row.citation(), points: vec![Point::new(seconds, accuracy)] };
        match series.iter_mut().find(|series| series.name == name) {
            Some(series) => series.strands.push(strand),
            None => series.push(Series { name, look: Look::Published(series.len()), strands: vec![strand] }),
        }
    }
    series
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Made, groups};

    fn plot(workload: &str) -> Plot {
        let records = [Made::new(workload).record()];
        let groups = groups(&records);
        let Some(Figure::Plot(plot)) = figures(workload, &groups.iter().collect::<Vec<_>>()).pop() else {
            panic!("there is a run to draw")
        };
        plot
    }

    #[test]
    fn published_figures_have_series_of_their_own_and_looks_of_their_own() {
        let plot = plot("caffe-mnist");
        let (own, published): (Vec<&Series>, Vec<&Series>) =
            plot.series.iter().partition(|series| matches!(series.look, Look::Marks(_)));
        assert_eq!(own.len(), 1);
        assert!(published.iter().all(|series| series.name.starts_with("published: Caffe, ")), "{published:?}");
        assert!(published.len() >= 3 && published[0].strands[0].name.starts_with("GTDLBench, Table "), "{published:?}");
    }

    #[test]
    fn a_network_of_which_nothing_is_published_stands_alone() {
        let plot = plot("resnet20-cifar10");
        assert!(plot.series.len() == 1 && !plot.note.contains("published"));
    }
}
