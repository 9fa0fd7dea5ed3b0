//! Content of a run's card.

use engine::backends::WGSL;
use results::api::{StoredRun, Tier};
use results::summary::{SUSTAINED_RATIO, thin_curve};
use results::{ClientKind, Date, Goal, Outcome, RunRecord, Summary, WorkloadRecord, bits_per_character, metric};
use view::card::{Card, CardFigures, CardResult, CardWorkload, ShownDevice};
use view::text;

use crate::badge::grouped;
use crate::devices::DeviceIdentity;
use crate::devices::name::displayed;

/// Maximum number of points of a curve, which is as wide as a finger.
const MAX_POINTS: usize = 120;
/// Maximum number of characters, more than fit. Longer texts are not even measured.
const MAX_CHARACTERS: usize = 200;

/// Returns the card of a run without a rank.
pub(crate) fn card_of(run: &StoredRun) -> Card {
    let record = &run.record;
    let standard = if record.is_standard() { "" } else { ", with other settings: not ranked" };
    let reason = (run.tier == Tier::Flagged).then(|| run.notes.first().map(|note| plain(&note.to_string()))).flatten();
    Card {
        device: shown_device(record),
        how: how(record),
        score: engine::score(record),
        rank: None,
        tier: run.tier,
        being_verified: run.being_verified,
        reason,
        suite: format!("Suite {}, version {}{standard}", plain(&record.suite.name), record.suite.version),
        date: Date::of(run.submitted_unix_seconds).iso(),
        workloads: record.workloads.iter().map(card_workload).collect(),
    }
}

/// Returns the platform's name, or else the person's, unless something contradicts it.
fn shown_device(record: &RunRecord) -> ShownDevice {
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
    ShownDevice { lead, name, beside: software.or(beside) }
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

fn card_workload(record: &WorkloadRecord) -> CardWorkload {
    let title = engine::workload(&record.workload).map(|workload| workload.title).filter(|title| !title.is_empty());
    let title = title.map_or_else(|| plain(&record.workload), str::to_owned);
    let figures = match &record.outcome {
        Outcome::Completed => card_figures(record).ok_or_else(|| "was too short to measure".to_owned()),
        Outcome::Diverged { step } => Err(format!("diverged at step {}", grouped(*step as f64))),
        Outcome::Incorrect => Err("disagreed with the reference".to_owned()),
        Outcome::Cancelled => Err("was cancelled".to_owned()),
        Outcome::Failed { .. } => Err("could not be trained there".to_owned()),
    };
    let curve = thin_curve(&record.curve, MAX_POINTS).into_iter().map(|point| (point.training_seconds, point.loss));
    let curve = curve.filter(|(seconds, loss)| seconds.is_finite() && loss.is_finite()).collect();
    CardWorkload { title, figures, curve }
}

/// Returns the metrics, or `None` without a throughput.
fn card_figures(record: &WorkloadRecord) -> Option<CardFigures> {
    let figures = &record.summary;
    let seconds = metric("seconds_to_target").filter(|_| record.target.is_some());
    let within = figures.relative_half_width().filter(|share| share.is_finite());
    Some(CardFigures {
        rate: grouped(figures.samples_per_second?),
        within: within.map(|share| format!("± {:.1} %", 100.0 * share)),
        result: card_result(record),
        target: record.target.map(|target| text::goal(target.goal)),
        seconds_to_target: seconds.and_then(|metric| figures.seconds_to_target.map(|value| metric.text(value))),
        kept: figures.sustained_ratio.map(|ratio| format!("{:.1} %", 100.0 * ratio)),
        sustained: figures.sustained_ratio.is_some_and(|ratio| ratio >= SUSTAINED_RATIO),
    })
}

fn card_result(record: &WorkloadRecord) -> CardResult {
    let Summary { accuracy, test_loss, .. } = record.summary;
    let shown = |value: Option<f64>, show: fn(f64) -> String| value.map_or_else(|| "–".to_owned(), show);
    match record.target.map(|target| target.goal) {
        Some(Goal::Loss(_)) => {
            let show = |loss| text::figure("test_loss", loss);
            let bits = test_loss.filter(|_| text::reads_text(record)).map(bits_per_character).map(show);
            CardResult::Loss { loss: shown(test_loss, show), bits }
        }
        Some(Goal::Accuracy(_)) | None => CardResult::Accuracy(shown(accuracy, text::percent)),
    }
}

/// Returns a text without characters that change the writing direction, are invisible or are invalid in XML, cut to a
/// drawable length.
fn plain(text: &str) -> String {
    displayed(text).chars().take(MAX_CHARACTERS).collect()
}
