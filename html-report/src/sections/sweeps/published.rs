//! What was published of the same numbers, varied.

use crate::group::Group;
use crate::lines::Axis;
use crate::plot::{Look, Point, Series, Strand};
use crate::published::{Published, of_workload};
use crate::text;

/// More than these are too many beside our own.
const MOST_SERIES: usize = 3;

/// The rows of one device that differ in what the axis varies, at least two each, as series of their own. Accuracies and
/// whole times stand beside those of groups that were trained as long.
pub(super) fn series(workload: &str, axis: Axis, title: &str, groups: &[&Group<'_>]) -> Vec<Series> {
    let mut sets: Vec<(Vec<String>, Vec<&Published>)> = Vec::new();
    let is_of_any_length = axis == Axis::Epochs || title == "Time per epoch";
    for row in of_workload(workload).into_iter().filter(|row| row.is_of_one_device()) {
        let is_beside = is_of_any_length || groups.iter().any(|group| row.trained_as_long_as(group));
        if !is_beside || value(row, axis).is_none() || figure(row, title).is_none() {
            continue;
        }
        let key = held(row, axis);
        match sets.iter_mut().find(|(known, _)| *known == key) {
            Some((_, rows)) => rows.push(row),
            None => sets.push((key, vec![row])),
        }
    }
    let series = sets.iter().filter_map(|(key, rows)| of_set(key, rows, axis, title));
    let numbered = series.take(MOST_SERIES).enumerate();
    numbered.map(|(number, series)| Series { look: Look::Published(number), ..series }).collect()
}

fn of_set(key: &[String], rows: &[&Published], axis: Axis, title: &str) -> Option<Series> {
    let mut points: Vec<Point> =
        rows.iter().filter_map(|row| Some(Point::new(value(row, axis)?, figure(row, title)?))).collect();
    points.sort_by(|one, other| one.x.total_cmp(&other.x));
    points.dedup_by(|later, first| later.x == first.x);
    let citation = rows.first()?.citation();
    let name = format!("published: {}", key.join(", "));
    (points.len() > 1).then(|| Series {
        name,
        look: Look::Published(0),
        strands: vec![Strand { name: citation, points }],
    })
}

fn value(row: &Published, axis: Axis) -> Option<f64> {
    match axis {
        Axis::BatchSize => row.batch_size.map(f64::from),
        Axis::LearningRate => row.learning_rate,
        Axis::Epochs => row.epochs,
        Axis::Threads => row.threads.map(f64::from),
        // No source has published a fixed batch divided among devices, or the training time of several devices.
        Axis::Devices | Axis::FedDevices => None,
    }
}

fn figure(row: &Published, title: &str) -> Option<f64> {
    match title {
        "Time per epoch" => row.epoch_seconds(),
        "Training time" => row.training_seconds(),
        "Test accuracy" => row.accuracy(),
        _ => None,
    }
}

/// What rows of one line have in common, in words: that they are of one framework and device, and what the axis does not
/// vary.
fn held(row: &Published, axis: Axis) -> Vec<String> {
    let batch = row.batch_size.map(|size| format!("batch {size}"));
    let rate = row.learning_rate.map(|rate| format!("rate {}", text::plain(rate)));
    let epochs = row.epochs.map(|epochs| text::epochs(epochs.round().max(1.0)));
    let rest = match axis {
        Axis::BatchSize => [rate, epochs, None],
        Axis::LearningRate => [batch, epochs, None],
        Axis::Epochs => [batch, rate, None],
        Axis::Threads | Axis::Devices | Axis::FedDevices => [batch, rate, epochs],
    };
    let libraries = (axis == Axis::Threads).then(|| row.backend.clone()).flatten();
    [Some(row.framework.clone()), Some(row.device()), libraries].into_iter().chain(rest).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Made, groups};

    /// Beside a group that trained for as many epochs.
    fn series(workload: &str, axis: Axis, title: &str, epochs: u64) -> Vec<Series> {
        let records = [Made::new(workload).steps(600 * epochs).record()];
        let groups = groups(&records);
        super::series(workload, axis, title, &groups.iter().collect::<Vec<_>>())
    }

    #[test]
    fn the_papers_batch_sizes_stand_beside_ours() {
        let found = series("torch-mnist", Axis::BatchSize, "Test accuracy", 12);
        let batches: Vec<f64> = found[0].strands[0].points.iter().map(|point| point.x).collect();
        assert_eq!(batches, [10.0, 100.0, 1000.0, 10_000.0], "{found:?}");
        assert!(found[0].name.contains("Intel Xeon E5-1620") && found.len() <= MOST_SERIES, "{}", found[0].name);
    }

    #[test]
    fn nothing_of_another_or_an_unknown_length_stands_beside_ours() {
        assert!(series("torch-mnist", Axis::BatchSize, "Test accuracy", 1).is_empty());
        assert!(series("caffe-mnist", Axis::FedDevices, "Training time", 1).is_empty());
        assert!(!series("torch-mnist", Axis::BatchSize, "Time per epoch", 1).is_empty());
    }

    #[test]
    fn the_papers_threads_stand_beside_ours_where_it_has_the_figure() {
        let found = series("caffe-mnist", Axis::Threads, "Time per epoch", 1);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].strands[0].points[0], Point::new(4.0, 617.59 / 10.67));
        assert!(series("resnet20-cifar10", Axis::Threads, "Time per epoch", 1).is_empty());
        assert!(series("caffe-mnist", Axis::Threads, "Throughput", 1).is_empty());
    }
}
