//! Where everything stands on a card.

use super::panels;
use super::pen::{Area, Letters, Pen, Style};
use super::typeface::{BOX, Weight};
use super::words::{Card, Device};
use crate::badge::colour;

/// What previews of links are made for.
pub(crate) const SIZE: (u32, u32) = (1200, 630);

const GROUND: &str = "#f6f5f1";
pub(super) const SHEET: &str = "#ffffff";
pub(super) const EDGE: &str = "#dcdad2";
pub(super) const INK: &str = "#14171f";
pub(super) const SOFT: &str = "#545b68";
pub(super) const ACCENT: &str = "#2742d6";
pub(super) const WASH: &str = "#e9ecfd";
pub(super) const GLOW: &str = "#ffb454";
pub(super) const SUSTAINED: &str = "#2a7a2a";
pub(super) const TROUBLE: &str = "#b34700";

pub(super) const MARGIN: f32 = 56.0;
pub(super) const WIDTH: f32 = 1200.0 - 2.0 * MARGIN;
const RIGHT: f32 = 1200.0 - MARGIN;
const FOOT: f32 = 600.0;
/// The panels end here.
const PANELS_END: f32 = 566.0;

/// The card as SVG. What the picture's font lacks is drawn as boxes, and the foot says so.
pub(super) fn svg(card: &Card, letters: Letters) -> String {
    let mut pen = Pen::new(letters, SIZE, &format!("{}: {}", card.title(), card.description()));
    pen.area(Area { x: 0.0, y: 0.0, width: 1200.0, height: 630.0 }, 0.0, GROUND);
    pen.mark(MARGIN, 40.0, 44.0);
    pen.text(MARGIN + 58.0, 72.0, Style::new(30.0, INK).bold(), "Gradmark");
    tier(&mut pen, card);
    let top = head(&mut pen, card);
    let panels = Area { x: MARGIN, y: top, width: WIDTH, height: PANELS_END - top };
    panels::draw(&mut pen, panels, &card.workloads);
    foot(&mut pen, card);
    pen.finish()
}

/// The tier at the top right, in the badge's colour.
fn tier(pen: &mut Pen, card: &Card) {
    let words = card.tier_in_words();
    let style = Style::new(24.0, SHEET).bold();
    let width = Weight::SemiBold.width(&words, style.size) + 44.0;
    pen.area(Area { x: RIGHT - width, y: 40.0, width, height: 44.0 }, 22.0, colour(card.tier));
    pen.text(RIGHT - width + 22.0, 70.5, style, &words);
}

/// The device and what it computed with; returns where the panels begin.
fn head(pen: &mut Pen, card: &Card) -> f32 {
    let Device { lead, name, beside } = &card.device;
    let mut y = 98.0;
    if let Some(lead) = lead {
        pen.text(MARGIN, y + 30.0, Style::new(24.0, SOFT), lead);
        y += 28.0;
    }
    let name = pen.drawable(name);
    let unreadable = name.chars().all(|letter| letter == BOX || letter == ' ');
    let name = if unreadable { "A device with a name in other letters" } else { &name };
    let (name, size) = Weight::SemiBold.fitted(name, 34..=62, WIDTH);
    y += 12.0 + size;
    pen.text(MARGIN, y, Style::new(size, INK).bold(), &name);
    y += 41.0;
    let fits = |text: &str| Weight::Regular.cut(text, 23.0, WIDTH);
    pen.text(MARGIN, y, Style::new(23.0, SOFT), &fits(&card.how));
    let reason = card.reason.as_deref();
    for (line, colour) in
        beside.as_deref().map(|line| (line, SOFT)).into_iter().chain(reason.map(|line| (line, TROUBLE)))
    {
        y += 31.0;
        pen.text(MARGIN, y, Style::new(23.0, colour), &fits(line));
    }
    y + 28.0
}

fn foot(pen: &mut Pen, card: &Card) {
    let style = Style::new(18.0, SOFT);
    let right = format!("{} · run {}", card.date, card.run_id);
    let left = if pen.has_boxes() {
        "Some letters are not in this picture's font; the page of the result has them".to_owned()
    } else {
        card.suite.clone()
    };
    let room = WIDTH - Weight::Regular.width(&right, style.size) - 24.0;
    pen.text(MARGIN, FOOT, style, &Weight::Regular.cut(&left, style.size, room));
    pen.text(RIGHT, FOOT, style.right(), &right);
}
