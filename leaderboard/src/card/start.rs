//! Share card of the start page: its headline, and a falling loss curve.

use super::layout::{ACCENT, GLOW, GROUND, INK, MARGIN, SIZE, SOFT, WASH};
use super::pen::{Area, Letters, Pen, Style};

/// Top and bottom of the curve, and its number of segments.
const TOP: f32 = 424.0;
const BOTTOM: f32 = 574.0;
const SEGMENTS: u16 = 120;

pub(super) fn svg() -> String {
    let mut pen = Pen::new(Letters::OfOurFont, SIZE, "Gradmark: How fast does your GPU learn?");
    pen.area(Area { x: 0.0, y: 0.0, width: 1200.0, height: 630.0 }, 0.0, GROUND, None);
    let points: Vec<(f32, f32)> = (0..=SEGMENTS).map(|step| point(f32::from(step) / f32::from(SEGMENTS))).collect();
    pen.below(&points, 630.0, WASH);
    pen.line(&points, 7.0, ACCENT);
    if let Some(last) = points.last() {
        pen.dot(*last, 15.0, GLOW);
    }
    pen.mark(MARGIN, 52.0, 60.0);
    pen.text(MARGIN + 80.0, 96.0, Style::new(42.0, INK).bold(), "Gradmark");
    let question = Style::new(96.0, INK).bold();
    pen.text(MARGIN, 224.0, question, "How fast does");
    pen.text(MARGIN, 328.0, question, "your GPU learn?");
    let answer = "One click trains real neural networks in the browser.";
    pen.text(MARGIN, 388.0, Style::new(30.0, SOFT), answer);
    pen.finish()
}

/// Returns a point of a loss curve that falls quickly at first, with decreasing noise.
fn point(share: f32) -> (f32, f32) {
    let noise = 9.0 * (-3.0 * share).exp() * ((47.0 * share).sin() + (113.0 * share).sin());
    (share * (1200.0 - MARGIN), BOTTOM - (BOTTOM - TOP) * (-4.5 * share).exp() + noise * share.min(0.1) * 10.0)
}
