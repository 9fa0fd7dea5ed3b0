//! Plots as data, with conversions to tables and descriptions.

use crate::report::group::{group_by_key, range_of};
use crate::table::{Sheet, SheetCell};
use crate::text::{percent, trimmed};

#[derive(Clone, Debug)]
pub(crate) struct Figure {
    pub(crate) title: String,
    /// Details below the title.
    pub(crate) note: String,
    pub(crate) drawing: Drawing,
}

#[derive(Clone, Debug)]
pub(crate) enum Drawing {
    Plot(Plot),
    Bars(Bars),
}

#[derive(Clone, Debug)]
pub(crate) struct Plot {
    pub(crate) x: AxisQuantity,
    pub(crate) y: AxisQuantity,
    pub(crate) series: Vec<Series>,
}

#[derive(Clone, Debug)]
pub(crate) struct AxisQuantity {
    /// Name with its unit.
    pub(crate) name: String,
    pub(crate) extent: Extent,
    /// True for shares, which are shown in percent.
    pub(crate) is_share: bool,
    /// Positions of marks; empty for automatic round numbers.
    pub(crate) marks: Vec<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    FromZero,
    /// Decades if values span more than one; otherwise from zero.
    Decades,
    /// Decades if values span more than one; otherwise around the values.
    FittedDecades,
    /// Decades of the distance to 1 if that spans most of a decade; otherwise around the values. For shares near 1.
    Errors,
}

#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) look: Look,
    /// Parts with the same look, for example one per seed.
    pub(crate) strands: Vec<Strand>,
}

/// Look of a series, with its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    Line(usize),
    /// A line with a mark at each point.
    Marked(usize),
    /// Marks without a line.
    Marks(usize),
    /// Hollow marks of published results.
    Published(usize),
    /// The line of ideal scaling.
    Ideal,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Strand {
    /// Name such as `seed 1`; may be empty.
    pub(crate) name: String,
    pub(crate) points: Vec<Point>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
    /// Interval, or range over seeds.
    pub(crate) range: Option<(f64, f64)>,
}

impl Strand {
    /// Creates the only strand of a series.
    pub(crate) fn of(points: Vec<Point>) -> Self {
        Self { name: String::new(), points }
    }
}

impl Point {
    pub(crate) fn new(x: f64, y: f64) -> Self {
        Self { x, y, range: None }
    }
}

impl AxisQuantity {
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
    pub(crate) fn of_plot(title: String, note: String, plot: Plot) -> Option<Self> {
        let has_points = plot.points().next().is_some();
        has_points.then_some(Self { title, note, drawing: Drawing::Plot(plot) })
    }

    /// Creates a figure; `None` if there is nothing to draw.
    pub(crate) fn of_bars(title: &str, note: String, bars: Bars) -> Option<Self> {
        let has_values = bars.rows.iter().any(|row| row.sum() > 0.0);
        has_values.then(|| Self { title: title.to_owned(), note, drawing: Drawing::Bars(bars) })
    }

    /// Describes the drawing for users who cannot see it.
    pub(crate) fn description(&self) -> String {
        match &self.drawing {
            Drawing::Plot(plot) => plot.description(),
            Drawing::Bars(bars) => bars.description(),
        }
    }

    /// Returns all values, unrounded.
    pub(crate) fn sheet(&self) -> Sheet {
        match &self.drawing {
            Drawing::Plot(plot) => plot.sheet(),
            Drawing::Bars(bars) => bars.sheet(),
        }
    }
}

impl Series {
    /// Creates the series of published results from named parts, in order of first appearance of a name.
    pub(crate) fn published(parts: impl IntoIterator<Item = (String, Strand)>) -> Vec<Self> {
        let series = group_by_key(parts).into_iter().enumerate();
        series.map(|(number, (name, strands))| Self { name, look: Look::Published(number), strands }).collect()
    }

    pub(crate) fn is_published(&self) -> bool {
        matches!(self.look, Look::Published(_))
    }

    pub(crate) fn points(&self) -> impl Iterator<Item = &Point> + Clone {
        self.strands.iter().flat_map(|strand| &strand.points)
    }
}

impl Plot {
    pub(crate) fn points(&self) -> impl Iterator<Item = &Point> {
        self.series.iter().flat_map(Series::points)
    }

    fn description(&self) -> String {
        let of_series = |series: &Series| {
            let ends = |value: fn(&Point) -> f64, of: &AxisQuantity| {
                let (low, high) = range_of(series.points().map(value))?;
                Some(if low == high { shown(low, of) } else { format!("{} to {}", shown(low, of), shown(high, of)) })
            };
            let whose = if series.is_published() { "published, " } else { "" };
            let (y, x) = (ends(|point| point.y, &self.y)?, ends(|point| point.x, &self.x)?);
            Some(format!("{whose}{}: {y} over {x}", series.name))
        };
        let series: Vec<String> = self.series.iter().filter_map(of_series).collect();
        let series = series.join("; ");
        format!("{} over {}. {series}. All values are in the table below the drawing.", self.y.name, self.x.name)
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
                    let (low, high) = (point.range.map(|range| range.0), point.range.map(|range| range.1));
                    let texts = [series.name.clone(), source.to_owned(), strand.name.clone()].map(SheetCell::from);
                    let numbers = [Some(point.x), Some(point.y), low, high].map(SheetCell::from);
                    texts.into_iter().chain(numbers).collect()
                }));
            }
        }
        sheet
    }
}

fn shown(value: f64, of: &AxisQuantity) -> String {
    if of.is_share { percent(value) } else { trimmed(value, if value.abs() < 1.0 { 6 } else { 2 }) }
}

/// Horizontal bars that are divided into parts.
#[derive(Clone, Debug)]
pub(crate) struct Bars {
    pub(crate) parts: Vec<String>,
    pub(crate) unit: String,
    /// Formats the sum of a bar.
    pub(crate) show: fn(f64) -> String,
    pub(crate) rows: Vec<Bar>,
}

#[derive(Clone, Debug)]
pub(crate) struct Bar {
    pub(crate) name: String,
    /// Value of each part; absent if the part did not occur.
    pub(crate) values: Vec<Option<f64>>,
}

impl Bar {
    pub(crate) fn sum(&self) -> f64 {
        self.values.iter().flatten().sum()
    }
}

impl Bars {
    fn description(&self) -> String {
        let row = |row: &Bar| format!("{}: {}", row.name, (self.show)(row.sum()));
        let rows: Vec<String> = self.rows.iter().map(row).collect();
        let parts = if self.parts.len() > 1 { format!(" in parts ({})", self.parts.join(", ")) } else { String::new() };
        format!("Bars{parts}. {}. All values are in the table below the drawing.", rows.join("; "))
    }

    fn sheet(&self) -> Sheet {
        let names = self.parts.iter().map(|part| format!("{part}, {}", self.unit));
        let row = |row: &Bar| {
            let values = row.values.iter().map(|value| SheetCell::from(*value));
            [SheetCell::from(row.name.clone())].into_iter().chain(values).collect()
        };
        Sheet {
            columns: ["group".to_owned()].into_iter().chain(names).collect(),
            rows: self.rows.iter().map(row).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plots_have_descriptions_and_tables() {
        let series = |name: &str, look, points: &[(f64, f64)]| Series {
            name: name.to_owned(),
            look,
            strands: vec![Strand::of(points.iter().map(|&(x, y)| Point::new(x, y)).collect())],
        };
        let plot = Plot {
            x: AxisQuantity::new("epochs", Extent::FromZero),
            y: AxisQuantity::share("test accuracy", Extent::FittedDecades),
            series: vec![
                series("a", Look::Line(0), &[(1.0, 0.5), (2.0, 0.75)]),
                series("b", Look::Published(0), &[(9.0, 0.99)]),
            ],
        };
        let description = plot.description();
        assert!(description.contains("a: 50.00 % to 75.00 % over 1 to 2"), "{description}");
        assert!(description.contains("published, b: 99.00 % over 9"), "{description}");
        let sheet = plot.sheet();
        assert_eq!((sheet.rows.len(), &sheet.rows[2][1]), (3, &SheetCell::from("published")));
        assert_eq!(sheet.columns[3], "epochs");
    }

    #[test]
    fn bars_have_descriptions_and_tables() {
        let bar = |name: &str, values: [Option<f64>; 2]| Bar { name: name.to_owned(), values: values.to_vec() };
        let bars = Bars {
            parts: vec!["building".to_owned(), "tuning".to_owned()],
            unit: "seconds".to_owned(),
            show: crate::text::seconds,
            rows: vec![bar("wgsl", [Some(1.0), None]), bar("burn", [Some(1.0), Some(3.0)])],
        };
        assert!(bars.description().contains("burn: 4.000 s"));
        assert_eq!(bars.sheet().csv(), "group,\"building, seconds\",\"tuning, seconds\"\nwgsl,1,\nburn,1,3\n");
    }
}
