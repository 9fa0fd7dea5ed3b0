//! Seconds of training against what they brought.

use crate::group::{Group, label, varying};
use crate::plot::{Extent, Figure, Look, Plot, Point, Quantity, Series, Strand};
use crate::published::{Published, of_workload};

pub(super) fn figures(workload: &str, groups: &[&Group<'_>]) -> Vec<Figure> {
    let fields = varying(groups);
    let own = groups.iter().enumerate().filter(|(_, group)| group.accuracy().is_some());
    let own: Vec<(&Group<'_>, Series)> =
        own.map(|(number, &group)| (group, of_group(number, label(group, &fields), group))).collect();
    let is_whole = |row: &&Published| row.training_seconds().is_some() && row.accuracy().is_some();
    let published = of_workload(workload).into_iter().filter(|row| row.is_of_one_device() && is_whole(row));
    let as_long: Vec<&Published> =
        published.filter(|row| own.iter().any(|(group, _)| row.trained_as_long_as(group))).collect();
    let beside = own.iter().filter(|(group, _)| as_long.iter().any(|row| row.trained_as_long_as(group)));
    let beside: Vec<Series> = beside.map(|of| of.1.clone()).chain(of_published(&as_long)).collect();
    let plot = |which: &str, note: &str, series: Vec<Series>| Plot {
        title: format!("Time against accuracy{which}"),
        note: format!("{workload}. One mark per run, at its last evaluation.{note}"),
        x: Quantity::new("seconds of training", Extent::FittedDecades),
        y: Quantity::share("test accuracy", Extent::Errors),
        series,
    };
    let note = " Hollow marks are published, on other hardware and in other years, after as many epochs (within 5 %); times of \
                theirs may include tests.";
    let plots = [plot("", "", own.into_iter().map(|of| of.1).collect()), plot(", published beside it", note, beside)];
    plots.into_iter().filter(Plot::has_points).map(Figure::Plot).collect()
}

fn of_group(number: usize, name: String, group: &Group<'_>) -> Series {
    let strand = |run: &crate::run::Run<'_>| {
        let last = run.workload.evaluations.last();
        let point = last.map(|look| Point::new(look.training_seconds, look.accuracy));
        Strand { name: format!("seed {}", run.seed()), points: point.into_iter().collect() }
    };
    Series { name, look: Look::Marks(number), strands: group.completed().map(strand).collect() }
}

/// A series for each device and source.
fn of_published(rows: &[&Published]) -> Vec<Series> {
    let mut series: Vec<Series> = Vec::new();
    let mut drawn: Vec<&Published> = Vec::new();
    for row in rows {
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

    /// The last plot of a run of as many steps, in batches of 100.
    fn plot(workload: &str, steps: u64) -> Plot {
        let records = [Made::new(workload).steps(steps).record()];
        let groups = groups(&records);
        let Some(Figure::Plot(plot)) = figures(workload, &groups.iter().collect::<Vec<_>>()).pop() else {
            panic!("there is a run to draw")
        };
        plot
    }

    #[test]
    fn published_figures_have_series_of_their_own_and_looks_of_their_own() {
        let plot = plot("caffe-mnist", 6402);
        let (own, published): (Vec<&Series>, Vec<&Series>) =
            plot.series.iter().partition(|series| matches!(series.look, Look::Marks(_)));
        assert_eq!(own.len(), 1);
        assert!(published.iter().all(|series| series.name.starts_with("published: Caffe, ")), "{published:?}");
        assert!(published.len() >= 3 && published[0].strands[0].name.starts_with("GTDLBench, Table "), "{published:?}");
    }

    #[test]
    fn runs_of_other_lengths_and_unpublished_networks_stand_alone() {
        for plot in [plot("caffe-mnist", 9), plot("resnet20-cifar10", 600)] {
            assert!(plot.series.len() == 1 && !plot.note.contains("published"), "{plot:?}");
        }
    }
}
