//! Compares each backend with the plain reference, each in a child process because drivers crash.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use engine::backends::{Devices, REFERENCE};
use engine::{AdapterChoice, BACKENDS, BackendDefinition, DataSource, EngineError, backends};
use results::{Correctness, Outcome, RunRecord, WorkloadRecord};
use serde_json::json;

use crate::child::{Child, How};
use crate::data_folder::LocalData;
use crate::doctor::circumstances::Severity::{Fine, Note, Problem, Warning};
use crate::doctor::circumstances::{Circumstances, Diagnosis, DoctorArgs, Trial, TrialOutcome};

/// Convolutions, pools and dense layers, if MNIST is available; otherwise two LSTMs on generated stories.
const SMALL_WORKLOADS: [&str; 2] = ["caffe-mnist", "keras-babi-rnn"];

/// Returns the named backends; without names, all except the slow reference and remote ones.
pub(crate) fn wanted(names: &[String]) -> Result<Vec<&'static BackendDefinition>, EngineError> {
    if names.is_empty() {
        let tried = |backend: &&BackendDefinition| ![REFERENCE, backends::BURN_REMOTE].contains(&backend.name);
        return Ok(BACKENDS.iter().filter(tried).collect());
    }
    let find = |name: &String| {
        let name = backends::find_known(name.trim())?;
        BACKENDS.iter().find(|built| built.name == name).ok_or(EngineError::BackendNotBuilt { name })
    };
    names.iter().map(find).collect()
}

/// Pairs each backend with each adapter that it can choose. Others are tried once, unless only an adapter was named.
fn pairs(
    backends: &[&'static BackendDefinition],
    adapters: &[usize],
    only_adapters: bool,
) -> Vec<(&'static BackendDefinition, Option<usize>)> {
    let of = |backend: &&'static BackendDefinition| -> Vec<Option<usize>> {
        match backend.devices() {
            Devices::Adapters => adapters.iter().copied().map(Some).collect(),
            Devices::Given if only_adapters => Vec::new(),
            Devices::Platform | Devices::Given => vec![None],
        }
    };
    backends.iter().flat_map(|backend| of(backend).into_iter().map(|adapter| (*backend, adapter))).collect()
}

pub(crate) fn examine_backends(circumstances: &mut Circumstances<'_>) -> Vec<Diagnosis> {
    let arguments = circumstances.arguments;
    // The command line has already been checked.
    let backends = wanted(&arguments.backends).unwrap_or_default();
    let adapters = circumstances.listing.chosen(arguments.adapter.as_deref()).unwrap_or_default();
    let only_adapters = arguments.adapter.is_some() && arguments.backends.is_empty();
    let mut findings = Vec::new();
    for (backend, adapter) in pairs(&backends, &adapters, only_adapters) {
        // Without an adapter, it computes on the processor or on a vendor's own devices.
        let described = adapter.map(|index| &circumstances.listing.adapters[index].adapter);
        let device = described.map_or_else(|| "its own device".to_owned(), |described| described.name.clone());
        let software = described.is_some_and(|described| described.software);
        let mut trial = Trial { backend: backend.name, adapter, device, software, outcome: TrialOutcome::Untried };
        if !arguments.quick {
            circumstances.say(&format!("{} on {}", backend.name, trial.device));
            findings.push(try_out(circumstances, &mut trial));
        }
        circumstances.trials.push(trial);
    }
    if arguments.quick {
        findings.push(Diagnosis::new(Note, "traces", "No backend was tested (--quick)."));
    }
    if arguments.backends.is_empty() && BACKENDS.iter().any(|backend| backend.name == backends::BURN_REMOTE) {
        let advice = "`native-runner --backend burn-remote --remote HOST` tests it before timing.";
        findings.push(
            Diagnosis::new(Note, "trace", "burn-remote was not tested, because its device is on another machine.")
                .with_advice(advice),
        );
    }
    findings
}

/// Returns the `--adapter` argument. A backend with its own numbering gets the name of the requested adapter.
fn place(circumstances: &Circumstances<'_>, adapter: Option<usize>) -> Option<String> {
    if let Some(index) = adapter {
        return Some(index.to_string());
    }
    let asked = circumstances.arguments.adapter.as_deref()?;
    let name = |index: usize| circumstances.listing.adapters[index].adapter.name.clone();
    match asked.parse() {
        // An index out of range is passed on and refused later.
        Ok(AdapterChoice::Index(index)) if index < circumstances.listing.adapters.len() => Some(name(index)),
        _ => Some(asked.to_owned()),
    }
}

fn try_out(circumstances: &Circumstances<'_>, trial: &mut Trial) -> Diagnosis {
    let DoctorArgs { data, trace_seconds, .. } = circumstances.arguments;
    let workload = small_workload(&mut LocalData::new(data));
    let words = ["--backend", trial.backend, "--workload", workload, "--steps", "1", "--seed", "1"];
    let mut words = words.map(OsString::from).to_vec();
    let folder = |folder: &Option<PathBuf>| folder.clone().map(OsString::from);
    let options = [
        ("--adapter", place(circumstances, trial.adapter).map(OsString::from)),
        ("--data", folder(&data.folder)),
        ("--babi", folder(&data.babi)),
    ];
    words.extend(options.into_iter().filter_map(|(name, value)| Some([name.into(), value?])).flatten());
    let record = run(&words, Duration::from_secs_f64(*trace_seconds));
    judge_run(trial, record)
}

/// Trains one step and tests as a cell of a study does, which first compares the backend with the plain reference.
fn run(words: &[OsString], limit: Duration) -> Result<RunRecord, String> {
    let child = Child::start_cell(words).map_err(|error| error.to_string())?;
    let ended = child.wait(Some(limit), &|| false, &mut |_| ()).map_err(|error| error.to_string())?;
    let ended = ended.expect("nothing interrupts it");
    // A driver may also crash after the result. Windows reports that as a status outside this range.
    let has_crashed = !matches!(ended.how, How::Status { code: Some(0..=255), .. });
    let record = serde_json::from_str(&ended.stdout).ok();
    let record = record.filter(|record: &RunRecord| !has_crashed && !record.workloads.is_empty());
    // Its advice to run this command is of no use here.
    record.ok_or_else(|| ended.reason().split(" Run `native-runner doctor`").next().unwrap_or_default().to_owned())
}

/// Sets the outcome of the trial, and the name of the device that it ran on.
fn judge_run(trial: &mut Trial, record: Result<RunRecord, String>) -> Diagnosis {
    let (backend, adapter_index) = (trial.backend, trial.adapter);
    // Some backends are known to fail on software adapters, and such runs are never ranked.
    let severity = if trial.software { Warning } else { Problem };
    let failed = |sentence: String, details| {
        let advice = "A newer driver may help; `native-runner backends` lists other backends.";
        Diagnosis::new(severity, "trace", sentence).with_advice(advice).with_details(details)
    };
    trial.outcome = TrialOutcome::Failed;
    let RunRecord { device, workloads, provenance, .. } = match record {
        Ok(record) => record,
        Err(how) => {
            let sentence = format!("{backend} on {} gave no result: {how}.", trial.device);
            let details = json!({ "backend": backend, "adapter_index": adapter_index, "ended": how });
            return failed(sentence, details);
        }
    };
    let (adapter, seconds) = (&device.adapter, provenance.wall_seconds);
    let WorkloadRecord { workload, outcome, correctness, .. } = &workloads[0];
    let device = &adapter.name;
    (trial.device, trial.software) = (device.clone(), adapter.software);
    let details = json!({
        "backend": backend, "adapter_index": adapter_index, "adapter": adapter, "workload": workload,
        "seconds": seconds, "correctness": correctness,
    });
    let disagreement = correctness.as_ref().and_then(Correctness::disagreement);
    match (outcome, disagreement) {
        (Outcome::Completed, None) => {
            let what = format!("the first steps of {workload}; the run took {seconds:.1} s");
            let sentence = format!("{backend} on {device} agrees with the reference: {what}.");
            trial.outcome = TrialOutcome::Right;
            Diagnosis::new(Fine, "trace", sentence).with_details(details)
        }
        (Outcome::Failed { reason, .. }, _) => {
            failed(format!("{backend} cannot train on {device}: {reason}."), details)
        }
        (_, Some(found)) => {
            let what = format!("disagrees with the reference: {found} ({workload})");
            failed(format!("{backend} on {device} {what}."), details)
        }
        (_, None) => failed(format!("{backend} on {device} diverged ({workload})."), details),
    }
}

/// Returns the first small network whose data can be loaded without fetching.
fn small_workload(folder: &mut LocalData) -> &'static str {
    let [images, stories] = SMALL_WORKLOADS;
    let set = engine::workload(images).and_then(|workload| engine::data_set(workload.data_set));
    let is_there = set.is_some_and(|set| pollster::block_on(folder.load(set)).is_ok());
    if is_there { images } else { stories }
}

#[cfg(test)]
mod tests {
    use engine::KNOWN_BACKENDS;
    use results::{Adapter, FailureCause};

    use super::*;
    use crate::arguments::DataArgs;

    #[test]
    fn every_back_end_meets_every_adapter_and_the_processor_once() {
        let backends: Vec<&BackendDefinition> =
            KNOWN_BACKENDS.iter().filter(|known| ["wgsl", "burn-flex"].contains(&known.name)).collect();
        let named = |pairs: Vec<(&'static BackendDefinition, Option<usize>)>| {
            pairs.into_iter().map(|(backend, adapter)| (backend.name, adapter)).collect::<Vec<_>>()
        };
        let both = [("wgsl", Some(0)), ("wgsl", Some(2)), ("burn-flex", None)];
        assert_eq!(named(pairs(&backends, &[0, 2], false)), both);
        assert_eq!(named(pairs(&backends, &[0, 2], true)), both[..2]);
    }

    #[test]
    fn network_of_stories_replaces_one_without_images() {
        let empty = tempfile::tempdir().unwrap();
        let chosen = DataArgs { folder: Some(empty.path().to_owned()), babi: None };
        assert_eq!(small_workload(&mut LocalData::new(&chosen)), SMALL_WORKLOADS[1]);
        std::fs::write(empty.path().join("mnist-train.bin"), "GMDS").unwrap();
        assert_eq!(small_workload(&mut LocalData::new(&chosen)), SMALL_WORKLOADS[1]);
        assert!(SMALL_WORKLOADS.into_iter().all(|name| engine::workload(name).is_some()));
    }

    fn record(outcome: Outcome, loss: f64) -> RunRecord {
        let stored = include_str!("../../../results/tests/all/stored/0.1.0.json");
        let mut record: RunRecord = serde_json::from_str(stored).unwrap();
        record.device.adapter = Adapter { name: "llvmpipe".to_owned(), software: true, ..Adapter::default() };
        record.workloads[0].outcome = outcome;
        record.workloads[0].correctness = Some(Correctness {
            batch_size: 64,
            redraws: 0,
            passed: true,
            tolerance: 1e-3,
            largest_difference: Correctness::largest_difference_of(&[loss], &[2.3]),
            losses: vec![loss],
            reference_losses: vec![2.3],
            differences: Vec::new(),
            whole_batch: None,
        });
        record
    }

    #[test]
    fn run_is_judged_by_its_outcome_and_a_crash_of_a_real_gpu_is_a_problem() {
        let refused = Outcome::Failed { cause: FailureCause::DeviceRefused, reason: "no".to_owned() };
        let crash = || Err("it was ended by SIGSEGV".to_owned());
        let crashed = "wgsl on Some GPU gave no result: it was ended by SIGSEGV.";
        for (software, record, outcome, severity, part) in [
            (false, crash(), TrialOutcome::Failed, Problem, crashed),
            (true, crash(), TrialOutcome::Failed, Warning, crashed),
            (false, Ok(record(Outcome::Completed, 2.3)), TrialOutcome::Right, Fine, "wgsl on llvmpipe agrees with"),
            (false, Ok(record(Outcome::Incorrect, 4.6)), TrialOutcome::Failed, Problem, "disagrees with the reference"),
            (false, Ok(record(refused, 2.3)), TrialOutcome::Failed, Problem, "wgsl cannot train on llvmpipe: no."),
        ] {
            let device = "Some GPU".to_owned();
            let mut trial =
                Trial { backend: "wgsl", adapter: Some(0), device, software, outcome: TrialOutcome::Untried };
            let is_software = software || record.is_ok();
            let finding = judge_run(&mut trial, record);
            assert_eq!((trial.outcome, trial.software, finding.severity), (outcome, is_software, severity));
            assert!(finding.sentence.contains(part), "{}", finding.sentence);
        }
    }
}
