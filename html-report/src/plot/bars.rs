//! Bars, stacked by parts.

use maud::{Markup, html};

use super::legend::{self, Entry};
use super::style::{pattern, patterns};
use super::{PARTS, WIDTH};
use crate::csv::{Sheet, Value};

const ROW: f64 = 40.0;
const BAR: f64 = 15.0;
/// Right of the longest bar, for its value.
const ROOM: f64 = 96.0;
/// Letters that fit above a bar.
const MOST_LETTERS: usize = 66;

/// A bar for each row, from left to right.
#[derive(Clone, Debug)]
pub(crate) struct Bars {
    pub(crate) title: String,
    pub(crate) note: String,
    /// Names of the parts, with their unit in the table.
    pub(crate) parts: Vec<String>,
    pub(crate) unit: String,
    /// How a sum is shown.
    pub(crate) show: fn(f64) -> String,
    pub(crate) rows: Vec<Bar>,
}

#[derive(Clone, Debug)]
pub(crate) struct Bar {
    pub(crate) name: String,
    /// For each part; absent where it did not happen.
    pub(crate) values: Vec<Option<f64>>,
}

impl Bar {
    fn sum(&self) -> f64 {
        self.values.iter().flatten().sum()
    }
}

impl Bars {
    /// Whether there is anything to draw.
    pub(crate) fn has_values(&self) -> bool {
        self.rows.iter().any(|row| row.sum() > 0.0)
    }

    pub(super) fn description(&self) -> String {
        let row = |row: &Bar| format!("{}: {}", row.name, (self.show)(row.sum()));
        let rows: Vec<String> = self.rows.iter().map(row).collect();
        let parts = if self.parts.len() > 1 { format!(" in parts ({})", self.parts.join(", ")) } else { String::new() };
        format!("Bars{parts}. {}. All values are in the table below the drawing.", rows.join("; "))
    }

    pub(super) fn sheet(&self) -> Sheet {
        let names = self.parts.iter().map(|part| format!("{part}, {}", self.unit));
        let row = |row: &Bar| {
            let values = row.values.iter().map(|value| Value::from(*value));
            [Value::from(row.name.as_str())].into_iter().chain(values).collect()
        };
        Sheet {
            columns: ["group".to_owned()].into_iter().chain(names).collect(),
            rows: self.rows.iter().map(row).collect(),
        }
    }
}

/// The drawing; `id` is that of its figure.
pub(crate) fn draw(bars: &Bars, id: &str, description: &str) -> Markup {
    let longest = bars.rows.iter().map(Bar::sum).fold(f64::MIN_POSITIVE, f64::max);
    let scale = (WIDTH - ROOM) / longest;
    let names: Vec<&str> = bars.parts.iter().map(String::as_str).collect();
    let legend_top = bars.rows.len() as f64 * ROW + 6.0;
    let has_legend = bars.parts.len() > 1;
    let height = if has_legend { legend_top + legend::height(&names) } else { legend_top };
    let (title_id, description_id) = (format!("{id}-title"), format!("{id}-description"));
    html! {
        svg role="img" viewBox=(format!("0 0 {WIDTH} {height}")) aria-labelledby=(title_id) aria-describedby=(description_id) {
            title id=(title_id) { (bars.title) }
            desc id=(description_id) { (description) }
            (patterns(id))
            @for (number, row) in bars.rows.iter().enumerate() {
                @let top = number as f64 * ROW;
                text class="name" x="0" y=(format!("{:.1}", top + 14.0)) { (cut(&row.name)) title { (row.name) } }
                @for (part, x, width) in segments(row, scale) {
                    rect x=(format!("{x:.1}")) y=(format!("{:.1}", top + 20.0)) width=(format!("{width:.1}")) height=(BAR)
                        fill=(format!("url(#{})", pattern(id, part))) class="bar" {
                        @if has_legend { title { (bars.parts[part]) ": " ((bars.show)(row.values[part].unwrap_or(0.0))) } }
                    }
                }
                text class="tick" x=(format!("{:.1}", row.sum() * scale + 6.0)) y=(format!("{:.1}", top + 32.0)) { ((bars.show)(row.sum())) }
            }
            @if has_legend { (legend::rows(&entries(bars, id), legend_top)) }
        }
    }
}

/// Each part of a bar with its beginning and its width.
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

fn entries(bars: &Bars, id: &str) -> Vec<Entry> {
    let entry = |(number, name): (usize, &String)| Entry {
        name: name.clone(),
        class: format!("c{}", number % PARTS),
        sample: html! { rect class="bar" y="-7" width="26" height="13" fill=(format!("url(#{})", pattern(id, number))) {} },
    };
    bars.parts.iter().enumerate().map(entry).collect()
}

fn cut(name: &str) -> String {
    if name.chars().count() <= MOST_LETTERS {
        name.to_owned()
    } else {
        name.chars().take(MOST_LETTERS - 1).chain(['…']).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bars() -> Bars {
        Bars {
            title: "Cold starts".to_owned(),
            note: String::new(),
            parts: vec!["building".to_owned(), "tuning".to_owned()],
            unit: "seconds".to_owned(),
            show: crate::text::seconds,
            rows: vec![
                Bar { name: "<wgsl>".to_owned(), values: vec![Some(1.0), None] },
                Bar { name: "burn".to_owned(), values: vec![Some(1.0), Some(3.0)] },
            ],
        }
    }

    #[test]
    fn the_longest_bar_fills_the_width_and_parts_follow_each_other() {
        let bars = bars();
        let scale = (WIDTH - ROOM) / 4.0;
        assert_eq!(segments(&bars.rows[1], scale), [(0, 0.0, scale), (1, scale, 3.0 * scale)]);
        assert_eq!(segments(&bars.rows[0], scale).len(), 1);
    }

    #[test]
    fn bars_are_words_a_table_and_a_drawing_in_which_names_are_escaped() {
        assert!(bars().description().contains("burn: 4.000 s"));
        assert_eq!(bars().sheet().csv(), "group,\"building, seconds\",\"tuning, seconds\"\n<wgsl>,1,\nburn,1,3\n");
        let svg = draw(&bars(), "f", "").into_string();
        assert!(svg.contains("&lt;wgsl&gt;") && !svg.contains("<wgsl>"), "{svg}");
    }
}
