//! Compares each backend with the plain reference, each in a child process because drivers crash.

use std::ffi::OsString;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::backends::{Devices, KNOWN_BACKENDS, Opening, REFERENCE};
use engine::{AdapterChoice, BACKENDS, BackendDefinition, DataSet, DataSource, EngineError, Workload, backends};
use results::{Adapter, Correctness, Precision};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::cli::find_workloads;
use crate::data_folder::DataFolder;
use crate::doctor::graphics::ask_child;
use crate::doctor::{Circumstances, DoctorArgs, Finding, Severity};
use crate::failure::Failure;
use crate::json_output::{JsonTarget, to_json};
use crate::meter::MonotonicClock;
use crate::{machine, progress};

/// Convolutions, pools and dense layers, if MNIST is available; and two LSTMs on stories, which can always be
/// generated.
const SMALL_WORKLOADS: [&str; 2] = ["caffe-mnist", "keras-babi-rnn"];
const SEED: u32 = 1;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Trial {
    pub(crate) backend: &'static str,
    /// Adapter index; `None` for backends with their own devices.
    pub(crate) adapter: Option<usize>,
    pub(crate) device: String,
    pub(crate) software: bool,
    pub(crate) outcome: TrialOutcome,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TrialOutcome {
    Right,
    Failed,
    Untried,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Answer {
    Checked { adapter: Adapter, workload: String, seconds: f64, correctness: Box<Correctness> },
    Refused { reason: String },
}

/// Returns the named backends; without names, all except the slow reference and remote ones.
pub(crate) fn wanted(names: &[String]) -> Result<Vec<&'static BackendDefinition>, EngineError> {
    if names.is_empty() {
        let tried = |backend: &&BackendDefinition| ![REFERENCE, backends::BURN_REMOTE].contains(&backend.name);
        return Ok(BACKENDS.iter().filter(tried).collect());
    }
    let find = |name: &str| {
        let known = KNOWN_BACKENDS.iter().find(|known| known.name == name);
        BACKENDS.iter().find(|built| built.name == name).ok_or_else(|| match known {
            Some(known) => EngineError::BackendNotBuilt { name: known.name, feature: known.name },
            None => EngineError::UnknownBackend {
                name: name.to_owned(),
                known: BACKENDS.iter().map(|built| built.name.to_owned()).collect(),
            },
        })
    };
    names.iter().map(|name| find(name.trim())).collect()
}

/// Pairs each backend with each adapter that it can choose. Backends without a choice are tried once, unless only
/// an adapter was requested.
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

pub(crate) fn examine_backends(circumstances: &mut Circumstances<'_>) -> Vec<Finding> {
    let arguments = circumstances.arguments;
    // The command line has already been checked.
    let backends = wanted(&arguments.backends).unwrap_or_default();
    let adapters = circumstances.listing.chosen(arguments.adapter.as_deref()).unwrap_or_default();
    let only_adapters = arguments.adapter.is_some() && arguments.backends.is_empty();
    let mut findings = Vec::new();
    for (backend, adapter) in pairs(&backends, &adapters, only_adapters) {
        let (trial, finding) = if arguments.quick {
            (untried(circumstances, backend, adapter), None)
        } else {
            circumstances.say(&format!("{} on {}", backend.name, device(circumstances, adapter)));
            let (trial, finding) = try_out(circumstances, backend, adapter);
            (trial, Some(finding))
        };
        circumstances.trials.push(trial);
        findings.extend(finding);
    }
    if arguments.quick {
        findings.push(Finding::note("traces", "No backend was tested (--quick)."));
    }
    if arguments.backends.is_empty() && BACKENDS.iter().any(|backend| backend.name == backends::BURN_REMOTE) {
        let advice = "`native-runner --backend burn-remote --remote HOST` tests it before timing.";
        findings.push(
            Finding::note("trace", "burn-remote was not tested, because its device is on another machine.")
                .with_advice(advice),
        );
    }
    findings
}

fn device(circumstances: &Circumstances<'_>, adapter: Option<usize>) -> String {
    adapter
        .map_or_else(|| "its own device".to_owned(), |index| circumstances.listing.adapters[index].adapter.name.clone())
}

fn untried(circumstances: &Circumstances<'_>, backend: &BackendDefinition, adapter: Option<usize>) -> Trial {
    // Without an adapter, it computes on the processor or on a vendor's own devices.
    let software = adapter.is_some_and(|index| circumstances.listing.adapters[index].adapter.software);
    let device = device(circumstances, adapter);
    Trial { backend: backend.name, adapter, device, software, outcome: TrialOutcome::Untried }
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

fn try_out(
    circumstances: &Circumstances<'_>,
    backend: &'static BackendDefinition,
    adapter: Option<usize>,
) -> (Trial, Finding) {
    let DoctorArgs { data, trace_seconds, .. } = circumstances.arguments;
    let mut words: Vec<OsString> = ["--part", "trace", "--backend", backend.name].map(OsString::from).to_vec();
    let adapter_word = place(circumstances, adapter).map(OsString::from);
    let folder = |folder: &Option<PathBuf>| folder.clone().map(OsString::from);
    let options = [("--adapter", adapter_word), ("--data", folder(&data.folder)), ("--babi", folder(&data.babi))];
    words.extend(options.into_iter().filter_map(|(name, value)| Some([name.into(), value?])).flatten());
    let answer = ask_child(&words, Duration::from_secs_f64(*trace_seconds));
    judge_trace(untried(circumstances, backend, adapter), answer)
}

fn judge_trace(trial: Trial, answer: Result<Answer, String>) -> (Trial, Finding) {
    let backend = trial.backend;
    // Some backends are known to fail on software adapters, and such runs are never ranked.
    let severity = if trial.software { Severity::Warning } else { Severity::Problem };
    let failed = |trial: Trial, sentence: String, details| {
        let advice = "A newer driver may help; `native-runner backends` lists other backends.";
        let finding = Finding::new(severity, "trace", sentence).with_advice(advice).with_details(details);
        (Trial { outcome: TrialOutcome::Failed, ..trial }, finding)
    };
    match answer {
        Ok(Answer::Checked { adapter, workload, seconds, correctness }) => {
            let device = adapter.name.clone();
            let trial = Trial { device: device.clone(), software: adapter.software, ..trial };
            let details = json!({
                "backend": backend, "adapter_index": trial.adapter, "adapter": adapter, "workload": workload,
                "seconds": seconds, "correctness": correctness,
            });
            match correctness.disagreement() {
                None => {
                    let what = format!("the first steps of {workload}, in {seconds:.1} s");
                    let sentence = format!("{backend} on {device} agrees with the reference: {what}.");
                    (
                        Trial { outcome: TrialOutcome::Right, ..trial },
                        Finding::fine("trace", sentence).with_details(details),
                    )
                }
                Some(found) => {
                    let what = format!("disagrees with the reference: {found} ({workload})");
                    failed(trial, format!("{backend} on {device} {what}."), details)
                }
            }
        }
        Ok(Answer::Refused { reason }) => {
            let details = json!({ "backend": backend, "adapter_index": trial.adapter, "refused": reason });
            let sentence = format!("{backend} cannot train on {}: {reason}.", trial.device);
            failed(trial, sentence, details)
        }
        Err(how) => {
            let details = json!({ "backend": backend, "adapter_index": trial.adapter, "ended": how });
            let sentence = format!("{backend} on {} failed to answer: {how}.", trial.device);
            failed(trial, sentence, details)
        }
    }
}

/// Entry point of the child process: computes, reports, and ends with its parent.
pub(crate) fn trace_for_the_doctor(arguments: &DoctorArgs) -> Result<(), Failure> {
    progress::end_with_input();
    let [backend] = wanted(&arguments.backends)?[..] else {
        return Err(Failure::Usage("--part trace takes one --backend".to_owned()));
    };
    let start = Instant::now();
    let answer = match pollster::block_on(compute(backend.name, arguments)) {
        Ok((adapter, workload, correctness)) => {
            let (seconds, correctness) = (start.elapsed().as_secs_f64(), Box::new(correctness));
            Answer::Checked { adapter, workload, seconds, correctness }
        }
        Err(error) => Answer::Refused { reason: error.to_string() },
    };
    JsonTarget::StandardOutput.write(&to_json(&answer)?)
}

async fn compute(backend: &str, arguments: &DoctorArgs) -> Result<(Adapter, String, Correctness), EngineError> {
    let Ok(choice) = arguments.adapter.as_deref().unwrap_or("any").parse();
    // Tuning for such a short test is not worth keeping.
    let opening = Opening { processor: machine::name(), ..Opening::new(Precision::F32, &choice) };
    let backend = backends::open_with(backend, &opening, Rc::new(MonotonicClock::start())).await?;
    let (workload, data) = small_work(&mut DataFolder::new(&arguments.data)).await?;
    let correctness = engine::check_workload(&workload, SEED, data, backend.as_ref()).await?;
    Ok((backend.adapter().clone(), workload.name.to_owned(), correctness))
}

/// Returns the first small network whose data can be loaded without fetching.
async fn small_work(folder: &mut DataFolder) -> Result<(Workload, Arc<DataSet>), EngineError> {
    let mut failure = None;
    for workload in find_workloads(SMALL_WORKLOADS).expect("tests check them against the registry") {
        let set = engine::data_set(workload.data_set).expect("the engine's tests hold every workload to a data set");
        match folder.load(set).await {
            Ok(data) => return Ok((workload, data)),
            Err(error) => failure = Some(error),
        }
    }
    Err(failure.expect("there are networks").into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::DataArgs;

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
        let name = || pollster::block_on(small_work(&mut DataFolder::new(&chosen))).map(|(workload, _)| workload.name);
        assert_eq!(name().ok(), Some(SMALL_WORKLOADS[1]));
        std::fs::write(empty.path().join("mnist-train.bin"), "GMDS").unwrap();
        assert_eq!(name().ok(), Some(SMALL_WORKLOADS[1]));
    }

    fn judged(software: bool, answer: Result<Answer, String>) -> (Trial, Finding) {
        let (device, outcome) = ("Some GPU".to_owned(), TrialOutcome::Untried);
        judge_trace(Trial { backend: "wgsl", adapter: Some(0), device, software, outcome }, answer)
    }

    #[test]
    fn crash_is_a_problem_only_on_a_real_gpu() {
        let (failed, finding) = judged(false, Err("it crashed with signal 11".to_owned()));
        assert_eq!((failed.outcome, finding.severity), (TrialOutcome::Failed, Severity::Problem));
        assert_eq!(finding.sentence, "wgsl on Some GPU failed to answer: it crashed with signal 11.");
        let refused = Answer::Refused { reason: "the device refused the work: no".to_owned() };
        assert_eq!(judged(true, Ok(refused)).1.severity, Severity::Warning);
    }

    #[test]
    fn disagreement_is_reported_with_its_size() {
        for (loss, outcome, severity, part) in [
            (2.3, TrialOutcome::Right, Severity::Fine, "wgsl on llvmpipe agrees with"),
            (4.6, TrialOutcome::Failed, Severity::Problem, "disagrees with the reference"),
        ] {
            let correctness = Box::new(Correctness {
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
            let adapter = crate::doctor::graphics::Listing::of_a_test(&[("llvmpipe", true)]).described().remove(0);
            let workload = SMALL_WORKLOADS[0].to_owned();
            let (trial, finding) = judged(false, Ok(Answer::Checked { adapter, workload, seconds: 1.5, correctness }));
            assert_eq!((trial.outcome, trial.software, finding.severity), (outcome, true, severity));
            assert!(finding.sentence.contains(part), "{}", finding.sentence);
        }
    }
}
