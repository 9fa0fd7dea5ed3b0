//! Contents of throughput plots on logarithmic axes: a histogram, and a scatter plot whose points link to results.

use results::api::{Distribution, RateBin, RunRow};
use results::csv;
use view::chart::{AxisQuantity, Extent, Guide, GuidePlace, Look, Plot, Point, Series, Strand};

use crate::charts::{ChartContent, axis};
use crate::side_by_side::distinct;
use crate::words::language;
use crate::{t, text};

/// Histogram of the throughput of proven runs, with a run's own marked; `None` without runs.
pub fn histogram(distribution: &Distribution, own: f64) -> Option<ChartContent> {
    let bins = &distribution.bins;
    bins.first().filter(|slowest| slowest.from > 0.0 && own > 0.0)?;
    let column = |bin: &RateBin| Point { x: bin.from, y: bin.runs as f64, range: Some((bin.from, bin.to)) };
    let (own_bins, others): (Vec<&RateBin>, Vec<&RateBin>) =
        bins.iter().partition(|bin| (bin.from..bin.to).contains(&own));
    let series = |class, bins: Vec<&RateBin>| {
        Series::new("", Look::Columns(class), vec![Strand::of(bins.into_iter().map(column).collect())])
    };
    // The highest column fills the plot. The vertical axis counts runs, so its marks are whole numbers.
    let most = bins.iter().map(|bin| bin.runs).max().unwrap_or(0);
    let counts = axis(Extent::ToLargest).marked([0, most / 2, most].map(|runs| runs as f64).to_vec());
    let plot = Plot::new(axis(Extent::Ratios), counts, vec![series("others", others), series("own", own_bins)]);
    let guide = Guide { class: "own", label: t!(standing_this_run).to_owned(), place: GuidePlace::X(own) };
    let plot = Plot { guides: vec![guide], height: 190.0, ..plot };
    Some(ChartContent { plot, label: describe_distribution(distribution, own), value: text::rate })
}

fn describe_distribution(distribution: &Distribution, own: f64) -> String {
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

/// Scatter plot of time to accuracy from left to right, and throughput upwards; `None` for too few points. The axes are
/// logarithmic, because a phone and a server differ by a factor of thousands.
pub fn scatter(points: &[ScatterPoint]) -> Option<ChartContent> {
    let strand = |of: &&ScatterPoint| Strand {
        link: Some(format!("/runs/{}", of.run_id)),
        ..Strand::named(&of.said(), vec![Point::new(of.seconds_to_target, of.samples_per_second)])
    };
    let series =
        distinct(points.iter().map(|point| &point.backend)).into_iter().enumerate().map(|(number, backend)| {
            let of_backend = points.iter().filter(|point| point.backend == *backend);
            Series::new(backend, Look::Marks(number), of_backend.map(|of| strand(&of)).collect())
        });
    let times = AxisQuantity { text: |text| language().number(text) + " s", ..axis(Extent::Ratios) };
    let plot = Plot { height: 300.0, ..Plot::new(times, axis(Extent::Ratios), series.collect()) };
    let label = format!("{}. {}", t!(scatter_title), describe_points(points));
    // A single point shows no more than the table.
    (points.len() > 1).then_some(ChartContent { plot, label, value: text::rate })
}

fn describe_points(points: &[ScatterPoint]) -> String {
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
        assert!(histogram(&of(&[]), 204.0).is_none());
        let drawn = histogram(&of(&BINS), 204.0).unwrap().plot.svg(400.0, "");
        assert_eq!(
            (drawn.matches("<rect").count(), drawn.matches("<g class=\"own\"><rect").count()),
            (3, 1),
            "{drawn}"
        );
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
        assert!(points[0].said().starts_with("Example 1, wgsl: 900"), "{}", points[0].said());
        let table = points_csv(&points);
        assert!(table.ends_with("a,Example 1,wgsl,30,900\nb,\"Example, 2\",wgsl,0.5,90000\n"), "{table}");
        assert!(describe_points(&points).contains("The soonest: Example, 2"), "{}", describe_points(&points));
        let drawn = scatter(&points).unwrap().plot.svg(400.0, "");
        assert!(
            drawn.contains("<g class=\"c0\"><a class=\"point\" href=\"/runs/a\" aria-label=\"Example 1, wgsl: 900")
        );
        assert!(scatter(&points[..1]).is_none(), "one point is no picture");
    }
}
