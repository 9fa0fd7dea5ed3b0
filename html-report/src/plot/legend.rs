//! What a drawing's looks mean, below it.

use maud::{Markup, html};

use super::WIDTH;

/// Height of a row.
const ROW: f64 = 18.0;
/// Room for the sample before a name.
const SAMPLE: f64 = 34.0;
/// Room for a letter; digits are wider than the average one.
const LETTER: f64 = 6.6;
const GAP: f64 = 14.0;

/// A name with how it looks.
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) class: String,
    /// Drawn from (0, 0) to about (26, 0).
    pub(super) sample: Markup,
}

/// How high it is.
pub(super) fn height(names: &[&str]) -> f64 {
    names.len().div_ceil(columns(names)) as f64 * ROW
}

/// As many columns as the longest name allows.
fn columns(names: &[&str]) -> usize {
    let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).min(most_letters(1));
    let width = SAMPLE + longest as f64 * LETTER + GAP;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a handful")]
    let columns = (WIDTH / width).floor().max(1.0) as usize;
    columns.min(names.len().max(1))
}

/// How many letters fit into a column.
fn most_letters(columns: usize) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "fewer than a hundred")]
    let letters = ((WIDTH / columns as f64 - SAMPLE) / LETTER).floor().max(8.0) as usize;
    letters
}

/// The rows, from this height on.
pub(super) fn rows(entries: &[Entry], top: f64) -> Markup {
    let names: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
    let columns = columns(&names);
    let most = most_letters(columns);
    html! {
        @for (number, entry) in entries.iter().enumerate() {
            @let x = (number % columns) as f64 * WIDTH / columns as f64;
            @let y = top + ((number / columns) as f64 + 0.5) * ROW;
            g class=(entry.class) transform=(format!("translate({x:.1} {y:.1})")) {
                (entry.sample)
                text class="name" x=(SAMPLE) y="4" {
                    (cut(&entry.name, most))
                    @if entry.name.chars().count() > most { title { (entry.name) } }
                }
            }
        }
    }
}

fn cut(name: &str, most: usize) -> String {
    if name.chars().count() <= most { name.to_owned() } else { name.chars().take(most - 1).chain(['…']).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names_stand_beside_each_other_and_long_ones_below() {
        assert_eq!(height(&["a", "b", "c"]), ROW);
        let long = "a name of a group that fills more than half of the width";
        assert_eq!(height(&[long, long]), 2.0 * ROW);
        assert_eq!(cut(&"x".repeat(90), 10), format!("{}…", "x".repeat(9)));
    }
}
