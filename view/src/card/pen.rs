//! SVG output: shapes, and text with the same width in every font as in ours.

use maud::{Markup, PreEscaped, html};
use skrifa::instance::{LocationRef, Size};
use skrifa::{FontRef, MetadataProvider};

/// Our font comes first. In other fonts, text is stretched to the same width.
const FAMILIES: &str = "Inter,system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans',sans-serif";

/// Shapes of the logo (`app/icon.svg`), in a square of 32 pixels.
pub const LOGO: &str = "<rect width=\"32\" height=\"32\" rx=\"8\" fill=\"#2742d6\"/>\
    <path d=\"M7 7.5C9.5 20.5 14 23 25 24\" fill=\"none\" stroke=\"#fff\" stroke-width=\"3\" stroke-linecap=\"round\"/>\
    <circle cx=\"25\" cy=\"24\" r=\"2.8\" fill=\"#ffb454\"/>";

/// The program that draws the letters of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Letters {
    /// The server with our font, with boxes for missing letters.
    OfOurFont,
    /// The reader's program with its own fonts.
    Any,
}

#[derive(Clone, Copy)]
pub(super) struct Style {
    pub(super) size: f32,
    pub(super) weight: Weight,
    pub(super) colour: &'static str,
    /// True if the text ends at its position.
    pub(super) is_right: bool,
}

impl Style {
    pub(super) fn new(size: f32, colour: &'static str) -> Self {
        Self { size, weight: Weight::Regular, colour, is_right: false }
    }

    pub(super) fn bold(self) -> Self {
        Self { weight: Weight::SemiBold, ..self }
    }

    pub(super) fn right(self) -> Self {
        Self { is_right: true, ..self }
    }
}

/// A rectangle by its top left corner and size, in pixels.
#[derive(Clone, Copy)]
pub(super) struct Area {
    pub(super) x: f32,
    pub(super) y: f32,
    pub(super) width: f32,
    pub(super) height: f32,
}

impl Area {
    pub(super) fn right(self) -> f32 {
        self.x + self.width
    }
}

pub(super) struct Pen {
    letters: Letters,
    elements: String,
    /// True if a letter was drawn as a box.
    pub(super) boxed: bool,
}

impl Pen {
    pub(super) fn new(letters: Letters) -> Self {
        Self { letters, elements: String::new(), boxed: false }
    }

    /// Returns a text as it will be drawn.
    pub(super) fn drawable(&mut self, text: &str) -> String {
        if self.letters == Letters::Any || has_all(text) {
            return text.to_owned();
        }
        self.boxed = true;
        with_boxes(text)
    }

    /// Draws a line of text that starts or ends at `x`, on the base line `y`.
    pub(super) fn text(&mut self, x: f32, y: f32, style: Style, text: &str) {
        let text = self.drawable(text);
        let Style { size, weight, colour, is_right } = style;
        // The width of letters that our font lacks is unknown.
        let length = has_all(&text).then(|| n(weight.width(&text, size)));
        let adjust = length.as_ref().map(|_| "spacingAndGlyphs");
        self.put(html! {
            text x=(n(x)) y=(n(y)) font-size=(size) font-weight=(weight as u16) fill=(colour)
                text-anchor=[is_right.then_some("end")] textLength=[length] lengthAdjust=[adjust] { (text) }
        });
    }

    /// Draws a rectangle. An edge is a stroke of 1.5 pixels.
    pub(super) fn area(&mut self, area: Area, radius: f32, fill: &str, edge: Option<&str>) {
        let Area { x, y, width, height } = area;
        self.put(html! {
            rect x=(n(x)) y=(n(y)) width=(n(width)) height=(n(height)) rx=(n(radius)) fill=(fill)
                stroke=[edge] stroke-width=[edge.map(|_| "1.5")] {}
        });
    }

    pub(super) fn dot(&mut self, (x, y): (f32, f32), radius: f32, fill: &str) {
        self.put(html! { circle cx=(n(x)) cy=(n(y)) r=(n(radius)) fill=(fill) {} });
    }

    pub(super) fn line(&mut self, points: &[(f32, f32)], width: f32, colour: &str) {
        self.put(html! {
            path d=(path(points)) fill="none" stroke=(colour) stroke-width=(width) stroke-linecap="round"
                stroke-linejoin="round" {}
        });
    }

    pub(super) fn below(&mut self, points: &[(f32, f32)], floor: f32, fill: &str) {
        let (Some(first), Some(last)) = (points.first(), points.last()) else { return };
        let outline = [points, &[(last.0, floor), (first.0, floor)]].concat();
        self.put(html! { path d={ (path(&outline)) "Z" } fill=(fill) {} });
    }

    pub(super) fn put(&mut self, element: Markup) {
        self.elements += &element.into_string();
    }

    /// Returns the SVG document of this size.
    pub(super) fn finish(self, (width, height): (u32, u32), title: &str) -> String {
        let view_box = format!("0 0 {width} {height}");
        html! {
            svg xmlns="http://www.w3.org/2000/svg" width=(width) height=(height) viewBox=(view_box) role="img" aria-label=(title) {
                title { (title) }
                g font-family=(FAMILIES) { (PreEscaped(self.elements)) }
            }
        }
        .into_string()
    }
}

/// Formats a coordinate with one decimal.
fn n(value: f32) -> String {
    format!("{value:.1}")
}

pub(super) fn path(points: &[(f32, f32)]) -> String {
    crate::chart::path(points.iter().map(|&(x, y)| (x.into(), y.into())))
}

pub const REGULAR: &[u8] = include_bytes!("font/Inter-Regular.ttf");
pub const SEMI_BOLD: &[u8] = include_bytes!("font/Inter-SemiBold.ttf");

/// Replacement for a letter that the font lacks.
pub(super) const BOX: char = '□';

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weight {
    Regular = 400,
    SemiBold = 600,
}

impl Weight {
    fn font(self) -> FontRef<'static> {
        let bytes = if self == Self::Regular { REGULAR } else { SEMI_BOLD };
        FontRef::new(bytes).expect("the font is checked in")
    }

    /// Returns the width of a text in pixels, with estimates for letters that the font lacks.
    pub(super) fn width(self, text: &str, size: f32) -> f32 {
        let font = self.font();
        let (letters, metrics) = (font.charmap(), font.glyph_metrics(Size::new(size), LocationRef::default()));
        let advance = |letter| letters.map(letter).and_then(|glyph| metrics.advance_width(glyph)).unwrap_or(size);
        text.chars().map(advance).sum()
    }

    /// Fits a text into a width at the largest of the sizes, or cuts it at the smallest.
    pub(super) fn fitted(self, text: &str, sizes: std::ops::RangeInclusive<u16>, width: f32) -> (String, f32) {
        let largest = sizes.clone().rev().map(f32::from).find(|size| self.width(text, *size) <= width);
        match largest {
            Some(size) => (text.to_owned(), size),
            None => {
                let size = f32::from(*sizes.start());
                (self.cut(text, size, width), size)
            }
        }
    }

    /// Returns the letters that fit into a width, with an ellipsis if some do not.
    pub(super) fn cut(self, text: &str, size: f32, width: f32) -> String {
        if self.width(text, size) <= width {
            return text.to_owned();
        }
        let room = width - self.width("…", size);
        let mut kept = String::new();
        let mut used = 0.0;
        for letter in text.chars() {
            used += self.width(letter.encode_utf8(&mut [0; 4]), size);
            if used > room {
                break;
            }
            kept.push(letter);
        }
        format!("{}…", kept.trim_end())
    }
}

fn has_all(text: &str) -> bool {
    with_boxes(text) == text
}

/// Returns a text with a box for each letter that the font lacks.
fn with_boxes(text: &str) -> String {
    let font = Weight::Regular.font();
    let letters = font.charmap();
    text.chars().map(|letter| if letters.map(letter).is_some() { letter } else { BOX }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_that_the_font_lacks_become_boxes() {
        let drawn = "NVIDIA GeForce RTX 4090 – ±1.4 %, “é ß Ł ő Ω Ж” … × · → − ≥ ™ □";
        assert_eq!(["显卡 4090 🚀", "Ärger", drawn].map(with_boxes), ["□□ 4090 □", "Ärger", drawn]);
    }

    #[test]
    fn figures_have_one_width() {
        for weight in [Weight::Regular, Weight::SemiBold] {
            assert!((weight.width("1111", 20.0) - weight.width("8906", 20.0)).abs() < 1e-3);
        }
    }

    #[test]
    fn a_long_name_becomes_smaller_and_then_shorter() {
        let fit = |text: &str| Weight::SemiBold.fitted(text, 30..=60, 1000.0);
        assert_eq!(fit("RTX 4090"), ("RTX 4090".to_owned(), 60.0));
        let (text, size) = fit(&"NVIDIA ".repeat(6));
        assert_eq!(text, "NVIDIA ".repeat(6));
        assert!((30.0..60.0).contains(&size), "{size}");
        let (text, size) = fit(&"NVIDIA ".repeat(60));
        assert!(text.ends_with('…') && text.len() > 50 && size == 30.0, "{text} {size}");
        assert!(Weight::SemiBold.width(&text, size) <= 1000.0);
    }
}
