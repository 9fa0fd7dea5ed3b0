//! Plots and bars as SVG. Each series has a color, dashes and a mark, so that color is never the only difference.

use maud::{Markup, html};

use crate::report::plot::{Bar, Bars, Drawing, Figure, Look, Plot, Point, Series};
use crate::report::scale::{Scale, ScaleSteps};

/// Width of a drawing in user units; it scales with the page.
const WIDTH: f64 = 460.0;
const BAR_ROW: f64 = 40.0;
const BAR_HEIGHT: f64 = 15.0;
/// Space to the right of the longest bar, for its value.
const VALUE_WIDTH: f64 = 96.0;
/// Number of letters that fit above a bar.
const MAX_BAR_LETTERS: usize = 66;
const LEGEND_ROW: f64 = 18.0;
/// Width of the line sample before a name.
const SAMPLE_WIDTH: f64 = 34.0;
/// Width of a legend letter; digits are wider than the average.
const LEGEND_LETTER: f64 = 6.6;
const LEGEND_GAP: f64 = 14.0;
/// Height of the area above the horizontal axis.
const HEIGHT: f64 = 230.0;
/// Space below the axes, for the marks and name of the horizontal axis.
const BELOW: f64 = 44.0;
/// Width of a letter in a mark.
const MARK_LETTER: f64 = 6.8;
/// Space between the marks of the horizontal axis.
const MARK_GAP: f64 = 8.0;
/// Half-width of the ends of a range.
const CAP: f64 = 3.5;

/// Area between the axes, with their scales.
struct Frame {
    left: f64,
    x: Scale,
    y: Scale,
}

impl Frame {
    const RIGHT: f64 = WIDTH - 12.0;
    /// Leaves space above the axes for the name of the vertical axis.
    const TOP: f64 = 26.0;
    const BOTTOM: f64 = HEIGHT - 2.0;

    fn of(plot: &Plot) -> Self {
        let ranges = plot.points().flat_map(|point| point.range.map_or([point.y; 2], |(low, high)| [low, high]));
        let x = Scale::of(&plot.x, plot.points().map(|point| point.x), 5);
        let y = Scale::of(&plot.y, plot.points().map(|point| point.y).chain(ranges), 4);
        let longest = y.marks.iter().map(|mark| mark.text.chars().count()).max().unwrap_or(0);
        Self { left: longest as f64 * MARK_LETTER + 10.0, x, y }
    }

    fn x(&self, value: f64) -> f64 {
        self.left + self.x.share(value) * (Self::RIGHT - self.left)
    }

    fn y(&self, value: f64) -> f64 {
        Self::BOTTOM - self.y.share(value) * (Self::BOTTOM - Self::TOP)
    }

    fn path(&self, points: &[Point]) -> String {
        path(points.iter().map(|point| (self.x(point.x), self.y(point.y))))
    }
}

/// Draws a figure; `id` is its HTML id.
pub(crate) fn figure(figure: &Figure, id: &str) -> Markup {
    let (height, content) = match &figure.drawing {
        Drawing::Plot(plot) => draw_plot(plot),
        Drawing::Bars(bars) => draw_bars(bars, id),
    };
    let (title_id, description_id) = (format!("{id}-title"), format!("{id}-description"));
    html! {
        svg role="img" viewBox=(format!("0 0 {WIDTH} {height}")) aria-labelledby=(title_id) aria-describedby=(description_id) {
            title id=(title_id) { (figure.title) }
            desc id=(description_id) { (figure.description()) }
            (content)
        }
    }
}

/// Draws a plot, and returns its height.
fn draw_plot(plot: &Plot) -> (f64, Markup) {
    let frame = Frame::of(plot);
    let (height, legend) = legend(&plot_entries(plot), HEIGHT + BELOW);
    let content = html! {
        (axes(plot, &frame))
        @for series in &plot.series { (series_of(series, &frame)) }
        (legend)
    };
    (height, content)
}

fn axes(plot: &Plot, frame: &Frame) -> Markup {
    let name = |name: &str, scale: &Scale| match scale.steps {
        ScaleSteps::Sums => name.to_owned(),
        ScaleSteps::Decades => format!("{name} (logarithmic)"),
        ScaleSteps::Errors => format!("{name} (logarithmic in errors)"),
    };
    let middle = f64::midpoint(frame.left, Frame::RIGHT);
    html! {
        @for mark in &frame.y.marks {
            @let y = frame.y(mark.value);
            line class="grid" x1=(n(frame.left)) x2=(n(Frame::RIGHT)) y1=(n(y)) y2=(n(y)) {}
            text class="tick" x=(n(frame.left - 6.0)) y=(n(y + 4.0)) text-anchor="end" { (mark.text) }
        }
        @for (x, text) in marks_with_room(frame) {
            line class="axis" x1=(n(x)) x2=(n(x)) y1=(n(Frame::BOTTOM)) y2=(n(Frame::BOTTOM + 4.0)) {}
            text class="tick" x=(n(x)) y=(n(Frame::BOTTOM + 17.0)) text-anchor="middle" { (text) }
        }
        line class="axis" x1=(n(frame.left)) x2=(n(Frame::RIGHT)) y1=(n(Frame::BOTTOM)) y2=(n(Frame::BOTTOM)) {}
        text class="quantity" x="2" y="13" { (name(&plot.y.name, &frame.y)) }
        text class="quantity" x=(n(middle)) y=(n(Frame::BOTTOM + 34.0)) text-anchor="middle" {
            (name(&plot.x.name, &frame.x))
        }
    }
}

/// Returns the marks of the horizontal axis that do not overlap the previous one.
fn marks_with_room(frame: &Frame) -> Vec<(f64, &str)> {
    let mut end = f64::NEG_INFINITY;
    let mut shown = Vec::new();
    for mark in &frame.x.marks {
        let x = frame.x(mark.value);
        let half = mark.text.chars().count() as f64 * MARK_LETTER / 2.0;
        if x - half >= end {
            shown.push((x, mark.text.as_str()));
            end = x + half + MARK_GAP;
        }
    }
    shown
}

fn series_of(series: &Series, frame: &Frame) -> Markup {
    let look = DrawnLook::of(series.look);
    html! {
        g class=(look.class) {
            @for strand in &series.strands {
                @if strand.points.len() > 1 { (look.line(&frame.path(&strand.points))) }
                @for point in &strand.points {
                    (range(point, frame))
                    (look.mark(frame.x(point.x), frame.y(point.y)))
                }
                // A line with a single point would be invisible.
                @if strand.points.len() == 1 && matches!(series.look, Look::Line(_)) {
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

fn plot_entries(plot: &Plot) -> Vec<LegendEntry> {
    let entry = |series: &Series| {
        let look = DrawnLook::of(series.look);
        let sample = html! { (look.line("M0 0H26")) (look.mark(13.0, 0.0)) };
        LegendEntry { name: series.name.clone(), class: look.class, sample }
    };
    plot.series.iter().map(entry).collect()
}

/// Formats a coordinate with one decimal.
fn n(value: f64) -> String {
    format!("{value:.1}")
}

/// Draws bars, and returns their height; `id` is their HTML id.
fn draw_bars(bars: &Bars, id: &str) -> (f64, Markup) {
    let longest = bars.rows.iter().map(Bar::sum).fold(f64::MIN_POSITIVE, f64::max);
    let scale = (WIDTH - VALUE_WIDTH) / longest;
    let top = bars.rows.len() as f64 * BAR_ROW + 6.0;
    let has_legend = bars.parts.len() > 1;
    let (height, legend) = if has_legend { legend(&bar_entries(bars, id), top) } else { (top, html! {}) };
    let content = html! {
        (patterns(id))
        @for (number, row) in bars.rows.iter().enumerate() {
            @let top = number as f64 * BAR_ROW;
            text class="name" x="0" y=(n(top + 14.0)) { (cut(&row.name, MAX_BAR_LETTERS)) title { (row.name) } }
            @for (part, x, width) in segments(row, scale) {
                rect x=(n(x)) y=(n(top + 20.0)) width=(n(width)) height=(BAR_HEIGHT) class="bar"
                    fill=(format!("url(#{})", pattern(id, part))) {
                    @if has_legend { title { (bars.parts[part]) ": " ((bars.show)(row.values[part].unwrap_or(0.0))) } }
                }
            }
            text class="tick" x=(n(row.sum() * scale + 6.0)) y=(n(top + 32.0)) { ((bars.show)(row.sum())) }
        }
        (legend)
    };
    (height, content)
}

/// Returns each part of a bar with its start and width.
fn segments(row: &Bar, scale: f64) -> Vec<(usize, f64, f64)> {
    let mut x = 0.0;
    let mut found = Vec::new();
    for (part, value) in row.values.iter().enumerate() {
        let width = value.unwrap_or(0.0) * scale;
        if width > 0.0 {
            found.push((part, x, width));
        }
        x += width;
    }
    found
}

fn bar_entries(bars: &Bars, id: &str) -> Vec<LegendEntry> {
    let entry = |(number, name): (usize, &String)| LegendEntry {
        name: name.clone(),
        class: format!("c{}", number % PARTS),
        sample: html! { rect class="bar" y="-7" width="26" height="13" fill=(format!("url(#{})", pattern(id, number))) {} },
    };
    bars.parts.iter().enumerate().map(entry).collect()
}

struct LegendEntry {
    name: String,
    class: String,
    /// Sample drawn from (0, 0) to about (26, 0).
    sample: Markup,
}

/// Returns the number of letters that fit into a column.
fn max_letters(columns: usize) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "fewer than a hundred")]
    let letters = ((WIDTH / columns as f64 - SAMPLE_WIDTH) / LEGEND_LETTER).floor().max(8.0) as usize;
    letters
}

/// Draws the legend below this height in as many columns as the longest name leaves room for, and returns the height of
/// its end.
fn legend(entries: &[LegendEntry], top: f64) -> (f64, Markup) {
    let longest = entries.iter().map(|entry| entry.name.chars().count()).max().unwrap_or(0).min(max_letters(1));
    let width = SAMPLE_WIDTH + longest as f64 * LEGEND_LETTER + LEGEND_GAP;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a handful")]
    let columns = ((WIDTH / width).floor().max(1.0) as usize).min(entries.len().max(1));
    let max = max_letters(columns);
    let content = html! {
        @for (number, entry) in entries.iter().enumerate() {
            @let x = (number % columns) as f64 * WIDTH / columns as f64;
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

fn cut(name: &str, max: usize) -> String {
    if name.chars().count() <= max { name.to_owned() } else { name.chars().take(max - 1).chain(['…']).collect() }
}

/// Number of colors; the style sheet has a variable for each one.
const COLORS: usize = 8;
const DASHES: [&str; COLORS] = ["none", "7 3", "2 3", "9 3 2 3", "5 2", "12 4", "1 2", "3 3 9 3"];
/// Marks as closed outlines around the center: number of corners, turn of the first one, and the radii that the
/// corners alternate between.
const MARKS: [(u32, f64, &[f64]); COLORS] = [
    (12, 0.0, &[1.0]),
    (4, 0.125, &[1.27]),
    (3, -0.25, &[1.2]),
    (4, 0.0, &[1.3]),
    (8, 0.125, &[1.4, 0.5]),
    (8, 0.0, &[1.4, 0.5]),
    (3, 0.25, &[1.2]),
    (10, -0.25, &[1.35, 0.55]),
];

/// Number of patterns for the parts of a bar.
const PARTS: usize = 5;

struct DrawnLook {
    class: String,
    /// Dashes of the line, if there is one.
    dashes: Option<&'static str>,
    /// Number and size of the marks, if there are any.
    mark: Option<(usize, f64)>,
}

impl DrawnLook {
    fn of(look: Look) -> Self {
        let class = |number: usize| format!("c{}", number % COLORS);
        let dashes = |number| Some(DASHES[rotate_index(number)]);
        let (class, dashes, mark) = match look {
            Look::Line(number) => (class(number), dashes(number), None),
            Look::Marked(number) => (class(number), dashes(number), Some((number, 4.0))),
            Look::Marks(number) => (class(number), None, Some((number, 4.0))),
            Look::Published(number) => ("published".to_owned(), None, Some((number, 5.0))),
            Look::Ideal => ("ideal".to_owned(), Some("3 4"), None),
        };
        Self { class, dashes, mark }
    }

    fn line(&self, path: &str) -> Markup {
        html! { @if let Some(dashes) = self.dashes { path class="line" stroke-dasharray=(dashes) d=(path) {} } }
    }

    fn mark(&self, x: f64, y: f64) -> Markup {
        html! {
            @if let Some((number, size)) = self.mark {
                path class="mark" d=(outline(MARKS[rotate_index(number)], size, x, y)) {}
            }
        }
    }
}

/// Returns the index of dashes and marks, which differs between numbers with the same color.
fn rotate_index(number: usize) -> usize {
    (number + number / COLORS) % COLORS
}

/// Returns the path of straight lines through these points.
fn path(points: impl Iterator<Item = (f64, f64)>) -> String {
    let command = |(number, (x, y))| format!("{}{x:.1} {y:.1}", if number == 0 { 'M' } else { 'L' });
    points.enumerate().map(command).collect()
}

fn outline((count, turn, radii): (u32, f64, &[f64]), size: f64, x: f64, y: f64) -> String {
    let corner = |(number, radius): (u32, &f64)| {
        let angle = std::f64::consts::TAU * (f64::from(number) / f64::from(count) + turn);
        (x + size * radius * angle.cos(), y + size * radius * angle.sin())
    };
    path((0..count).zip(radii.iter().cycle()).map(corner)) + "Z"
}

/// Draws line patterns over the colors of parts. Their ids begin with the drawing's.
fn patterns(figure: &str) -> Markup {
    const LINES: [&str; PARTS] =
        ["", "M0 8L8 0M-2 2L2 -2M6 10L10 6", "M0 0L8 8M-2 6L2 10M6 -2L10 2", "M0 4H8", "M4 0V8"];
    html! {
        defs {
            @for (number, lines) in LINES.iter().enumerate() {
                pattern id=(pattern(figure, number)) class=(format!("c{number}")) width="8" height="8" patternUnits="userSpaceOnUse" {
                    rect class="area" width="8" height="8" {}
                    path class="hatch" d=(lines) {}
                }
            }
        }
    }
}

fn pattern(figure: &str, number: usize) -> String {
    format!("{figure}-part{}", number % PARTS)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::report::plot::{AxisQuantity, Extent, Strand};

    fn example(points: &[(f64, f64)]) -> Plot {
        let strands = vec![Strand::of(points.iter().map(|&(x, y)| Point::new(x, y)).collect())];
        Plot {
            x: AxisQuantity::new("seconds", Extent::FromZero),
            y: AxisQuantity::new("loss", Extent::FromZero),
            series: vec![Series { name: "a".to_owned(), look: Look::Marked(0), strands }],
        }
    }

    #[test]
    fn lines_run_from_lower_left_to_upper_right() {
        let frame = Frame::of(&example(&[(0.0, 0.0), (4.0, 2.0)]));
        let path = frame.path(&[Point::new(0.0, 0.0), Point::new(4.0, 2.0)]);
        assert_eq!(path, format!("M{:.1} {:.1}L{:.1} {:.1}", frame.left, Frame::BOTTOM, Frame::RIGHT, Frame::TOP));
    }

    #[test]
    fn overlapping_marks_are_omitted() {
        let mut crowded = example(&[(1.0, 1.0), (100.0, 2.0)]);
        crowded.x = crowded.x.marked((1..=100).map(f64::from).collect());
        let frame = Frame::of(&crowded);
        let shown = marks_with_room(&frame);
        assert!(shown.len() > 5 && shown.len() < 40, "{}", shown.len());
        assert!(shown.windows(2).all(|pair| pair[1].0 - pair[0].0 > MARK_GAP), "{shown:?}");
    }

    #[test]
    fn bars_fill_the_width_with_their_parts() {
        let segments = |values: [Option<f64>; 2]| segments(&Bar { name: String::new(), values: values.to_vec() }, 5.0);
        assert_eq!(segments([Some(1.0), Some(3.0)]), [(0, 0.0, 5.0), (1, 5.0, 15.0)]);
        assert_eq!(segments([Some(1.0), None]), [(0, 0.0, 5.0)]);
    }

    #[test]
    fn legends_have_columns_for_short_names() {
        let height = |names: &[&str]| {
            let entry = |name: &&str| LegendEntry { name: (*name).to_owned(), class: String::new(), sample: html! {} };
            legend(&names.iter().map(entry).collect::<Vec<_>>(), 0.0).0
        };
        assert_eq!(height(&["a", "b", "c"]), LEGEND_ROW);
        let long = "a name of a group that fills more than half of the width";
        assert_eq!(height(&[long, long]), 2.0 * LEGEND_ROW);
        assert_eq!(cut(&"x".repeat(90), 10), format!("{}…", "x".repeat(9)));
    }

    #[test]
    fn sixty_four_series_look_different() {
        let looks = (0..64).map(|number| DrawnLook::of(Look::Marked(number)));
        assert_eq!(looks.map(|look| (look.class, look.dashes)).collect::<BTreeSet<_>>().len(), 64);
        let in_grey: BTreeSet<_> = (0..8).map(|number| DrawnLook::of(Look::Line(number)).dashes).collect();
        assert_eq!(in_grey.len(), 8);
    }
}
