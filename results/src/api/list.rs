//! Lists of results: by what they are filtered and sorted, and how one goes on from one page to the next.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{RankedClass, RunRow, Tier};
use crate::{ClientKind, Precision};

/// Query of the list; everything is optional, and whatever is named has to fit.
///
/// Results of one workload come fastest first. Rates of different workloads cannot be compared, so that a list without a
/// workload has the newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ListRuns {
    /// Only this workload.
    pub workload: Option<String>,
    /// Only this back end.
    pub backend: Option<String>,
    /// Only this precision. A ranking of a workload has one: f32 where none is named.
    pub precision: Option<Precision>,
    /// Only runs of this suite, in whatever version.
    pub suite: Option<String>,
    /// Only the device of this key.
    pub device: Option<String>,
    /// Only devices of this vendor, as far as the platform says whose they are.
    pub vendor: Option<String>,
    /// Only this family of browsers, such as `Firefox`.
    pub browser: Option<String>,
    /// Only this family of operating systems, such as `Linux`.
    pub system: Option<String>,
    /// Only this kind of client.
    pub client: Option<ClientKind>,
    /// Only this tier. Hidden runs are in no list.
    pub tier: Option<Tier>,
    /// From this day on, as `2026-11-23`; days are those of UTC on which runs were handed in.
    pub since: Option<String>,
    /// Until this day, with it.
    pub until: Option<String>,
    /// Only results that may be ranked: standard, hardware, of windows that agree and a network that learned, and `proven`.
    pub ranked: bool,
    /// What is ranked, GPUs where none is named; only together with `ranked`.
    pub class: Option<RankedClass>,
    /// `fastest` where a workload is named, otherwise `newest`.
    pub sort: Option<RunSort>,
    /// At most this many rows, 1 to 500; 100 when absent.
    pub limit: Option<u32>,
    /// Goes on where another page of the same query ended: its `next`. Rows that come in meanwhile move nothing.
    pub cursor: Option<String>,
    /// Rows to leave out at the start, at most 10,000; `cursor` and the export go further.
    pub offset: Option<u32>,
}

/// The order of a list. All but the newest and the oldest compare results of one workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunSort {
    /// By samples per second; those without a figure come last.
    Fastest,
    /// By when they were handed in.
    Newest,
    /// The other way round: who asks again with the last cursor gets what came since.
    Oldest,
    /// By accuracy on the test set, the best first; those without one come last.
    Accuracy,
    /// By the training time until the target accuracy was first seen. Only results that reached it.
    TimeToAccuracy,
}

impl RunSort {
    pub const ALL: [Self; 5] = [Self::Fastest, Self::Newest, Self::Oldest, Self::Accuracy, Self::TimeToAccuracy];

    /// As it is written in addresses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fastest => "fastest",
            Self::Newest => "newest",
            Self::Oldest => "oldest",
            Self::Accuracy => "accuracy",
            Self::TimeToAccuracy => "time_to_accuracy",
        }
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|sort| sort.name() == name)
    }

    /// Whether it compares figures, which only those of one workload can be.
    pub fn needs_workload(self) -> bool {
        !matches!(self, Self::Newest | Self::Oldest)
    }
}

/// One page of the leaderboard.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunList {
    /// Fewer than `limit` where there are no more, or where the leaderboard looked at as many results as it does for one
    /// answer: then `next` goes on from there.
    pub rows: Vec<RunRow>,
    /// Rows there are without `limit`, `offset` and `cursor`. Counting ends at 5,000. Where several filters meet that fit
    /// more each, it is not known, and this counts what was found so far.
    pub total: u64,
    /// Whether there are, or may be, more than `total`.
    pub more_than_total: bool,
    /// The `cursor` of the next page; absent after the last row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_goes_by_its_name_on_the_wire() {
        for sort in RunSort::ALL {
            assert_eq!(serde_json::to_string(&sort).unwrap(), format!("\"{}\"", sort.name()));
            assert_eq!(RunSort::named(sort.name()), Some(sort));
        }
        assert_eq!(RunSort::named("cheapest"), None);
    }
}
