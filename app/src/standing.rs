//! Texts about the rank of a run among others, and about the overhead of browsers.

use engine::KNOWN_BACKENDS;
use engine::backends::{BURN_REMOTE, Devices};
use results::api::{
    BrowserTaxOfDevice, DeviceSource, DistributionQuery, FigureOfDevice, RankedClass, ScoreTable, StandingsQuery,
    WorkloadStanding,
};
use results::{DeviceKind, RunRecord, WorkloadRecord};

use crate::t;
use crate::text;

/// Describes the rank of a run in one network; `None` if no run is proven yet. `counts` is true if the run is among the
/// ranked runs.
pub fn sentence(standing: &WorkloadStanding, counts: bool) -> Option<String> {
    let [all, device, vendor] = standing.runs;
    if all == 1 {
        return Some(t!(standing_only).to_owned());
    }
    let share = percent(standing.among_all?);
    let mut sentence = t!(standing_faster, share = share, runs = all);
    // Skip a subset that equals all runs, or that only has this run.
    let has_others = |runs: u64| runs < all && !(runs == 1 && counts);
    if let Some(share) = standing.of_device.filter(|_| has_others(device)) {
        sentence.push_str(&t!(standing_than_on_device, share = percent(share), runs = device));
    }
    if let Some(share) = standing.of_vendor.filter(|_| has_others(vendor) && vendor > device) {
        sentence.push_str(&t!(standing_than_of_vendor, share = percent(share), runs = vendor));
    }
    sentence.push('.');
    Some(sentence)
}

/// Maximum number of lines that a run is ranked among; all slower lines beyond them count too.
const MAX_RANKED: u32 = 200;

/// Query for the scores that a run is compared with.
pub fn scores_query(record: &RunRecord) -> StandingsQuery {
    let adapter = &record.device.adapter;
    StandingsQuery {
        suite: record.suite.name.clone(),
        precision: record.workloads.first().map(|workload| workload.settings.precision),
        backend: None,
        client: None,
        class: Some(class_of(&record.device.backend, adapter.kind, &adapter.api)),
        limit: Some(MAX_RANKED),
    }
}

/// Position of a run's score.
#[derive(Clone, Debug, PartialEq)]
pub enum Rank {
    /// Among the devices of the leaderboard.
    Among { slower: u64, devices: u64, neighbors: Vec<Neighbor> },
    /// Next to published results, as sentences.
    Published(Vec<String>),
}

/// A line next to a run's.
#[derive(Clone, Debug, PartialEq)]
pub struct Neighbor {
    /// Name on the leaderboard; `None` for the run.
    pub device: Option<String>,
    pub score: f64,
}

impl Rank {
    /// Ranks a score among the best of each device. `None` if there are none.
    pub fn among(table: &ScoreTable, score: f64) -> Option<Self> {
        let mut best: Vec<(&str, &str, f64)> = Vec::new();
        for place in &table.places {
            let (key, median) = (place.device_key.as_str(), place.figure.median);
            match best.iter_mut().find(|(known, _, _)| *known == key) {
                Some((_, _, known)) => *known = known.max(median),
                None => best.push((key, &place.device_name, median)),
            }
        }
        best.sort_by(|one, other| other.2.total_cmp(&one.2));
        let faster = best.iter().filter(|(_, _, median)| *median > score).count();
        let unlisted = table.total.saturating_sub(table.places.len() as u64);
        let devices = best.len() as u64 + unlisted;
        let of = |(_, name, median): &(&str, &str, f64)| Neighbor { device: Some((*name).to_owned()), score: *median };
        let above = faster.checked_sub(1).map(|place| of(&best[place]));
        let below = best.get(faster).map(of);
        let neighbors = [above, Some(Neighbor { device: None, score }), below].into_iter().flatten().collect();
        (devices > 0).then(|| Self::Among { slower: devices - faster as u64, devices, neighbors })
    }

    /// Share of slower devices, if any are known.
    pub fn share(&self) -> Option<f64> {
        match self {
            Self::Among { slower, devices, .. } => Some(*slower as f64 / *devices as f64),
            Self::Published(_) => None,
        }
    }
}

/// A share in whole percent. Only the fastest run gets 100 %, and only the slowest 0 %.
pub fn percent(share: f64) -> String {
    let whole = (share * 100.0).round();
    let inside = share > 0.0 && share < 1.0;
    format!("{:.0} %", if inside { whole.clamp(1.0, 99.0) } else { whole })
}

/// Returns the query for the throughput distribution around a run; `None` if the server has another version of its
/// suite.
pub fn distribution_query(record: &RunRecord, workload: &WorkloadRecord) -> Option<DistributionQuery> {
    let suite = engine::suite(&record.suite.name).filter(|suite| suite.version == record.suite.version)?;
    suite.workloads.contains(&workload.workload.as_str()).then(|| DistributionQuery {
        suite: record.suite.name.clone(),
        workload: workload.workload.clone(),
        precision: Some(workload.settings.precision),
        backend: Some(record.device.backend.clone()),
        client: Some(record.provenance.client.kind),
        class: Some(class_of(&record.device.backend, record.device.adapter.kind, &record.device.adapter.api)),
    })
}

/// Class in which runs on the device are ranked.
fn class_of(backend: &str, kind: DeviceKind, api: &str) -> RankedClass {
    let is_processor = if backend == BURN_REMOTE {
        // The remote device reports its own kind.
        kind == DeviceKind::Cpu && api == "CPU"
    } else {
        KNOWN_BACKENDS.iter().any(|known| known.name == backend && known.devices() == Devices::Given)
    };
    if is_processor { RankedClass::Processor } else { RankedClass::Gpu }
}

/// Describes the source of a device's name in a sentence.
pub fn source(source: DeviceSource) -> &'static str {
    match source {
        DeviceSource::Reported => t!(device_source_reported),
        DeviceSource::Claimed => t!(device_source_claimed),
        DeviceSource::Masked => t!(device_source_masked),
    }
}

/// Describes the overhead of a browser, to follow the name of a network.
pub fn browser_tax(tax: &BrowserTaxOfDevice) -> String {
    let ratio = tax.native_over_browser;
    let share = if ratio >= 1.0 { 1.0 - 1.0 / ratio } else { 1.0 / ratio - 1.0 };
    let percent = text::whole_percent(share);
    match () {
        () if share < 0.005 => t!(standing_as_fast).to_owned(),
        () if ratio >= 1.0 => t!(standing_slower, share = percent),
        () => t!(standing_browser_faster, share = percent),
    }
}

/// Describes how many submitters the overhead is based on.
pub fn tax_submitters(tax: &BrowserTaxOfDevice) -> String {
    let BrowserTaxOfDevice { native_submitters, browser_submitters, .. } = tax;
    t!(
        standing_tax_submitters,
        programs = t!(common_submitters, number = *native_submitters),
        browsers = *browser_submitters
    )
}

/// Heading of a column of scores, the same in all languages.
pub const SCORE_TITLE: &str = "Gradmark, GFLOP/s";

/// Formats a score and its interval.
pub fn score(figure: &FigureOfDevice) -> (String, String) {
    (
        text::score(figure.median),
        format!("{} – {}", text::score(figure.lower_quartile), text::score(figure.upper_quartile)),
    )
}

/// Formats a rate in samples per second and its interval.
pub fn rate(figure: &FigureOfDevice) -> (String, String) {
    (
        text::rate(figure.median),
        format!("{} – {}", text::rate(figure.lower_quartile), text::rate(figure.upper_quartile)),
    )
}

#[cfg(test)]
mod tests {
    use results::{Precision, Suite};

    use super::*;

    #[test]
    fn processor_backends_are_ranked_among_processors() {
        for (backend, kind, api, class) in [
            ("wgsl", DeviceKind::Discrete, "Vulkan", RankedClass::Gpu),
            ("burn-cuda", DeviceKind::Discrete, "CUDA", RankedClass::Gpu),
            ("burn-flex", DeviceKind::Cpu, "CPU", RankedClass::Processor),
            ("burn-remote", DeviceKind::Discrete, "CUDA", RankedClass::Gpu),
            ("burn-remote", DeviceKind::Cpu, "CPU", RankedClass::Processor),
        ] {
            assert_eq!(class_of(backend, kind, api), class, "{backend} on {api}");
        }
    }

    #[test]
    fn compares_run_with_all_runs_device_and_vendor() {
        let said = |shares: [Option<f64>; 3], runs: [u64; 3], counts| {
            let [among_all, of_device, of_vendor] = shares;
            let workload = "caffe-mnist".to_owned();
            let standing =
                WorkloadStanding { workload, samples_per_second: 1000.0, among_all, of_device, of_vendor, runs };
            sentence(&standing, counts)
        };
        for (shares, runs, expected) in [
            (
                [Some(0.83), Some(0.51), Some(0.7)],
                [1204, 40, 300],
                "Faster than 83 % of 1,204 proven runs; than 51 % of 40 on this device; than 70 % of 300 of this vendor.",
            ),
            ([Some(0.83), None, None], [1204, 0, 0], "Faster than 83 % of 1,204 proven runs."),
            // No statement is repeated.
            ([Some(0.5); 3], [7, 7, 7], "Faster than 50 % of 7 proven runs."),
            (
                [Some(0.5), Some(0.25), Some(0.5)],
                [7, 2, 7],
                "Faster than 50 % of 7 proven runs; than 25 % of 2 on this device.",
            ),
            ([Some(0.9), Some(0.5), Some(0.5)], [7, 1, 1], "Faster than 90 % of 7 proven runs."),
        ] {
            assert_eq!(said(shares, runs, true).unwrap(), expected);
        }
        assert_eq!(said([None; 3], [0; 3], false), None);
        assert!(said([Some(0.5); 3], [1; 3], true).unwrap().starts_with("There is only one proven run"));
        assert_eq!([0.0, 0.001, 0.506, 0.999, 1.0].map(percent), ["0 %", "1 %", "51 %", "99 %", "100 %"]);
    }

    #[test]
    fn browser_overhead_is_a_share_of_native_throughput() {
        let tax = |native_over_browser| BrowserTaxOfDevice {
            suite: Suite { name: "quick".to_owned(), version: 1 },
            workload: "caffe-mnist".to_owned(),
            backend: "wgsl".to_owned(),
            precision: Precision::F32,
            native_over_browser,
            native_submitters: 1,
            browser_submitters: 12,
        };
        assert_eq!(browser_tax(&tax(1.25)), "a browser trains 20 % slower than a program");
        assert_eq!(browser_tax(&tax(0.8)), "a browser trains 25 % faster than a program");
        assert_eq!(browser_tax(&tax(1.004)), "a browser trains as fast as a program");
        assert_eq!(tax_submitters(&tax(1.0)), "1 submitter with programs, 12 with browsers");
    }
}
