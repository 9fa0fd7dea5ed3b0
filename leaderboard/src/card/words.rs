//! Texts of a card: names and metrics of a run, each short enough to be drawn.

use engine::backends::WGSL;
use results::api::{ScoreRank, StoredRun, Tier};
use results::estimate::Estimate;
use results::summary::{SUSTAINED_RATIO, thin_curve};
use results::{ClientKind, Date, Outcome, RunRecord, WorkloadRecord, metric, score_digits};
use view::text::trimmed;

use crate::badge::grouped;
use crate::devices::DeviceIdentity;
use crate::devices::name::displayed;

/// Maximum number of points of a curve, which is as wide as a finger.
const MAX_POINTS: usize = 120;
/// Maximum number of characters, more than fit. Longer texts are not even measured.
const MAX_CHARACTERS: usize = 200;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Card {
    pub(crate) device: ShownDevice,
    /// Client, backend and precision.
    pub(crate) how: String,
    /// Score of the suite in GFLOP/s.
    pub(crate) score: Option<Estimate>,
    /// Position of the score, if it is compared with others.
    pub(crate) rank: Option<ScoreRank>,
    pub(crate) tier: Tier,
    pub(super) being_verified: bool,
    pub(super) reason: Option<String>,
    pub(super) suite: String,
    pub(super) date: String,
    pub(crate) workloads: Vec<CardWorkload>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ShownDevice {
    /// Text before a name that the platform does not report.
    pub(crate) lead: Option<&'static str>,
    pub(crate) name: String,
    pub(super) beside: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CardWorkload {
    pub(crate) title: String,
    /// Metrics, or the end of a sentence on why there are none.
    pub(crate) figures: Result<CardFigures, String>,
    /// Training loss over training seconds.
    pub(crate) curve: Vec<(f64, f64)>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CardFigures {
    pub(crate) rate: String,
    /// Half the width of the rate's interval.
    pub(crate) within: Option<String>,
    pub(crate) accuracy: String,
    pub(crate) target: Option<String>,
    /// Absent if the target was not reached.
    pub(crate) seconds_to_target: Option<String>,
    /// Speed of the slowest window as a share of the fastest; absent for one window.
    pub(super) kept: Option<String>,
    pub(super) sustained: bool,
}

impl Card {
    /// Returns the card of a run without a rank.
    pub(crate) fn of(run: &StoredRun) -> Self {
        let record = &run.record;
        let standard = if record.is_standard() { "" } else { ", with other settings: not ranked" };
        let reason =
            (run.tier == Tier::Flagged).then(|| run.notes.first().map(|note| plain(&note.to_string()))).flatten();
        Self {
            device: ShownDevice::of(record),
            how: how(record),
            score: engine::score(record),
            rank: None,
            tier: run.tier,
            being_verified: run.being_verified,
            reason,
            suite: format!("Suite {}, version {}{standard}", plain(&record.suite.name), record.suite.version),
            date: Date::of(run.submitted_unix_seconds).iso(),
            workloads: record.workloads.iter().map(CardWorkload::of).collect(),
        }
    }

    /// Returns the tier, with a remark if it may still change.
    pub(crate) fn tier_in_words(&self) -> String {
        let tier = self.tier.name();
        if self.being_verified { format!("{tier}, being verified") } else { tier.to_owned() }
    }

    pub(crate) fn title(&self) -> String {
        let ShownDevice { lead, name, .. } = &self.device;
        lead.map_or_else(|| name.clone(), |lead| format!("{lead} {name}"))
    }

    /// Returns the share of slower devices, and the number of all.
    pub(crate) fn rank_in_words(&self) -> Option<[String; 2]> {
        self.rank.map(|rank| [format!("Faster than {}", rank.percent()), format!("of {} devices", rank.devices)])
    }

    /// Returns the content in a few sentences, for readers without the picture.
    pub(crate) fn description(&self) -> String {
        let score = self.score.map(|score| format!("Gradmark {} GFLOP/s", score_digits(score.value)));
        let rank = self.rank_in_words().map(|words| words.join(" "));
        let workloads: Vec<String> = self.workloads.iter().map(CardWorkload::sentence).collect();
        let workloads = Some(workloads.join("; ")).filter(|workloads| !workloads.is_empty());
        let sentences = [score, rank, workloads, Some(self.tier_in_words()), Some(self.how.clone())];
        sentences.into_iter().flatten().collect::<Vec<_>>().join(". ")
    }
}

impl ShownDevice {
    /// Returns the platform's name, or else the person's, unless something contradicts it.
    fn of(record: &RunRecord) -> Self {
        let identity = DeviceIdentity::of(record);
        let claimed = identity.claimed.map(|claimed| plain(&claimed.text));
        let name = plain(&identity.label);
        let software = record.device.adapter.software.then(|| "A software adapter: shown, never ranked".to_owned());
        let reported = &identity.reported;
        let (lead, beside) = match (&reported.name, claimed) {
            (Some(named), Some(claimed)) if claimed != name && claimed != named.text => {
                (None, Some(format!("Its owner calls it “{claimed}”")))
            }
            (None, Some(claimed)) if identity.contradiction.is_some() => {
                (None, Some(format!("Its owner calls it “{claimed}”, which contradicts the browser")))
            }
            (None, Some(_)) => {
                let vendor = reported.vendor.map(|vendor| vendor.name().to_owned());
                let architecture = Some(plain(&reported.architecture)).filter(|_| !reported.architecture.is_empty());
                let told: Vec<String> = vendor.into_iter().chain(architecture).collect();
                let told = if told.is_empty() { "nothing".to_owned() } else { told.join(", ") };
                (Some("Said to be"), Some(format!("Reported by the browser: {told}")))
            }
            _ => (None, None),
        };
        Self { lead, name, beside: software.or(beside) }
    }
}

/// Returns a text such as `Native: native-runner 0.1.0 on Linux · Vulkan · f32`. The usual backend is not named.
fn how(record: &RunRecord) -> String {
    let client = &record.provenance.client;
    let kind = match client.kind {
        ClientKind::Browser => "Browser",
        ClientKind::Native => "Native",
    };
    let (backend, api) = (&record.device.backend, &record.device.adapter.api);
    let [name, version, system, backend, api] =
        [&client.name, &client.version, &client.operating_system, backend, api].map(|text| plain(text));
    let trained_by = if backend == WGSL { api } else { format!("{backend} · {api}") };
    let mut precisions: Vec<&str> =
        record.workloads.iter().map(|workload| workload.settings.precision.name()).collect();
    precisions.dedup();
    let precisions = precisions.join(", ");
    format!("{kind}: {name} {version} on {system} · {trained_by} · {precisions}")
}

impl CardWorkload {
    fn of(record: &WorkloadRecord) -> Self {
        let title = engine::workload(&record.workload).map(|workload| workload.title).filter(|title| !title.is_empty());
        let title = title.map_or_else(|| plain(&record.workload), str::to_owned);
        let figures = match &record.outcome {
            Outcome::Completed => CardFigures::of(record).ok_or_else(|| "was too short to measure".to_owned()),
            Outcome::Diverged { step } => Err(format!("diverged at step {}", grouped(*step as f64))),
            Outcome::Incorrect => Err("disagreed with the reference".to_owned()),
            Outcome::Cancelled => Err("was cancelled".to_owned()),
            Outcome::Failed { .. } => Err("could not be trained there".to_owned()),
        };
        let curve = thin_curve(&record.curve, MAX_POINTS).into_iter().map(|point| (point.training_seconds, point.loss));
        let curve = curve.filter(|(seconds, loss)| seconds.is_finite() && loss.is_finite()).collect();
        Self { title, figures, curve }
    }

    /// Returns a text such as `MNIST, LeNet (Caffe): 937 samples/s ± 1.4 %, accuracy 98.41 %, 98 % after 94.30 s`.
    fn sentence(&self) -> String {
        let figures = match &self.figures {
            Err(outcome) => return format!("{} {outcome}", self.title),
            Ok(figures) => figures,
        };
        let within = figures.within.as_ref().map_or_else(String::new, |within| format!(" {within}"));
        let target = match (&figures.target, &figures.seconds_to_target) {
            (Some(target), Some(seconds)) => format!(", {target} after {seconds}"),
            (Some(target), None) => format!(", {target} not reached"),
            (None, _) => String::new(),
        };
        format!("{}: {} samples/s{within}, accuracy {}{target}", self.title, figures.rate, figures.accuracy)
    }
}

impl CardFigures {
    /// Returns the metrics, or `None` without a throughput.
    fn of(record: &WorkloadRecord) -> Option<Self> {
        let figures = &record.summary;
        let seconds = metric("seconds_to_target").filter(|_| record.target.is_some());
        let within = figures.relative_half_width().filter(|share| share.is_finite());
        Some(Self {
            rate: grouped(figures.samples_per_second?),
            within: within.map(|share| format!("± {:.1} %", 100.0 * share)),
            accuracy: figures.accuracy.map_or_else(|| "–".to_owned(), |share| format!("{:.2} %", 100.0 * share)),
            target: record.target.map(|target| format!("{} %", trimmed(100.0 * target.accuracy, 2))),
            seconds_to_target: seconds.and_then(|metric| figures.seconds_to_target.map(|value| metric.text(value))),
            kept: figures.sustained_ratio.map(|ratio| format!("{:.1} %", 100.0 * ratio)),
            sustained: figures.sustained_ratio.is_some_and(|ratio| ratio >= SUSTAINED_RATIO),
        })
    }

    /// Returns the time to the target and the target; the latter is empty if there is none.
    pub(super) fn target_in_words(&self) -> [String; 2] {
        match (&self.target, &self.seconds_to_target) {
            (Some(target), Some(seconds)) => [seconds.clone(), format!("to {target}")],
            (Some(target), None) => ["not yet".to_owned(), format!("at {target}")],
            (None, _) => ["–".to_owned(), String::new()],
        }
    }
}

/// Returns a text without characters that change the writing direction, are invisible or are invalid in XML, cut to a
/// drawable length.
fn plain(text: &str) -> String {
    displayed(text).chars().take(MAX_CHARACTERS).collect()
}
