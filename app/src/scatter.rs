//! Results of one network as points: how fast each trains, and how soon it was accurate. As plain numbers and texts.

use results::api::RunRow;
use results::csv;

use crate::histogram::LogarithmicAxis;
use crate::{t, text};

/// Fewer points than this show nothing that the table does not.
const FEWEST: usize = 2;

/// A result that has both figures.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    pub run_id: String,
    pub device: String,
    pub backend: String,
    pub seconds_to_target: f64,
    pub samples_per_second: f64,
}

impl Point {
    /// Its name and its figures, for people who look at it or hear of it.
    pub fn said(&self) -> String {
        t!(
            scatter_point,
            device = self.device,
            backend = self.backend,
            rate = text::rate(self.samples_per_second),
            seconds = text::seconds(self.seconds_to_target)
        )
    }

    /// The cells of its line in a table.
    pub fn cells(&self) -> [String; 4] {
        [
            self.device.clone(),
            self.backend.clone(),
            text::seconds(self.seconds_to_target),
            text::rate(self.samples_per_second),
        ]
    }
}

/// The points of these results, and how many of them have none because they never were as accurate, or have no rate.
pub fn points(rows: &[RunRow]) -> (Vec<Point>, usize) {
    let point = |row: &RunRow| {
        let positive = |value: Option<f64>| value.filter(|value| *value > 0.0);
        Some(Point {
            run_id: row.run_id.clone(),
            device: text::device_name(&row.adapter, row.claimed_name.as_deref()),
            backend: row.backend.clone(),
            seconds_to_target: positive(row.summary.seconds_to_target)?,
            samples_per_second: positive(row.summary.samples_per_second)?,
        })
    };
    let points: Vec<Point> = rows.iter().filter_map(point).collect();
    let without = rows.len() - points.len();
    (points, without)
}

/// Both axes: time to accuracy from left to right, and rates upwards; nothing where there are too few points. A phone and a
/// server are a factor of thousands apart, so that equal factors are equally far apart.
pub fn axes(points: &[Point], narrow: bool) -> Option<(LogarithmicAxis, LogarithmicAxis)> {
    let axis = |value: fn(&Point) -> f64, most| {
        let values = points.iter().map(value);
        let (low, high) = (values.clone().fold(f64::INFINITY, f64::min), values.fold(0.0, f64::max));
        LogarithmicAxis::covering(low, high, most)
    };
    (points.len() >= FEWEST).then(|| {
        let times = axis(|point| point.seconds_to_target, if narrow { 4 } else { 8 });
        (times, axis(|point| point.samples_per_second, 5))
    })
}

/// The back ends of the points, each once, in the order in which they are met: colours go by it.
pub fn backends(points: &[Point]) -> Vec<&str> {
    let mut met: Vec<&str> = Vec::new();
    for point in points {
        if !met.contains(&point.backend.as_str()) {
            met.push(&point.backend);
        }
    }
    met
}

/// What the drawing shows, for people who cannot see it.
pub fn description(points: &[Point]) -> String {
    let fastest = points.iter().max_by(|a, b| a.samples_per_second.total_cmp(&b.samples_per_second));
    let soonest = points.iter().min_by(|a, b| a.seconds_to_target.total_cmp(&b.seconds_to_target));
    match (fastest, soonest) {
        (Some(fastest), Some(soonest)) => {
            t!(scatter_described, number = points.len() as u64, fastest = fastest.said(), soonest = soonest.said())
        }
        _ => t!(scatter_nothing).to_owned(),
    }
}

/// A line for each point, unrounded.
pub fn table(points: &[Point]) -> String {
    let mut text = "run_id,device,backend,seconds_to_target,samples_per_second\n".to_owned();
    for of in points {
        text.push_str(&format!(
            "{},{},{},{},{}\n",
            csv::cell(&of.run_id),
            csv::cell(&of.device),
            csv::cell(&of.backend),
            of.seconds_to_target,
            of.samples_per_second
        ));
    }
    text
}

#[cfg(test)]
pub(crate) mod tests {
    use results::api::Tier;
    use results::{Adapter, ClientKind, DeviceKind, Precision, Summary};

    use super::*;

    pub(crate) fn row(run_id: &str, device: &str, rate: Option<f64>, seconds: Option<f64>) -> RunRow {
        RunRow {
            run_id: run_id.to_owned(),
            workload: "caffe-mnist".to_owned(),
            backend: "wgsl".to_owned(),
            adapter: Adapter {
                name: device.to_owned(),
                vendor: String::new(),
                architecture: String::new(),
                kind: DeviceKind::Discrete,
                api: "Vulkan".to_owned(),
                driver: String::new(),
                software: false,
            },
            claimed_name: None,
            client_kind: ClientKind::Native,
            client: "native-runner 0.1.0".to_owned(),
            operating_system: "Linux".to_owned(),
            batch_size: 64,
            precision: Precision::F32,
            tier: Tier::Proven,
            standard: true,
            ranked: true,
            submitted_unix_seconds: 0.0,
            summary: Summary { samples_per_second: rate, seconds_to_target: seconds, ..Summary::default() },
        }
    }

    #[test]
    fn only_results_with_both_figures_are_points() {
        let rows = [
            row("a", "Example 1", Some(900.0), Some(30.0)),
            row("b", "Example, 2", Some(90_000.0), Some(0.5)),
            row("c", "Example 3", Some(5.0), None),
            row("d", "Example 4", None, Some(0.0)),
        ];
        let (points, without) = points(&rows);
        assert_eq!((points.len(), without), (2, 2));
        assert_eq!(backends(&points), ["wgsl"]);
        assert!(points[0].said().starts_with("Example 1, wgsl: 900"), "{}", points[0].said());
        let table = table(&points);
        assert!(table.ends_with("a,Example 1,wgsl,30,900\nb,\"Example, 2\",wgsl,0.5,90000\n"), "{table}");
        assert!(description(&points).contains("The soonest: Example, 2"), "{}", description(&points));
    }

    #[test]
    fn every_point_lies_between_the_ends_of_both_axes() {
        let rows = [row("a", "1", Some(900.0), Some(30.0)), row("b", "2", Some(90_000.0), Some(0.5))];
        let (all, _) = points(&rows);
        let (times, rates) = axes(&all, false).unwrap();
        for point in &all {
            assert!(times.low < point.seconds_to_target && point.seconds_to_target < times.high);
            assert!(rates.low < point.samples_per_second && point.samples_per_second < rates.high);
        }
        assert!(times.share(0.5) < times.share(30.0) && rates.share(900.0) < rates.share(90_000.0));
        assert_eq!(axes(&all[..1], true), None, "one point is no picture");
    }
}
