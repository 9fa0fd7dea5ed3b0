//! What the cells of a column are, and where they come from.

use results::WorkloadRecord;
use results::api::StoredRun;

type Always<T> = fn(&StoredRun, &WorkloadRecord) -> T;
type Perhaps<T> = fn(&StoredRun, &WorkloadRecord) -> Option<T>;

/// How to find a column's cell for a workload of a run. The type of the function is the type of the column, so that a
/// file that declares types before it has rows cannot declare a wrong one.
#[derive(Clone, Copy)]
pub(super) enum Values {
    Text(for<'a> fn(&'a StoredRun, &'a WorkloadRecord) -> &'a str),
    OptionalText(for<'a> fn(&'a StoredRun, &'a WorkloadRecord) -> Option<&'a str>),
    Whole(Always<u64>),
    OptionalWhole(Perhaps<u64>),
    Number(Always<f64>),
    OptionalNumber(Perhaps<f64>),
    Flag(Always<bool>),
    /// Seconds since 1970 UTC.
    Moment(Always<f64>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Whole,
    Number,
    Flag,
    Moment,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cell<'a> {
    Empty,
    /// Words, which may be anything.
    Text(&'a str),
    Whole(u64),
    Number(f64),
    Flag(bool),
    /// Seconds since 1970 UTC.
    Moment(f64),
}

impl Values {
    pub(super) fn kind(self) -> Kind {
        match self {
            Self::Text(_) | Self::OptionalText(_) => Kind::Text,
            Self::Whole(_) | Self::OptionalWhole(_) => Kind::Whole,
            Self::Number(_) | Self::OptionalNumber(_) => Kind::Number,
            Self::Flag(_) => Kind::Flag,
            Self::Moment(_) => Kind::Moment,
        }
    }

    /// Whether some runs do not have the value.
    pub(super) fn may_be_absent(self) -> bool {
        matches!(self, Self::OptionalText(_) | Self::OptionalWhole(_) | Self::OptionalNumber(_))
    }

    pub(super) fn cell<'a>(self, run: &'a StoredRun, workload: &'a WorkloadRecord) -> Cell<'a> {
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
