//! Contents of charts, and their files.

use results::api::{Distribution, RateBin, RunRow};
use results::{CurvePoint, Evaluation, bits_per_character, csv};
use view::chart::{AxisQuantity, Extent, Guide, Look, Plot, Point, Series, Strand};

use crate::backend::title_of;
use crate::live::Beside;
use crate::side_by_side::{NamedCurve, curve};
use crate::words::{PlainText, messages};
use crate::{t, text};

pub struct ChartContent {
    pub plot: Plot,
    /// Title and description for screen readers.
    pub label: String,
    /// Formats a value in the table.
    value: fn(f64) -> String,
}

/// Returns an axis without a name, whose marks are in the page's language.
fn axis(extent: Extent) -> AxisQuantity {
    AxisQuantity { text: text::grouped, ..AxisQuantity::new("", extent) }
}

/// Creates a series from its name in files, its title on the page, its latest value, and its points.
fn series(name: &str, title: &str, latest: String, look: Look, points: &[(f64, f64)]) -> Series {
    let points = points.iter().map(|&(x, y)| Point::new(x, y)).collect();
    Series { latest, ..Series::new(title, look, vec![Strand::named(name, points)]) }
}

impl ChartContent {
    /// Creates a chart over seconds of training, with values from 0 to 100 % or from 0 to the highest one.
    fn over_seconds(title: PlainText, description: &str, series: Vec<Series>, is_share: bool) -> Self {
        let y = axis(if is_share { Extent::Whole } else { Extent::FromZero });
        let y = AxisQuantity { is_share, ..y };
        Self {
            plot: Plot { height: 220.0, ..Plot::new(axis(Extent::ToLargest), y, series) },
            label: format!("{}. {description}", title.text()),
            value: if is_share { text::percent } else { |value| text::number(value, 5) },
        }
    }

    pub fn loss(training: &[CurvePoint]) -> Self {
        let points = curve(training, |point| point.loss);
        let loss = |value: f64| text::number(value, 3);
        let description = match (points.first(), points.last()) {
            (Some(first), Some(last)) => {
                t!(chart_loss_described, first = loss(first.1), last = loss(last.1), seconds = text::number(last.0, 1))
            }
            _ => t!(chart_no_training).to_owned(),
        };
        let latest = points.last().map(|point| loss(point.1)).unwrap_or_default();
        let training = series("training", t!(chart_training), latest, Look::LineToDot(0), &points);
        Self::over_seconds(messages::chart_loss, &description, vec![training], false)
    }

    /// Accuracies in training and tests, with the target and a published curve or final accuracy.
    pub fn accuracy(
        training: &[CurvePoint],
        tests: &[Evaluation],
        target: Option<f64>,
        beside: Option<&Beside>,
    ) -> Self {
        let tested = tests.iter().map(|test| (test.training_seconds, test.accuracy)).collect();
        let curves = [curve(training, |point| point.accuracy), tested];
        let target = target.map(|value| (value, text::whole_percent(value)));
        let mut content = Self::learning(messages::chart_accuracy, curves, tenths, target, true);
        let title = t!(chart_published);
        let published = beside.map(|beside| &beside.curve).filter(|curve| !curve.is_empty());
        let published = published.map(|points| series("published", title, String::new(), Look::Ideal, points));
        content.plot.series.splice(0..0, published);
        let ends_at = beside.filter(|beside| beside.learning.curve.is_none());
        if let Some(value) = ends_at.and_then(|beside| beside.learning.accuracy) {
            let label = format!("{title} {}", text::whole_percent(value));
            content.plot.guides.push(Guide { class: "published", label, x: None, y: Some(value) });
        }
        content
    }

    /// Losses in training and tests, with the target. Of a text, they are bits per character.
    pub fn test_loss(training: &[CurvePoint], tests: &[Evaluation], target: f64, is_text: bool) -> Self {
        let shown = |loss: f64| if is_text { bits_per_character(loss) } else { loss };
        let tested = tests.iter().map(|test| (test.training_seconds, shown(test.loss))).collect();
        let curves = [curve(training, |point| shown(point.loss)), tested];
        let loss = |value: f64| text::number(value, 3);
        let target = Some((shown(target), loss(shown(target))));
        Self::learning(Self::title_of_losses(is_text), curves, loss, target, false)
    }

    pub fn title_of_losses(is_text: bool) -> PlainText {
        if is_text { messages::chart_bits } else { messages::metric_test_loss }
    }

    /// Creates a chart of values in training and tests, with a target and its name. Shares reach it from below, and
    /// losses from above.
    fn learning(
        title: PlainText,
        [points, tested]: [Vec<(f64, f64)>; 2],
        value: fn(f64) -> String,
        target: Option<(f64, String)>,
        is_share: bool,
    ) -> Self {
        let latest = |points: &[(f64, f64)]| points.last().map(|last| value(last.1)).unwrap_or_default();
        let training = series("training", t!(chart_training), latest(&points), Look::LineToDot(0), &points);
        let test = series("test", t!(chart_test), latest(&tested), Look::Marked(1), &tested);
        let said = |of: &Series| (!of.latest.is_empty()).then(|| format!("{} {}", of.name, of.latest));
        let said: Vec<String> = [&training, &test].into_iter().filter_map(said).collect();
        let description = if points.is_empty() { t!(chart_no_training).to_owned() } else { said.join(", ") };
        let mut content = Self::over_seconds(title, &description, vec![training, test], is_share);
        let Some((goal, name)) = target else { return content };
        let label = t!(chart_target, value = name);
        content.plot.guides.push(Guide { class: "target", label, x: None, y: Some(goal) });
        let is_reached = |value: f64| if is_share { value >= goal } else { value <= goal };
        if let Some(&(x, y)) = tested.iter().find(|point| is_reached(point.1)) {
            let label = t!(chart_reached, target = name, seconds = text::seconds(x));
            content.plot.guides.push(Guide { class: "reached", label, x: Some(x), y: Some(y) });
        }
        content
    }

    /// Throughput of each window, which reveals throttling.
    pub fn rate(points: &[(f64, f64)]) -> Self {
        let latest = points.last().map(|point| text::rate(point.1));
        let description = latest.clone().unwrap_or_else(|| t!(chart_no_training).to_owned());
        let training = series("training", t!(chart_training), latest.unwrap_or_default(), Look::LineToDot(0), points);
        let content = Self::over_seconds(messages::common_rate, &description, vec![training], false);
        Self { value: |rate| text::number(rate, 3), ..content }
    }

    /// A curve for each backend: shares with a mark at every point, or other values.
    pub fn of_backends(title: PlainText, curves: &[NamedCurve], is_share: bool) -> Self {
        let value = if is_share { tenths } else { |value| text::number(value, 3) };
        let end = |(name, points): &NamedCurve| {
            points.last().map(|last| format!("{}: {} ({} s)", title_of(name), value(last.1), text::number(last.0, 1)))
        };
        let description = format!("{}.", curves.iter().filter_map(end).collect::<Vec<_>>().join("; "));
        let look = if is_share { Look::Marked } else { Look::LineToDot };
        let all = curves.iter().enumerate();
        let all =
            all.map(|(number, (name, points))| series(name, &title_of(name), String::new(), look(number), points));
        Self::over_seconds(title, &description, all.collect(), is_share)
    }

    /// Returns table rows: curve, seconds and value.
    pub fn rows(&self) -> Vec<Vec<String>> {
        let row = |name: &String, point: &Point| vec![name.clone(), text::number(point.x, 2), (self.value)(point.y)];
        let row = &row;
        self.plot.series.iter().flat_map(|of| of.points().map(move |point| row(&of.name, point))).collect()
    }

    /// Returns one CSV row per point: the curve's name, seconds of training, and the unrounded value.
    pub fn csv(&self, value: &str) -> String {
        let mut text = format!("curve,training_seconds,{}\n", csv::cell(&value.to_lowercase().replace(' ', "_")));
        for Strand { name, points, .. } in self.plot.series.iter().flat_map(|series| &series.strands) {
            for Point { x, y, .. } in points {
                text.push_str(&format!("{},{x},{y}\n", csv::cell(name)));
            }
        }
        text
    }
}

fn tenths(share: f64) -> String {
    text::number(share * 100.0, 1) + " %"
}

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
    let mut steps = (0..18).flat_map(|power| [1, 2, 5].map(|factor| factor * 10_u64.pow(power)));
    let step = steps.find(|step| 3 * step >= most).unwrap_or(most);
    let counts = axis(Extent::ToLargest).marked((0..=most / step).map(|number| (number * step) as f64).collect());
    let plot = Plot::new(axis(Extent::Ratios), counts, vec![series("others", others), series("own", own_bins)]);
    let guide = Guide { class: "own", label: t!(standing_this_run).to_owned(), x: Some(own), y: None };
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
    fn said(&self) -> String {
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

/// Scatter plot of time to target from left to right, and throughput upwards; `None` for too few points. The axes are
/// logarithmic, because a phone and a server differ by a factor of thousands.
pub fn scatter(points: &[ScatterPoint]) -> Option<ChartContent> {
    let mut backends: Vec<&str> = Vec::new();
    // A series for each point keeps the links in the order of the list. Only the first one of a backend has its name.
    let series = points.iter().map(|of| {
        let point = Point::new(of.seconds_to_target, of.samples_per_second);
        let link = Some(format!("/runs/{}", of.run_id));
        let strand = Strand { link, ..Strand::named(&of.said(), vec![point]) };
        let known = backends.iter().position(|name| *name == of.backend);
        let number = known.unwrap_or(backends.len());
        backends.extend(known.is_none().then_some(of.backend.as_str()));
        Series::new(if known.is_none() { &of.backend } else { "" }, Look::Marks(number), vec![strand])
    });
    let times = AxisQuantity { text: |text| text::grouped(text) + " s", ..axis(Extent::Ratios) };
    let plot = Plot { height: 300.0, ..Plot::new(times, axis(Extent::Ratios), series.collect()) };
    let label = format!("{}. {}", t!(scatter_title), describe_points(points));
    // A single point shows no more than the table.
    (points.len() > 1).then_some(ChartContent { plot, label, value: text::rate })
}

fn describe_points(points: &[ScatterPoint]) -> String {
    let fastest = points.iter().max_by(|a, b| a.samples_per_second.total_cmp(&b.samples_per_second));
    let soonest = points.iter().min_by(|a, b| a.seconds_to_target.total_cmp(&b.seconds_to_target));
    let (Some(fastest), Some(soonest)) = (fastest, soonest) else { return String::new() };
    t!(scatter_described, number = points.len() as u64, fastest = fastest.said(), soonest = soonest.said())
}

pub fn points_csv(points: &[ScatterPoint]) -> String {
    let mut text = "run_id,device,backend,seconds_to_target,samples_per_second\n".to_owned();
    for of in points {
        let [run_id, device, backend] = [&of.run_id, &of.device, &of.backend].map(|text| csv::cell(text));
        text += &format!("{run_id},{device},{backend},{},{}\n", of.seconds_to_target, of.samples_per_second);
    }
    text
}

/// Styles of an exported image, which lacks the page's style sheet: a light background, for printing.
const STYLE: &str = include_str!("picture.css");

/// Returns an SVG document as a file with styles.
pub fn picture(svg: &str) -> String {
    let (head, rest) = svg.split_once('>').unwrap_or((svg, ""));
    format!("{head}><style>{STYLE}</style>{rest}")
}

#[cfg(test)]
pub(crate) mod tests {
    use results::api::Tier;
    use results::{Adapter, ClientKind, DeviceKind, Precision, Suite, Summary};

    use super::*;

    #[test]
    fn accuracies_have_a_target_and_the_moment_of_reaching_it() {
        let training = [CurvePoint { step: 1, training_seconds: 0.5, loss: 2.3, accuracy: 0.5 }];
        let test =
            |training_seconds, accuracy| Evaluation { step: 1, training_seconds, seconds: 0.1, loss: 1.0, accuracy };
        let content = ChartContent::accuracy(&training, &[test(1.0, 0.9), test(2.0, 0.98)], Some(0.97), None);
        assert_eq!(content.label, "Accuracy. training 50.0 %, test 98.0 %");
        let guides: Vec<_> = content.plot.guides.iter().map(|guide| (guide.class, guide.label.as_str())).collect();
        assert_eq!(guides, [("target", "target 97 %"), ("reached", "97 % after 2.000 s")]);
        assert_eq!(content.rows()[2], ["test", "2.00", "98.00 %"]);
        assert_eq!(ChartContent::rate(&[(1.0, 45_213.527)]).rows(), [["training", "1.00", "45213.527"]]);
        assert!(ChartContent::loss(&[]).label.ends_with("No training yet."));
    }

    #[test]
    fn text_losses_are_bits_with_moment_of_reaching_target() {
        let training = [CurvePoint { step: 1, training_seconds: 0.5, loss: 4.0, accuracy: 0.1 }];
        let test = |training_seconds, loss| Evaluation { step: 1, training_seconds, seconds: 0.1, loss, accuracy: 0.3 };
        let tests = [test(1.0, 2.5), test(2.0, 1.5)];
        let content = ChartContent::test_loss(&training, &tests, 2.0, true);
        assert_eq!(content.label, "Bits per character. training 5.771, test 2.164");
        let guides: Vec<_> = content.plot.guides.iter().map(|guide| (guide.class, guide.label.as_str())).collect();
        assert_eq!(guides, [("target", "target 2.885"), ("reached", "2.885 after 2.000 s")]);
        let in_nats = ChartContent::test_loss(&training, &tests, 2.0, false);
        assert_eq!(in_nats.label, "Test loss. training 4.000, test 1.500");
    }

    #[test]
    fn csv_has_one_row_per_point() {
        let curves = [("wgsl".to_owned(), vec![(0.5, 2.3), (1.0, 1.25)]), ("a, b".to_owned(), vec![(0.5, 2.3)])];
        let table = ChartContent::of_backends(messages::chart_loss, &curves, false).csv("Training loss");
        let expected = "curve,training_seconds,training_loss\nwgsl,0.5,2.3\nwgsl,1,1.25\n\"a, b\",0.5,2.3\n";
        assert_eq!(table, expected);
    }

    #[test]
    fn exported_image_has_styles_and_namespace() {
        let picture = picture(&ChartContent::rate(&[(1.0, 5.0)]).plot.svg(480.0, "1 > 0"));
        assert!(picture.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"1 &gt; 0\""));
        assert!(picture.contains("\"><style>svg{") && picture.ends_with("</svg>"), "{picture}");
    }

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
        let own_column = "<g class=\"own\"><rect";
        assert_eq!((drawn.matches("<rect").count(), drawn.matches(own_column).count()), (3, 1), "{drawn}");
        let many = histogram(&of(&[RateBin { runs: 1204, ..BINS[0] }]), 5000.0).unwrap();
        assert_eq!(many.plot.y.marks, [0.0, 500.0, 1000.0]);
        let outside = many.plot.svg(400.0, "");
        let last = |start| outside.rsplit(start).next().unwrap().split('"').next().unwrap().parse::<f64>().unwrap();
        assert!(last("\"own\" x1=\"") > last("column\" x=\"") + last(" width=\""), "{outside}");
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
        let point = "<g class=\"c0\"><a class=\"point\" href=\"/runs/a\" aria-label=\"Example 1, wgsl: 900";
        assert!(drawn.contains(point), "{drawn}");
        assert!(scatter(&points[..1]).is_none(), "one point is no picture");
        let other = ScatterPoint { backend: "burn-wgpu".to_owned(), ..points[0].clone() };
        let plot = scatter(&[points[0].clone(), other, points[1].clone()]).unwrap().plot;
        let series: Vec<_> = plot.series.iter().map(|series| (series.name.as_str(), series.look)).collect();
        assert_eq!(series, [("wgsl", Look::Marks(0)), ("burn-wgpu", Look::Marks(1)), ("", Look::Marks(0))]);
    }
}
