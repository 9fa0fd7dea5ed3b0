//! SVG of charts.

use maud::{Markup, html};

use super::scale::{Scale, ScaleSteps};
use super::{Chart, Guide, Look, Plot, Point, Series, Strand, path};

/// Space to the right of the axes.
const RIGHT: f64 = 12.0;
/// Space above the axes, and with text there.
const TOP: f64 = 14.0;
const TOP_WITH_TEXT: f64 = 26.0;
/// Space below the axes for the marks of the horizontal axis, and for its name.
const BELOW: f64 = 34.0;
const BELOW_WITH_NAME: f64 = 46.0;
/// Width of a letter in a mark.
const MARK_LETTER: f64 = 6.8;
/// Space between the marks of the horizontal axis.
const MARK_GAP: f64 = 8.0;
/// Half-width of the ends of a range.
const CAP: f64 = 3.5;
/// Radius of the pointer target of a link.
const REACH: f64 = 12.0;

const LEGEND_ROW: f64 = 18.0;
/// Width of the line sample before a name.
const SAMPLE_WIDTH: f64 = 34.0;
/// Width of a legend letter; digits are wider than the average.
const LEGEND_LETTER: f64 = 6.6;
const LEGEND_GAP: f64 = 14.0;

impl Chart {
    /// Draws the chart with this width, and returns its height. The ids of its parts begin with `id`.
    pub fn draw(&self, width: f64, id: &str) -> (f64, Markup) {
        match self {
            Self::Plot(plot) => plot.draw(width),
            Self::Bars(bars) => bars.draw(width, id),
        }
    }
}

impl Plot {
    /// Returns the ARIA role of the drawing.
    pub fn role(&self) -> &'static str {
        let mut strands = self.series.iter().flat_map(|series| &series.strands);
        if strands.any(|strand| strand.link.is_some()) { "group" } else { "img" }
    }

    /// Returns an SVG document with this label for screen readers.
    pub fn svg(&self, width: f64, label: &str) -> String {
        let (height, content) = self.draw(width);
        let view_box = format!("0 0 {width} {height}");
        html! {
            svg xmlns="http://www.w3.org/2000/svg" role=(self.role()) aria-label=(label) width=(width) height=(height) viewBox=(view_box) {
                (content)
            }
        }
        .into_string()
    }

    /// Returns the height and the content of the drawing.
    pub fn draw(&self, width: f64) -> (f64, Markup) {
        let frame = Frame::of(self, width);
        let (height, legend) = legend(&self.entries(), width, self.height);
        let content = html! {
            (self.axes(&frame))
            @for (guide, value) in self.levels() {
                @let y = n(frame.y(value));
                line class=(guide.class) x1=(n(frame.left)) x2=(n(frame.right)) y1=(y) y2=(y) {}
            }
            @for series in &self.series { (series_of(series, &frame)) }
            @for guide in &self.guides { (vertical_guide(guide, &frame)) }
            (legend)
        };
        (height, content)
    }

    fn axes(&self, frame: &Frame) -> Markup {
        let name = |name: &str, scale: &Scale| match scale.steps {
            ScaleSteps::Sums => name.to_owned(),
            ScaleSteps::Decades => format!("{name} (logarithmic)"),
            ScaleSteps::Errors => format!("{name} (logarithmic in errors)"),
        };
        let Frame { left, right, top, bottom, x: across, y: up } = frame;
        html! {
            @for mark in &up.marks {
                @let y = frame.y(mark.value);
                line class="grid" x1=(n(*left)) x2=(n(*right)) y1=(n(y)) y2=(n(y)) {}
                text class="tick" x=(n(left - 6.0)) y=(n(y + 4.0)) text-anchor="end" { (mark.text) }
            }
            @for (x, text) in marks_with_room(frame) {
                @if across.steps == ScaleSteps::Decades {
                    line class="grid" x1=(n(x)) x2=(n(x)) y1=(n(*top)) y2=(n(*bottom)) {}
                }
                line class="axis" x1=(n(x)) x2=(n(x)) y1=(n(*bottom)) y2=(n(bottom + 4.0)) {}
                text class="tick" x=(n(x)) y=(n(bottom + 17.0)) text-anchor="middle" { (text) }
            }
            line class="axis" x1=(n(*left)) x2=(n(*right)) y1=(n(*bottom)) y2=(n(*bottom)) {}
            @if !self.y.name.is_empty() { text class="quantity" x="2" y="13" { (name(&self.y.name, up)) } }
            @if !self.x.name.is_empty() {
                text class="quantity" x=(n(f64::midpoint(*left, *right))) y=(n(bottom + 34.0)) text-anchor="middle" {
                    (name(&self.x.name, across))
                }
            }
        }
    }

    /// Returns the horizontal guides with their values.
    fn levels(&self) -> impl Iterator<Item = (&Guide, f64)> {
        self.guides.iter().filter(|guide| guide.x.is_none()).filter_map(|guide| Some((guide, guide.y?)))
    }

    fn entries(&self) -> Vec<LegendEntry> {
        let levels = self.levels().map(|(guide, _)| LegendEntry {
            name: guide.label.clone(),
            class: String::new(),
            sample: html! { line class=(guide.class) x2="26" {} },
        });
        let series = self.series.iter().filter_map(|series| {
            let name = format!("{} {}", series.name, series.latest).trim().to_owned();
            let sample = html! { (series.look.line("M0 0H26")) (series.look.mark(13.0, 0.0)) };
            (!name.is_empty()).then(|| LegendEntry { name, class: series.look.class(), sample })
        });
        levels.chain(series).collect()
    }
}

/// Area between the axes, with their scales.
struct Frame {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    x: Scale,
    y: Scale,
}

impl Frame {
    fn of(plot: &Plot, width: f64) -> Self {
        let (mut across, mut up) = (Vec::new(), Vec::new());
        for series in &plot.series {
            for point in series.points() {
                across.push(point.x);
                up.push(point.y);
                let along = if matches!(series.look, Look::Columns(_)) { &mut across } else { &mut up };
                along.extend(point.range.iter().flat_map(|(low, high)| [low, high]));
            }
        }
        for guide in &plot.guides {
            across.extend(guide.x);
            up.extend(guide.y);
        }
        let (x, y) = (Scale::of(&plot.x, across, 5), Scale::of(&plot.y, up, 4));
        let left = y.marks.iter().map(|mark| letters(&mark.text)).fold(0.0, f64::max) * MARK_LETTER + 10.0;
        let has_text = !plot.y.name.is_empty() || plot.guides.iter().any(|of| of.y.is_none());
        let below = if plot.x.name.is_empty() { BELOW } else { BELOW_WITH_NAME };
        Self {
            left,
            right: (width - RIGHT).max(left + 80.0),
            top: if has_text { TOP_WITH_TEXT } else { TOP },
            bottom: plot.height - below,
            x,
            y,
        }
    }

    fn x(&self, value: f64) -> f64 {
        self.left + self.x.share(value) * (self.right - self.left)
    }

    fn y(&self, value: f64) -> f64 {
        self.bottom - self.y.share(value) * (self.bottom - self.top)
    }

    fn path(&self, points: &[Point]) -> String {
        path(points.iter().map(|point| (self.x(point.x), self.y(point.y))))
    }
}

/// Returns the marks of the horizontal axis that do not overlap the previous one.
fn marks_with_room(frame: &Frame) -> Vec<(f64, &str)> {
    let mut end = f64::NEG_INFINITY;
    let mut shown = Vec::new();
    for mark in &frame.x.marks {
        let x = frame.x(mark.value);
        let half = letters(&mark.text) * MARK_LETTER / 2.0;
        if x - half >= end {
            shown.push((x, mark.text.as_str()));
            end = x + half + MARK_GAP;
        }
    }
    shown
}

fn series_of(series: &Series, frame: &Frame) -> Markup {
    html! {
        g class=(series.look.class()) {
            @for strand in &series.strands {
                @if let Look::Columns(_) = series.look {
                    @for point in &strand.points { (column(point, frame)) }
                } @else {
                    (strand_of(strand, series.look, frame))
                }
            }
        }
    }
}

fn strand_of(strand: &Strand, look: Look, frame: &Frame) -> Markup {
    let marks = html! {
        @for point in &strand.points {
            (range(point, frame))
            (look.mark(frame.x(point.x), frame.y(point.y)))
        }
    };
    let count = strand.points.len();
    let has_dot = matches!(look, Look::LineToDot(_)) || (matches!(look, Look::Line(_)) && count == 1);
    html! {
        @if count > 1 { (look.line(&frame.path(&strand.points))) }
        @if let (Some(address), Some(point)) = (&strand.link, strand.points.first()) {
            a class="point" href=(address) aria-label=(strand.name) {
                circle class="reach" r=(REACH) cx=(n(frame.x(point.x))) cy=(n(frame.y(point.y))) {}
                (marks)
            }
        } @else {
            (marks)
        }
        @if let (true, Some(point)) = (has_dot, strand.points.last()) {
            circle class="mark" r="3" cx=(n(frame.x(point.x))) cy=(n(frame.y(point.y))) {}
        }
    }
}

fn column(point: &Point, frame: &Frame) -> Markup {
    let (from, to) = point.range.unwrap_or((point.x, point.x));
    let (left, top) = (frame.x(from), frame.y(point.y));
    let width = (frame.x(to) - left - 1.0).max(2.0);
    html! { rect class="column" x=(n(left)) y=(n(top)) width=(n(width)) height=(n(frame.bottom - top)) rx="1.5" {} }
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

/// Draws a vertical guide, with its label on the side with more room.
fn vertical_guide(guide: &Guide, frame: &Frame) -> Markup {
    let Some(x) = guide.x.map(|x| frame.x(x)) else { return html! {} };
    let at_top = (frame.top - 6.0, frame.top - 12.0);
    let (top, label) = guide.y.map_or(at_top, |y| (frame.y(y), frame.bottom - 10.0));
    let is_right = x > f64::midpoint(frame.left, frame.right);
    let (anchor, place) = if is_right { ("end", x - 8.0) } else { ("start", x + 8.0) };
    html! {
        line class=(guide.class) x1=(n(x)) x2=(n(x)) y1=(n(top)) y2=(n(frame.bottom)) {}
        text class={ "label " (guide.class) } x=(n(place)) y=(n(label)) text-anchor=(anchor) { (guide.label) }
    }
}

/// Formats a coordinate with one decimal.
pub(super) fn n(value: f64) -> String {
    format!("{value:.1}")
}

fn letters(text: &str) -> f64 {
    text.chars().count() as f64
}

pub(super) struct LegendEntry {
    pub(super) name: String,
    pub(super) class: String,
    /// Sample drawn from (0, 0) to about (26, 0).
    pub(super) sample: Markup,
}

/// Draws the legend below this height in as many columns as the longest name leaves room for, and returns the height of
/// its end.
pub(super) fn legend(entries: &[LegendEntry], width: f64, top: f64) -> (f64, Markup) {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most hundreds")]
    let whole = |number: f64, least: f64| number.floor().max(least) as usize;
    let max_letters = |columns: usize| whole((width / columns as f64 - SAMPLE_WIDTH) / LEGEND_LETTER, 8.0);
    let longest = entries.iter().map(|entry| entry.name.chars().count()).max().unwrap_or(0).min(max_letters(1));
    let column = SAMPLE_WIDTH + longest as f64 * LEGEND_LETTER + LEGEND_GAP;
    let columns = whole(width / column, 1.0).min(entries.len().max(1));
    let max = max_letters(columns);
    let content = html! {
        @for (number, entry) in entries.iter().enumerate() {
            @let x = (number % columns) as f64 * width / columns as f64;
            @let y = top + ((number / columns) as f64 + 0.5) * LEGEND_ROW;
            g class=(entry.class) transform=(format!("translate({x:.1} {y:.1})")) {
                (entry.sample)
                text class="name" x=(SAMPLE_WIDTH) y="4" {
                    (cut(&entry.name, max))
                    @if entry.name.chars().count() > max { title { (entry.name) } }
                }
            }
        }
    };
    (top + entries.len().div_ceil(columns) as f64 * LEGEND_ROW, content)
}

pub(super) fn cut(name: &str, max: usize) -> String {
    if name.chars().count() <= max { name.to_owned() } else { name.chars().take(max - 1).chain(['…']).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{AxisQuantity, Extent};

    fn example(points: &[(f64, f64)]) -> Plot {
        let strand = Strand::of(points.iter().map(|&(x, y)| Point::new(x, y)).collect());
        let axis = |name| AxisQuantity::new(name, Extent::FromZero);
        Plot::new(axis("seconds"), axis("loss"), vec![Series::new("a", Look::Marked(0), vec![strand])])
    }

    #[test]
    fn lines_run_from_lower_left_to_upper_right() {
        let frame = Frame::of(&example(&[(0.0, 0.0), (4.0, 2.0)]), 460.0);
        let path = frame.path(&[Point::new(0.0, 0.0), Point::new(4.0, 2.0)]);
        assert_eq!(path, format!("M{:.1} 228.0L448.0 26.0", frame.left));
        assert_eq!(frame.path(&[]), "");
    }

    #[test]
    fn overlapping_marks_are_omitted() {
        let mut crowded = example(&[(1.0, 1.0), (100.0, 2.0)]);
        crowded.x = crowded.x.marked((1..=100).map(f64::from).collect());
        let frame = Frame::of(&crowded, 460.0);
        let shown = marks_with_room(&frame);
        assert!(shown.len() > 5 && shown.len() < 40, "{}", shown.len());
        assert!(shown.windows(2).all(|pair| pair[1].0 - pair[0].0 > MARK_GAP), "{shown:?}");
    }

    #[test]
    fn guides_and_latest_values_are_in_the_legend() {
        let mut plot = example(&[(0.0, 0.0), (4.0, 2.0)]);
        plot.series[0].latest = "<2.0>".to_owned();
        plot.series[0].strands[0].link = Some("/runs/a".to_owned());
        plot.guides.push(Guide { class: "target", label: "target".to_owned(), x: None, y: Some(1.0) });
        let svg = plot.svg(480.0, "a \"chart\"");
        for part in [
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"group\" aria-label=\"a &quot;chart&quot;\"",
            ">a &lt;2.0&gt;</text>",
            ">target</text>",
            "<line class=\"target\" x1=",
            "<a class=\"point\" href=\"/runs/a\"",
        ] {
            assert!(svg.contains(part), "{part} is missing in {svg}");
        }
    }

    #[test]
    fn legends_have_columns_for_short_names() {
        let height = |names: &[&str]| {
            let entry = |name: &&str| LegendEntry { name: (*name).to_owned(), class: String::new(), sample: html! {} };
            legend(&names.iter().map(entry).collect::<Vec<_>>(), 460.0, 0.0).0
        };
        assert_eq!(height(&["a", "b", "c"]), LEGEND_ROW);
        let long = "a name of a group that fills more than half of the width";
        assert_eq!(height(&[long, long]), 2.0 * LEGEND_ROW);
        assert_eq!(cut(&"x".repeat(90), 10), format!("{}…", "x".repeat(9)));
    }
}
