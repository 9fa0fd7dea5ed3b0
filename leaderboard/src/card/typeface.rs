//! The font of cards: what it has, and how wide text in it is.

use skrifa::instance::{LocationRef, Size};
use skrifa::{FontRef, MetadataProvider};

pub(super) const REGULAR: &[u8] = include_bytes!("font/Inter-Regular.ttf");
pub(super) const SEMI_BOLD: &[u8] = include_bytes!("font/Inter-SemiBold.ttf");

/// Stands for a letter that the font lacks.
pub(super) const BOX: char = '□';

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weight {
    Regular,
    SemiBold,
}

impl Weight {
    fn font(self) -> FontRef<'static> {
        let bytes = match self {
            Self::Regular => REGULAR,
            Self::SemiBold => SEMI_BOLD,
        };
        FontRef::new(bytes).expect("the font is checked in")
    }

    /// As SVG counts it.
    pub(super) fn number(self) -> u16 {
        match self {
            Self::Regular => 400,
            Self::SemiBold => 600,
        }
    }

    /// How wide a text is at a size, in pixels; of letters that the font lacks, about how wide they are in another one.
    pub(super) fn width(self, text: &str, size: f32) -> f32 {
        let font = self.font();
        let (letters, metrics) = (font.charmap(), font.glyph_metrics(Size::new(size), LocationRef::default()));
        let advance = |letter| letters.map(letter).and_then(|glyph| metrics.advance_width(glyph)).unwrap_or(size);
        text.chars().map(advance).sum()
    }

    /// The text at the largest of the sizes at which it fits into a width; at the smallest it is cut.
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

    /// As many letters as fit into a width, with an ellipsis where some did not.
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

/// Whether the font has every letter of a text.
pub(super) fn has_all(text: &str) -> bool {
    let font = Weight::Regular.font();
    let letters = font.charmap();
    text.chars().all(|letter| letters.map(letter).is_some())
}

/// A text with a box for each letter that the font lacks.
pub(super) fn with_boxes(text: &str) -> String {
    let font = Weight::Regular.font();
    let letters = font.charmap();
    text.chars().map(|letter| if letters.map(letter).is_some() { letter } else { BOX }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_font_has_what_names_of_devices_and_our_own_words_are_written_in() {
        assert!(has_all("NVIDIA GeForce RTX 4090 – ±1.4 %, “é ß Ł ő Ω Ж” … × · → − ≥ ™ □"));
        assert!(!has_all("显"));
    }

    #[test]
    fn letters_that_the_font_lacks_become_boxes() {
        assert_eq!(with_boxes("显卡 4090 🚀"), "□□ 4090 □");
        assert_eq!(with_boxes("Ärger"), "Ärger");
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
