//! What the cells of a column are, and where they come from.

use results::WorkloadRecord;

type Always<R, T> = fn(&R, &WorkloadRecord) -> T;
type Perhaps<R, T> = fn(&R, &WorkloadRecord) -> Option<T>;

/// How to find a column's cell for a workload of a run. The type of the function is the type of the column, so that a
/// file that declares types before it has rows cannot declare a wrong one.
pub enum Values<R> {
    Text(for<'a> fn(&'a R, &'a WorkloadRecord) -> &'a str),
    OptionalText(for<'a> fn(&'a R, &'a WorkloadRecord) -> Option<&'a str>),
    Whole(Always<R, u64>),
    OptionalWhole(Perhaps<R, u64>),
    Number(Always<R, f64>),
    OptionalNumber(Perhaps<R, f64>),
    Flag(Always<R, bool>),
    /// Seconds since 1970 UTC.
    Moment(Always<R, f64>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Whole,
    Number,
    Flag,
    Moment,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cell<'a> {
    Empty,
    /// Words, which may be anything.
    Text(&'a str),
    Whole(u64),
    Number(f64),
    Flag(bool),
    /// Seconds since 1970 UTC.
    Moment(f64),
}

impl<R> Values<R> {
    pub(crate) fn kind(&self) -> Kind {
        match self {
            Self::Text(_) | Self::OptionalText(_) => Kind::Text,
            Self::Whole(_) | Self::OptionalWhole(_) => Kind::Whole,
            Self::Number(_) | Self::OptionalNumber(_) => Kind::Number,
            Self::Flag(_) => Kind::Flag,
            Self::Moment(_) => Kind::Moment,
        }
    }

    /// Whether some runs do not have the value.
    pub(crate) fn may_be_absent(&self) -> bool {
        matches!(self, Self::OptionalText(_) | Self::OptionalWhole(_) | Self::OptionalNumber(_))
    }

    pub(crate) fn cell<'a>(&self, run: &'a R, workload: &'a WorkloadRecord) -> Cell<'a> {
        match self {
            Self::Text(find) => Cell::Text(find(run, workload)),
            Self::OptionalText(find) => find(run, workload).map_or(Cell::Empty, Cell::Text),
            Self::Whole(find) => Cell::Whole(find(run, workload)),
            Self::OptionalWhole(find) => find(run, workload).map_or(Cell::Empty, Cell::Whole),
            Self::Number(find) => Cell::Number(find(run, workload)),
            Self::OptionalNumber(find) => find(run, workload).map_or(Cell::Empty, Cell::Number),
            Self::Flag(find) => Cell::Flag(find(run, workload)),
            Self::Moment(find) => Cell::Moment(find(run, workload)),
        }
    }
}
