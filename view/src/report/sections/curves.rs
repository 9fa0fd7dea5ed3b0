//! Curves of loss and accuracy, and time against the result on the test set.

use results::summary::{MeasuredWorkload, thin_curve};

use crate::chart::{AxisQuantity, Extent, Look, Plot, Point, Series, Strand, range_of};
use crate::report::group::{Group, labels};
use crate::report::plot::Figure;
use crate::report::published::{Published, find_by_workload};

/// Largest number of curves in a drawing.
const MAX_CURVES: usize = 8;
/// Largest number of points in a curve. Longer curves are averaged over neighbors.
const MAX_POINTS: usize = 200;
/// Smallest ratio of curve lengths that is drawn in decades of time.
const MIN_DECADES_RATIO: f64 = 6.0;

/// Metric that is drawn over the training.
struct DrawnCurve {
    title: &'static str,
    note: &'static str,
    quantity: fn() -> AxisQuantity,
    look: fn(usize) -> Look,
    /// Returns step, seconds and value of each point.
    points: fn(&MeasuredWorkload<'_>) -> Vec<(u64, f64, f64)>,
}

const LOSS: DrawnCurve = DrawnCurve {
    title: "Training loss",
    note: "Means between marks",
    quantity: || AxisQuantity::new("training loss", Extent::FromZero),
    look: Look::Line,
    points: |run| {
        let points = thin_curve(&run.workload.curve, MAX_POINTS).into_iter();
        points.map(|point| (point.step, point.training_seconds, point.loss)).collect()
    },
};
const ACCURACY: DrawnCurve = DrawnCurve {
    title: "Test accuracy",
    note: "A mark for each evaluation of the whole test set",
    quantity: || AxisQuantity::share("test accuracy", Extent::Errors),
    look: Look::Marked,
    points: |run| {
        let tests = run.workload.evaluations.iter();
        tests.map(|test| (test.step, test.training_seconds, test.accuracy)).collect()
    },
};

const TEST_LOSS: DrawnCurve = DrawnCurve {
    title: "Test loss",
    note: ACCURACY.note,
    quantity: || AxisQuantity::new("test loss", Extent::FittedDecades),
    look: Look::Marked,
    points: |run| {
        let tests = run.workload.evaluations.iter();
        tests.map(|test| (test.step, test.training_seconds, test.loss)).collect()
    },
};

/// Returns the result on the test set that is drawn: for a text, its loss.
fn result(groups: &[&Group<'_>]) -> DrawnCurve {
    if groups.iter().any(|group| group.reads_text()) { TEST_LOSS } else { ACCURACY }
}

/// Group with its number and label.
type NamedGroup<'g, 'a> = (usize, String, &'g Group<'a>);

fn named<'g, 'a>(groups: &[&'g Group<'a>], is_shown: fn(&Group<'_>) -> bool) -> Vec<NamedGroup<'g, 'a>> {
    let named = labels(groups).into_iter().zip(groups).enumerate();
    named.map(|(number, (label, &group))| (number, label, group)).filter(|(.., group)| is_shown(group)).collect()
}

fn series(
    (number, name, group): &NamedGroup<'_, '_>,
    look: fn(usize) -> Look,
    points: impl Fn(&MeasuredWorkload<'_>) -> Vec<Point>,
) -> Series {
    let strand = |run: &MeasuredWorkload<'_>| Strand::named(&format!("seed {}", run.seed()), points(run));
    Series::new(name, look(*number), group.completed().map(strand).collect())
}

pub(super) fn figures(workload: &str, groups: &[&Group<'_>]) -> Vec<Figure> {
    let named = named(groups, |group| group.is_completed());
    // Each drawing has the same number of curves.
    let drawings = named.len().div_ceil(MAX_CURVES).max(1);
    let chunks: Vec<&[NamedGroup<'_, '_>]> = named.chunks(named.len().div_ceil(drawings).max(1)).collect();
    let mut figures = Vec::new();
    for (number, chunk) in chunks.iter().enumerate() {
        let part = if chunks.len() > 1 { format!(", {} of {}", number + 1, chunks.len()) } else { String::new() };
        for is_over_epochs in [false, true] {
            let drawn = [LOSS, result(groups)].map(|curve| draw(workload, chunk, &curve, is_over_epochs, &part));
            figures.extend(drawn.into_iter().flatten());
        }
    }
    figures
}

/// Draws a metric over the training; `None` if no strand has several points.
fn draw(
    workload: &str,
    groups: &[NamedGroup<'_, '_>],
    curve: &DrawnCurve,
    is_over_epochs: bool,
    part: &str,
) -> Option<Figure> {
    let points = |run: &MeasuredWorkload<'_>| -> Vec<Point> {
        let x = |step, seconds| if is_over_epochs { run.epochs_of(step) } else { seconds };
        (curve.points)(run).into_iter().map(|(step, seconds, y)| Point::new(x(step, seconds), y)).collect()
    };
    let series: Vec<Series> = groups.iter().map(|named| series(named, curve.look, points)).collect();
    if series.iter().flat_map(|series| &series.strands).all(|strand| strand.points.len() < 2) {
        return None;
    }
    let (over, x) = if is_over_epochs { ("epochs", "epochs") } else { ("seconds", "seconds of training") };
    let ends = range_of(groups.iter().filter_map(|(.., group)| group.training_seconds()));
    // A fast curve next to a slow one would look like a vertical line.
    let in_decades = !is_over_epochs && ends.is_some_and(|(least, most)| most > MIN_DECADES_RATIO * least);
    let x = AxisQuantity::new(x, if in_decades { Extent::FittedDecades } else { Extent::FromZero });
    let title = format!("{} over {over}{part}", curve.title);
    let note = format!("{workload}. {}; a line for each seed.", curve.note);
    Figure::of_plot(title, note, Plot::new(x, (curve.quantity)(), series))
}

/// Plots the seconds of training against the result.
pub(super) fn scatter(workload: &str, groups: &[&Group<'_>]) -> Vec<Figure> {
    let result = result(groups);
    let last = |run: &MeasuredWorkload<'_>| -> Vec<Point> {
        let last = (result.points)(run).pop();
        last.map(|(_, seconds, value)| Point::new(seconds, value)).into_iter().collect()
    };
    let named = named(groups, |group| group.accuracy().is_some());
    let own: Vec<(&Group<'_>, Series)> =
        named.iter().map(|named| (named.2, series(named, Look::Marks, last))).collect();
    let is_whole = |row: &&Published| row.training_seconds().is_some() && row.accuracy().is_some();
    let published = find_by_workload(workload).into_iter().filter(|row| row.is_of_one_device() && is_whole(row));
    let as_long: Vec<&Published> =
        published.filter(|row| own.iter().any(|(group, _)| row.trained_as_long_as(group))).collect();
    let beside = own.iter().filter(|(group, _)| as_long.iter().any(|row| row.trained_as_long_as(group)));
    let beside: Vec<Series> = beside.map(|of| of.1.clone()).chain(published_series(&as_long)).collect();
    let plot = |which: &str, note: &str, series: Vec<Series>| {
        let x = AxisQuantity::new("seconds of training", Extent::FittedDecades);
        let y = (result.quantity)();
        let title = format!("Time against {}{which}", result.title.to_lowercase());
        let note = format!("{workload}. One mark per run, at its last evaluation.{note}");
        Figure::of_plot(title, note, Plot::new(x, y, series))
    };
    let note = " Hollow marks are published results from other hardware and years, after the same number of epochs \
                (within 5 %); their times may include tests.";
    let plots =
        [plot("", "", own.into_iter().map(|of| of.1).collect()), plot(", with published results", note, beside)];
    plots.into_iter().flatten().collect()
}

fn published_series(rows: &[&Published]) -> Vec<Series> {
    let is_first = |(number, row): &(usize, &&Published)| !rows[..*number].iter().any(|other| row.repeats(other));
    let distinct = rows.iter().enumerate().filter(is_first);
    Series::published(distinct.filter_map(|(_, row)| {
        let points = vec![Point::new(row.training_seconds()?, row.accuracy()?)];
        let name = format!("published: {}, {}", row.framework, row.device());
        Some((name, Strand::named(&row.citation, points)))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Chart;
    use crate::report::testing::{MadeRun, with_groups};

    #[test]
    fn curves_have_a_strand_for_each_seed() {
        let made = |seed| MadeRun::new("caffe-mnist").seed(seed).steps(1200).accuracies(&[0.5, 0.9]);
        let drawn = with_groups([made(1), made(2)], |groups| figures("caffe-mnist", groups));
        let titles: Vec<&str> = drawn.iter().map(|figure| figure.title.as_str()).collect();
        let kinds = ["Training loss over seconds", "Test accuracy over seconds"];
        assert_eq!(titles, [kinds, ["Training loss over epochs", "Test accuracy over epochs"]].concat());
        let Chart::Plot(plot) = &drawn[3].chart else { panic!("curves are plots") };
        assert_eq!(plot.series[0].strands.len(), 2);
        assert_eq!(plot.series[0].strands[0].points[1].x, 2.0);
        let one_test = with_groups([MadeRun::new("caffe-mnist")], |groups| figures("caffe-mnist", groups));
        assert!(one_test.is_empty());
    }

    #[test]
    fn text_is_drawn_with_its_test_loss() {
        let made = || MadeRun::new("gpt-nano").steps(1200).accuracies(&[0.3, 0.4]);
        let titles = |draw: fn(&str, &[&Group<'_>]) -> Vec<Figure>| {
            let drawn = with_groups([made()], |groups| draw("gpt-nano", groups));
            drawn.into_iter().map(|figure| figure.title).collect::<Vec<_>>()
        };
        assert_eq!(titles(figures)[..2], ["Training loss over seconds", "Test loss over seconds"]);
        assert_eq!(titles(scatter), ["Time against test loss"]);
    }

    /// Returns the last plot of a run with this number of steps, in batches of 100.
    fn last_scatter(workload: &str, steps: u64) -> (String, Plot) {
        match with_groups([MadeRun::new(workload).steps(steps)], |groups| scatter(workload, groups)).pop() {
            Some(Figure { note, chart: Chart::Plot(plot), .. }) => (note, plot),
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
