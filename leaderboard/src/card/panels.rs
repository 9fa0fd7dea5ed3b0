//! The workloads of a card: one or two of them large, more of them in a table.

use super::layout::{ACCENT, EDGE, INK, SHEET, SOFT, TROUBLE, WASH};
use super::pen::{Area, Pen, Style};
use super::typeface::Weight;
use super::words::{Figures, Workload};

/// That many are drawn large.
const LARGE: usize = 2;
/// That many lines fit beneath each other.
const LINES: usize = 8;
const GAP: f32 = 24.0;
const RADIUS: f32 = 18.0;
/// From the edge of a panel to what is in it.
const PADDING: f32 = 28.0;

/// Draws the workloads into an area.
pub(super) fn draw(pen: &mut Pen, area: Area, workloads: &[Workload]) {
    if workloads.is_empty() {
        pen.sheet(area, RADIUS, SHEET, EDGE);
        pen.text(area.x + PADDING, area.y + 60.0, Style::new(26.0, SOFT), "This run has no networks.");
        return;
    }
    if workloads.len() <= LARGE {
        let number = if workloads.len() == 1 { 1.0 } else { 2.0 };
        let width = (area.width - GAP * (number - 1.0)) / number;
        let mut x = area.x;
        for workload in workloads {
            large(pen, Area { x, width, ..area }, workload);
            x += width + GAP;
        }
        return;
    }
    pen.sheet(area, RADIUS, SHEET, EDGE);
    if workloads.len() <= LINES {
        table(pen, area, workloads, &WIDE, "");
        return;
    }
    // One line says how many more there are.
    let shown = if workloads.len() > 2 * LINES { 2 * LINES - 1 } else { workloads.len() };
    let (left, right) = workloads[..shown].split_at(shown.div_ceil(2));
    let width = area.width / 2.0;
    let more = workloads.len() - shown;
    let more = if more > 0 { format!("and {more} more") } else { String::new() };
    table(pen, Area { width, ..area }, left, &NARROW, "");
    table(pen, Area { x: area.x + width, width, ..area }, right, &NARROW, &more);
    let middle = area.x + width;
    pen.line(&[(middle, area.y + 18.0), (middle, area.y + area.height - 18.0)], 1.5, EDGE);
}

/// One workload with a panel of its own.
fn large(pen: &mut Pen, area: Area, workload: &Workload) {
    pen.sheet(area, RADIUS, SHEET, EDGE);
    let (left, width) = (area.x + PADDING, area.width - 2.0 * PADDING);
    let fitted = |text: &str, size, weight: Weight| weight.cut(text, size, width);
    pen.text(left, area.y + 42.0, Style::new(24.0, INK).bold(), &fitted(&workload.name, 24.0, Weight::SemiBold));
    pen.text(left, area.y + 69.0, Style::new(19.0, SOFT), &fitted(&workload.title, 19.0, Weight::Regular));
    let figures = match &workload.figures {
        Ok(figures) => figures,
        Err(outcome) => {
            pen.text(left, area.y + 136.0, Style::new(38.0, TROUBLE).bold(), "Not completed");
            pen.text(left, area.y + 172.0, Style::new(22.0, SOFT), &format!("It {outcome}."));
            return;
        }
    };
    let free = area.height - 188.0;
    let size = if area.width > 700.0 { 96.0_f32 } else { 72.0 }.min(free);
    let base = area.y + 80.0 + free / 2.0 + 0.36 * size;
    pen.text(left, base, Style::new(size, INK).bold(), &figures.rate);
    let unit = left + Weight::SemiBold.width(&figures.rate, size) + 14.0;
    pen.text(unit, base - 0.42 * size + 4.0, Style::new(22.0, SOFT), "samples/s");
    if let Some(within) = &figures.within {
        pen.text(unit, base, Style::new(22.0, SOFT), within);
    }
    let curve_left = unit + Weight::Regular.width("samples/s", 22.0) + 30.0;
    let curve =
        Area { x: curve_left, y: area.y + 92.0, width: area.right() - PADDING - curve_left, height: free - 20.0 };
    sparkline(pen, curve, &workload.curve);
    facts(pen, Area { x: left, y: area.y + area.height - 84.0, width, height: 84.0 }, figures);
}

/// The loss over time, as far as there is room for it.
fn sparkline(pen: &mut Pen, area: Area, curve: &[(f64, f64)]) {
    let most = |of: fn(&(f64, f64)) -> f64| curve.iter().map(of).fold(0.0, f64::max);
    let (seconds, loss) = (most(|point| point.0), most(|point| point.1));
    if curve.len() < 3 || area.width < 90.0 || seconds <= 0.0 || loss <= 0.0 {
        return;
    }
    #[expect(clippy::cast_possible_truncation, reason = "pixels of a card")]
    let place = |(x, y): &(f64, f64)| {
        let (x, y) = ((x / seconds) as f32, (y.max(0.0) / loss) as f32);
        (area.x + x * area.width, area.y + (1.0 - y) * area.height)
    };
    let points: Vec<(f32, f32)> = curve.iter().map(place).collect();
    pen.below(&points, area.y + area.height, WASH);
    pen.line(&points, 3.5, ACCENT);
    if let Some(last) = points.last() {
        pen.dot(*last, 6.0, "#ffb454");
    }
    pen.text(area.right(), area.y + 18.0, Style::new(17.0, SOFT).right(), "training loss");
}

/// Four figures in a row at the foot of a panel.
fn facts(pen: &mut Pen, area: Area, figures: &Figures) {
    pen.line(&[(area.x, area.y), (area.right(), area.y)], 1.5, EDGE);
    let to_target = match (&figures.target, &figures.seconds_to_target) {
        (Some(target), Some(seconds)) => (seconds.as_str(), format!("to {target}")),
        (Some(target), None) => ("not reached", target.clone()),
        (None, _) => ("–", "no target".to_owned()),
    };
    let kept = if figures.sustained { "sustained" } else { "not sustained" };
    let facts = [
        (figures.accuracy.as_str(), "accuracy".to_owned()),
        to_target,
        (figures.kept.as_str(), kept.to_owned()),
        (figures.of_peak.as_str(), "of its peak".to_owned()),
    ];
    let shares = [0.26, 0.29, 0.26, 0.19];
    let mut x = area.x;
    for ((figure, label), share) in facts.into_iter().zip(shares) {
        pen.text(x, area.y + 38.0, Style::new(24.0, INK).bold(), figure);
        pen.text(x, area.y + 63.0, Style::new(18.0, SOFT), &label);
        x += share * area.width;
    }
}

/// How far to the right a column ends, from the left of its table; and what it shows.
struct Column {
    end: f32,
    head: &'static str,
    figure: fn(&Figures) -> String,
    colour: &'static str,
}

const RATE: fn(&Figures) -> String = |figures| figures.rate.clone();
const WITHIN: fn(&Figures) -> String = |figures| figures.within.clone().unwrap_or_default();
const ACCURACY: fn(&Figures) -> String = |figures| figures.accuracy.clone();
const TO_TARGET: fn(&Figures) -> String = |figures| match (&figures.target, &figures.seconds_to_target) {
    (_, Some(seconds)) => seconds.clone(),
    (Some(_), None) => "not reached".to_owned(),
    (None, None) => "–".to_owned(),
};
const TARGET: fn(&Figures) -> String = |figures| figures.target.clone().unwrap_or_else(|| "–".to_owned());

const WIDE: [Column; 7] = [
    Column { end: 430.0, head: "samples/s", figure: RATE, colour: INK },
    Column { end: 520.0, head: "", figure: WITHIN, colour: SOFT },
    Column { end: 640.0, head: "accuracy", figure: ACCURACY, colour: INK },
    Column { end: 770.0, head: "time to …", figure: TO_TARGET, colour: INK },
    Column { end: 850.0, head: "accuracy", figure: TARGET, colour: SOFT },
    Column { end: 960.0, head: "sustained", figure: |figures| figures.kept.clone(), colour: INK },
    Column { end: 1060.0, head: "of peak", figure: |figures| figures.of_peak.clone(), colour: INK },
];

const NARROW: [Column; 4] = [
    Column { end: 292.0, head: "samples/s", figure: RATE, colour: INK },
    Column { end: 357.0, head: "", figure: WITHIN, colour: SOFT },
    Column { end: 432.0, head: "accuracy", figure: ACCURACY, colour: INK },
    Column { end: 522.0, head: "to target", figure: TO_TARGET, colour: INK },
];

/// Lines of workloads with their figures in columns; below them a line of text, where there is one.
fn table(pen: &mut Pen, area: Area, workloads: &[Workload], columns: &[Column], last: &str) {
    let wide = columns.len() > NARROW.len();
    let (padding, head) = (if wide { PADDING } else { 22.0 }, 40.0);
    let name_end = columns[0].end - if wide { 110.0 } else { 85.0 };
    let lines = if wide { workloads.len() } else { LINES };
    #[expect(clippy::cast_precision_loss, reason = "a handful of lines")]
    let height = ((area.height - head - 14.0) / lines as f32).min(58.0);
    let size = if wide { (0.5 * height).clamp(17.0, 25.0) } else { (0.5 * height).clamp(14.0, 17.0) };
    let head_style = Style::new(if wide { 18.0 } else { 15.0 }, SOFT);
    let mut y = area.y + 32.0;
    for column in columns {
        pen.text(area.x + column.end, y, head_style.right(), column.head);
    }
    y = area.y + head;
    for workload in workloads {
        pen.line(&[(area.x + padding, y), (area.x + columns[columns.len() - 1].end, y)], 1.0, EDGE);
        let base = y + height / 2.0 + 0.36 * size;
        let name = Weight::SemiBold.cut(&workload.name, size, name_end - padding);
        pen.text(area.x + padding, base, Style::new(size, INK).bold(), &name);
        match &workload.figures {
            Ok(figures) => {
                for column in columns {
                    let style = Style::new(size, column.colour).right();
                    pen.text(area.x + column.end, base, style, &(column.figure)(figures));
                }
            }
            Err(outcome) => {
                let end = columns[columns.len() - 1].end;
                let room = end - name_end;
                let outcome = Weight::Regular.cut(outcome, size, room);
                pen.text(area.x + end, base, Style::new(size, TROUBLE).right(), &outcome);
            }
        }
        y += height;
    }
    if !last.is_empty() {
        pen.text(area.x + padding, y + height / 2.0 + 0.36 * size, Style::new(size, SOFT), last);
    }
}
