//! Loss and accuracy on the way.

use results::CurvePoint;

use crate::group::{Group, label, varying};
use crate::plot::{Extent, Figure, Look, Plot, Point, Quantity, Series, Strand};
use crate::run::Run;

/// More curves than this are divided among several drawings.
const MOST_CURVES: usize = 8;
/// More points than this are drawn as means of neighbours.
const MOST_POINTS: usize = 200;
/// Curves of which one takes so many times as long as another are drawn in decades of time.
const FAR_APART: f64 = 6.0;
/// A window that was cut short has a noisy mean: it is drawn together with the one before.
const SHORT: f64 = 0.4;

/// What a curve is drawn over.
#[derive(Clone, Copy)]
enum Over {
    Seconds,
    Epochs,
}

pub(super) fn figures(workload: &str, groups: &[&Group<'_>]) -> Vec<Figure> {
    let fields = varying(groups);
    let named: Vec<(usize, String, &Group<'_>)> = groups
        .iter()
        .enumerate()
        .filter(|(_, group)| group.is_completed())
        .map(|(number, group)| (number, label(group, &fields), *group))
        .collect();
    // As many in each drawing.
    let drawings = named.len().div_ceil(MOST_CURVES).max(1);
    let chunks: Vec<&[(usize, String, &Group<'_>)]> = named.chunks(named.len().div_ceil(drawings).max(1)).collect();
    let mut figures = Vec::new();
    for (number, chunk) in chunks.iter().enumerate() {
        let part = if chunks.len() > 1 { format!(", {} of {}", number + 1, chunks.len()) } else { String::new() };
        for over in [Over::Seconds, Over::Epochs] {
            figures.extend(loss(workload, chunk, over, &part));
            figures.extend(accuracy(workload, chunk, over, &part));
        }
    }
    figures
}

impl Over {
    fn quantity(self, groups: &[(usize, String, &Group<'_>)]) -> Quantity {
        let ends = groups.iter().filter_map(|(_, _, group)| group.training_seconds());
        let (least, most) = ends.fold((f64::INFINITY, 0.0_f64), |(least, most), end| (least.min(end), most.max(end)));
        match self {
            // A fast curve beside a slow one would be a line along the axis.
            Self::Seconds if most > FAR_APART * least => Quantity::new("seconds of training", Extent::FittedDecades),
            Self::Seconds => Quantity::new("seconds of training", Extent::FromZero),
            Self::Epochs => Quantity::new("epochs", Extent::FromZero),
        }
    }

    fn place(self, run: &Run<'_>, step: u64, seconds: f64) -> f64 {
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

fn loss(workload: &str, groups: &[(usize, String, &Group<'_>)], over: Over, part: &str) -> Option<Figure> {
    let strand = |run: &Run<'_>| -> Vec<Point> {
        let point = |point: CurvePoint| Point::new(over.place(run, point.step, point.training_seconds), point.loss);
        thinned(&run.workload.curve).into_iter().map(point).collect()
    };
    let plot = Plot {
        title: format!("Training loss over {}{part}", over.words()),
        note: format!("{workload}. Means between marks; a line for each seed."),
        x: over.quantity(groups),
        y: Quantity::new("training loss", Extent::FromZero),
        series: series(groups, Look::Line, strand),
    };
    // A single point of each run shows no course.
    has_courses(&plot).then_some(Figure::Plot(plot))
}

fn accuracy(workload: &str, groups: &[(usize, String, &Group<'_>)], over: Over, part: &str) -> Option<Figure> {
    let strand = |run: &Run<'_>| -> Vec<Point> {
        let looks = run.workload.evaluations.iter();
        looks.map(|look| Point::new(over.place(run, look.step, look.training_seconds), look.accuracy)).collect()
    };
    let plot = Plot {
        title: format!("Test accuracy over {}{part}", over.words()),
        note: format!("{workload}. A mark for each look at the whole test set; a line for each seed."),
        x: over.quantity(groups),
        y: Quantity::share("test accuracy", Extent::Errors),
        series: series(groups, Look::Marked, strand),
    };
    has_courses(&plot).then_some(Figure::Plot(plot))
}

fn has_courses(plot: &Plot) -> bool {
    plot.series.iter().flat_map(|series| &series.strands).any(|strand| strand.points.len() > 1)
}

fn series(
    groups: &[(usize, String, &Group<'_>)],
    look: fn(usize) -> Look,
    strand: impl Fn(&Run<'_>) -> Vec<Point>,
) -> Vec<Series> {
    let of = |(number, name, group): &(usize, String, &Group<'_>)| Series {
        name: name.clone(),
        look: look(*number),
        strands: group
            .completed()
            .map(|run| Strand { name: format!("seed {}", run.seed()), points: strand(run) })
            .collect(),
    };
    groups.iter().map(of).collect()
}

/// A curve with so few points that they can be seen, each the mean of what was trained since the one before.
fn thinned(points: &[CurvePoint]) -> Vec<CurvePoint> {
    let together = points.len().div_ceil(MOST_POINTS).max(1);
    let mut drawn: Vec<CurvePoint> = Vec::new();
    let (mut before, mut last_steps, mut in_last) = (0, 0.0, together);
    for point in points {
        let steps = point.step.saturating_sub(before) as f64;
        before = point.step;
        match drawn.last_mut() {
            Some(last) if in_last < together || steps < SHORT * last_steps / in_last as f64 => {
                last_steps += steps;
                let share = if last_steps > 0.0 { steps / last_steps } else { 1.0 };
                let mean = |old: f64, new: f64| old + (new - old) * share;
                *last = CurvePoint {
                    loss: mean(last.loss, point.loss),
                    accuracy: mean(last.accuracy, point.accuracy),
                    ..*point
                };
                in_last += 1;
            }
            _ => {
                (last_steps, in_last) = (steps, 1);
                drawn.push(*point);
            }
        }
    }
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Made, groups};

    fn point(step: u64, loss: f64) -> CurvePoint {
        CurvePoint { step, training_seconds: step as f64 / 10.0, loss, accuracy: 0.0 }
    }

    #[test]
    fn a_window_that_was_cut_short_is_drawn_with_the_one_before() {
        let drawn = thinned(&[point(1, 2.3), point(9, 2.0), point(19, 1.0), point(20, 2.1)]);
        assert_eq!(drawn.iter().map(|point| point.step).collect::<Vec<_>>(), [1, 9, 20]);
        assert!((drawn[2].loss - 1.1).abs() < 1e-12, "{drawn:?}");
    }

    #[test]
    fn many_points_become_few_and_remain_means() {
        let points: Vec<CurvePoint> =
            (1..=1000).map(|step| point(step, if step % 2 == 0 { 1.0 } else { 3.0 })).collect();
        let drawn = thinned(&points);
        assert!(drawn.len() <= MOST_POINTS, "{}", drawn.len());
        let last = drawn.last().unwrap();
        assert_eq!(last.step, 1000);
        assert!((last.loss - 2.0).abs() < 0.5, "{last:?}");
    }

    #[test]
    fn curves_are_drawn_over_seconds_and_epochs_with_a_strand_for_each_seed() {
        let made = |seed| Made::new("caffe-mnist").seed(seed).steps(1200).accuracies(&[0.5, 0.9]).record();
        let records = [made(1), made(2)];
        let groups = groups(&records);
        let figures = figures("caffe-mnist", &groups.iter().collect::<Vec<_>>());
        let titles: Vec<&str> = figures.iter().map(Figure::title).collect();
        let expected = [
            "Training loss over seconds",
            "Test accuracy over seconds",
            "Training loss over epochs",
            "Test accuracy over epochs",
        ];
        assert_eq!(titles, expected);
        let Figure::Plot(plot) = &figures[3] else { panic!("curves are plots") };
        assert_eq!(plot.series[0].strands.len(), 2);
        assert_eq!(plot.series[0].strands[0].points[1].x, 2.0);
    }

    #[test]
    fn one_look_is_no_curve() {
        let records = [Made::new("caffe-mnist").record()];
        let groups = groups(&records);
        assert!(figures("caffe-mnist", &groups.iter().collect::<Vec<_>>()).is_empty());
    }
}
