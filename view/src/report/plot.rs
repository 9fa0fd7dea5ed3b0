//! Charts of reports, with their values as tables and descriptions.

use crate::chart::{AxisQuantity, Bar, Bars, Chart, Look, Plot, Point, Series, Strand, range_of};
use crate::report::group::group_by_key;
use crate::table::{Sheet, SheetCell};
use crate::text::{percent, trimmed};

#[derive(Clone, Debug)]
pub(crate) struct Figure {
    pub(crate) title: String,
    /// Details below the title.
    pub(crate) note: String,
    pub(crate) chart: Chart,
}

impl Figure {
    pub(crate) fn of_plot(title: String, note: String, plot: Plot) -> Option<Self> {
        let has_points = plot.points().next().is_some();
        has_points.then_some(Self { title, note, chart: Chart::Plot(plot) })
    }

    /// Creates a figure; `None` if there is nothing to draw.
    pub(crate) fn of_bars(title: &str, note: String, bars: Bars) -> Option<Self> {
        let has_values = bars.rows.iter().any(|row| row.sum() > 0.0);
        has_values.then(|| Self { title: title.to_owned(), note, chart: Chart::Bars(bars) })
    }

    /// Describes the drawing for users who cannot see it.
    pub(crate) fn description(&self) -> String {
        match &self.chart {
            Chart::Plot(plot) => plot.description(),
            Chart::Bars(bars) => bars.description(),
        }
    }

    /// Returns all values, unrounded.
    pub(crate) fn sheet(&self) -> Sheet {
        match &self.chart {
            Chart::Plot(plot) => plot.sheet(),
            Chart::Bars(bars) => bars.sheet(),
        }
    }
}

impl Series {
    /// Creates the series of published results from named parts, in order of first appearance of a name.
    pub(crate) fn published(parts: impl IntoIterator<Item = (String, Strand)>) -> Vec<Self> {
        let series = group_by_key(parts).into_iter().enumerate();
        series.map(|(number, (name, strands))| Self::new(name, Look::Published(number), strands)).collect()
    }

    pub(crate) fn is_published(&self) -> bool {
        matches!(self.look, Look::Published(_))
    }
}

impl Plot {
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
                _ => "measured here",
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
    use crate::chart::Extent;

    #[test]
    fn plots_have_descriptions_and_tables() {
        let series = |name, look, points: &[(f64, f64)]| {
            Series::new(name, look, vec![Strand::of(points.iter().map(|&(x, y)| Point::new(x, y)).collect())])
        };
        let (x, y) = (Extent::FromZero, Extent::FittedDecades);
        let series = vec![
            series("a", Look::Line(0), &[(1.0, 0.5), (2.0, 0.75)]),
            series("b", Look::Published(0), &[(9.0, 0.99)]),
        ];
        let plot = Plot::new(AxisQuantity::new("epochs", x), AxisQuantity::share("test accuracy", y), series);
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
