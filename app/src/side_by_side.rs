//! Text and file formats of a comparison of backends: table cells, CSV, and JSON.

use results::api::SideVerdict;
pub use results::environment::distinct;
use results::estimate::{Estimate, Interval};
use results::summary::thin_curve;
use results::{CurvePoint, Refused, RunRecord, WorkloadRecord, csv};
use serde::Serialize;
use serde_json::{Value, json};
use view::comparison::{Comparison, Figures, Lead, Row, RowOutcome, Timing, lead};

use crate::backend::title;
use crate::words::{self, PlainText, messages};
use crate::{json, t, text};

/// Schema version of [`document`], the same as in `native-runner --backend all --json`.
const DOCUMENT_VERSION: u32 = 1;

type FormatCell = fn(&Figures) -> FigureCell;

pub type Column = (PlainText, FormatCell);

/// Titles and cells of the columns that follow the backend's name.
const COLUMNS: [Column; 7] = [
    (messages::common_rate, |of| {
        let cell = FigureCell::new(of.samples_per_second, text::rate, of.rate_to_fastest.map(rate_ratio));
        if cell.value.is_none() { FigureCell { figure: t!(common_too_short).to_owned(), ..cell } } else { cell }
    }),
    (messages::metric_seconds_per_epoch, |of| {
        let is_projected = of.epoch.is_some() && of.epoch_is_projected;
        FigureCell::time(of.epoch, is_projected.then(|| t!(compare_projected).to_owned()))
    }),
    (messages::common_training, |of| FigureCell::time(of.training, None)),
    (messages::metric_testing_seconds, |of| FigureCell::time(of.testing, None)),
    (messages::metric_accuracy, |of| {
        let deviation = of.accuracy_deviation.map(|of| format!("± {}", text::percent(of)));
        FigureCell::new(of.accuracy, text::percent, deviation)
    }),
    (messages::compare_column_memory, |of| {
        let bytes = of.device_memory_bytes;
        FigureCell::new(bytes.map(|bytes| bytes as f64), |_| bytes.map(text::megabytes).unwrap_or_default(), None)
    }),
    // Last, because it is paid once and not per epoch.
    (messages::compare_column_start, |of| FigureCell::time(of.cold_start, None)),
];

const TEST_LOSS: Column = (messages::metric_test_loss, |of| {
    let deviation = of.test_loss_deviation.map(|of| format!("± {}", text::number(of, 3)));
    FigureCell::new(of.test_loss, |loss| text::number(loss, 3), deviation)
});

/// Returns the columns of a network. One that aims at a loss has it instead of the accuracy.
pub fn columns(workload: &str) -> [Column; 7] {
    let aims_at_loss = text::aims_at_loss(workload);
    COLUMNS.map(|column| if aims_at_loss && column.0 == messages::metric_accuracy { TEST_LOSS } else { column })
}

#[derive(Clone, Debug, PartialEq)]
pub struct FigureCell {
    pub value: Option<f64>,
    /// Formatted value, or a dash.
    pub figure: String,
    pub remark: Option<String>,
}

impl FigureCell {
    fn new(value: Option<f64>, text: impl Fn(f64) -> String, remark: Option<String>) -> Self {
        Self { value, figure: value.map_or_else(|| "–".to_owned(), text), remark }
    }

    fn time(timing: Option<Timing>, remarks: Option<String>) -> Self {
        let ratio = timing.and_then(|timing| timing.to_fastest).map(text::ratio);
        let remark = ratio.into_iter().chain(remarks).reduce(|all, remark| format!("{all}, {remark}"));
        Self::new(timing.map(|timing| timing.seconds), text::seconds, remark)
    }
}

/// Names the fastest backend over all of these networks. `None` if fewer than two backends have results.
pub fn winner(comparisons: &[Comparison], records: &[RunRecord]) -> Option<String> {
    let has_results = |of: &Comparison| of.rows.iter().filter(|row| row.figures.is_some()).count() > 1;
    if !comparisons.iter().any(has_results) {
        return None;
    }
    Some(lead(comparisons, records).map_or_else(|| t!(compare_too_short).to_owned(), |lead| describe_lead(&lead)))
}

fn describe_lead(Lead { fastest, next, ratio }: &Lead) -> String {
    let (fastest, next) = (title(fastest), title(next));
    match ratio.interval.map(Interval::verdict) {
        Some(SideVerdict::Faster) => {
            // Near 1, one decimal is not enough: 1.04 would be shown as 1.0.
            let times = text::number(ratio.value, if ratio.value < 1.95 { 2 } else { 1 });
            t!(compare_faster, fastest, times, next)
        }
        Some(_) => t!(compare_equal, fastest, next),
        None => t!(compare_too_short).to_owned(),
    }
}

/// Bar for the throughput of a backend. Lengths are relative to the longest bar or interval.
#[derive(Clone, Debug, PartialEq)]
pub struct RateBar {
    pub title: String,
    pub rate: String,
    /// Formatted ratio to the fastest backend.
    pub ratio: Option<String>,
    pub length: f64,
    /// Ends of the 95 % interval of the ratio. The fastest backend has none.
    pub interval: Option<(f64, f64)>,
}

/// Returns the bars of all backends with results, in row order. Empty unless at least two rates can be compared.
pub fn bars(rows: &[Row]) -> Vec<RateBar> {
    let ratio = |figures: &Figures| figures.rate_to_fastest;
    let ratios: Vec<Estimate> = rows.iter().filter_map(|row| row.figures.as_ref().and_then(ratio)).collect();
    if ratios.len() < 2 {
        return Vec::new();
    }
    let longest = ratios.iter().map(|ratio| ratio.interval.map_or(ratio.value, |of| of.high)).fold(1.0, f64::max);
    let bar = |row: &Row| {
        let figures = row.figures.as_ref()?;
        let ratio = ratio(figures);
        Some(RateBar {
            title: title(&row.contender),
            rate: rate(figures),
            ratio: ratio.map(rate_ratio),
            length: ratio.map_or(0.0, |ratio| ratio.value / longest),
            interval: ratio.and_then(|ratio| ratio.interval).map(|of| (of.low / longest, of.high / longest)),
        })
    };
    rows.iter().filter_map(bar).collect()
}

fn rate(figures: &Figures) -> String {
    figures
        .samples_per_second
        .map_or_else(|| t!(common_too_short).to_owned(), |rate| text::rate(rate) + &text::rate_unit())
}

pub fn cells(columns: [Column; 7], figures: Option<&Figures>) -> [FigureCell; 7] {
    columns.map(|(_, cell)| figures.map_or_else(|| FigureCell::new(None, text::rate, None), cell))
}

fn rate_ratio(ratio: Estimate) -> String {
    let value = text::ratio(ratio.value);
    match ratio.interval {
        Some(interval) => {
            let verdict = match interval.verdict() {
                SideVerdict::Tied => format!(", {}", t!(beside_tied)),
                SideVerdict::Undecided => format!(", {}", t!(beside_undecided)),
                SideVerdict::Faster | SideVerdict::Slower => String::new(),
            };
            format!("{value} ({} – {}{verdict})", text::number(interval.low, 2), text::number(interval.high, 2))
        }
        None => value,
    }
}

pub fn remark(outcome: &RowOutcome) -> Option<String> {
    match outcome {
        RowOutcome::Completed => None,
        RowOutcome::Cancelled => Some(text::capitalised(t!(outcome_cancelled))),
        RowOutcome::Refused { reason } => Some(reason.clone()),
        RowOutcome::Diverged { step, .. } => Some(text::capitalised(&t!(outcome_diverged, step = text::count(*step)))),
        RowOutcome::Incorrect { disagreement, .. } => {
            let outcome = text::capitalised(t!(outcome_incorrect));
            Some(disagreement.as_ref().map_or_else(|| outcome.clone(), |found| format!("{outcome} ({found})")))
        }
    }
}

/// Curve over training seconds, with its name.
pub type NamedCurve = (String, Vec<(f64, f64)>);

/// Returns the points of a training curve: training seconds and value.
pub fn curve(points: &[CurvePoint], value: impl Fn(&CurvePoint) -> f64) -> Vec<(f64, f64)> {
    thin_curve(points, usize::MAX).iter().map(|point| (point.training_seconds, value(point))).collect()
}

/// Returns a curve per backend, from its first seed.
pub fn curves(
    workload: &str,
    records: &[RunRecord],
    points: fn(&WorkloadRecord) -> Vec<(f64, f64)>,
) -> Vec<NamedCurve> {
    let mut found: Vec<NamedCurve> = Vec::new();
    for record in records {
        let name = &record.device.backend;
        let of = record.workloads.iter().find(|of| of.workload == workload);
        let is_new = found.iter().all(|(known, _)| known != name);
        if let Some(points) = of.map(points).filter(|points| is_new && !points.is_empty()) {
            found.push((name.clone(), points));
        }
    }
    found
}

type FigureValue = fn(&Figures) -> Option<f64>;

/// Metrics in files: unrounded, in seconds, samples and bytes.
const METRICS: [(&str, FigureValue); 17] = [
    ("samples_per_second", |of| of.samples_per_second),
    ("rate_to_fastest", |of| Some(of.rate_to_fastest?.value)),
    ("rate_to_fastest_low", |of| Some(of.rate_to_fastest?.interval?.low)),
    ("rate_to_fastest_high", |of| Some(of.rate_to_fastest?.interval?.high)),
    ("seconds_per_epoch", |of| Some(of.epoch?.seconds)),
    ("epoch_to_fastest", |of| of.epoch?.to_fastest),
    ("training_seconds", |of| Some(of.training?.seconds)),
    ("training_to_fastest", |of| of.training?.to_fastest),
    ("testing_seconds", |of| Some(of.testing?.seconds)),
    ("testing_to_fastest", |of| of.testing?.to_fastest),
    ("accuracy", |of| of.accuracy),
    ("accuracy_deviation", |of| of.accuracy_deviation),
    ("test_loss", |of| of.test_loss),
    ("test_loss_deviation", |of| of.test_loss_deviation),
    ("cold_start_seconds", |of| Some(of.cold_start?.seconds)),
    ("cold_start_to_fastest", |of| of.cold_start?.to_fastest),
    ("device_memory_bytes", |of| Some(of.device_memory_bytes? as f64)),
];

/// Formats all metrics as CSV, with one row per backend and network.
pub fn table(comparisons: &[Comparison]) -> String {
    let names = ["workload", "backend", "precision", "seeds"].into_iter();
    let head = names.chain(METRICS.map(|(name, _)| name)).chain(["remark"]).collect::<Vec<_>>().join(",");
    let lines = comparisons.iter().flat_map(|of| of.rows.iter().map(|row| line(&of.workload, row)));
    std::iter::once(head).chain(lines).map(|line| line + "\n").collect()
}

fn line(workload: &str, row: &Row) -> String {
    let figures = row.figures.as_ref();
    let seeds = figures.map(|of| of.seeds.iter().map(u32::to_string).collect::<Vec<_>>().join(" "));
    let names = [workload.to_owned(), row.contender.backend.clone(), row.contender.precision.name().to_owned()];
    let metrics = METRICS.map(|(_, metric)| figures.and_then(metric).map(|value| value.to_string()));
    // The file is in English, for programs that read it.
    let remark = words::in_english(|| remark(&row.outcome));
    let others = std::iter::once(seeds).chain(metrics).chain([remark]).map(Option::unwrap_or_default);
    let cells = names.into_iter().chain(others).map(|cell| csv::cell(&cell).into_owned());
    cells.collect::<Vec<_>>().join(",")
}

/// Formats the comparisons, the records of all runs, and the reasons for missing ones as JSON.
pub fn document(comparisons: &[Comparison], records: &[RunRecord], refused: &[Refused]) -> String {
    #[derive(Serialize)]
    struct ComparisonFile<'a> {
        schema_version: u32,
        comparisons: &'a [Comparison],
        records: &'a [RunRecord],
        unavailable: Vec<Value>,
    }
    let unavailable =
        refused.iter().map(|of| json!({ "backend": of.contender.backend, "reason": of.reason })).collect();
    let document = ComparisonFile { schema_version: DOCUMENT_VERSION, comparisons, records, unavailable };
    json::pretty(&document)
}

#[cfg(test)]
mod tests {
    use results::estimate::Interval;
    use results::{Contender, Precision};
    use view::comparison::{Agreement, Obstacle};

    use super::*;

    fn figures() -> Figures {
        let figures = json!({
            "seeds": [1, 2], "steps": 20, "epoch": { "seconds": 6.0 }, "epoch_is_projected": true,
            "training": { "seconds": 12.0, "to_fastest": 3.0 }, "testing": { "seconds": 0.5, "to_fastest": 2.0 },
            "samples_per_second": 1000.0, "samples_per_second_of_all_training": 900.0,
            "rate_to_fastest": { "value": 0.5, "interval": { "low": 0.4, "high": 0.6 } }, "accuracy": 0.975,
            "accuracy_deviation": 0.001, "cold_start": { "seconds": 2.0, "to_fastest": 1.0 },
            "device_memory_bytes": 3_000_000, "test_loss": 1.8834,
        });
        serde_json::from_value(figures).unwrap()
    }

    fn contender(backend: &str) -> Contender {
        Contender { backend: backend.to_owned(), precision: Precision::F32 }
    }

    fn row(backend: &str, outcome: RowOutcome, figures: Option<Figures>) -> Row {
        Row { contender: contender(backend), adapter: None, settings: Vec::new(), outcome, figures }
    }

    #[test]
    fn only_comparable_metrics_have_ratios() {
        let cells = cells(COLUMNS, Some(&figures()));
        let remarks: Vec<_> = cells.iter().map(|cell| cell.remark.as_deref().unwrap_or_default()).collect();
        let expected = ["0.50 × (0.40 – 0.60)", "from its throughput", "3.00 ×", "2.00 ×", "± 0.10 %", "", "1.00 ×"];
        assert_eq!(remarks, expected);
        assert_eq!((cells[0].value, cells[5].figure.as_str()), (Some(1000.0), "3.0 MB"));
        let losses = super::cells(columns("gpt-nano"), Some(&figures()));
        assert_eq!((cells[4].value, losses[4].figure.as_str()), (Some(0.975), "1.883"));
        let tied = Estimate { value: 0.97, interval: Some(Interval { low: 0.9, high: 1.05 }) };
        assert_eq!(rate_ratio(tied), "0.97 × (0.90 – 1.05, tied)");
        let wide = Estimate { value: 0.6, interval: Some(Interval { low: 0.01, high: 2.5 }) };
        assert_eq!(rate_ratio(wide), "0.60 × (0.01 – 2.50, undecided)");
    }

    #[test]
    fn names_winner_unless_intervals_overlap() {
        let of = |value, interval: Option<[f64; 2]>| {
            let interval = interval.map(|[low, high]| Interval { low, high });
            let ratio = Estimate { value, interval };
            describe_lead(&Lead { fastest: contender("wgsl"), next: contender("jax-js-webgpu"), ratio })
        };
        assert_eq!(of(2.03, Some([1.9, 2.1])), "WGSL (Gradmark) is 2.0× as fast as jax-js on WebGPU here.");
        assert!(of(1.04, Some([1.01, 1.07])).contains("1.04×"));
        let equal = "No clear winner: the intervals of WGSL (Gradmark) and jax-js on WebGPU overlap.";
        assert_eq!([of(1.04, Some([0.99, 1.07])), of(1.5, Some([0.2, 9.0]))], [equal; 2]);
        assert_eq!(of(2.0, None), "Too short to measure a difference. Train for longer.");
        assert_eq!(winner(&[], &[]), None);
    }

    #[test]
    fn bars_scale_to_longest_interval() {
        let fastest = Figures { rate_to_fastest: Some(Estimate { value: 1.0, interval: None }), ..figures() };
        let wide = Estimate { value: 0.9, interval: Some(Interval { low: 0.8, high: 1.25 }) };
        let close = Figures { rate_to_fastest: Some(wide), ..figures() };
        let short = Figures { samples_per_second: None, rate_to_fastest: None, ..figures() };
        let completed = |name, figures| row(name, RowOutcome::Completed, Some(figures));
        let rows = [completed("wgsl", fastest), completed("burn-wgpu", close), completed("burn-flex", short.clone())];
        let drawn = bars(&rows);
        assert_eq!(drawn.iter().map(|bar| bar.length).collect::<Vec<_>>(), [0.8, 0.9 / 1.25, 0.0]);
        assert_eq!(drawn.iter().map(|bar| bar.interval).collect::<Vec<_>>(), [None, Some((0.8 / 1.25, 1.0)), None]);
        assert_eq!((drawn[0].rate.as_str(), drawn[2].rate.as_str()), ("1000 samples/s", "too short to measure"));
        assert_eq!(bars(&rows[..1]), [], "a single bar has no comparison");
        assert_eq!(cells(COLUMNS, Some(&short))[0].figure, "too short to measure");
        assert_eq!(cells(COLUMNS, None)[0].figure, "–");
    }

    #[test]
    fn csv_has_one_row_per_backend_with_remark() {
        let refused = RowOutcome::Refused { reason: "it needs f16, which is not there".to_owned() };
        let rows = vec![row("wgsl", RowOutcome::Completed, Some(figures())), row("burn-flex", refused, None)];
        let agreement = Agreement::NotCompared { obstacle: Obstacle::TooFewBackEnds };
        let table = table(&[Comparison { workload: "caffe-mnist".to_owned(), rows, agreement }]);
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(lines.len(), 3, "{table}");
        let columns = lines[0].split(',').count();
        assert_eq!(lines[1].split(',').count(), columns);
        assert!(lines[1].starts_with("caffe-mnist,wgsl,f32,1 2,1000,0.5,0.4,0.6,6,,12,3,0.5,2,0.975,"), "{}", lines[1]);
        assert!(lines[2].ends_with(",\"it needs f16, which is not there\""), "{}", lines[2]);
    }
}
