//! Looks of series. Each has a color, dashes and a mark, so that color is never the only difference.

use maud::{Markup, html};

/// Look of a series, with its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// A line, or a dot instead of a single point.
    Line(usize),
    /// A line with a dot at its end.
    LineToDot(usize),
    /// A line with a mark at each point.
    Marked(usize),
    /// Marks without a line.
    Marks(usize),
    /// Hollow marks of published results.
    Published(usize),
    /// A thin line for comparison, such as ideal scaling.
    Ideal,
    /// Columns from zero, with their class.
    Columns(&'static str),
}

/// Number of colors; the style sheets have a class for each one.
const COLORS: usize = 8;
const DASHES: [&str; COLORS] = ["none", "7 3", "2 3", "9 3 2 3", "5 2", "12 4", "1 2", "3 3 9 3"];
/// Marks as closed outlines around the center: number of corners, turn of the first one, and the radii that the
/// corners alternate between.
const MARKS: [(u32, f64, &[f64]); COLORS] = [
    (12, 0.0, &[1.0]),
    (4, 0.125, &[1.27]),
    (3, -0.25, &[1.2]),
    (4, 0.0, &[1.3]),
    (8, 0.125, &[1.4, 0.5]),
    (8, 0.0, &[1.4, 0.5]),
    (3, 0.25, &[1.2]),
    (10, -0.25, &[1.35, 0.55]),
];

impl Look {
    pub(super) fn class(self) -> String {
        match self {
            Self::Line(number) | Self::LineToDot(number) | Self::Marked(number) | Self::Marks(number) => {
                format!("c{}", number % COLORS)
            }
            Self::Published(_) => "published".to_owned(),
            Self::Ideal => "ideal".to_owned(),
            Self::Columns(class) => class.to_owned(),
        }
    }

    /// Returns the dashes of the line, if there is one.
    fn dashes(self) -> Option<&'static str> {
        match self {
            Self::Line(number) | Self::LineToDot(number) | Self::Marked(number) => Some(DASHES[rotate_index(number)]),
            Self::Ideal => Some("3 4"),
            Self::Marks(_) | Self::Published(_) | Self::Columns(_) => None,
        }
    }

    pub(super) fn line(self, path: &str) -> Markup {
        html! { @if let Some(dashes) = self.dashes() { path class="line" stroke-dasharray=(dashes) d=(path) {} } }
    }

    /// Draws the mark of a point; nothing if the look has none.
    pub(super) fn mark(self, x: f64, y: f64) -> Markup {
        let (number, size) = match self {
            Self::Marked(number) | Self::Marks(number) => (number, 4.0),
            Self::Published(number) => (number, 5.0),
            Self::Line(_) | Self::LineToDot(_) | Self::Ideal | Self::Columns(_) => return html! {},
        };
        html! { path class="mark" d=(outline(MARKS[rotate_index(number)], size, x, y)) {} }
    }
}

/// Returns the index of dashes and marks, which differs between numbers with the same color.
fn rotate_index(number: usize) -> usize {
    (number + number / COLORS) % COLORS
}

/// Returns the path of straight lines through these points.
pub fn path(points: impl IntoIterator<Item = (f64, f64)>) -> String {
    let command = |(number, (x, y))| format!("{}{x:.1} {y:.1}", if number == 0 { 'M' } else { 'L' });
    points.into_iter().enumerate().map(command).collect()
}

fn outline((count, turn, radii): (u32, f64, &[f64]), size: f64, x: f64, y: f64) -> String {
    let corner = |(number, radius): (u32, &f64)| {
        let angle = std::f64::consts::TAU * (f64::from(number) / f64::from(count) + turn);
        (x + size * radius * angle.cos(), y + size * radius * angle.sin())
    };
    path((0..count).zip(radii.iter().cycle()).map(corner)) + "Z"
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn sixty_four_series_look_different() {
        let looks = (0..64).map(Look::Marked);
        assert_eq!(looks.map(|look| (look.class(), look.dashes())).collect::<BTreeSet<_>>().len(), 64);
        let in_grey: BTreeSet<_> = (0..8).map(|number| Look::Line(number).dashes()).collect();
        assert_eq!(in_grey.len(), 8);
    }
}
