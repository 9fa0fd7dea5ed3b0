//! Layout of a card.

use maud::{PreEscaped, html};
use results::api::Tier;
use results::score_digits;

use super::pen::{Area, BOX, LOGO, Letters, Pen, Style, Weight, path};
use super::words::{Card, CardFigures, CardResult, CardWorkload, ShownDevice};

/// The usual size of link previews.
pub const SIZE: (u32, u32) = (1200, 630);

const GROUND: &str = "#f6f5f1";
const SHEET: &str = "#ffffff";
const EDGE: &str = "#dcdad2";
const INK: &str = "#14171f";
const SOFT: &str = "#545b68";
const ACCENT: &str = "#2742d6";
const WASH: &str = "#e9ecfd";
const GLOW: &str = "#ffb454";
const SUSTAINED: &str = "#2a7a2a";
const TROUBLE: &str = "#b34700";

const MARGIN: f32 = 56.0;
const WIDTH: f32 = 1200.0 - 2.0 * MARGIN;
const RIGHT: f32 = 1200.0 - MARGIN;
const FOOT: f32 = 600.0;
const PANELS_END: f32 = 566.0;

/// Returns the card as SVG. Letters that the font lacks are drawn as boxes, and the foot says so.
pub fn svg(card: &Card, letters: Letters) -> String {
    let mut pen = Pen::new(letters);
    pen.area(Area { x: 0.0, y: 0.0, width: 1200.0, height: 630.0 }, 0.0, GROUND, None);
    pen.put(html! { g transform=(format!("translate({MARGIN} 40) scale(1.375)")) { (PreEscaped(LOGO)) } });
    pen.text(MARGIN + 58.0, 72.0, Style::new(30.0, INK).bold(), "Gradmark");
    tier(&mut pen, card);
    let top = head(&mut pen, card);
    let panels = Area { x: MARGIN, y: top, width: WIDTH, height: PANELS_END - top };
    draw_panels(&mut pen, panels, &card.workloads);
    foot(&mut pen, card);
    pen.finish(SIZE, &format!("{}: {}", card.title(), card.description()))
}

/// Returns the colour of a tier. White text is readable on each of them.
pub fn colour(tier: Tier) -> &'static str {
    match tier {
        Tier::Proven => "#2a7a2a",
        Tier::Checked => "#1f6feb",
        Tier::Unverified => "#6a6a6a",
        Tier::Flagged | Tier::Hidden => "#b34700",
    }
}

fn tier(pen: &mut Pen, card: &Card) {
    let words = card.tier_in_words();
    let style = Style::new(24.0, SHEET).bold();
    let width = Weight::SemiBold.width(&words, style.size) + 44.0;
    pen.area(Area { x: RIGHT - width, y: 40.0, width, height: 44.0 }, 22.0, colour(card.tier), None);
    pen.text(RIGHT - width + 22.0, 70.5, style, &words);
}

/// Draws the device and its software. Returns the top of the panels.
fn head(pen: &mut Pen, card: &Card) -> f32 {
    let ShownDevice { lead, name, beside } = &card.device;
    let mut y = 98.0;
    if let Some(lead) = lead {
        pen.text(MARGIN, y + 30.0, Style::new(24.0, SOFT), lead);
        y += 28.0;
    }
    let name = pen.drawable(name);
    let unreadable = name.chars().all(|letter| letter == BOX || letter == ' ');
    let name = if unreadable { "A device with a name in other letters" } else { &name };
    let (score_width, score_end) = draw_score(pen, card);
    let (name, size) = Weight::SemiBold.fitted(name, 34..=62, WIDTH - score_width);
    y += 12.0 + size;
    pen.text(MARGIN, y, Style::new(size, INK).bold(), &name);
    y += 10.0;
    let beside = beside.as_deref().map(|line| (line, SOFT));
    let reason = card.reason.as_deref().map(|line| (line, TROUBLE));
    for (line, colour) in [Some((card.how.as_str(), SOFT)), beside, reason].into_iter().flatten() {
        y += 31.0;
        // Lines to the left of the score end before it.
        let room = if y < score_end + 24.0 { WIDTH - score_width } else { WIDTH };
        let (line, size) = Weight::Regular.fitted(line, 19..=23, room);
        pen.text(MARGIN, y, Style::new(size, colour), &line);
    }
    y.max(score_end) + 28.0
}

/// Draws the score and its rank at the right of the device. Returns the width that the device has to leave free, and the
/// last base line.
fn draw_score(pen: &mut Pen, card: &Card) -> (f32, f32) {
    let Some(score) = card.score.map(|score| score_digits(score.value)) else { return (0.0, 0.0) };
    let (number, small) = (Style::new(76.0, ACCENT).bold().right(), Style::new(24.0, SOFT).right());
    let unit_width = Weight::Regular.width("GFLOP/s", small.size) + 14.0;
    // The base line of a device's name in its largest size.
    let mut base = 172.0;
    pen.text(RIGHT, base, small, "GFLOP/s");
    pen.text(RIGHT - unit_width, base, number, &score);
    let mut width = unit_width + Weight::SemiBold.width(&score, number.size);
    if let Some([share, devices]) = card.rank_in_words() {
        let style = Style::new(40.0, INK).bold().right();
        pen.text(RIGHT, base + 50.0, style, &share);
        base += 82.0;
        pen.text(RIGHT, base, small, &devices);
        width = width.max(Weight::SemiBold.width(&share, style.size));
    }
    (width + 40.0, base)
}

fn foot(pen: &mut Pen, card: &Card) {
    let style = Style::new(18.0, SOFT);
    let right = &card.date;
    let left = if pen.boxed {
        "Some letters are not in this picture's font; the page of the result has them".to_owned()
    } else {
        card.suite.clone()
    };
    let room = WIDTH - Weight::Regular.width(right, style.size) - 24.0;
    pen.text(MARGIN, FOOT, style, &Weight::Regular.cut(&left, style.size, room));
    pen.text(RIGHT, FOOT, style.right(), right);
}

const MAX_LARGE_PANELS: usize = 2;
/// Maximum number of lines in a column.
const LINES: usize = 8;
const GAP: f32 = 24.0;
const RADIUS: f32 = 18.0;
const PADDING: f32 = 28.0;
/// Height of the metrics at the foot of a panel.
const FACTS: f32 = 82.0;

fn draw_panels(pen: &mut Pen, area: Area, workloads: &[CardWorkload]) {
    if workloads.is_empty() {
        pen.area(area, RADIUS, SHEET, Some(EDGE));
        pen.text(area.x + PADDING, area.y + 60.0, Style::new(26.0, SOFT), "This run has no networks.");
        return;
    }
    if workloads.len() <= MAX_LARGE_PANELS {
        let number = if workloads.len() == 1 { 1.0 } else { 2.0 };
        let width = (area.width - GAP * (number - 1.0)) / number;
        let mut x = area.x;
        for workload in workloads {
            large(pen, Area { x, width, ..area }, workload);
            x += width + GAP;
        }
        return;
    }
    pen.area(area, RADIUS, SHEET, Some(EDGE));
    if workloads.len() <= LINES {
        table(pen, area, (workloads, workloads.len()), &WIDE, "");
        return;
    }
    // One line says how many more there are.
    let shown = if workloads.len() > 2 * LINES { 2 * LINES - 1 } else { workloads.len() };
    let (left, right) = workloads[..shown].split_at(shown.div_ceil(2));
    let width = area.width / 2.0;
    let more = workloads.len() - shown;
    let more = if more > 0 { format!("and {more} more") } else { String::new() };
    table(pen, Area { width, ..area }, (left, left.len()), &NARROW, "");
    table(pen, Area { x: area.x + width, width, ..area }, (right, left.len()), &NARROW, &more);
    let middle = area.x + width;
    pen.line(&[(middle, area.y + 18.0), (middle, area.y + area.height - 18.0)], 1.5, EDGE);
}

fn large(pen: &mut Pen, area: Area, workload: &CardWorkload) {
    pen.area(area, RADIUS, SHEET, Some(EDGE));
    let (left, width) = (area.x + PADDING, area.width - 2.0 * PADDING);
    let fitted = |text: &str, size, weight: Weight| weight.cut(text, size, width);
    pen.text(left, area.y + 42.0, Style::new(24.0, INK).bold(), &fitted(&workload.title, 24.0, Weight::SemiBold));
    let figures = match &workload.figures {
        Ok(figures) => figures,
        Err(outcome) => {
            pen.text(left, area.y + 110.0, Style::new(38.0, TROUBLE).bold(), "No result");
            let sentence = fitted(&format!("It {outcome}."), 20.0, Weight::Regular);
            pen.text(left, area.y + 146.0, Style::new(20.0, SOFT), &sentence);
            return;
        }
    };
    let foot = area.y + area.height - FACTS;
    let middle = Area { x: left, y: area.y + 58.0, width, height: foot - area.y - 58.0 };
    rate(pen, middle, figures, &workload.curve);
    facts(pen, Area { x: left, y: foot, width, height: FACTS }, figures);
}

/// Draws the rate as large as possible, and the curve to its right, below it or nowhere, depending on the space.
fn rate(pen: &mut Pen, area: Area, figures: &CardFigures, curve: &[(f64, f64)]) {
    let beside = area.width > 700.0;
    let size = if beside { 92.0_f32 } else { 56.0 }.min(area.height - 16.0);
    let below = area.height - size - 24.0;
    let beneath = !beside && below > 28.0;
    // Capitals and digits have a height of 0.73 times the font size.
    let base = if beneath { area.y + 10.0 + 0.73 * size } else { area.y + (area.height + 0.73 * size) / 2.0 };
    pen.text(area.x, base, Style::new(size, INK).bold(), &figures.rate);
    let unit = area.x + Weight::SemiBold.width(&figures.rate, size) + 14.0;
    let style = Style::new(22.0, SOFT);
    pen.text(unit, if figures.within.is_some() { base - 27.0 } else { base }, style, "samples/s");
    if let Some(within) = &figures.within {
        pen.text(unit, base, style, within);
    }
    if beside {
        let x = unit + Weight::Regular.width("samples/s", style.size) + 36.0;
        sparkline(pen, Area { x, y: area.y, width: area.right() - x, height: area.height - 22.0 }, curve);
    } else if beneath {
        let y = base + 20.0;
        sparkline(pen, Area { y, height: area.y + area.height - 14.0 - y, ..area }, curve);
    }
}

/// Returns the points of a loss over time within an area, or none if the curve is too short to be drawn.
fn place_curve(area: Area, curve: &[(f64, f64)]) -> Vec<(f32, f32)> {
    let most = |of: fn(&(f64, f64)) -> f64| curve.iter().map(of).fold(0.0, f64::max);
    let (seconds, loss) = (most(|point| point.0), most(|point| point.1));
    if curve.len() < 3 || seconds <= 0.0 || loss <= 0.0 {
        return Vec::new();
    }
    #[expect(clippy::cast_possible_truncation, reason = "pixels of a card")]
    let place = |(x, y): &(f64, f64)| {
        let (x, y) = ((x / seconds) as f32, (y.max(0.0) / loss) as f32);
        (area.x + x * area.width, area.y + (1.0 - y) * area.height)
    };
    curve.iter().map(place).collect()
}

/// Returns the path of a loss over time in a rectangle of this size, as in an SVG; empty if the curve is too short to be
/// drawn.
pub fn curve_path(curve: &[(f64, f64)], (width, height): (f32, f32)) -> String {
    path(&place_curve(Area { x: 0.0, y: 0.0, width, height }, curve))
}

fn sparkline(pen: &mut Pen, area: Area, curve: &[(f64, f64)]) {
    // The dot of the last point stays inside.
    let points = place_curve(Area { width: area.width - 7.0, ..area }, curve);
    if points.is_empty() || area.width < 90.0 {
        return;
    }
    pen.below(&points, area.y + area.height, WASH);
    pen.line(&points, 3.5, ACCENT);
    if let Some(last) = points.last() {
        pen.dot(*last, 6.0, GLOW);
    }
    pen.text(area.right(), area.y + 14.0, Style::new(17.0, SOFT).right(), "training loss");
}

fn facts(pen: &mut Pen, area: Area, figures: &CardFigures) {
    pen.line(&[(area.x, area.y), (area.right(), area.y)], 1.5, EDGE);
    let [time, target] = figures.target_in_words();
    let target = if target.is_empty() { "no target".to_owned() } else { target };
    let sustained = if figures.sustained { "sustained" } else { "not sustained" };
    let kept = figures.kept.as_deref().map(|kept| (kept, sustained.to_owned()));
    let result = match &figures.result {
        CardResult::Accuracy(accuracy) => (accuracy.as_str(), "accuracy".to_owned()),
        CardResult::Loss { loss, bits: None } => (loss.as_str(), "loss".to_owned()),
        CardResult::Loss { loss, bits: Some(bits) } => (loss.as_str(), format!("loss ({bits} bits)")),
    };
    let facts = [Some(result), Some((time.as_str(), target)), kept];
    let mut x = area.x;
    for ((figure, label), share) in facts.into_iter().flatten().zip([0.34, 0.33, 0.33]) {
        pen.text(x, area.y + 38.0, Style::new(24.0, INK).bold(), figure);
        pen.text(x, area.y + 63.0, Style::new(18.0, SOFT), &label);
        x += share * area.width;
    }
}

/// The right end of a column, from the left of its table, and its content.
struct CardColumn {
    end: f32,
    head: &'static str,
    figure: fn(&CardFigures) -> String,
    colour: &'static str,
}

const RATE: fn(&CardFigures) -> String = |figures| figures.rate.clone();
const WITHIN: fn(&CardFigures) -> String = |figures| figures.within.clone().unwrap_or_default();
const RESULT: fn(&CardFigures) -> String = |figures| match &figures.result {
    CardResult::Accuracy(accuracy) => accuracy.clone(),
    CardResult::Loss { loss, .. } => format!("loss {loss}"),
};
const TO_TARGET: fn(&CardFigures) -> String = |figures| figures.target_in_words()[0].clone();
const TARGET: fn(&CardFigures) -> String = |figures| figures.target_in_words()[1].clone();
const KEPT: fn(&CardFigures) -> String = |figures| figures.kept.clone().unwrap_or_default();

struct TableForm {
    columns: &'static [CardColumn],
    padding: f32,
    /// Right end of the longest name.
    name_end: f32,
    head_size: f32,
    sizes: (f32, f32),
}

/// Layout over the whole width.
const WIDE: TableForm = TableForm {
    columns: &[
        CardColumn { end: 475.0, head: "samples/s", figure: RATE, colour: INK },
        CardColumn { end: 575.0, head: "", figure: WITHIN, colour: SOFT },
        CardColumn { end: 690.0, head: "accuracy", figure: RESULT, colour: INK },
        CardColumn { end: 815.0, head: "", figure: TO_TARGET, colour: INK },
        CardColumn { end: 905.0, head: "time to target", figure: TARGET, colour: SOFT },
        CardColumn { end: 1060.0, head: "pace kept", figure: KEPT, colour: INK },
    ],
    padding: PADDING,
    name_end: 365.0,
    head_size: 18.0,
    sizes: (17.0, 20.0),
};

/// Layout of one of two columns.
const NARROW: TableForm = TableForm {
    columns: &[
        CardColumn { end: 350.0, head: "samples/s", figure: RATE, colour: INK },
        CardColumn { end: 430.0, head: "accuracy", figure: RESULT, colour: INK },
        CardColumn { end: 522.0, head: "to target", figure: TO_TARGET, colour: INK },
    ],
    padding: 34.0,
    name_end: 280.0,
    head_size: 14.0,
    sizes: (13.0, 15.0),
};

/// Draws workloads with their metrics in columns, a dot before sustained ones, and an optional line of text below.
fn table(pen: &mut Pen, area: Area, (workloads, lines): (&[CardWorkload], usize), form: &TableForm, last: &str) {
    let head = 42.0;
    let lines = lines as f32;
    let height = ((area.height - head - 12.0) / lines).min(80.0);
    let size = (0.48 * height).clamp(form.sizes.0, form.sizes.1);
    let style = Style::new(form.head_size, SOFT);
    let (left, y) = (area.x + form.padding, area.y + 28.0);
    pen.dot((left - 12.0, y - 0.36 * style.size), 4.0, SUSTAINED);
    pen.text(left, y, style, "sustained");
    for column in form.columns {
        pen.text(area.x + column.end, y, style.right(), column.head);
    }
    let mut top = area.y + head;
    for workload in workloads {
        table_line(pen, Area { y: top, height, ..area }, size, form, workload);
        top += height;
    }
    if !last.is_empty() {
        pen.text(left, top + height / 2.0 + 0.36 * size, Style::new(size, SOFT), last);
    }
}

fn table_line(pen: &mut Pen, area: Area, size: f32, form: &TableForm, workload: &CardWorkload) {
    let (left, end) = (area.x + form.padding, area.x + form.columns.last().map_or(0.0, |column| column.end));
    pen.line(&[(left, area.y), (end, area.y)], 1.0, EDGE);
    let base = area.y + area.height / 2.0 + 0.36 * size;
    let name = Weight::SemiBold.cut(&workload.title, size, form.name_end - form.padding);
    pen.text(left, base, Style::new(size, INK).bold(), &name);
    match &workload.figures {
        Ok(figures) => {
            if figures.sustained {
                pen.dot((left - 12.0, base - 0.36 * size), 4.0, SUSTAINED);
            }
            for column in form.columns {
                let style = Style::new(size, column.colour).right();
                pen.text(area.x + column.end, base, style, &(column.figure)(figures));
            }
        }
        Err(outcome) => {
            let outcome = Weight::Regular.cut(outcome, size, end - area.x - form.name_end);
            pen.text(end, base, Style::new(size, TROUBLE).right(), &outcome);
        }
    }
}
