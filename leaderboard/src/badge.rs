//! A result as a badge: its text and its drawing.

use maud::html;
use results::api::Tier;
use results::badge::Badge;
use results::{Device, Outcome, WorkloadRecord, score_digits};
use view::card::colour;

use crate::devices::name::displayed;

/// Maximum length of a name. Longer names are cut, so that a badge fits into a line.
const NAME_CHARACTERS: usize = 40;
/// Approximate width of a letter in the badge's font, in pixels. `textLength` makes it exact for any font.
const LETTER_PIXELS: usize = 7;
const MARGIN_PIXELS: usize = 8;

pub(crate) fn of_score(device: &Device, score: f64, tier: Tier) -> Badge {
    made("Gradmark".to_owned(), device, &format!("{} GFLOP/s", score_digits(score)), tier)
}

pub(crate) fn of_workload(device: &Device, workload: &WorkloadRecord, tier: Tier) -> Badge {
    let speed = match (&workload.outcome, workload.summary.samples_per_second) {
        (Outcome::Completed, Some(speed)) => format!("{} samples/s", grouped(speed)),
        (Outcome::Completed, None) => "too short to measure".to_owned(),
        _ => "not completed".to_owned(),
    };
    made(format!("Gradmark {}", workload.workload), device, &speed, tier)
}

fn made(label: String, device: &Device, speed: &str, tier: Tier) -> Badge {
    let name = device.claimed().unwrap_or(&device.adapter.name);
    Badge {
        schema_version: 1,
        label,
        message: format!("{} · {speed} · {}", shown(name), tier.name()),
        color: colour(tier).to_owned(),
    }
}

/// Returns a name without characters that break the line or change the writing direction, cut if it is long.
fn shown(name: &str) -> String {
    let name = displayed(name);
    match name.char_indices().nth(NAME_CHARACTERS) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None if name.is_empty() => "unnamed device".to_owned(),
        None => name,
    }
}

pub(crate) fn grouped(number: f64) -> String {
    if number < 100.0 { format!("{number:.1}") } else { view::text::grouped(&format!("{number:.0}"), ',') }
}

/// Returns the badge as a picture. It uses only attributes, so that a policy against styles does not affect it.
pub(crate) fn svg(badge: &Badge) -> String {
    let (left, right) = (pixels(&badge.label), pixels(&badge.message));
    let (left_box, right_box) = (left + 2 * MARGIN_PIXELS, right + 2 * MARGIN_PIXELS);
    let (label, message) = (escaped(&badge.label), escaped(&badge.message));
    let width = left_box + right_box;
    let right_text = left_box + MARGIN_PIXELS;
    let colour = escaped(&badge.color);
    format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" role="img" aria-label="{label}: {message}">
<title>{label}: {message}</title>
<rect width="{left_box}" height="20" fill="#333333"/>
<rect x="{left_box}" width="{right_box}" height="20" fill="{colour}"/>
<g fill="#ffffff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
<text x="{MARGIN_PIXELS}" y="14" textLength="{left}" lengthAdjust="spacingAndGlyphs">{label}</text>
<text x="{right_text}" y="14" textLength="{right}" lengthAdjust="spacingAndGlyphs">{message}</text>
</g>
</svg>
"##
    )
}

/// Returns the estimated width. Characters of more than two bytes are about as wide as two letters.
fn pixels(text: &str) -> usize {
    text.chars().map(|character| if character.len_utf8() > 2 { 2 } else { 1 }).sum::<usize>() * LETTER_PIXELS
}

/// Escapes characters that could be taken for markup, between tags and in quoted attributes.
pub(crate) fn escaped(text: &str) -> String {
    html! { (text) }.into_string().replace('\'', "&#39;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_small_ones_have_a_decimal_place() {
        let shown = [0.25, 99.94, 100.0, 1234.4, 1_234_567.8].map(grouped);
        assert_eq!(shown, ["0.2", "99.9", "100", "1,234", "1,234,568"]);
    }

    #[test]
    fn a_name_stays_in_its_line_and_a_long_one_is_cut() {
        assert_eq!(shown("a\u{202e}b\nc\u{fffe}"), "ab c");
        assert_eq!(shown(" \u{7}"), "unnamed device");
        assert_eq!(shown(&"显".repeat(41)), format!("{}…", "显".repeat(40)));
    }
}
