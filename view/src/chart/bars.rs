//! Horizontal bars.

use maud::{Markup, html};

use super::draw::{LegendEntry, cut, legend, n};

const BAR_ROW: f64 = 40.0;
const BAR_HEIGHT: f64 = 15.0;
/// Space to the right of the longest bar, for its value.
const VALUE_WIDTH: f64 = 96.0;
/// Number of letters that fit above a bar.
const MAX_BAR_LETTERS: usize = 66;

/// Horizontal bars that are divided into parts.
#[derive(Clone, Debug)]
pub struct Bars {
    pub parts: Vec<String>,
    pub unit: String,
    /// Formats the sum of a bar.
    pub show: fn(f64) -> String,
    pub rows: Vec<Bar>,
}

#[derive(Clone, Debug)]
pub struct Bar {
    pub name: String,
    /// Value of each part; absent if the part did not occur.
    pub values: Vec<Option<f64>>,
}

impl Bar {
    pub fn sum(&self) -> f64 {
        self.values.iter().flatten().sum()
    }
}

impl Bars {
    pub(super) fn draw(&self, width: f64, id: &str) -> (f64, Markup) {
        let longest = self.rows.iter().map(Bar::sum).fold(f64::MIN_POSITIVE, f64::max);
        let scale = (width - VALUE_WIDTH) / longest;
        let top = self.rows.len() as f64 * BAR_ROW + 6.0;
        let has_legend = self.parts.len() > 1;
        let entries = if has_legend { self.entries(id) } else { Vec::new() };
        let (height, legend) = legend(&entries, width, top);
        let content = html! {
            (patterns(id))
            @for (number, row) in self.rows.iter().enumerate() {
                @let top = number as f64 * BAR_ROW;
                text class="name" x="0" y=(n(top + 14.0)) { (cut(&row.name, MAX_BAR_LETTERS)) title { (row.name) } }
                @for (part, x, width) in segments(row, scale) {
                    rect x=(n(x)) y=(n(top + 20.0)) width=(n(width)) height=(BAR_HEIGHT) class="bar"
                        fill=(format!("url(#{})", pattern(id, part))) {
                        @if has_legend { title { (self.parts[part]) ": " ((self.show)(row.values[part].unwrap_or(0.0))) } }
                    }
                }
                text class="tick" x=(n(row.sum() * scale + 6.0)) y=(n(top + 32.0)) { ((self.show)(row.sum())) }
            }
            (legend)
        };
        (height, content)
    }

    fn entries(&self, id: &str) -> Vec<LegendEntry> {
        let entry = |(number, name): (usize, &String)| LegendEntry {
            name: name.clone(),
            class: String::new(),
            sample: html! { rect class="bar" y="-7" width="26" height="13" fill=(format!("url(#{})", pattern(id, number))) {} },
        };
        self.parts.iter().enumerate().map(entry).collect()
    }
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

/// Number of patterns for the parts of a bar.
const PARTS: usize = 5;

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
    use super::*;

    #[test]
    fn bars_fill_the_width_with_their_parts() {
        let segments = |values: [Option<f64>; 2]| segments(&Bar { name: String::new(), values: values.to_vec() }, 5.0);
        assert_eq!(segments([Some(1.0), Some(3.0)]), [(0, 0.0, 5.0), (1, 5.0, 15.0)]);
        assert_eq!(segments([Some(1.0), None]), [(0, 0.0, 5.0)]);
    }
}
