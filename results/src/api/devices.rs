//! Device pages, histories and rankings, computed from all proven runs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ClientKind, Precision, Suite};

/// Results of a device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceSummary {
    /// Key of the device. If a moderator merged the requested device into another one, this is the key of the other
    /// device.
    pub device_key: String,
    /// Keys of devices that a moderator merged into this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub merged_keys: Vec<String>,
    pub device_name: String,
    pub device_source: DeviceSource,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vendor: Option<String>,
    /// Devices that it may be by its measured peak: a guess without consequences.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inferred: Option<String>,
    /// Rates in every category with a proven run, by suite, workload, back end, precision and client.
    pub figures: Vec<CategoryFigure>,
    /// Cost of a browser, if both kinds of client have a rate with the same kernels.
    pub browser_taxes: Vec<BrowserTaxOfDevice>,
    /// Latest results of any tier, the newest first: at most twenty.
    pub recent: Vec<super::RunRow>,
}

/// Rate of a device in one category.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CategoryFigure {
    pub suite: Suite,
    /// Absent for the score over all workloads of the suite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<String>,
    pub backend: String,
    pub precision: Precision,
    pub client_kind: ClientKind,
    pub class: RankedClass,
    /// Place in the table of its suite, workload, precision and class.
    pub place: u64,
    /// Lines of that table.
    pub of: u64,
    #[serde(flatten)]
    pub figure: FigureOfDevice,
    /// Fastest run that is no outlier.
    pub best_run_id: String,
}

/// Speed of the command line compared with browsers, with equal kernels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BrowserTaxOfDevice {
    pub suite: Suite,
    pub workload: String,
    pub backend: String,
    pub precision: Precision,
    /// Ratio of the median rates, command line over browsers: 1.25 means that a browser trains a fifth slower.
    pub native_over_browser: f64,
    /// Submitters of both medians: with few, the ratio compares machines.
    pub native_submitters: u64,
    pub browser_submitters: u64,
}

/// Query of a device's history. The default is the category with most proven runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DeviceHistoryQuery {
    pub suite: Option<String>,
    pub workload: Option<String>,
    pub backend: Option<String>,
    pub precision: Option<Precision>,
    pub client: Option<ClientKind>,
}

/// Proven results of a device in one category, grouped by what may have changed them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceHistory {
    pub device_key: String,
    /// Absent if no category that matches the query has a proven run of the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<HistoryCategory>,
    /// Results that the groups are made from: the latest, at most 2,000, among the latest 20,000 of the device.
    pub results: u64,
    /// True if older ones were left out.
    pub older_left_out: bool,
    /// By version of the engine, the latest seen last.
    pub engine_versions: Vec<HistoryLine>,
    /// By driver, if the platform reports it; the latest seen last.
    pub drivers: Vec<HistoryLine>,
    /// By month (UTC), such as `2026-11`.
    pub months: Vec<HistoryLine>,
}

/// Settings shared by the compared results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HistoryCategory {
    pub suite: Suite,
    pub workload: String,
    pub backend: String,
    pub precision: Precision,
    pub client_kind: ClientKind,
}

/// Results of one version, driver or month.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HistoryLine {
    /// The version, the driver or the month.
    pub label: String,
    /// Samples per second, each submitter once a day.
    #[serde(flatten)]
    pub figure: FigureOfDevice,
    /// Upload of the first and the last of them, in seconds since 1970 UTC.
    pub first_unix_seconds: f64,
    pub last_unix_seconds: f64,
}

/// Minimum number of voices for a place: submitter networks, each counted once a day.
const MIN_VOICES: u64 = 3;
/// Minimum number of days with a proven run for a place.
const MIN_DAYS: u64 = 2;

/// Query of the places; only the suite is required.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StandingsQuery {
    /// Name of the suite; its current version is answered.
    pub suite: String,
    /// f32 where none is named.
    pub precision: Option<Precision>,
    /// Only this back end.
    pub backend: Option<String>,
    /// Only this kind of client.
    pub client: Option<ClientKind>,
    /// GPUs where none is named.
    pub class: Option<RankedClass>,
    /// At most this many places of each table, 1 to 500; 50 when absent.
    pub limit: Option<u32>,
}

/// Class of ranked devices. Software adapters are in neither.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RankedClass {
    #[default]
    Gpu,
    Processor,
}

names!(RankedClass { Gpu = "gpu", Processor = "processor" });

/// The places of a suite at this moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Standings {
    pub suite: Suite,
    /// Places by score.
    pub scores: ScoreTable,
    /// One for each workload of the suite, in its order.
    pub tables: Vec<StandingsTable>,
}

/// Places of devices that trained every provable workload of the suite. A score is the geometric mean over these
/// workloads of the arithmetic per second that training needs, in GFLOP/s.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScoreTable {
    /// Number of lines without `limit`.
    pub total: u64,
    /// Lines, with scores as rates.
    pub places: Vec<StandingsPlace>,
}

/// Places of one workload, in order; empty if nothing is proven yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StandingsTable {
    pub workload: String,
    /// Number of lines without `limit`.
    pub total: u64,
    pub places: Vec<StandingsPlace>,
}

/// A device with one back end and one kind of client, from all its proven runs. Metrics never mix back ends, kinds of
/// client or precisions. Lines of a table may differ in the first two, and show them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StandingsPlace {
    /// From 1. Lines that are statistically tied share one: 1, 1, 3. Those with fewer than three `submitters` or two
    /// `days` share one behind all others and behind the first hundred.
    pub place: u64,
    /// Runs of one key are of one device.
    pub device_key: String,
    pub device_name: String,
    /// Source of the device's name.
    pub device_source: DeviceSource,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vendor: Option<String>,
    /// Devices that it may be by its measured peak: a guess without consequences.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inferred: Option<String>,
    pub backend: String,
    pub client_kind: ClientKind,
    #[serde(flatten)]
    pub figure: FigureOfDevice,
    /// Median of the training seconds until the target, over the same submitters. Runs that did not reach it
    /// count as the slowest; absent if the median is one of them, and for scores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds_to_target: Option<f64>,
    /// Completion of the runs that these submitters registered for the suite; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completion: Option<Completion>,
    /// Number of outliers among the runs of the line, for a person to check.
    pub outlier_runs: u64,
    /// Some of these outliers, at most twenty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outliers: Vec<String>,
    /// Fastest run that is no outlier.
    pub best_run_id: String,
}

/// Rate of a device from all its proven runs, in samples per second, or its score.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FigureOfDevice {
    /// Over networks (/24 or /48), each once a day.
    pub median: f64,
    pub lower_quartile: f64,
    pub upper_quartile: f64,
    pub runs: u64,
    /// Networks of submitters (/24 or /48), each once a day.
    pub submitters: u64,
    /// Different days of them.
    pub days: u64,
}

/// Rank of a score among the devices of a table, each represented by its best line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScoreRank {
    /// Devices that are not faster.
    pub slower: u64,
    pub devices: u64,
}

impl ScoreRank {
    /// Returns the position of a score among the devices that are not its own, or `None` if there are fewer than two.
    /// Lines beyond the table's limit count as slower devices.
    pub fn among(table: &ScoreTable, score: f64, is_own: impl Fn(&StandingsPlace) -> bool) -> Option<Self> {
        let mut is_faster = std::collections::BTreeMap::new();
        for line in table.places.iter().filter(|line| !is_own(line)) {
            *is_faster.entry(&line.device_key).or_insert(false) |= line.figure.median > score;
        }
        let devices = is_faster.len() as u64 + table.total.saturating_sub(table.places.len() as u64);
        let faster = is_faster.into_values().filter(|faster| *faster).count() as u64;
        (devices > 1).then(|| Self { slower: devices - faster, devices })
    }

    /// Formats the share of slower devices, such as `73 %`. Only the fastest gets 100 %, and only the slowest 0 %.
    pub fn percent(self) -> String {
        let whole = (100.0 * self.slower as f64 / self.devices as f64).round();
        let inside = self.slower > 0 && self.slower < self.devices;
        format!("{:.0} %", if inside { whole.clamp(1.0, 99.0) } else { whole })
    }
}

/// Returns the number of voices that a device still needs for a place.
pub fn voices_missing(voices: u64, days: u64) -> u64 {
    MIN_VOICES.saturating_sub(voices).max(MIN_DAYS.saturating_sub(days))
}

/// Completed share of registered runs. A small share suggests that the completed runs are a selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Completion {
    pub finished: u64,
    pub announced: u64,
}

/// Source of a device's name, the surest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeviceSource {
    /// The platform.
    Reported,
    /// The person, without contradiction.
    Claimed,
    /// Unknown: the browser reports only vendor and architecture, or the measured peak does not match the name.
    Masked,
}

names!(DeviceSource { Reported = "reported", Claimed = "claimed", Masked = "masked" });

/// Query of a distribution; only suite and workload are required.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DistributionQuery {
    /// Name of the suite; its current version is answered.
    pub suite: String,
    pub workload: String,
    /// f32 where none is named.
    pub precision: Option<Precision>,
    /// Only this back end.
    pub backend: Option<String>,
    /// Only this kind of client.
    pub client: Option<ClientKind>,
    /// GPUs where none is named.
    pub class: Option<RankedClass>,
}

/// Distribution of the rates of proven runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Distribution {
    pub suite: Suite,
    pub workload: String,
    pub runs: u64,
    pub devices: u64,
    /// Bins with runs, the slowest first.
    pub bins: Vec<RateBin>,
}

/// Runs between two rates, in samples per second. Every bin is equally wide on a logarithmic scale.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RateBin {
    pub from: f64,
    /// Not included.
    pub to: f64,
    pub runs: u64,
}

/// Score of a run, and its rank among the proven runs of its category.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunStanding {
    /// Key of the device that trained.
    pub device_key: String,
    /// In GFLOP/s; absent unless the run completed every provable workload of its suite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// For each completed workload with a rate.
    pub workloads: Vec<WorkloadStanding>,
}

/// Rank of a run in one workload, in three groups: each is the share of proven runs of the same suite, workload,
/// back end, precision, kind of client and class that it is at or above, 0 to 1, with half of those that are equal within
/// one percent. Absent where there are none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkloadStanding {
    pub workload: String,
    pub samples_per_second: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub among_all: Option<f64>,
    /// Among runs on the same device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of_device: Option<f64>,
    /// Among runs on devices of the same vendor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of_vendor: Option<f64>,
    /// Numbers of runs that it is compared with: all, of its device, of its vendor.
    pub runs: [u64; 3],
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(lines: &[(&str, f64)], total: u64) -> ScoreTable {
        let place = |(key, median): &(&str, f64)| {
            serde_json::json!({
                "place": 1, "device_key": key, "device_name": key, "device_source": "reported", "backend": "wgsl",
                "client_kind": "native", "median": median, "lower_quartile": median, "upper_quartile": median,
                "runs": 1, "submitters": 1, "days": 1, "outlier_runs": 0, "best_run_id": "",
            })
        };
        let places: Vec<_> = lines.iter().map(place).collect();
        serde_json::from_value(serde_json::json!({ "total": total, "places": places })).unwrap()
    }

    #[test]
    fn scores_rank_against_the_best_line_of_each_device() {
        let rank = |lines: &[(&str, f64)], total, score| {
            let rank = ScoreRank::among(&table(lines, total), score, |line| line.device_key == "own");
            rank.map(|rank| (rank.slower, rank.devices, rank.percent()))
        };
        let lines = [("a", 900.0), ("b", 500.0), ("a", 400.0), ("c", 100.0)];
        assert_eq!(rank(&lines, 4, 500.0), Some((2, 3, "67 %".to_owned())));
        assert_eq!(rank(&lines, 4, 1000.0), Some((3, 3, "100 %".to_owned())));
        assert_eq!(rank(&lines, 4, 1.0), Some((0, 3, "0 %".to_owned())));
        assert_eq!(rank(&lines, 1004, 600.0), Some((1002, 1003, "99 %".to_owned())));
        assert_eq!(rank(&[("own", 700.0), ("b", 500.0), ("c", 100.0)], 3, 400.0), Some((1, 2, "50 %".to_owned())));
        assert_eq!(rank(&[("own", 700.0), ("b", 500.0)], 2, 1.0), None);
        assert_eq!(rank(&[], 0, 1.0), None);
    }
}
