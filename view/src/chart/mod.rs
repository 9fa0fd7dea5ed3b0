//! Charts of the page and of reports: lines, marks, distributions and bars, drawn as SVG. Style sheets set the colors
//! by class.

mod bars;
mod draw;
mod look;
mod scale;

pub use bars::{Bar, Bars};
pub use look::{Look, path};
pub use scale::range_of;

/// Drawing of values.
#[derive(Clone, Debug)]
pub enum Chart {
    Plot(Plot),
    Bars(Bars),
}

/// Series between two axes.
#[derive(Clone, Debug)]
pub struct Plot {
    pub x: AxisQuantity,
    pub y: AxisQuantity,
    pub series: Vec<Series>,
    pub guides: Vec<Guide>,
    /// Height without a legend below, in user units.
    pub height: f64,
}

#[derive(Clone, Debug)]
pub struct AxisQuantity {
    /// Name with its unit; empty if the text around the chart has it.
    pub name: String,
    pub extent: Extent,
    /// True for shares, which are shown in percent.
    pub is_share: bool,
    /// Positions of marks; empty for automatic round numbers.
    pub marks: Vec<f64>,
    /// Converts the text of a mark, which is in English.
    pub text: fn(&str) -> String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// From zero to the first mark above the values.
    FromZero,
    /// From zero to exactly the largest value.
    ToLargest,
    /// From 0 to 100 %.
    Whole,
    /// Decades if values span more than one; otherwise from zero.
    Decades,
    /// Decades if values span more than one; otherwise around the values.
    FittedDecades,
    /// Logarithmic, with a margin around the values.
    Ratios,
    /// Decades of the distance to 1 if that spans most of a decade; otherwise around the values. For shares near 1.
    Errors,
}

#[derive(Clone, Debug)]
pub struct Series {
    pub name: String,
    pub look: Look,
    /// Parts with the same look, for example one per seed.
    pub strands: Vec<Strand>,
    /// Latest value, which the legend shows after the name; may be empty.
    pub latest: String,
}

#[derive(Clone, Debug)]
pub struct Strand {
    /// Name such as `seed 1`; may be empty.
    pub name: String,
    pub points: Vec<Point>,
    /// Address of a link around the marks, labeled with the name.
    pub link: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    pub x: f64,
    pub y: f64,
    /// Interval, or range over seeds. For columns, both ends along the horizontal axis.
    pub range: Option<(f64, f64)>,
}

/// Line across a plot with a label, such as the target: horizontal at `y`, vertical at `x`, or vertical below a point.
#[derive(Clone, Debug)]
pub struct Guide {
    pub class: &'static str,
    pub label: String,
    pub x: Option<f64>,
    pub y: Option<f64>,
}

impl AxisQuantity {
    pub fn new(name: &str, extent: Extent) -> Self {
        Self { name: name.to_owned(), extent, is_share: false, marks: Vec::new(), text: str::to_owned }
    }

    pub fn share(name: &str, extent: Extent) -> Self {
        Self { is_share: true, ..Self::new(name, extent) }
    }

    pub fn marked(self, mut marks: Vec<f64>) -> Self {
        marks.sort_by(f64::total_cmp);
        marks.dedup();
        Self { marks, ..self }
    }
}

impl Series {
    pub fn new(name: impl Into<String>, look: Look, strands: Vec<Strand>) -> Self {
        Self { name: name.into(), look, strands, latest: String::new() }
    }

    pub fn points(&self) -> impl Iterator<Item = &Point> + Clone {
        self.strands.iter().flat_map(|strand| &strand.points)
    }
}

impl Strand {
    /// Creates the only strand of a series.
    pub fn of(points: Vec<Point>) -> Self {
        Self::named("", points)
    }

    pub fn named(name: &str, points: Vec<Point>) -> Self {
        Self { name: name.to_owned(), points, link: None }
    }
}

impl Point {
    pub fn new(x: f64, y: f64) -> Self {
        Self { x, y, range: None }
    }
}

impl Plot {
    pub fn new(x: AxisQuantity, y: AxisQuantity, series: Vec<Series>) -> Self {
        Self { x, y, series, guides: Vec::new(), height: 274.0 }
    }

    pub fn points(&self) -> impl Iterator<Item = &Point> {
        self.series.iter().flat_map(Series::points)
    }
}
