//! A device's figure in one category: median, spread, and how many people stand behind it.

use std::collections::BTreeSet;
use std::fmt;

use results::api::voices_missing;
use results::statistics::quantile;
use serde::{Deserialize, Serialize};

use super::{Category, ProvenRun, voices};

/// Samples per second of a device in one category, over its voices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    pub median: f64,
    /// The quartiles, by definition 7 of Hyndman and Fan (`results::statistics::quantile`): the interval between them is
    /// the interquartile range. One voice has no spread: both are its rate.
    pub lower_quartile: f64,
    pub upper_quartile: f64,
    pub runs: usize,
    /// Number of networks (/24 or /48), each counted once a day. A network cannot be recognised the next day, so one
    /// that returns counts again.
    pub submitters: usize,
    /// Number of different days with a run.
    pub days: usize,
}

impl Figure {
    /// The figure of `runs`; nothing where there are none.
    pub fn of(runs: &[ProvenRun]) -> Option<Self> {
        let voices = voices(runs);
        let rates: Vec<f64> = voices.iter().map(|voice| voice.rate).collect();
        let days: BTreeSet<u32> = voices.iter().map(|voice| voice.day).collect();
        Some(Self {
            median: quantile(&rates, 0.5)?,
            lower_quartile: quantile(&rates, 0.25)?,
            upper_quartile: quantile(&rates, 0.75)?,
            runs: runs.len(),
            submitters: rates.len(),
            days: days.len(),
        })
    }

    /// True if there are enough voices for a place.
    pub fn has_place(&self) -> bool {
        voices_missing(self.submitters as u64, self.days as u64) == 0
    }
}

/// The figure of one device in one category.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceFigure {
    /// The key of the device's group (`devices::DeviceGroup`).
    pub device: String,
    pub category: Category,
    pub figure: Figure,
}

/// How many of a device's announced runs came to their end. Where few did, those that did are a lucky choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completion {
    pub finished: u64,
    pub announced: u64,
}

impl fmt::Display for Completion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} finished", self.finished, self.announced)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::voices::tests::run;
    use super::*;

    #[test]
    fn the_figure_is_that_of_people_and_not_of_runs() {
        let mut runs = vec![run(Some("eager"), 1, 1000.0); 50];
        runs.extend([("a", 10.0), ("b", 20.0), ("c", 30.0), ("d", 40.0)].map(|(who, rate)| run(Some(who), 1, rate)));
        let figure = Figure::of(&runs).unwrap();
        let expected =
            Figure { median: 30.0, lower_quartile: 20.0, upper_quartile: 40.0, runs: 54, submitters: 5, days: 1 };
        assert_eq!(figure, expected);
    }

    #[test]
    fn one_run_has_a_figure_without_spread_and_none_has_no_figure() {
        let figure = Figure::of(&[run(None, 1, 5.0)]).unwrap();
        assert_eq!((figure.lower_quartile, figure.median, figure.upper_quartile), (5.0, 5.0, 5.0));
        assert_eq!(Figure::of(&[]), None);
    }

    #[test]
    fn a_place_takes_three_voices_on_two_days() {
        let has_place = |days: &[u32]| {
            let run = |(number, day): (usize, &u32)| run(Some(&number.to_string()), *day, 5.0);
            Figure::of(&days.iter().enumerate().map(run).collect::<Vec<_>>()).unwrap().has_place()
        };
        assert!(has_place(&[1, 1, 2]));
        assert!(!has_place(&[1, 1, 1, 1]) && !has_place(&[1, 2]));
    }

    #[test]
    fn completion_is_told_in_words() {
        assert_eq!(Completion { finished: 3, announced: 20 }.to_string(), "3 of 20 finished");
    }

    proptest! {
        #[test]
        fn quartiles_enclose_the_median_and_no_order_of_runs_matters(
            mut runs in prop::collection::vec((0_u32..4, 0_u32..3, 1.0_f64..1e6), 1..40)
        ) {
            let made = |runs: &[(u32, u32, f64)]| -> Vec<ProvenRun> {
                runs.iter().map(|(who, day, rate)| run(Some(&who.to_string()), *day, *rate)).collect()
            };
            let figure = Figure::of(&made(&runs)).unwrap();
            prop_assert!(figure.lower_quartile <= figure.median && figure.median <= figure.upper_quartile);
            prop_assert!(figure.submitters <= figure.runs);
            runs.reverse();
            prop_assert_eq!(Figure::of(&made(&runs)).unwrap(), figure);
        }
    }
}
