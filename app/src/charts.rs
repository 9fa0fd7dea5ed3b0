//! Geometry of charts: scales, ticks and paths as plain numbers, and file export.

use std::fmt::Write;

use results::summary::thin_curve;
use results::{CurvePoint, csv};

/// Range of values with round ticks.
#[derive(Clone, Debug, PartialEq)]
pub struct ChartAxis {
    pub low: f64,
    pub high: f64,
    pub ticks: Vec<f64>,
    /// Number of decimals needed to distinguish the ticks of a linear axis.
    pub decimals: usize,
    is_logarithmic: bool,
}

/// Minimum ratio of the ends of a logarithmic axis, so that even a single bar is narrow and has ticks.
const MIN_RATIO: f64 = 4.0;

/// Margin of a logarithmic axis outside the outermost values, as a factor.
const MARGIN: f64 = 1.08;

impl ChartAxis {
    /// Creates an axis from `low` to the first round value at or above `high`, with about `count` ticks.
    ///
    /// Steps are 1, 2 or 5 times a power of ten: Heckbert, "Nice numbers for graph labels" (Graphics Gems, 1990).
    pub fn covering(low: f64, high: f64, count: u32) -> Self {
        let span = if high > low { high - low } else { 1.0 };
        let rough = span / f64::from(count.max(1));
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|f| f * power).into_iter().find(|step| *step >= rough * 0.999);
        let step = step.unwrap_or(10.0 * power);
        let high = low + (span / step - 1e-9).ceil() * step;
        let ticks = (0..=2 * count + 2).map(|i| low + f64::from(i) * step).take_while(|t| *t <= high + step * 0.01);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a handful of digits")]
        let decimals = (-step.log10().floor()).clamp(0.0, 6.0) as usize;
        Self { low, high, ticks: ticks.collect(), decimals, is_logarithmic: false }
    }

    /// Creates an axis from `low` to exactly `high`, with about `count` round ticks in between.
    pub fn spanning(low: f64, high: f64, count: u32) -> Self {
        let mut axis = Self::covering(low, high, count);
        if high > low {
            axis.high = high;
            axis.ticks.retain(|tick| *tick <= high);
        }
        axis
    }

    /// Creates a logarithmic axis around `low` and `high`, which are positive, with at most `most` round ticks if
    /// possible.
    pub fn logarithmic(low: f64, high: f64, most: usize) -> Self {
        let (low, high) = (low / MARGIN, high * MARGIN);
        let wider = (MIN_RATIO / (high / low)).max(1.0).sqrt();
        let (low, high) = (low / wider, high * wider);
        Self { low, high, ticks: logarithmic_ticks(low, high, most), decimals: 0, is_logarithmic: true }
    }

    /// Position of `value` between the ends, 0 to 1.
    fn share(&self, value: f64) -> f64 {
        let share = if self.is_logarithmic {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        share.clamp(0.0, 1.0)
    }
}

/// Returns the largest set of at most `most` round ticks: several per power of ten, or one for every few powers.
fn logarithmic_ticks(low: f64, high: f64, most: usize) -> Vec<f64> {
    const WITHIN: [&[f64]; 5] = [
        &[1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0],
        &[1.0, 1.5, 2.0, 3.0, 5.0, 7.0],
        &[1.0, 2.0, 5.0],
        &[1.0, 3.0],
        &[1.0],
    ];
    #[expect(clippy::cast_possible_truncation, reason = "a power of ten")]
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let marks = |factors: &[f64], every: usize| -> Vec<f64> {
        let powers = (first..=last).step_by(every).map(|power| 10f64.powi(power));
        let all = powers.flat_map(|power| factors.iter().map(move |factor| factor * power));
        all.filter(|mark| (low..=high).contains(mark)).collect()
    };
    let mut candidates = WITHIN.map(|factors| (factors, 1)).into_iter().chain((2..20).map(|every| (&[1.0][..], every)));
    candidates.find_map(|(of, every)| Some(marks(of, every)).filter(|marks| marks.len() <= most)).unwrap_or_default()
}

/// Area between the axes, in pixels from the top left corner of a drawing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChartFrame {
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
}

impl ChartFrame {
    pub fn x(&self, axis: &ChartAxis, value: f64) -> f64 {
        self.left + axis.share(value) * (self.right - self.left)
    }

    pub fn y(&self, axis: &ChartAxis, value: f64) -> f64 {
        self.bottom - axis.share(value) * (self.bottom - self.top)
    }

    /// Returns an SVG path through `points`, rounded to a tenth of a pixel.
    pub fn path(&self, points: &[(f64, f64)], x: &ChartAxis, y: &ChartAxis) -> String {
        let mut path = String::new();
        for (i, &(px, py)) in points.iter().enumerate() {
            let command = if i == 0 { 'M' } else { 'L' };
            // A text takes everything.
            let _ = write!(path, "{command}{:.1} {:.1}", self.x(x, px), self.y(y, py));
        }
        path
    }
}

/// Curve over training seconds, with its name.
pub type NamedCurve = (String, Vec<(f64, f64)>);

/// Returns the points of a training curve: training seconds and value.
pub fn curve(points: &[CurvePoint], value: impl Fn(&CurvePoint) -> f64) -> Vec<(f64, f64)> {
    thin_curve(points, usize::MAX).iter().map(|point| (point.training_seconds, value(point))).collect()
}

/// Moves label positions at least `gap` apart and keeps them within the ends.
pub fn spread(positions: &mut [f64], gap: f64, top: f64, bottom: f64) {
    let mut order: Vec<usize> = (0..positions.len()).collect();
    order.sort_by(|&a, &b| positions[a].total_cmp(&positions[b]));
    let mut least = top;
    for &i in &order {
        positions[i] = positions[i].max(least);
        least = positions[i] + gap;
    }
    let mut most = bottom;
    for &i in order.iter().rev() {
        positions[i] = positions[i].min(most);
        most = positions[i] - gap;
    }
}

/// Styles of an exported image, which lacks the page's style sheet: a light background, for printing.
const STYLE: &str = "svg{background:#fff;color:#14171f;font:13px system-ui,sans-serif}\
    path{fill:none;stroke:currentcolor;stroke-width:2.5;stroke-linecap:round;stroke-linejoin:round}\
    circle{fill:currentcolor;stroke:#fff;stroke-width:2}.reach{fill:none;stroke:none}.grid{stroke:#dcdad2}\
    .target{stroke:#868b96;stroke-dasharray:2 5}.published{stroke:#545b68;stroke-dasharray:6 4;color:#545b68}\
    .mark-text{fill:#545b68;font-size:12px}\
    .label{fill:currentcolor;font-weight:640}.goal{color:#545b68}\
    .training,.s0{color:#0067b1}.test,.s1{color:#b84a00}.s2{color:#0b7a4b}.s3{color:#7a3e9d}.s4{color:#2742d6}\
    .s5{color:#b3261e}.s6,.s7{color:#545b68}\
    g.published path{stroke-width:1.25;stroke-dasharray:6 4}g.test path{stroke-dasharray:1 6}g.s1 path{stroke-dasharray:7 5}g.s2 path{stroke-dasharray:2 5}\
    g.s3 path{stroke-dasharray:10 4 2 4}g.s4 path{stroke-dasharray:14 5}g.s5 path{stroke-dasharray:5 3 1 3}\
    g.s7 path{stroke-dasharray:1 8}";

/// Returns one CSV row per point: the curve's name, seconds of training, and the unrounded value.
pub fn curves_csv<'a>(value: &str, curves: impl IntoIterator<Item = (&'a str, &'a [(f64, f64)])>) -> String {
    let mut text = format!("curve,training_seconds,{}\n", csv::cell(&value.to_lowercase().replace(' ', "_")));
    for (name, points) in curves {
        for (seconds, value) in points {
            text.push_str(&format!("{},{seconds},{value}\n", csv::cell(name)));
        }
    }
    text
}

/// Returns the SVG in the page's HTML as a file, if any.
pub fn picture(shown: &str) -> Option<String> {
    let begin = shown.find("<svg")?;
    let end = shown.find("</svg>")? + "</svg>".len();
    let (head, rest) = shown.get(begin..end)?.split_once('>')?;
    let head = head.replacen("<svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"", 1);
    Some(format!("{head}><style>{STYLE}</style>{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_cover_largest_value() {
        let check = |high: f64, ticks: &[f64], decimals: usize| {
            let axis = ChartAxis::covering(0.0, high, 4);
            assert!(axis.ticks.iter().zip(ticks).all(|(a, b)| (a - b).abs() < 1e-9), "{high}: {:?}", axis.ticks);
            assert_eq!((axis.ticks.len(), axis.decimals), (ticks.len(), decimals), "{high}: {:?}", axis.ticks);
            assert!(axis.high >= high);
        };
        check(2.3, &[0.0, 1.0, 2.0, 3.0], 0);
        check(0.37, &[0.0, 0.1, 0.2, 0.3, 0.4], 1);
        check(100.0, &[0.0, 50.0, 100.0], 0);
        check(30.0, &[0.0, 10.0, 20.0, 30.0], 0);
        check(0.8, &[0.0, 0.2, 0.4, 0.6, 0.8], 1);
    }

    #[test]
    fn spanning_axis_ends_at_its_value() {
        let axis = ChartAxis::spanning(0.0, 25.2, 3);
        assert_eq!((axis.high, axis.ticks), (25.2, vec![0.0, 10.0, 20.0]));
        for empty in [ChartAxis::spanning(0.0, 0.0, 3), ChartAxis::covering(0.0, 0.0, 4)] {
            assert!(empty.high > empty.low && empty.ticks.len() >= 2);
        }
    }

    #[test]
    fn logarithmic_axis_has_equal_distances_for_equal_factors_and_few_ticks() {
        let axis = ChartAxis::logarithmic(100.0, 10_000.0, 6);
        let step = axis.share(1000.0) - axis.share(100.0);
        assert!((axis.share(10_000.0) - axis.share(1000.0) - step).abs() < 1e-12);
        assert!(axis.low < 100.0 && axis.high > 10_000.0);
        assert_eq!(axis.ticks, [100.0, 300.0, 1000.0, 3000.0, 10_000.0]);
        let narrow = ChartAxis::logarithmic(2000.0, 2010.0, 6);
        assert!((narrow.high / narrow.low - MIN_RATIO).abs() < 1e-9);
        assert_eq!(narrow.ticks, [1200.0, 1500.0, 2000.0, 2500.0, 3000.0, 4000.0]);
        for (low, high, most) in [(1e-3, 1e9, 4), (1.0, 50.0, 3), (90.0, 110.0, 4), (7.0, 7.0, 3)] {
            let ticks = ChartAxis::logarithmic(low, high, most).ticks;
            assert!((2..=most).contains(&ticks.len()), "{low} to {high}: {ticks:?}");
        }
    }

    #[test]
    fn a_path_runs_from_the_lower_left_to_the_upper_right() {
        let frame = ChartFrame { left: 10.0, right: 110.0, top: 0.0, bottom: 50.0 };
        let axis = ChartAxis::covering(0.0, 100.0, 2);
        let points = [(0.0, 0.0), (50.0, 25.0), (100.0, 100.0)];
        assert_eq!(frame.path(&points, &axis, &axis), "M10.0 50.0L60.0 37.5L110.0 0.0");
        assert_eq!(frame.path(&[], &axis, &axis), "");
    }

    #[test]
    fn separates_overlapping_labels_within_bounds() {
        let mut positions = [95.0, 96.0, 20.0];
        spread(&mut positions, 14.0, 8.0, 100.0);
        assert_eq!(positions, [86.0, 100.0, 20.0]);
    }

    #[test]
    fn csv_has_one_row_per_point() {
        let points = [(0.5, 2.3), (1.0, 1.25)];
        let table = curves_csv("Training loss", [("wgsl", &points[..]), ("a, b", &points[..1])]);
        let expected = "curve,training_seconds,training_loss\nwgsl,0.5,2.3\nwgsl,1,1.25\n\"a, b\",0.5,2.3\n";
        assert_eq!(table, expected);
    }

    #[test]
    fn exported_image_has_styles_and_namespace() {
        let shown = "<!----><svg role=\"img\" width=\"480\"><path d=\"M0 0\"></path></svg><!---->";
        let picture = picture(shown).unwrap();
        assert!(picture.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"480\"><style>"));
        assert!(picture.ends_with("</style><path d=\"M0 0\"></path></svg>"), "{picture}");
        assert_eq!(super::picture("<p>nothing</p>"), None);
    }
}
