//! Contents of charts, and their files.

use results::summary::thin_curve;
use results::{CurvePoint, Evaluation, csv};
use view::chart::{AxisQuantity, Extent, Guide, GuidePlace, Look, Plot, Point, Series, Strand};

use crate::backend::title_of;
use crate::live::Beside;
use crate::words::{PlainText, language, messages};
use crate::{t, text};

pub struct ChartContent {
    pub plot: Plot,
    /// Title and description for screen readers.
    pub label: String,
    /// Formats a value in the table.
    pub value: fn(f64) -> String,
}

/// Curve over training seconds, with its name.
pub type NamedCurve = (String, Vec<(f64, f64)>);

/// Returns an axis without a name, whose marks are in the page's language.
pub fn axis(extent: Extent) -> AxisQuantity {
    AxisQuantity { text: |text| language().number(text), ..AxisQuantity::new("", extent) }
}

/// Returns the points of a training curve: training seconds and value.
pub fn curve(points: &[CurvePoint], value: impl Fn(&CurvePoint) -> f64) -> Vec<(f64, f64)> {
    thin_curve(points, usize::MAX).iter().map(|point| (point.training_seconds, value(point))).collect()
}

/// Creates a series from its name in files, its title on the page, its latest value, and its points.
fn series(name: &str, title: &str, latest: String, look: Look, points: &[(f64, f64)]) -> Series {
    let points = points.iter().copied().map(Point::from).collect();
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
            value: if is_share { text::percent } else { brief },
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
        let training = series("training", t!(chart_training), latest, Look::Line(0), &points);
        Self::over_seconds(messages::chart_loss, &description, vec![training], false)
    }

    /// Accuracies in training and tests, with the target and a published curve or final accuracy.
    pub fn accuracy(
        training: &[CurvePoint],
        tests: &[Evaluation],
        target: Option<f64>,
        beside: Option<&Beside>,
    ) -> Self {
        let points = curve(training, |point| point.accuracy);
        let tested: Vec<_> = tests.iter().map(|test| (test.training_seconds, test.accuracy)).collect();
        let latest = |points: &[(f64, f64)]| points.last().map(|last| tenths(last.1)).unwrap_or_default();
        let training = series("training", t!(chart_training), latest(&points), Look::Line(0), &points);
        let test = series("test", t!(chart_test), latest(&tested), Look::Marked(1), &tested);
        let said = |of: &Series| (!of.latest.is_empty()).then(|| format!("{} {}", of.name, of.latest));
        let said: Vec<String> = [&training, &test].into_iter().filter_map(said).collect();
        let description = if points.is_empty() { t!(chart_no_training).to_owned() } else { said.join(", ") };
        let title = t!(chart_published);
        let published = beside.map(|beside| &beside.curve).filter(|curve| !curve.is_empty());
        let published = published.map(|points| series("published", title, String::new(), Look::Ideal, points));
        let all = published.into_iter().chain([training, test]).collect();
        let mut content = Self::over_seconds(messages::chart_accuracy, &description, all, true);
        let ends_at = beside.filter(|beside| beside.learning.curve.is_none());
        let guides = &mut content.plot.guides;
        if let Some(value) = target {
            let label = t!(chart_target, value = text::whole_percent(value));
            guides.push(Guide { class: "target", label, place: GuidePlace::Y(value) });
        }
        if let Some(value) = ends_at.and_then(|beside| beside.learning.accuracy) {
            let label = format!("{title} {}", text::whole_percent(value));
            guides.push(Guide { class: "published", label, place: GuidePlace::Y(value) });
        }
        let reached = target.and_then(|target| Some((target, tested.iter().find(|point| point.1 >= target)?)));
        guides.extend(reached.map(|(target, &point)| {
            let (target, seconds) = (text::whole_percent(target), text::seconds(point.0));
            let label = t!(chart_reached, target, seconds);
            Guide { class: "reached", label, place: GuidePlace::Below(point.into()) }
        }));
        content
    }

    /// Throughput of each window, which reveals throttling.
    pub fn rate(points: &[(f64, f64)]) -> Self {
        let latest = points.last().map(|point| text::rate(point.1));
        let description = latest.clone().unwrap_or_else(|| t!(chart_no_training).to_owned());
        let training = series("training", t!(chart_training), latest.unwrap_or_default(), Look::Line(0), points);
        Self::over_seconds(messages::common_rate, &description, vec![training], false)
    }

    /// A curve for each backend: shares with a mark at every point, or other values.
    pub fn of_backends(title: PlainText, curves: &[NamedCurve], is_share: bool) -> Self {
        let value = if is_share { tenths } else { |value| text::number(value, 3) };
        let end = |(name, points): &NamedCurve| {
            points.last().map(|last| format!("{}: {} ({} s)", title_of(name), value(last.1), text::number(last.0, 1)))
        };
        let description = format!("{}.", curves.iter().filter_map(end).collect::<Vec<_>>().join("; "));
        let look = if is_share { Look::Marked } else { Look::Line };
        let all = curves
            .iter()
            .enumerate()
            .map(|(number, (name, points))| series(name, &title_of(name), String::new(), look(number), points));
        Self::over_seconds(title, &description, all.collect(), is_share)
    }

    /// Returns the strands, each with the title of its series.
    fn strands(&self) -> impl Iterator<Item = (&str, &Strand)> {
        let series = self.plot.series.iter();
        series.flat_map(|series| series.strands.iter().map(|strand| (series.name.as_str(), strand)))
    }

    /// Returns table rows: curve, seconds and value.
    pub fn rows(&self) -> Vec<Vec<String>> {
        let points = self.strands().flat_map(|(title, strand)| strand.points.iter().map(move |point| (title, point)));
        let row =
            |(title, point): (&str, &Point)| vec![title.to_owned(), text::number(point.x, 2), (self.value)(point.y)];
        points.map(row).collect()
    }

    /// Returns one CSV row per point: the curve's name, seconds of training, and the unrounded value.
    pub fn csv(&self, value: &str) -> String {
        let mut text = format!("curve,training_seconds,{}\n", csv::cell(&value.to_lowercase().replace(' ', "_")));
        for (_, Strand { name, points, .. }) in self.strands() {
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

fn brief(value: f64) -> String {
    language().number(&view::text::brief(value))
}

/// Styles of an exported image, which lacks the page's style sheet: a light background, for printing.
const STYLE: &str = "svg{background:#fff;color:#14171f;font:13px system-ui,sans-serif}\
    .line,.mark{stroke:currentcolor;fill:none}.line{stroke-width:2.5;stroke-linecap:round;stroke-linejoin:round}\
    .mark{fill:currentcolor;stroke:#fff}.reach{fill:none}.grid{stroke:#dcdad2}.axis,.target{stroke:#868b96}\
    .target{stroke-dasharray:2 5}line.published{stroke:#545b68;stroke-dasharray:6 4}\
    line.reached{stroke:#b84a00;stroke-dasharray:3 3}.tick{fill:#545b68;font-size:12px}\
    .label{fill:currentcolor;color:#545b68;font-weight:640}.ideal .line{stroke-width:1.25}\
    .c0{color:#0067b1}.c1{color:#b84a00}.c2{color:#0b7a4b}.c3{color:#7a3e9d}.c4{color:#2742d6}\
    .c5{color:#b3261e}.c6,.c7,.ideal{color:#545b68}";

/// Returns an SVG document as a file with styles.
pub fn picture(svg: &str) -> String {
    let (head, rest) = svg.split_once('>').unwrap_or((svg, ""));
    format!("{head}><style>{STYLE}</style>{rest}")
}

#[cfg(test)]
mod tests {
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
        assert!(ChartContent::loss(&[]).label.ends_with("No training yet."));
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
}
