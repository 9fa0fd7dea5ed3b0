//! Plots over each setting that was varied.

use results::statistics::mean;

use crate::chart::{AxisQuantity, Extent, Look, Plot, Point, Series, Strand, range_of};
use crate::report::group::{Group, SetupField, group_by_key, label, varying};
use crate::report::lines::{Same, Sweep, SweepAxis, lines};
use crate::report::plot::Figure;
use crate::report::published::{Published, find_by_workload};
use crate::text;

/// Largest number of published series in a plot.
const MAX_PUBLISHED: usize = 3;

/// Metric of groups to plot over the varied setting.
struct Drawn {
    title: &'static str,
    quantity: fn() -> AxisQuantity,
    /// Point of a group at this horizontal position.
    value: fn(f64, &Group<'_>) -> Option<Point>,
    /// Notes on ranges and unmeasured values; may be empty.
    ranges: &'static str,
    /// Published value.
    published: fn(&Published) -> Option<f64>,
    is_of_accuracy: bool,
}

const EPOCH: Drawn = Drawn {
    title: "Time per epoch",
    quantity: || AxisQuantity::new("seconds per epoch", Extent::Decades),
    value: |x, group| {
        let of_runs: Vec<f64> = group.completed().filter_map(|run| run.summary.seconds_per_epoch).collect();
        Some(Point { x, y: group.epoch()?.0, range: range_of_several(&of_runs) })
    },
    ranges: " Ranges are the minimum and maximum over the seeds. If no epoch was finished, it is extrapolated from \
             counted windows.",
    published: Published::epoch_seconds,
    is_of_accuracy: false,
};
const RATE: Drawn = Drawn {
    title: "Throughput",
    quantity: || AxisQuantity::new("samples per second", Extent::Decades),
    value: ranged_rate,
    ranges: " Ranges are the minimum and maximum over the seeds; for a single run, the 95 % interval of its windows. \
             If a run has no counted window, it is the throughput of all training.",
    published: |_| None,
    is_of_accuracy: false,
};
const ACCURACY: Drawn = Drawn {
    title: "Test accuracy",
    quantity: || AxisQuantity::share("test accuracy", Extent::Errors),
    value: |x, group| {
        let accuracies = group.accuracies();
        Some(Point { x, y: mean(&accuracies)?, range: range_of_several(&accuracies) })
    },
    ranges: " Ranges are the minimum and maximum over the seeds.",
    published: Published::accuracy,
    is_of_accuracy: true,
};
const TRAINING: Drawn = Drawn {
    title: "Training time",
    quantity: || AxisQuantity::new("seconds of training", Extent::Decades),
    value: |x, group| Some(Point::new(x, group.training_seconds()?)),
    ranges: "",
    published: Published::training_seconds,
    is_of_accuracy: true,
};
const COMMUNICATION: Drawn = Drawn {
    title: "Communication",
    quantity: || AxisQuantity::share("share of the timed seconds", Extent::FromZero),
    value: |x, group| Some(Point::new(x, group.communication()?)),
    ranges: "",
    published: |_| None,
    is_of_accuracy: false,
};

/// Draws the plots over each setting that was varied.
pub(super) fn figures(workload: &str, groups: &[&Group<'_>]) -> Vec<Figure> {
    SweepAxis::ALL.into_iter().flat_map(|axis| plot_axis(workload, groups, axis)).collect()
}

fn plot_axis(workload: &str, groups: &[&Group<'_>], axis: SweepAxis) -> Vec<Figure> {
    let lines = lines(groups, axis);
    if lines.is_empty() {
        return Vec::new();
    }
    let names = names(groups, axis, &lines);
    let drawn: &[&Drawn] = match axis {
        SweepAxis::BatchSize => &[&EPOCH, &RATE, &ACCURACY],
        SweepAxis::LearningRate => &[&ACCURACY, &RATE, &EPOCH],
        SweepAxis::Epochs => &[&ACCURACY, &TRAINING],
        SweepAxis::Threads => &[&RATE, &EPOCH, &ACCURACY],
        SweepAxis::Devices => &[&RATE, &COMMUNICATION, &EPOCH],
        SweepAxis::FedDevices => &[&RATE, &COMMUNICATION, &TRAINING, &ACCURACY],
    };
    let speeds_up = matches!(axis, SweepAxis::Threads | SweepAxis::Devices | SweepAxis::FedDevices);
    let speed_up = speeds_up.then(|| speed_up(workload, axis, &lines, &names));
    let plots = drawn.iter().map(|drawn| plot_quantity(workload, axis, drawn, &lines, &names));
    speed_up.into_iter().chain(plots).flatten().collect()
}

/// Returns a distinguishing name for each line.
fn names(groups: &[&Group<'_>], axis: SweepAxis, lines: &[Sweep<'_, '_>]) -> Vec<String> {
    let mut fields: Vec<SetupField> = varying(groups);
    fields.retain(|field| !axis.fields().contains(field));
    let name = |line: &Sweep<'_, '_>| {
        let own = line.points.first().map(|(_, group)| label(group, &fields)).unwrap_or_default();
        line.same.words().map_or(own.clone(), |same| format!("{own}, over {same}"))
    };
    lines.iter().map(name).collect()
}

fn plot_quantity(
    workload: &str,
    axis: SweepAxis,
    drawn: &Drawn,
    lines: &[Sweep<'_, '_>],
    names: &[String],
) -> Option<Figure> {
    // The speed of a step does not depend on the number of steps, so one line of each set is enough.
    let is_told = |line: &Sweep<'_, '_>| drawn.is_of_accuracy || !matches!(line.same, Same::Steps(_));
    let any = lines.iter().any(is_told);
    let own = lines.iter().zip(names).enumerate().filter(|(_, (line, _))| is_told(line) || !any);
    let of_line = |(number, (line, name)): (usize, (&Sweep<'_, '_>, &String))| {
        let points = line.points.iter().filter_map(|(x, group)| (drawn.value)(*x, group)).collect();
        Series::new(name, Look::Marked(number), vec![Strand::of(points)])
    };
    let mut series: Vec<Series> = own.map(of_line).collect();
    series.retain(|series| series.points().next().is_some());
    let groups: Vec<&Group<'_>> = lines.iter().flat_map(|line| &line.points).map(|point| point.1).collect();
    series.extend(published_series(workload, axis, drawn, &groups));
    let remark = if series.iter().any(|series| series.is_published()) { " Hollow marks are published." } else { "" };
    let title = format!("{} over {}", drawn.title, axis.title());
    let note = format!("{workload}.{}{remark}", drawn.ranges);
    Figure::of_plot(title, note, Plot::new(across(axis, &series), (drawn.quantity)(), series))
}

/// Returns the horizontal axis, with a mark at each value that was measured here.
fn across(axis: SweepAxis, series: &[Series]) -> AxisQuantity {
    let values = series.iter().filter(|series| !series.is_published()).flat_map(Series::points);
    let values = values.map(|point| point.x).collect();
    AxisQuantity::new(axis.title(), Extent::FittedDecades).marked(values)
}

fn range_of_several(values: &[f64]) -> Option<(f64, f64)> {
    range_of(values.iter().copied()).filter(|_| values.len() > 1)
}

fn ranged_rate(x: f64, group: &Group<'_>) -> Option<Point> {
    Some(Point { x, y: group.rate()?.0, range: group.rate_range() })
}

/// Draws the speed-up over the fewest threads or devices, with the ideal line.
fn speed_up(workload: &str, axis: SweepAxis, lines: &[Sweep<'_, '_>], names: &[String]) -> Option<Figure> {
    let of_line = |(number, (line, name)): (usize, (&Sweep<'_, '_>, &String))| {
        let timed: Vec<Point> = line.counted_points().iter().filter_map(|(x, group)| ranged_rate(*x, group)).collect();
        let base = timed.first()?.y;
        let range = |(low, high)| (low / base, high / base);
        let point = |rate: &Point| Point { x: rate.x, y: rate.y / base, range: rate.range.map(range) };
        let strands = vec![Strand::of(timed.iter().map(point).collect())];
        Some(Series::new(name, Look::Marked(number), strands))
    };
    let mut series: Vec<Series> = lines.iter().zip(names).enumerate().filter_map(of_line).collect();
    let counts = range_of(series.iter().flat_map(Series::points).map(|point| point.x));
    if let Some((fewest, most)) = counts.filter(|(fewest, most)| most > fewest) {
        let points = vec![Point::new(fewest, 1.0), Point::new(most, most / fewest)];
        series.push(Series::new("ideal", Look::Ideal, vec![Strand::of(points)]));
    }
    let note = format!(
        "{workload}. Throughput divided by the throughput with the fewest, if five windows count. Ranges are the \
         minimum and maximum over the seeds; for a single run, the 95 % interval of its windows."
    );
    let y = AxisQuantity::new("times as fast", Extent::FromZero);
    Figure::of_plot(format!("Speed-up over {}", axis.title()), note, Plot::new(across(axis, &series), y, series))
}

/// Returns the published rows of one device that differ in the varied setting, at least two each, as series. Accuracies
/// and total times are shown only if a group was trained for the same number of epochs.
fn published_series(workload: &str, axis: SweepAxis, drawn: &Drawn, groups: &[&Group<'_>]) -> Vec<Series> {
    let is_of_any_length = axis == SweepAxis::Epochs || drawn.title == EPOCH.title;
    let rows = find_by_workload(workload).into_iter().filter(|row| row.is_of_one_device());
    let comparable = rows.filter(|row| is_of_any_length || groups.iter().any(|group| row.trained_as_long_as(group)));
    let points = comparable.filter_map(|row| {
        let point = Point::new(swept_value(row, axis)?, (drawn.published)(row)?);
        Some((constant_settings(row, axis), (point, row)))
    });
    let series = group_by_key(points).into_iter().filter_map(|(key, rows)| {
        let name = rows.first()?.1.citation.clone();
        let mut points: Vec<Point> = rows.into_iter().map(|(point, _)| point).collect();
        points.sort_by(|one, other| one.x.total_cmp(&other.x));
        points.dedup_by(|later, first| later.x == first.x);
        (points.len() > 1).then(|| (format!("published: {}", key.join(", ")), Strand::named(&name, points)))
    });
    Series::published(series.take(MAX_PUBLISHED))
}

fn swept_value(row: &Published, axis: SweepAxis) -> Option<f64> {
    match axis {
        SweepAxis::BatchSize => row.batch_size.map(f64::from),
        SweepAxis::LearningRate => row.learning_rate,
        SweepAxis::Epochs => row.epochs,
        SweepAxis::Threads => row.threads.map(f64::from),
        // No source has published a fixed batch divided among devices, or the training time on several devices.
        SweepAxis::Devices | SweepAxis::FedDevices => None,
    }
}

/// Returns the framework, device and settings that the axis does not vary.
fn constant_settings(row: &Published, axis: SweepAxis) -> Vec<String> {
    let batch = row.batch_size.map(|size| format!("batch {size}"));
    let rate = row.learning_rate.map(|rate| format!("rate {}", text::plain(rate)));
    let epochs = row.epochs.map(|epochs| text::epochs(epochs.round().max(1.0)));
    let rest = match axis {
        SweepAxis::BatchSize => [rate, epochs, None],
        SweepAxis::LearningRate => [batch, epochs, None],
        SweepAxis::Epochs => [batch, rate, None],
        SweepAxis::Threads | SweepAxis::Devices | SweepAxis::FedDevices => [batch, rate, epochs],
    };
    let libraries = (axis == SweepAxis::Threads).then(|| row.backend.clone()).flatten();
    [Some(row.framework.clone()), Some(row.device().to_owned()), libraries].into_iter().chain(rest).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Chart;
    use crate::report::testing::{MadeRun, with_groups};

    fn made() -> MadeRun {
        MadeRun::new("resnet20-cifar10")
    }

    fn plots(runs: impl IntoIterator<Item = MadeRun>) -> Vec<(Figure, Plot)> {
        let plot = |figure: Figure| match figure.chart.clone() {
            Chart::Plot(plot) => (figure, plot),
            Chart::Bars(_) => panic!("sweeps are plots"),
        };
        with_groups(runs, |groups| figures("resnet20-cifar10", groups)).into_iter().map(plot).collect()
    }

    #[test]
    fn sweeps_have_plots_with_the_range_of_seeds() {
        let made = |batch: u32, seed, accuracy| {
            let made = made().batch_size(batch).steps(u64::from(60_000 / batch));
            made.seed(seed).accuracy(accuracy).trained_epochs(1)
        };
        let plots = plots([made(50, 1, 0.97), made(50, 2, 0.98), made(500, 1, 0.95)]);
        let titles: Vec<&str> = plots.iter().map(|(figure, _)| figure.title.as_str()).collect();
        let expected =
            ["Time per epoch", "Throughput", "Test accuracy"].map(|title| format!("{title} over batch size"));
        assert_eq!(titles, expected);
        let points = &plots[2].1.series[0].strands[0].points;
        assert_eq!((points[0].x, points[0].range, points[1].range), (50.0, Some((0.97, 0.98)), None));
        assert!((points[0].y - 0.975).abs() < 1e-12);
        assert_eq!(plots[0].1.x.marks, [50.0, 500.0]);
        let of_windows = plots.iter().map(|(figure, _)| figure.note.contains("of its windows"));
        assert_eq!(of_windows.collect::<Vec<_>>(), [false, true, false]);
        assert!(self::plots([self::made()]).is_empty(), "nothing varies");
    }

    #[test]
    fn threads_have_a_speed_up_and_the_ideal() {
        let plots = plots([(1, 1e4), (4, 3e4)].map(|(threads, rate)| made().threads(threads).rate(rate)));
        let (figure, plot) = &plots[0];
        let names: Vec<&str> = plot.series.iter().map(|series| series.name.as_str()).collect();
        assert_eq!((figure.title.as_str(), names), ("Speed-up over threads", vec!["burn-flex", "ideal"]));
        assert_eq!(plot.series[1].strands[0].points[1], Point::new(4.0, 4.0));
        assert!((plot.series[0].strands[0].points[1].y - 3.0).abs() < 0.05);
    }

    #[test]
    fn devices_have_a_speed_up_and_communication() {
        let made = |(devices, batch, rate)| made().devices(devices).batch_size(batch).rate(rate);
        let plots = plots([(1, 50, 1e4), (2, 50, 1.5e4), (2, 100, 1.9e4)].map(made));
        // A single device exchanges nothing, and two devices 1.5 s of ten windows of 1.5 s each.
        for (title, y, tolerance) in [
            ("Speed-up over devices that share the batch", 1.5, 0.05),
            ("Speed-up over devices with the same samples each", 1.9, 0.05),
            ("Communication over devices with the same samples each", 0.1, 0.01),
        ] {
            let (_, plot) = plots.iter().find(|(figure, _)| figure.title == title).expect(title);
            let points = &plot.series[0].strands[0].points;
            let last = points.last().unwrap();
            assert!(last.x == 2.0 && (last.y - y).abs() < tolerance, "{title}: {points:?}");
            assert!(points.len() == 1 || !title.starts_with("Communication"), "{points:?}");
        }
    }

    /// Returns the published series next to a group that trained for this number of epochs.
    fn series(workload: &str, axis: SweepAxis, drawn: &Drawn, epochs: u64) -> Vec<Series> {
        let made = MadeRun::new(workload).steps(600 * epochs);
        with_groups([made], |groups| published_series(workload, axis, drawn, groups))
    }

    #[test]
    fn published_batch_sizes_of_the_same_length_are_drawn() {
        let found = series("torch-mnist", SweepAxis::BatchSize, &ACCURACY, 12);
        let batches: Vec<f64> = found[0].strands[0].points.iter().map(|point| point.x).collect();
        assert_eq!(batches, [10.0, 100.0, 1000.0, 10_000.0], "{found:?}");
        assert!(found[0].name.contains("Intel Xeon E5-1620") && found.len() <= MAX_PUBLISHED, "{}", found[0].name);
        assert!(series("torch-mnist", SweepAxis::BatchSize, &ACCURACY, 1).is_empty());
        assert!(series("caffe-mnist", SweepAxis::FedDevices, &TRAINING, 1).is_empty());
        assert!(!series("torch-mnist", SweepAxis::BatchSize, &EPOCH, 1).is_empty());
    }

    #[test]
    fn published_threads_are_drawn_if_known() {
        let found = series("caffe-mnist", SweepAxis::Threads, &EPOCH, 1);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].strands[0].points[0], Point::new(4.0, 617.59 / 10.67));
        assert!(series("resnet20-cifar10", SweepAxis::Threads, &EPOCH, 1).is_empty());
        assert!(series("caffe-mnist", SweepAxis::Threads, &RATE, 1).is_empty());
    }
}
