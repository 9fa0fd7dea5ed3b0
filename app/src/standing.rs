//! Texts about the rank of a run among others, and about the overhead of browsers.

use std::collections::BTreeSet;

use engine::KNOWN_BACKENDS;
use engine::backends::{BURN_REMOTE, Devices};
use results::api::{
    BrowserTaxOfDevice, DistributionQuery, FigureOfDevice, RankedClass, RunRow, ScoreRank, ScoreTable, StandingsPlace,
    StandingsQuery, Tier, WorkloadStanding, voices_missing,
};
use results::{DeviceKind, RunRecord, WorkloadRecord};

use crate::{t, text};

/// Describes the rank of a run in one network; `None` if no run is proven. `counts` is true if the run is ranked.
pub fn sentence(standing: &WorkloadStanding, counts: bool) -> Option<String> {
    let [all, device, vendor] = standing.runs;
    if all == 1 {
        return Some(t!(standing_only).to_owned());
    }
    let share = percent(standing.among_all?);
    let mut sentence = t!(standing_faster, share, runs = text::count(all));
    // Skip a subset that equals all runs, or that only has this run.
    let has_others = |runs: u64| runs < all && !(runs == 1 && counts);
    if let Some(share) = standing.of_device.filter(|_| has_others(device)) {
        sentence.push_str(&t!(standing_than_on_device, share = percent(share), runs = text::count(device)));
    }
    if let Some(share) = standing.of_vendor.filter(|_| has_others(vendor) && vendor > device) {
        sentence.push_str(&t!(standing_than_of_vendor, share = percent(share), runs = text::count(vendor)));
    }
    sentence.push('.');
    Some(sentence)
}

/// Maximum number of leaderboard lines to request for a rank. Lines beyond it count as slower.
const MAX_RANKED: u32 = 200;

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
    /// Among the devices of the leaderboard, with the names and scores of the lines around it. The run has no name.
    Among { rank: ScoreRank, neighbors: Vec<(Option<String>, f64)> },
    /// Next to published results, as sentences.
    Published(Vec<String>),
}

impl Rank {
    /// Ranks a score among the best of each device other than `own`. `None` with fewer than two such devices.
    pub fn among(mut table: ScoreTable, score: f64, own: &str) -> Option<Self> {
        let rank = ScoreRank::among(&table, score, |line| line.device_name == own)?;
        table.places.retain(|line| line.device_name != own);
        let best = soonest(table.places);
        let faster = best.partition_point(|line| line.figure.median > score);
        let neighbor = |of: &StandingsPlace| (Some(of.device_name.clone()), of.figure.median);
        let (above, below) = (best[..faster].last().map(neighbor), best.get(faster).map(neighbor));
        let neighbors = [above, Some((None, score)), below].into_iter().flatten().collect();
        Some(Self::Among { rank, neighbors })
    }
}

/// Formats a share in whole percent. Only the fastest run gets 100 %, and only the slowest 0 %.
fn percent(share: f64) -> String {
    let whole = (share * 100.0).round();
    let inside = share > 0.0 && share < 1.0;
    format!("{:.0} %", if inside { whole.clamp(1.0, 99.0) } else { whole })
}

/// Returns the query for the throughput distribution around a run; `None` if its suite has changed since.
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

fn class_of(backend: &str, kind: DeviceKind, api: &str) -> RankedClass {
    let is_processor = if backend == BURN_REMOTE {
        // The remote device reports its own kind.
        kind == DeviceKind::Cpu && api == "CPU"
    } else {
        KNOWN_BACKENDS.iter().any(|known| known.name == backend && known.devices() == Devices::Given)
    };
    if is_processor { RankedClass::Processor } else { RankedClass::Gpu }
}

/// Explains why a result is not ranked among the GPUs; `None` if it is, or if its tier already says so.
pub fn ranking(row: &RunRow) -> Option<&'static str> {
    let class = class_of(&row.backend, row.adapter.kind, &row.adapter.api);
    match () {
        () if row.ranked => (class == RankedClass::Processor).then_some(t!(leaderboard_among_processors)),
        () if row.adapter.software => Some(t!(leaderboard_software)),
        () if !row.standard => Some(t!(leaderboard_not_standard)),
        () => (row.tier == Tier::Proven).then_some(t!(leaderboard_not_comparable)),
    }
}

/// Describes the share of slower lines for each line of a table, which has `total` lines with those not loaded.
///
/// Only lines with a place count. `None` for lines without a place, and if no line is slower.
pub fn ranks(places: &[StandingsPlace], total: u64) -> Vec<Option<String>> {
    let has_place = |line: &StandingsPlace| voices_missing(line.figure.submitters, line.figure.days) == 0;
    let placed = places.iter().filter(|line| has_place(line)).count();
    // Lines without a place come last.
    let of = if placed < places.len() { placed as u64 } else { total };
    let rank = |line: &StandingsPlace| {
        let not_slower = places[..placed].partition_point(|other| other.place <= line.place) as u64;
        let share = of.saturating_sub(not_slower) as f64 / of as f64;
        (not_slower < of && has_place(line))
            .then(|| t!(leaderboard_rank, share = percent(share), number = text::count(of)))
    };
    places.iter().map(rank).collect()
}

/// Keeps the best line of each device, sorted by time to target and then by throughput.
pub fn soonest(mut places: Vec<StandingsPlace>) -> Vec<StandingsPlace> {
    let seconds = |line: &StandingsPlace| line.seconds_to_target.unwrap_or(f64::INFINITY);
    places.sort_by(|a, b| seconds(a).total_cmp(&seconds(b)).then(b.figure.median.total_cmp(&a.figure.median)));
    let mut seen = BTreeSet::new();
    places.retain(|line| seen.insert(line.device_key.clone()));
    places
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

pub fn tax_submitters(tax: &BrowserTaxOfDevice) -> String {
    let programs = t!(common_submitters, number = tax.native_submitters);
    t!(standing_tax_submitters, programs, browsers = text::count(tax.browser_submitters))
}

/// Heading of a column of scores, the same in all languages.
pub const SCORE_TITLE: &str = "Gradmark, GFLOP/s";

pub fn with_interval(figure: &FigureOfDevice, text: fn(f64) -> String) -> (String, String) {
    (text(figure.median), format!("{} – {}", text(figure.lower_quartile), text(figure.upper_quartile)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::charts::tests::row;

    fn line(device: &str, place: u64, submitters: u64, seconds_to_target: Option<f64>) -> StandingsPlace {
        let median = 1000.0 / place as f64;
        let line = json!({
            "place": place, "device_key": device, "device_name": device, "device_source": "reported",
            "backend": "wgsl", "client_kind": "native", "median": median, "lower_quartile": median,
            "upper_quartile": median, "runs": submitters, "submitters": submitters, "days": 2,
            "seconds_to_target": seconds_to_target, "outlier_runs": 0, "best_run_id": "0123",
        });
        serde_json::from_value(line).unwrap()
    }

    #[test]
    fn rank_counts_slower_lines_with_a_place() {
        let tied = [line("a", 1, 3, None), line("b", 1, 3, None), line("c", 3, 3, None)];
        let said = |of: &[_], total| ranks(of, total).into_iter().map(Option::unwrap_or_default).collect::<Vec<_>>();
        assert_eq!(said(&tied, 4), [50, 50, 25].map(|share| format!("Faster than {share} % of 4 entries")));
        let without_place = [line("a", 1, 3, None), line("b", 2, 3, None), line("c", 101, 2, None)];
        assert_eq!(said(&without_place, 9), ["Faster than 50 % of 2 entries", "", ""]);
        assert_eq!(said(&tied[..1], 1), [""]);
    }

    #[test]
    fn ranks_score_between_neighbors() {
        let ranked = |places: &[StandingsPlace], score| {
            let table = ScoreTable { total: places.len() as u64, places: places.to_vec() };
            Rank::among(table, score, "own").map(|rank| match rank {
                Rank::Among { rank, neighbors } => {
                    let of = |(device, score): (Option<String>, f64)| (device.unwrap_or_default(), score);
                    ((rank.slower, rank.devices), neighbors.into_iter().map(of).collect::<Vec<_>>())
                }
                Rank::Published(_) => unreachable!("it is ranked among devices"),
            })
        };
        let named = |of: &[(&str, f64)]| of.iter().map(|&(name, of)| (name.to_owned(), of)).collect::<Vec<_>>();
        // Only the best line of each device counts, wherever it is in the table.
        let lines = [line("b", 4, 3, None), line("a", 1, 3, None), line("b", 2, 3, None), line("c", 10, 1, None)];
        let between = named(&[("b", 500.0), ("", 400.0), ("c", 100.0)]);
        assert_eq!(ranked(&lines, 400.0), Some(((1, 3), between)));
        assert_eq!(ranked(&lines, 2000.0), Some(((3, 3), named(&[("", 2000.0), ("a", 1000.0)]))));
        assert_eq!(ranked(&lines, 1.0), Some(((0, 3), named(&[("c", 100.0), ("", 1.0)]))));
        assert_eq!((ranked(&lines[1..2], 400.0), ranked(&[], 400.0)), (None, None));
    }

    #[test]
    fn orders_devices_by_shortest_time_to_accuracy() {
        let lines = vec![
            line("fast", 1, 3, None),
            line("soon", 2, 3, Some(4.0)),
            line("fast", 3, 3, Some(5.0)),
            line("slow", 4, 3, None),
        ];
        let keys: Vec<_> = soonest(lines).into_iter().map(|line| (line.device_key, line.place)).collect();
        assert_eq!(keys, [("soon".to_owned(), 2), ("fast".to_owned(), 3), ("slow".to_owned(), 4)]);
    }

    #[test]
    fn result_has_a_class_or_a_reason_without_rank() {
        let row = row("a", "Example GPU", Some(900.0), None);
        let unranked = RunRow { ranked: false, ..row.clone() };
        assert!(ranking(&unranked).unwrap().contains("unstable"));
        assert_eq!(ranking(&RunRow { tier: Tier::Checked, ..unranked.clone() }), None, "its tier says so");
        let mut software = RunRow { standard: false, ..unranked };
        software.adapter.software = true;
        assert!(ranking(&software).unwrap().contains("software adapter is not a GPU"));
        let ranked = RunRow { ranked: true, ..row };
        assert_eq!(ranking(&ranked), None);
        assert!(ranking(&RunRow { backend: "burn-flex".to_owned(), ..ranked }).unwrap().contains("processors"));
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
        let tax = |native_over_browser: f64| {
            let tax = json!({
                "suite": { "name": "quick", "version": 1 }, "workload": "caffe-mnist", "backend": "wgsl",
                "precision": "f32", "native_over_browser": native_over_browser, "native_submitters": 1,
                "browser_submitters": 12,
            });
            serde_json::from_value::<BrowserTaxOfDevice>(tax).unwrap()
        };
        assert_eq!(browser_tax(&tax(1.25)), "a browser trains 20 % slower than a program");
        assert_eq!(browser_tax(&tax(0.8)), "a browser trains 25 % faster than a program");
        assert_eq!(browser_tax(&tax(1.004)), "a browser trains as fast as a program");
        assert_eq!(tax_submitters(&tax(1.0)), "1 submitter with programs, 12 with browsers");
    }
}
