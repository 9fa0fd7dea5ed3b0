//! Contents of throughput plots on logarithmic axes: a histogram and a scatter plot.

use results::api::{Distribution, RateBin, RunRow};
use results::csv;

use crate::charts::ChartAxis;
use crate::side_by_side::distinct;
use crate::words::language;
use crate::{t, text};

/// Formats a tick label: `0.5`, `20`, `1,500`, `20 k`.
pub fn tick(rate: f64) -> String {
    let short = |value: f64| language().number(&format!("{}", (value * 1e6).round() / 1e6));
    match rate {
        _ if rate >= 1e6 => format!("{} M", short(rate / 1e6)),
        _ if rate >= 1e4 => format!("{} k", short(rate / 1e3)),
        _ if rate >= 1e3 => {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "four digits")]
            let whole = rate.round() as u64;
            text::count(whole)
        }
        _ => short(rate),
    }
}

/// Slowest and fastest rate of a plot; `None` without runs.
pub fn ends(bins: &[RateBin], own: f64) -> Option<(f64, f64)> {
    let (slowest, fastest) = (bins.first()?.from, bins.last()?.to);
    (slowest > 0.0 && own > 0.0).then(|| (slowest.min(own), fastest.max(own)))
}

pub fn describe_distribution(distribution: &Distribution, own: f64) -> String {
    let bins = &distribution.bins;
    let (Some(first), Some(last)) = (bins.first(), bins.last()) else { return String::new() };
    let fullest = bins.iter().rev().max_by_key(|bin| bin.runs).unwrap_or(first);
    let [low, high, from, to, own] = [first.from, last.to, fullest.from, fullest.to, own].map(text::rate);
    t!(standing_described, runs = of_devices(distribution), low, high, fullest = fullest.runs, from, to, own)
}

/// Formats the sample size, such as `1,204 proven runs on 40 devices`.
pub fn of_devices(distribution: &Distribution) -> String {
    let Distribution { runs, devices, .. } = distribution;
    format!("{} {}", t!(common_proven_runs, number = *runs), t!(common_on_devices, number = *devices))
}

#[derive(Clone, Debug, PartialEq)]
pub struct ScatterPoint {
    pub run_id: String,
    pub device: String,
    pub backend: String,
    pub seconds_to_target: f64,
    pub samples_per_second: f64,
}

impl ScatterPoint {
    pub fn said(&self) -> String {
        let (seconds, rate) = (text::seconds(self.seconds_to_target), text::rate(self.samples_per_second));
        t!(scatter_point, device = self.device, backend = self.backend, rate, seconds)
    }

    pub fn cells(&self) -> Vec<String> {
        let (seconds, rate) = (text::seconds(self.seconds_to_target), text::rate(self.samples_per_second));
        vec![self.device.clone(), self.backend.clone(), seconds, rate]
    }
}

/// Returns the points, and the number of results without one because a metric is missing.
pub fn points(rows: &[RunRow]) -> (Vec<ScatterPoint>, usize) {
    let point = |row: &RunRow| {
        let positive = |value: Option<f64>| value.filter(|value| *value > 0.0);
        Some(ScatterPoint {
            run_id: row.run_id.clone(),
            device: text::device_name(&row.adapter, row.claimed_name.as_deref()),
            backend: row.backend.clone(),
            seconds_to_target: positive(row.summary.seconds_to_target)?,
            samples_per_second: positive(row.summary.samples_per_second)?,
        })
    };
    let points: Vec<ScatterPoint> = rows.iter().filter_map(point).collect();
    let without = rows.len() - points.len();
    (points, without)
}

/// Returns the axes, or `None` for too few points: time to accuracy from left to right, and throughput upwards. They
/// are logarithmic, because a phone and a server differ by a factor of thousands.
pub fn axes(points: &[ScatterPoint], narrow: bool) -> Option<(ChartAxis, ChartAxis)> {
    let axis = |value: fn(&ScatterPoint) -> f64, most| {
        let values = points.iter().map(value);
        let (low, high) = (values.clone().fold(f64::INFINITY, f64::min), values.fold(0.0, f64::max));
        ChartAxis::logarithmic(low, high, most)
    };
    // A single point shows no more than the table.
    (points.len() > 1).then(|| {
        let times = axis(|point| point.seconds_to_target, if narrow { 4 } else { 8 });
        (times, axis(|point| point.samples_per_second, 5))
    })
}

/// Distinct backends of the points, in order of appearance, which determines their colors.
pub fn backends(points: &[ScatterPoint]) -> Vec<&str> {
    distinct(points.iter().map(|point| point.backend.as_str()))
}

pub fn describe_points(points: &[ScatterPoint]) -> String {
    let fastest = points.iter().max_by(|a, b| a.samples_per_second.total_cmp(&b.samples_per_second));
    let soonest = points.iter().min_by(|a, b| a.seconds_to_target.total_cmp(&b.seconds_to_target));
    match (fastest, soonest) {
        (Some(fastest), Some(soonest)) => {
            t!(scatter_described, number = points.len() as u64, fastest = fastest.said(), soonest = soonest.said())
        }
        _ => String::new(),
    }
}

pub fn points_csv(points: &[ScatterPoint]) -> String {
    let mut text = "run_id,device,backend,seconds_to_target,samples_per_second\n".to_owned();
    for of in points {
        let [run_id, device, backend] = [&of.run_id, &of.device, &of.backend].map(|text| csv::cell(text));
        text += &format!("{run_id},{device},{backend},{},{}\n", of.seconds_to_target, of.samples_per_second);
    }
    text
}

#[cfg(test)]
pub(crate) mod tests {
    use results::api::Tier;
    use results::{Adapter, ClientKind, DeviceKind, Precision, Suite, Summary};

    use super::*;

    const BINS: [RateBin; 3] = [
        RateBin { from: 100.0, to: 105.0, runs: 2 },
        RateBin { from: 200.0, to: 210.0, runs: 8 },
        RateBin { from: 1000.0, to: 1050.0, runs: 1 },
    ];

    #[test]
    fn tick_labels_are_short() {
        let texts = [0.5, 20.0, 1500.0, 20_000.0, 1_500_000.0, 1.2 * 10f64.powi(-1)].map(tick);
        assert_eq!(texts, ["0.5", "20", "1,500", "20 k", "1.5 M", "0.12"]);
    }

    #[test]
    fn axis_includes_all_bins_and_the_run() {
        assert_eq!(ends(&BINS, 204.0), Some((100.0, 1050.0)));
        assert_eq!(ends(&BINS, 5000.0), Some((100.0, 5000.0)));
        assert_eq!(ends(&BINS, 10.0), Some((10.0, 1050.0)));
        assert_eq!(ends(&[], 204.0), None);
    }

    #[test]
    fn describes_distribution_for_screen_readers() {
        let suite = Suite { name: "quick".to_owned(), version: 1 };
        let of = |bins: &[RateBin]| Distribution {
            suite: suite.clone(),
            workload: "caffe-mnist".to_owned(),
            runs: 11,
            devices: 1,
            bins: bins.to_vec(),
        };
        assert_eq!(
            describe_distribution(&of(&BINS), 204.0),
            "11 proven runs on 1 device between 100.0 and 1050 samples per second. The largest group (8) is between \
             200.0 and 210.0 samples per second. This run: 204.0."
        );
        assert_eq!(describe_distribution(&of(&[]), 204.0), "");
    }

    pub(crate) fn row(run_id: &str, device: &str, rate: Option<f64>, seconds: Option<f64>) -> RunRow {
        RunRow {
            run_id: run_id.to_owned(),
            workload: "caffe-mnist".to_owned(),
            backend: "wgsl".to_owned(),
            adapter: Adapter { name: device.to_owned(), kind: DeviceKind::Discrete, ..Adapter::default() },
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
    fn plots_only_results_with_both_metrics() {
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
        let table = points_csv(&points);
        assert!(table.ends_with("a,Example 1,wgsl,30,900\nb,\"Example, 2\",wgsl,0.5,90000\n"), "{table}");
        assert!(describe_points(&points).contains("The soonest: Example, 2"), "{}", describe_points(&points));
        let (times, rates) = axes(&points, false).unwrap();
        for point in &points {
            assert!(times.low < point.seconds_to_target && point.seconds_to_target < times.high);
            assert!(rates.low < point.samples_per_second && point.samples_per_second < rates.high);
        }
        assert_eq!(axes(&points[..1], true), None, "one point is no picture");
    }
}
