//! Which columns the table of single runs has beside the name of each line.

use results::api::{RunRow, Tier};
use results::{METRICS, Metric, Unit};

use crate::words::metric;
use crate::{t, text};

/// Its name in the address.
pub const COLUMNS: &str = "leaderboard-columns";

/// What stands in the address where nothing is chosen.
const NONE: &str = "none";

/// What a column shows of a result.
#[derive(Clone, Copy, Debug)]
pub enum Column {
    Figure(&'static Metric),
    BatchSize,
    Precision,
    Program,
    Tier,
    Day,
}

/// What stands above a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    pub title: String,
    /// What it is, for who points at it.
    pub about: Option<&'static str>,
    pub is_number: bool,
}

/// What stands in a column of one result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// By which the style sheet knows it.
    pub class: &'static str,
    pub text: String,
    /// What stands beneath.
    pub below: Option<String>,
    /// Shown with its meaning.
    pub tier: Option<Tier>,
}

/// What follows the figures, in its order.
const AFTER_FIGURES: [Column; 5] = [Column::BatchSize, Column::Precision, Column::Program, Column::Tier, Column::Day];

impl Column {
    /// Every column, in the order of the table.
    pub fn all() -> impl Iterator<Item = Self> {
        METRICS.iter().map(Self::Figure).chain(AFTER_FIGURES)
    }

    /// As it is written in addresses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Figure(metric) => metric.id,
            Self::BatchSize => "batch_size",
            Self::Precision => "precision",
            Self::Program => "program",
            Self::Tier => "tier",
            Self::Day => "day",
        }
    }

    /// What stands above it.
    pub fn head(self) -> Head {
        let (about, is_number) = match self {
            Self::Figure(metric) => (Some(metric::description(metric)), true),
            Self::BatchSize => (None, true),
            Self::Precision | Self::Program | Self::Tier | Self::Day => (None, false),
        };
        let unit = match self {
            Self::Figure(metric) if metric.unit == Unit::SamplesPerSecond => metric::rate_unit(),
            _ => String::new(),
        };
        Head { title: format!("{}{unit}", self.title()), about, is_number }
    }

    /// What stands in it of a result.
    pub fn cell(self, row: &RunRow) -> Cell {
        let plain = |class, text: String| Cell { class, text, below: None, tier: None };
        match self {
            // The unit stands in the head of the column.
            Self::Figure(metric) => {
                plain("number", metric::text_of(metric, &row.summary).trim_end_matches(&metric::rate_unit()).to_owned())
            }
            Self::BatchSize => plain("number", text::count(row.batch_size.into())),
            Self::Precision => plain("", row.precision.name().to_owned()),
            Self::Program => {
                let below = Some(format!("{}, {}", row.operating_system, row.backend));
                Cell { below, ..plain("program", row.client.clone()) }
            }
            Self::Tier => Cell { tier: Some(row.tier), ..plain("", String::new()) },
            Self::Day => plain("day", text::day(row.submitted_unix_seconds)),
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            Self::Figure(metric) => metric::title(metric),
            Self::BatchSize => t!(beside_batch),
            Self::Precision => t!(leaderboard_precision),
            Self::Program => t!(leaderboard_program),
            Self::Tier => t!(leaderboard_tier),
            Self::Day => t!(leaderboard_day),
        }
    }

    /// Whether it is there where nobody has chosen.
    fn is_usual(self) -> bool {
        match self {
            Self::Figure(metric) => ["samples_per_second", "accuracy", "seconds_to_target"].contains(&metric.id),
            Self::Program | Self::Tier | Self::Day => true,
            Self::BatchSize | Self::Precision => false,
        }
    }
}

/// The chosen ones, a bit for each place among all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Columns(u32);

impl Default for Columns {
    fn default() -> Self {
        Self::of(Column::is_usual)
    }
}

impl Columns {
    fn of(chosen: impl Fn(Column) -> bool) -> Self {
        Self(Column::all().enumerate().filter(|(_, column)| chosen(*column)).map(|(place, _)| 1 << place).sum())
    }

    /// The chosen columns, in the order of the table.
    pub fn chosen(self) -> impl Iterator<Item = Column> {
        Column::all().enumerate().filter(move |(place, _)| self.has(*place)).map(|(_, column)| column)
    }

    /// Whether the column at this place among all is chosen.
    pub fn has(self, place: usize) -> bool {
        self.0 & (1 << place) != 0
    }

    /// Chooses the column at this place, or no longer.
    pub fn toggle(&mut self, place: usize) {
        self.0 ^= 1 << place;
    }

    /// What an address says. Names that mean nothing here are left out; where none does, the columns are the usual ones.
    pub(super) fn parse(value: &str) -> Self {
        let names: Vec<&str> = value.split(',').collect();
        let chosen = Self::of(|column| names.contains(&column.name()));
        if chosen.0 == 0 && value != NONE { Self::default() } else { chosen }
    }

    /// What the address has to say.
    pub(super) fn written(self) -> String {
        let names: Vec<&str> = self.chosen().map(Column::name).collect();
        if names.is_empty() { NONE.to_owned() } else { names.join(",") }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::scatter::tests::row;

    #[test]
    fn every_column_has_a_name_and_a_bit_of_its_own() {
        let names: BTreeSet<&str> = Column::all().map(Column::name).collect();
        assert_eq!(names.len(), Column::all().count());
        assert!(names.len() <= u32::BITS as usize && !names.contains(NONE));
    }

    #[test]
    fn a_unit_stands_in_the_head_and_not_in_every_line() {
        let row = row("a", "Example GPU", Some(900.0), None);
        let of = |name: &str| {
            let column = Column::all().find(|column| column.name() == name).unwrap();
            (column.head().title, column.cell(&row).text)
        };
        assert_eq!(of("samples_per_second"), ("Training throughput samples/s".to_owned(), "900.0".to_owned()));
        assert_eq!(of("seconds_to_target").1, "–");
        assert_eq!(of("batch_size").1, "64");
        assert_eq!(Column::Program.cell(&row).below.unwrap(), "Linux, wgsl");
        assert_eq!(Column::Tier.cell(&row).tier, Some(Tier::Proven));
    }

    #[test]
    fn what_is_chosen_is_read_again_from_an_address() {
        let mut columns = Columns::default();
        assert_eq!(columns.written(), "samples_per_second,accuracy,seconds_to_target,program,tier,day");
        for place in 0..Column::all().count() {
            columns.toggle(place);
            assert_eq!(Columns::parse(&columns.written()), columns);
        }
        assert_eq!(Columns::parse("day,step_seconds_p50,price").written(), "step_seconds_p50,day");
        assert_eq!(Columns::parse("none").chosen().count(), 0);
        assert_eq!(Columns::parse("price"), Columns::default());
    }
}
