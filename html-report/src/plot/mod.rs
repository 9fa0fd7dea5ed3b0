//! Plots as data: what is drawn, and the same as a table.

pub(crate) mod bars;
pub(crate) mod draw;
mod legend;
mod scale;
mod style;

use crate::csv::{Sheet, Value};
pub(crate) use bars::{Bar, Bars};
use style::PARTS;

/// What a drawing is wide, in its own units; it shrinks and grows with the page.
pub(crate) const WIDTH: f64 = 460.0;

/// Something drawn, with its table.
#[derive(Clone, Debug)]
pub(crate) enum Figure {
    Plot(Plot),
    Bars(Bars),
}

/// Points over two axes.
#[derive(Clone, Debug)]
pub(crate) struct Plot {
    pub(crate) title: String,
    /// What else there is to know, below the title.
    pub(crate) note: String,
    pub(crate) x: Quantity,
    pub(crate) y: Quantity,
    pub(crate) series: Vec<Series>,
}

/// What an axis measures.
#[derive(Clone, Debug)]
pub(crate) struct Quantity {
    /// With its unit, as the axis shows it.
    pub(crate) name: String,
    pub(crate) extent: Extent,
    /// Whether values are shares, which are shown in percent.
    pub(crate) is_share: bool,
    /// Where marks are; empty where they are round numbers.
    pub(crate) marks: Vec<f64>,
}

/// Where an axis begins, and how it goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    FromZero,
    /// In decades where values span more than one; otherwise from zero.
    Decades,
    /// In decades where values span more than one; otherwise around the values.
    FittedDecades,
    /// For shares near 1: in decades of what is missing where that spans most of one; otherwise around the values.
    Errors,
}

/// Points that belong together.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) look: Look,
    /// Drawn alike; a seed each, for instance.
    pub(crate) strands: Vec<Strand>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// A line, in the colour and dashes of this number.
    Line(usize),
    /// A line with a mark at each point.
    Marked(usize),
    /// Marks alone.
    Marks(usize),
    /// Hollow marks of what others measured.
    Published(usize),
    /// What would be best.
    Ideal,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Strand {
    /// Such as `seed 1`; may be empty.
    pub(crate) name: String,
    pub(crate) points: Vec<Point>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
    /// How far it may be off, or how far seeds spread.
    pub(crate) range: Option<(f64, f64)>,
}

impl Point {
    pub(crate) fn new(x: f64, y: f64) -> Self {
        Self { x, y, range: None }
    }
}

impl Quantity {
    pub(crate) fn new(name: &str, extent: Extent) -> Self {
        Self { name: name.to_owned(), extent, is_share: false, marks: Vec::new() }
    }

    pub(crate) fn share(name: &str, extent: Extent) -> Self {
        Self { is_share: true, ..Self::new(name, extent) }
    }

    pub(crate) fn marked(self, mut marks: Vec<f64>) -> Self {
        marks.sort_by(f64::total_cmp);
        marks.dedup();
        Self { marks, ..self }
    }
}

impl Figure {
    pub(crate) fn title(&self) -> &str {
        match self {
            Self::Plot(plot) => &plot.title,
            Self::Bars(bars) => &bars.title,
        }
    }

    pub(crate) fn note(&self) -> &str {
        match self {
            Self::Plot(plot) => &plot.note,
            Self::Bars(bars) => &bars.note,
        }
    }

    /// For people who cannot see the drawing.
    pub(crate) fn description(&self) -> String {
        match self {
            Self::Plot(plot) => plot.description(),
            Self::Bars(bars) => bars.description(),
        }
    }

    /// Everything that is drawn, unrounded.
    pub(crate) fn sheet(&self) -> Sheet {
        match self {
            Self::Plot(plot) => plot.sheet(),
            Self::Bars(bars) => bars.sheet(),
        }
    }
}

impl Plot {
    /// Whether there is anything to draw.
    pub(crate) fn has_points(&self) -> bool {
        self.points().next().is_some()
    }

    fn points(&self) -> impl Iterator<Item = &Point> {
        self.series.iter().flat_map(|series| &series.strands).flat_map(|strand| &strand.points)
    }

    fn description(&self) -> String {
        let of_series = |series: &Series| {
            let points: Vec<&Point> = series.strands.iter().flat_map(|strand| &strand.points).collect();
            let ends = |value: fn(&Point) -> f64, of: &Quantity| {
                let values = points.iter().map(|point| value(point));
                let low = values.clone().fold(f64::INFINITY, f64::min);
                let high = values.fold(f64::NEG_INFINITY, f64::max);
                if low == high { shown(low, of) } else { format!("{} to {}", shown(low, of), shown(high, of)) }
            };
            let whose = if matches!(series.look, Look::Published(_)) { "published, " } else { "" };
            format!(
                "{whose}{}: {} over {}",
                series.name,
                ends(|point| point.y, &self.y),
                ends(|point| point.x, &self.x)
            )
        };
        let series: Vec<String> = self
            .series
            .iter()
            .filter(|series| series.strands.iter().any(|strand| !strand.points.is_empty()))
            .map(of_series)
            .collect();
        format!(
            "{} over {}. {}. All values are in the table below the drawing.",
            self.y.name,
            self.x.name,
            series.join("; ")
        )
    }

    fn sheet(&self) -> Sheet {
        let mut sheet = Sheet::new(&["series", "source", "part", &self.x.name, &self.y.name, "low", "high"]);
        for series in &self.series {
            let source = match series.look {
                Look::Published(_) => "published",
                Look::Ideal => "computed",
                Look::Line(_) | Look::Marked(_) | Look::Marks(_) => "measured here",
            };
            for strand in &series.strands {
                sheet.rows.extend(strand.points.iter().map(|point| {
                    vec![
                        Value::from(series.name.as_str()),
                        Value::from(source),
                        Value::from(strand.name.as_str()),
                        Value::Number(point.x),
                        Value::Number(point.y),
                        Value::from(point.range.map(|range| range.0)),
                        Value::from(point.range.map(|range| range.1)),
                    ]
                }));
            }
        }
        sheet
    }
}

/// A value as a sentence says it.
fn shown(value: f64, of: &Quantity) -> String {
    if of.is_share {
        crate::text::percent(value)
    } else {
        crate::text::trimmed(value, if value.abs() < 1.0 { 6 } else { 2 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot() -> Plot {
        let strand = |points: &[(f64, f64)]| Strand {
            name: "seed 1".to_owned(),
            points: points.iter().map(|&(x, y)| Point::new(x, y)).collect(),
        };
        Plot {
            title: "t".to_owned(),
            note: String::new(),
            x: Quantity::new("epochs", Extent::FromZero),
            y: Quantity::share("test accuracy", Extent::FittedDecades),
            series: vec![
                Series { name: "a".to_owned(), look: Look::Line(0), strands: vec![strand(&[(1.0, 0.5), (2.0, 0.75)])] },
                Series { name: "b".to_owned(), look: Look::Published(0), strands: vec![strand(&[(9.0, 0.99)])] },
            ],
        }
    }

    #[test]
    fn a_drawing_is_also_words_and_a_table() {
        let description = plot().description();
        assert!(description.contains("a: 50.00 % to 75.00 % over 1 to 2"), "{description}");
        assert!(description.contains("published, b: 99.00 % over 9"), "{description}");
        let sheet = plot().sheet();
        assert_eq!(sheet.rows.len(), 3);
        assert_eq!(sheet.rows[2][1], Value::from("published"));
        assert_eq!(sheet.columns[3], "epochs");
    }
}
