//! A device's metric in one category: median, spread, and number of voices.

use std::collections::{BTreeMap, BTreeSet};

use results::api::{FigureOfDevice, voices_missing};
use results::statistics::{median, quantile};
use serde::Deserialize;

/// The properties of a proven run of a workload that affect its place.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct ProvenRun {
    pub(crate) run_id: String,
    /// Samples per second, more than 0: the median over the run's windows.
    pub(crate) rate: f64,
    /// Pseudonym of the /24 or /48 that announced the run, or of the host's own address; absent if unknown.
    pub(crate) voice: Option<String>,
    /// The day of that pseudonym, in days since 1970-01-01 UTC.
    pub(crate) day: u32,
}

/// Returns the samples per second of a device in one category, over its voices. The quartiles are definition 7 of Hyndman
/// and Fan (`results::statistics::quantile`).
pub(crate) fn figure_of(runs: &[ProvenRun]) -> Option<FigureOfDevice> {
    let voices = voices(runs);
    let rates: Vec<f64> = voices.iter().map(|(rate, _)| *rate).collect();
    let days: BTreeSet<u32> = voices.iter().map(|(_, day)| *day).collect();
    Some(FigureOfDevice {
        median: quantile(&rates, 0.5)?,
        lower_quartile: quantile(&rates, 0.25)?,
        upper_quartile: quantile(&rates, 0.75)?,
        runs: runs.len() as u64,
        submitters: rates.len() as u64,
        days: days.len() as u64,
    })
}

pub(crate) fn has_place(figure: &FigureOfDevice) -> bool {
    voices_missing(figure.submitters, figure.days) == 0
}

/// Returns a device's result for each day and network (/24 or /48): the median over the network's runs of that day, in
/// samples per second, and the day. Runs without a network are one voice a day.
fn voices(runs: &[ProvenRun]) -> Vec<(f64, u32)> {
    let mut rates: BTreeMap<(u32, Option<&str>), Vec<f64>> = BTreeMap::new();
    for run in runs {
        rates.entry((run.day, run.voice.as_deref())).or_default().push(run.rate);
    }
    rates.into_iter().filter_map(|((day, _), rates)| Some((median(&rates)?, day))).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;

    pub(crate) fn run(voice: Option<&str>, day: u32, rate: f64) -> ProvenRun {
        ProvenRun { run_id: format!("{voice:?}-{day}-{rate}"), rate, voice: voice.map(str::to_owned), day }
    }

    #[test]
    fn the_next_day_is_another_voice_and_unknown_networks_are_one() {
        let runs = [run(Some("ann"), 7, 1.0), run(Some("ann"), 7, 3.0), run(Some("ann"), 8, 5.0)];
        assert_eq!(voices(&runs), [(2.0, 7), (5.0, 8)]);
        assert_eq!(voices(&[run(None, 7, 1.0), run(None, 7, 9.0), run(Some("ann"), 7, 4.0)]).len(), 2);
        assert!(voices(&[]).is_empty());
    }

    #[test]
    fn median_is_over_submitters_and_not_runs() {
        let mut runs = vec![run(Some("eager"), 1, 1000.0); 50];
        runs.extend([("a", 10.0), ("b", 20.0), ("c", 30.0), ("d", 40.0)].map(|(who, rate)| run(Some(who), 1, rate)));
        let (median, lower_quartile, upper_quartile) = (30.0, 20.0, 40.0);
        let expected = FigureOfDevice { median, lower_quartile, upper_quartile, runs: 54, submitters: 5, days: 1 };
        assert_eq!(figure_of(&runs), Some(expected));
        assert_eq!(figure_of(&[]), None);
    }

    #[test]
    fn a_place_takes_three_voices_on_two_days() {
        let has_place = |days: &[u32]| {
            let run = |(number, day): (usize, &u32)| run(Some(&number.to_string()), *day, 5.0);
            super::has_place(&figure_of(&days.iter().enumerate().map(run).collect::<Vec<_>>()).unwrap())
        };
        assert!(has_place(&[1, 1, 2]));
        assert!(!has_place(&[1, 1, 1, 1]) && !has_place(&[1, 2]));
    }

    proptest! {
        #[test]
        fn quartiles_enclose_the_median_and_no_order_of_runs_matters(
            mut runs in prop::collection::vec((0_u32..4, 0_u32..3, 1.0_f64..1e6), 1..40)
        ) {
            let made = |runs: &[(u32, u32, f64)]| -> Vec<ProvenRun> {
                runs.iter().map(|(who, day, rate)| run(Some(&who.to_string()), *day, *rate)).collect()
            };
            let figure = figure_of(&made(&runs)).unwrap();
            prop_assert!(figure.lower_quartile <= figure.median && figure.median <= figure.upper_quartile);
            prop_assert!(figure.submitters <= figure.runs);
            runs.reverse();
            prop_assert_eq!(figure_of(&made(&runs)).unwrap(), figure);
        }
    }
}
