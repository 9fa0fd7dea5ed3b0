//! How series look: each has a colour, dashes and a mark of its own, so that none is told by its colour alone.

use maud::{Markup, html};

use super::Look;

/// How many colours there are; the style sheet has one variable for each.
const COLOURS: usize = 8;
const DASHES: [&str; COLOURS] = ["none", "7 3", "2 3", "9 3 2 3", "5 2", "12 4", "1 2", "3 3 9 3"];
const MARKS: [Shape; COLOURS] = [
    Shape::Circle,
    Shape::Square,
    Shape::Triangle,
    Shape::Diamond,
    Shape::Cross,
    Shape::Plus,
    Shape::Down,
    Shape::Star,
];

/// How many parts of a bar have a pattern of their own.
pub(crate) const PARTS: usize = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Circle,
    Square,
    Triangle,
    Diamond,
    Cross,
    Plus,
    Down,
    Star,
}

/// The class that gives a look its colour.
pub(super) fn class(look: Look) -> String {
    match look {
        Look::Line(number) | Look::Marked(number) | Look::Marks(number) => format!("c{}", number % COLOURS),
        Look::Published(_) => "published".to_owned(),
        Look::Ideal => "ideal".to_owned(),
    }
}

/// Numbers that have the same colour differ in dashes and marks.
fn turned(number: usize) -> usize {
    (number + number / COLOURS) % COLOURS
}

pub(super) fn dashes(look: Look) -> &'static str {
    match look {
        Look::Line(number) | Look::Marked(number) | Look::Marks(number) => DASHES[turned(number)],
        Look::Published(_) => "none",
        Look::Ideal => "3 4",
    }
}

pub(super) fn has_line(look: Look) -> bool {
    matches!(look, Look::Line(_) | Look::Marked(_) | Look::Ideal)
}

/// The mark of a look at a place; nothing where it has none.
pub(super) fn mark(look: Look, x: f64, y: f64) -> Option<Markup> {
    let (number, size) = match look {
        Look::Line(_) | Look::Ideal => return None,
        Look::Marked(number) | Look::Marks(number) => (number, 4.0),
        Look::Published(number) => (number, 5.0),
    };
    Some(html! { path class="mark" d=(outline(MARKS[turned(number)], size, x, y)) {} })
}

fn outline(shape: Shape, r: f64, x: f64, y: f64) -> String {
    let polygon = |corners: &[(f64, f64)]| {
        let mut path = String::new();
        for (number, (dx, dy)) in corners.iter().enumerate() {
            let command = if number == 0 { 'M' } else { 'L' };
            path.push_str(&format!("{command}{:.1} {:.1}", x + dx * r, y + dy * r));
        }
        path + "Z"
    };
    match shape {
        Shape::Circle => {
            format!("M{:.1} {y:.1}a{r} {r} 0 1 0 {:.1} 0a{r} {r} 0 1 0 {:.1} 0Z", x - r, 2.0 * r, -2.0 * r)
        }
        Shape::Square => polygon(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
        Shape::Triangle => polygon(&[(0.0, -1.15), (1.1, 0.85), (-1.1, 0.85)]),
        Shape::Down => polygon(&[(0.0, 1.15), (1.1, -0.85), (-1.1, -0.85)]),
        Shape::Diamond => polygon(&[(0.0, -1.3), (1.1, 0.0), (0.0, 1.3), (-1.1, 0.0)]),
        Shape::Plus => {
            let (thin, long) = (0.38, 1.2);
            polygon(&[
                (-thin, -long),
                (thin, -long),
                (thin, -thin),
                (long, -thin),
                (long, thin),
                (thin, thin),
                (thin, long),
                (-thin, long),
                (-thin, thin),
                (-long, thin),
                (-long, -thin),
                (-thin, -thin),
            ])
        }
        Shape::Cross => {
            let (near, far) = (0.5, 1.1);
            polygon(&[
                (0.0, -near),
                (near, -far),
                (far, -near),
                (near, 0.0),
                (far, near),
                (near, far),
                (0.0, near),
                (-near, far),
                (-far, near),
                (-near, 0.0),
                (-far, -near),
                (-near, -far),
            ])
        }
        Shape::Star => {
            let corner = |number: u32| {
                let radius = if number.is_multiple_of(2) { 1.35 } else { 0.55 };
                let angle = std::f64::consts::PI * (f64::from(number) / 5.0 - 0.5);
                (radius * angle.cos(), radius * angle.sin())
            };
            polygon(&(0..10).map(corner).collect::<Vec<_>>())
        }
    }
}

/// Patterns of lines over the colours of parts; their names begin with that of the drawing.
pub(super) fn patterns(figure: &str) -> Markup {
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

/// The name of a pattern.
pub(super) fn pattern(figure: &str, number: usize) -> String {
    format!("{figure}-part{}", number % PARTS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_two_of_the_first_sixty_four_look_alike_even_without_their_colour_repeating() {
        let looks: BTreeSet<(String, &str)> =
            (0..64).map(|number| (class(Look::Marked(number)), dashes(Look::Marked(number)))).collect();
        assert_eq!(looks.len(), 64);
        let in_grey: BTreeSet<&str> = (0..8).map(|number| dashes(Look::Line(number))).collect();
        assert_eq!(in_grey.len(), 8);
    }

    #[test]
    fn every_mark_is_a_closed_outline_around_its_place() {
        for shape in MARKS {
            let path = outline(shape, 4.0, 100.0, 50.0);
            assert!(path.starts_with('M') && path.ends_with('Z'), "{shape:?}: {path}");
        }
        assert!(mark(Look::Line(0), 0.0, 0.0).is_none());
    }
}
