//! Plots as SVG.

use maud::{Markup, html};

use super::legend::{self, Entry};
use super::scale::{Scale, Steps};
use super::style::{class, dashes, has_line, mark};
use super::{Look, Plot, Point, Series, WIDTH};

/// The part above the marks of the horizontal axis.
const HEIGHT: f64 = 230.0;
/// Above the axes, for the name of the vertical one.
const TOP: f64 = 26.0;
/// Below them, for marks and the name of the horizontal one.
const BELOW: f64 = 44.0;
/// Room for a letter of a mark.
const LETTER: f64 = 6.8;
const RIGHT: f64 = 12.0;
/// Between the marks of the horizontal axis.
const MARK_GAP: f64 = 8.0;
/// Half the width of the ends of a range.
const CAP: f64 = 3.5;

/// The area between the axes, and what is where in it.
struct Frame {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    x: Scale,
    y: Scale,
}

impl Frame {
    fn of(plot: &Plot) -> Self {
        let ranges = plot.points().flat_map(|point| point.range.map_or([point.y; 2], |(low, high)| [low, high]));
        let x = Scale::of(&plot.x, plot.points().map(|point| point.x), 5);
        let y = Scale::of(&plot.y, plot.points().map(|point| point.y).chain(ranges), 4);
        let longest = y.marks.iter().map(|mark| mark.text.chars().count()).max().unwrap_or(0);
        let left = longest as f64 * LETTER + 10.0;
        Self { left, right: WIDTH - RIGHT, top: TOP, bottom: HEIGHT - 2.0, x, y }
    }

    fn x(&self, value: f64) -> f64 {
        self.left + self.x.share(value) * (self.right - self.left)
    }

    fn y(&self, value: f64) -> f64 {
        self.bottom - self.y.share(value) * (self.bottom - self.top)
    }

    fn path(&self, points: &[Point]) -> String {
        let mut path = String::new();
        for (number, point) in points.iter().enumerate() {
            let command = if number == 0 { 'M' } else { 'L' };
            path.push_str(&format!("{command}{:.1} {:.1}", self.x(point.x), self.y(point.y)));
        }
        path
    }
}

/// The drawing; `id` is that of its figure.
pub(crate) fn draw(plot: &Plot, id: &str, description: &str) -> Markup {
    let frame = Frame::of(plot);
    let names: Vec<&str> = plot.series.iter().map(|series| series.name.as_str()).collect();
    let legend_top = HEIGHT + BELOW;
    let height = legend_top + legend::height(&names);
    let (title_id, description_id) = (format!("{id}-title"), format!("{id}-description"));
    html! {
        svg role="img" viewBox=(format!("0 0 {WIDTH} {height}")) aria-labelledby=(title_id) aria-describedby=(description_id) {
            title id=(title_id) { (plot.title) }
            desc id=(description_id) { (description) }
            (axes(plot, &frame))
            @for series in &plot.series { (series_of(series, &frame)) }
            (legend::rows(&entries(plot), legend_top))
        }
    }
}

fn axes(plot: &Plot, frame: &Frame) -> Markup {
    let name = |name: &str, scale: &Scale| match scale.steps {
        Steps::Sums => name.to_owned(),
        Steps::Decades => format!("{name} (logarithmic)"),
        Steps::Errors => format!("{name} (logarithmic in errors)"),
    };
    let middle = f64::midpoint(frame.left, frame.right);
    html! {
        @for mark in &frame.y.marks {
            @let y = frame.y(mark.value);
            line class="grid" x1=(n(frame.left)) x2=(n(frame.right)) y1=(n(y)) y2=(n(y)) {}
            text class="tick" x=(n(frame.left - 6.0)) y=(n(y + 4.0)) text-anchor="end" { (mark.text) }
        }
        @for (x, text) in marks_with_room(frame) {
            line class="axis" x1=(n(x)) x2=(n(x)) y1=(n(frame.bottom)) y2=(n(frame.bottom + 4.0)) {}
            text class="tick" x=(n(x)) y=(n(frame.bottom + 17.0)) text-anchor="middle" { (text) }
        }
        line class="axis" x1=(n(frame.left)) x2=(n(frame.right)) y1=(n(frame.bottom)) y2=(n(frame.bottom)) {}
        text class="quantity" x="2" y="13" { (name(&plot.y.name, &frame.y)) }
        text class="quantity" x=(n(middle)) y=(n(frame.bottom + 34.0)) text-anchor="middle" { (name(&plot.x.name, &frame.x)) }
    }
}

/// The marks of the horizontal axis whose texts do not run into the one before.
fn marks_with_room(frame: &Frame) -> Vec<(f64, &str)> {
    let mut end = f64::NEG_INFINITY;
    let mut shown = Vec::new();
    for mark in &frame.x.marks {
        let x = frame.x(mark.value);
        let half = mark.text.chars().count() as f64 * LETTER / 2.0;
        if x - half >= end {
            shown.push((x, mark.text.as_str()));
            end = x + half + MARK_GAP;
        }
    }
    shown
}

fn series_of(series: &Series, frame: &Frame) -> Markup {
    let look = series.look;
    html! {
        g class=(class(look)) {
            @for strand in &series.strands {
                @if has_line(look) && strand.points.len() > 1 {
                    path class="line" stroke-dasharray=(dashes(look)) d=(frame.path(&strand.points)) {}
                }
                @for point in &strand.points {
                    (range(point, frame))
                    @if let Some(mark) = mark(look, frame.x(point.x), frame.y(point.y)) { (mark) }
                }
                // A line of one point would not be seen.
                @if strand.points.len() == 1 && matches!(look, Look::Line(_)) {
                    @let point = strand.points[0];
                    circle class="mark" r="2.5" cx=(n(frame.x(point.x))) cy=(n(frame.y(point.y))) {}
                }
            }
        }
    }
}

fn range(point: &Point, frame: &Frame) -> Markup {
    let ends = point.range.filter(|(low, high)| high > low);
    html! {
        @if let Some((low, high)) = ends {
            @let (x, low, high) = (frame.x(point.x), frame.y(low), frame.y(high));
            path class="range" d=(format!(
                "M{:.1} {low:.1}H{:.1}M{x:.1} {low:.1}V{high:.1}M{:.1} {high:.1}H{:.1}",
                x - CAP, x + CAP, x - CAP, x + CAP
            )) {}
        }
    }
}

fn entries(plot: &Plot) -> Vec<Entry> {
    let entry = |series: &Series| {
        let look = series.look;
        let sample = html! {
            @if has_line(look) { path class="line" stroke-dasharray=(dashes(look)) d="M0 0H26" {} }
            @if let Some(mark) = mark(look, 13.0, 0.0) { (mark) }
        };
        Entry { name: series.name.clone(), class: class(look), sample }
    };
    plot.series.iter().map(entry).collect()
}

/// To a tenth of a unit.
fn n(value: f64) -> String {
    format!("{value:.1}")
}

#[cfg(test)]
mod tests {
    use super::super::{Extent, Quantity, Strand};
    use super::*;

    fn plot(points: &[(f64, f64)]) -> Plot {
        let points = points.iter().map(|&(x, y)| Point::new(x, y)).collect();
        Plot {
            title: "Loss <of> & more".to_owned(),
            note: String::new(),
            x: Quantity::new("seconds", Extent::FromZero),
            y: Quantity::new("loss", Extent::FromZero),
            series: vec![Series {
                name: "a<b".to_owned(),
                look: Look::Marked(0),
                strands: vec![Strand { name: String::new(), points }],
            }],
        }
    }

    #[test]
    fn a_line_runs_from_the_lower_left_to_the_upper_right() {
        let frame = Frame::of(&plot(&[(0.0, 0.0), (4.0, 2.0)]));
        let path = frame.path(&[Point::new(0.0, 0.0), Point::new(4.0, 2.0)]);
        assert_eq!(path, format!("M{:.1} {:.1}L{:.1} {:.1}", frame.left, frame.bottom, frame.right, frame.top));
    }

    #[test]
    fn every_name_is_escaped_and_every_element_is_closed() {
        let svg = draw(&plot(&[(0.0, 1.0), (1.0, 0.5)]), "f1", "words").into_string();
        assert!(svg.contains("Loss &lt;of&gt; &amp; more") && svg.contains("a&lt;b") && !svg.contains("a<b"), "{svg}");
        for element in ["line", "path", "g", "text", "svg", "title"] {
            let opened = svg.matches(&format!("<{element} ")).count() + svg.matches(&format!("<{element}>")).count();
            assert_eq!(opened, svg.matches(&format!("</{element}>")).count(), "{element}");
        }
    }

    #[test]
    fn marks_that_would_run_into_each_other_are_left_out() {
        let mut crowded = plot(&[(1.0, 1.0), (100.0, 2.0)]);
        crowded.x = crowded.x.marked((1..=100).map(f64::from).collect());
        let frame = Frame::of(&crowded);
        let shown = marks_with_room(&frame);
        assert!(shown.len() > 5 && shown.len() < 40, "{}", shown.len());
        assert!(shown.windows(2).all(|pair| pair[1].0 - pair[0].0 > MARK_GAP), "{shown:?}");
    }

    #[test]
    fn a_plot_of_nothing_is_drawn_all_the_same() {
        assert!(draw(&plot(&[]), "f", "").into_string().contains("</svg>"));
    }
}
