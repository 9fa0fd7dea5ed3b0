//! Voices: a network counts once a day, regardless of its number of addresses and runs.

use std::collections::BTreeMap;

use results::statistics::median;

use super::ProvenRun;

/// Result of one network (/24 or /48) for a device on one day.
#[derive(Clone, Debug, PartialEq)]
pub struct Voice {
    /// Samples per second: the median over that network's runs of the day.
    pub rate: f64,
    pub day: u32,
    /// Of how many runs.
    pub runs: usize,
}

/// Returns the voices among `runs` of one device in one category, by day and network.
///
/// All runs of a day without a network are one voice together; otherwise hidden submitters would count most.
pub fn voices(runs: &[ProvenRun]) -> Vec<Voice> {
    let mut rates: BTreeMap<(u32, Option<&str>), Vec<f64>> = BTreeMap::new();
    for run in runs {
        rates.entry((run.day, run.voice.as_deref())).or_default().push(run.rate);
    }
    let voice = |((day, _), rates): ((u32, Option<&str>), Vec<f64>)| {
        Some(Voice { rate: median(&rates)?, day, runs: rates.len() })
    };
    rates.into_iter().filter_map(voice).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::ranking) fn run(voice: Option<&str>, day: u32, rate: f64) -> ProvenRun {
        ProvenRun { run_id: format!("{voice:?}-{day}-{rate}"), rate, voice: voice.map(str::to_owned), day }
    }

    #[test]
    fn a_hundred_runs_of_one_submitter_in_a_day_are_one_voice() {
        let mut runs = vec![run(Some("ann"), 7, 100.0); 100];
        runs.push(run(Some("bob"), 7, 10.0));
        let rates: Vec<f64> = voices(&runs).iter().map(|voice| voice.rate).collect();
        assert_eq!(rates, [100.0, 10.0]);
    }

    #[test]
    fn the_next_day_is_another_voice() {
        let runs = [run(Some("ann"), 7, 1.0), run(Some("ann"), 7, 3.0), run(Some("ann"), 8, 5.0)];
        let expected = [Voice { rate: 2.0, day: 7, runs: 2 }, Voice { rate: 5.0, day: 8, runs: 1 }];
        assert_eq!(voices(&runs), expected);
    }

    #[test]
    fn those_whom_nobody_knows_are_one_voice_together() {
        assert_eq!(voices(&[run(None, 7, 1.0), run(None, 7, 9.0), run(Some("ann"), 7, 4.0)]).len(), 2);
        assert!(voices(&[]).is_empty());
    }
}
