//! Curves of loss and accuracy, and time against accuracy.

use results::CurvePoint;
use results::summary::{MeasuredWorkload, thin_curve};

use crate::report::group::{Group, labels, range_of};
use crate::report::plot::{AxisQuantity, Extent, Figure, Look, Plot, Point, Series, Strand};
use crate::report::published::{Published, find_by_workload};

/// Largest number of curves in a drawing.
const MAX_CURVES: usize = 8;
/// Largest number of points in a curve. Longer curves are averaged over neighbors.
const MAX_POINTS: usize = 200;
/// Smallest ratio of curve lengths that is drawn in decades of time.
const MIN_DECADES_RATIO: f64 = 6.0;

#[derive(Clone, Copy)]
enum CurveAxis {
    Seconds,
    Epochs,
}

struct NamedGroup<'g, 'a> {
    number: usize,
    label: String,
    group: &'g Group<'a>,
}

pub(super) fn figures(workload: &str, groups: &[&Group<'_>]) -> Vec<Figure> {
    let named = labels(groups).into_iter().zip(groups).enumerate();
    let named = named.map(|(number, (label, &group))| NamedGroup { number, label, group });
    let named: Vec<NamedGroup<'_, '_>> = named.filter(|named| named.group.is_completed()).collect();
    // Each drawing has the same number of curves.
    let drawings = named.len().div_ceil(MAX_CURVES).max(1);
    let chunks: Vec<&[NamedGroup<'_, '_>]> = named.chunks(named.len().div_ceil(drawings).max(1)).collect();
    let mut figures = Vec::new();
    for (number, chunk) in chunks.iter().enumerate() {
        let part = if chunks.len() > 1 { format!(", {} of {}", number + 1, chunks.len()) } else { String::new() };
        for over in [CurveAxis::Seconds, CurveAxis::Epochs] {
            figures.extend(loss(workload, chunk, over, &part));
            figures.extend(accuracy(workload, chunk, over, &part));
        }
    }
    figures
}

impl CurveAxis {
    fn quantity(self, groups: &[NamedGroup<'_, '_>]) -> AxisQuantity {
        let ends = range_of(groups.iter().filter_map(|named| named.group.training_seconds()));
        match self {
            // A fast curve next to a slow one would look like a vertical line.
            Self::Seconds if ends.is_some_and(|(least, most)| most > MIN_DECADES_RATIO * least) => {
                AxisQuantity::new("seconds of training", Extent::FittedDecades)
            }
            Self::Seconds => AxisQuantity::new("seconds of training", Extent::FromZero),
            Self::Epochs => AxisQuantity::new("epochs", Extent::FromZero),
        }
    }

    fn place(self, run: &MeasuredWorkload<'_>, step: u64, seconds: f64) -> f64 {
        match self {
            Self::Seconds => seconds,
            Self::Epochs => run.epochs_of(step),
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Seconds => "seconds",
            Self::Epochs => "epochs",
        }
    }
}

fn loss(workload: &str, groups: &[NamedGroup<'_, '_>], over: CurveAxis, part: &str) -> Option<Figure> {
    let strand = |run: &MeasuredWorkload<'_>| -> Vec<Point> {
        let point = |point: CurvePoint| Point::new(over.place(run, point.step, point.training_seconds), point.loss);
        thin_curve(&run.workload.curve, MAX_POINTS).into_iter().map(point).collect()
    };
    let (x, y) = (over.quantity(groups), AxisQuantity::new("training loss", Extent::FromZero));
    let title = format!("Training loss over {}{part}", over.words());
    let note = format!("{workload}. Means between marks; a line for each seed.");
    course(title, note, Plot { x, y, series: series(groups, Look::Line, strand) })
}

fn accuracy(workload: &str, groups: &[NamedGroup<'_, '_>], over: CurveAxis, part: &str) -> Option<Figure> {
    let strand = |run: &MeasuredWorkload<'_>| -> Vec<Point> {
        let looks = run.workload.evaluations.iter();
        looks.map(|look| Point::new(over.place(run, look.step, look.training_seconds), look.accuracy)).collect()
    };
    let (x, y) = (over.quantity(groups), AxisQuantity::share("test accuracy", Extent::Errors));
    let title = format!("Test accuracy over {}{part}", over.words());
    let note = format!("{workload}. A mark for each evaluation of the whole test set; a line for each seed.");
    course(title, note, Plot { x, y, series: series(groups, Look::Marked, strand) })
}

/// Creates a figure; `None` if no strand has several points.
fn course(title: String, note: String, plot: Plot) -> Option<Figure> {
    let mut strands = plot.series.iter().flat_map(|series| &series.strands);
    if strands.any(|strand| strand.points.len() > 1) { Figure::of_plot(title, note, plot) } else { None }
}

fn series(
    groups: &[NamedGroup<'_, '_>],
    look: fn(usize) -> Look,
    strand: impl Fn(&MeasuredWorkload<'_>) -> Vec<Point>,
) -> Vec<Series> {
    let strand = |run: &MeasuredWorkload<'_>| Strand { name: format!("seed {}", run.seed()), points: strand(run) };
    let series = |named: &NamedGroup<'_, '_>| Series {
        name: named.label.clone(),
        look: look(named.number),
        strands: named.group.completed().map(strand).collect(),
    };
    groups.iter().map(series).collect()
}

/// Plots the seconds of training against the resulting accuracy.
pub(super) fn scatter(workload: &str, groups: &[&Group<'_>]) -> Vec<Figure> {
    let named = labels(groups).into_iter().zip(groups).enumerate();
    let own = named.filter(|(_, (_, group))| group.accuracy().is_some());
    let own: Vec<(&Group<'_>, Series)> =
        own.map(|(number, (label, &group))| (group, last_tests(number, label, group))).collect();
    let is_whole = |row: &&Published| row.training_seconds().is_some() && row.accuracy().is_some();
    let published = find_by_workload(workload).into_iter().filter(|row| row.is_of_one_device() && is_whole(row));
    let as_long: Vec<&Published> =
        published.filter(|row| own.iter().any(|(group, _)| row.trained_as_long_as(group))).collect();
    let beside = own.iter().filter(|(group, _)| as_long.iter().any(|row| row.trained_as_long_as(group)));
    let beside: Vec<Series> = beside.map(|of| of.1.clone()).chain(published_series(&as_long)).collect();
    let plot = |which: &str, note: &str, series: Vec<Series>| {
        let x = AxisQuantity::new("seconds of training", Extent::FittedDecades);
        let y = AxisQuantity::share("test accuracy", Extent::Errors);
        let note = format!("{workload}. One mark per run, at its last evaluation.{note}");
        Figure::of_plot(format!("Time against accuracy{which}"), note, Plot { x, y, series })
    };
    let note = " Hollow marks are published results from other hardware and years, after the same number of epochs \
                (within 5 %); their times may include tests.";
    let plots =
        [plot("", "", own.into_iter().map(|of| of.1).collect()), plot(", with published results", note, beside)];
    plots.into_iter().flatten().collect()
}

fn last_tests(number: usize, name: String, group: &Group<'_>) -> Series {
    let strand = |run: &MeasuredWorkload<'_>| {
        let last = run.workload.evaluations.last();
        let point = last.map(|look| Point::new(look.training_seconds, look.accuracy));
        Strand { name: format!("seed {}", run.seed()), points: point.into_iter().collect() }
    };
    Series { name, look: Look::Marks(number), strands: group.completed().map(strand).collect() }
}

fn published_series(rows: &[&Published]) -> Vec<Series> {
    let is_first = |(number, row): &(usize, &&Published)| !rows[..*number].iter().any(|other| row.repeats(other));
    let distinct = rows.iter().enumerate().filter(is_first);
    Series::published(distinct.filter_map(|(_, row)| {
        let points = vec![Point::new(row.training_seconds()?, row.accuracy()?)];
        let name = format!("published: {}, {}", row.framework, row.device());
        Some((name, Strand { name: row.citation.clone(), points }))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::plot::Drawing;
    use crate::report::testing::{MadeRun, with_groups};

    #[test]
    fn curves_have_a_strand_for_each_seed() {
        let made = |seed| MadeRun::new("caffe-mnist").seed(seed).steps(1200).accuracies(&[0.5, 0.9]);
        let drawn = with_groups([made(1), made(2)], |groups| figures("caffe-mnist", groups));
        let titles: Vec<&str> = drawn.iter().map(|figure| figure.title.as_str()).collect();
        let kinds = ["Training loss over seconds", "Test accuracy over seconds"];
        assert_eq!(titles, [kinds, ["Training loss over epochs", "Test accuracy over epochs"]].concat());
        let Drawing::Plot(plot) = &drawn[3].drawing else { panic!("curves are plots") };
        assert_eq!(plot.series[0].strands.len(), 2);
        assert_eq!(plot.series[0].strands[0].points[1].x, 2.0);
        let one_test = with_groups([MadeRun::new("caffe-mnist")], |groups| figures("caffe-mnist", groups));
        assert!(one_test.is_empty());
    }

    /// Returns the last plot of a run with this number of steps, in batches of 100.
    fn last_scatter(workload: &str, steps: u64) -> (String, Plot) {
        match with_groups([MadeRun::new(workload).steps(steps)], |groups| scatter(workload, groups)).pop() {
            Some(Figure { note, drawing: Drawing::Plot(plot), .. }) => (note, plot),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn published_results_of_the_same_length_have_separate_series() {
        let (_, plot) = last_scatter("caffe-mnist", 6402);
        let (own, published): (Vec<&Series>, Vec<&Series>) =
            plot.series.iter().partition(|series| matches!(series.look, Look::Marks(_)));
        assert_eq!(own.len(), 1);
        assert!(published.iter().all(|series| series.name.starts_with("published: Caffe, ")), "{published:?}");
        assert!(published.len() >= 3 && published[0].strands[0].name.starts_with("GTDLBench, Table "), "{published:?}");
        for (note, plot) in [last_scatter("caffe-mnist", 9), last_scatter("resnet20-cifar10", 600)] {
            assert!(plot.series.len() == 1 && !note.contains("published"), "{note} {plot:?}");
        }
    }
}
