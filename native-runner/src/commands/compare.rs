use std::fs;
use std::rc::Rc;

use engine::backends::Devices;
use engine::measure::Schedule;
use engine::{
    BACKENDS, Backend, Edges, EngineError, KNOWN_BACKENDS, Observer, RunRequest, Stopped, SuiteDefinition, Workload,
};
use results::{Contender, FailureCause, Outcome, Provenance, Refused, RunRecord, RunSpec, SeedSource};
use serde::Serialize;
use view::comparison::{self, Comparison};
use view::text::counted;

use crate::arguments::{ALL, BenchmarkArgs, adapter_choice};
use crate::commands::compare_table::{show, show_legend, show_warnings};
use crate::data_folder::LocalData;
use crate::device::{Unavailable, describe, devices, find_suite, workloads};
use crate::failure::{Failure, Result};
use crate::json_output::{JsonTarget, cannot_write, deliver, to_json};
use crate::machine::provenance;
use crate::meter::{MachineMeter, MonotonicClock};
use crate::progress::{Interrupt, RunProgress};
use crate::screen::Screen;
use crate::{device, report};

const DOCUMENT_VERSION: u32 = 1;
/// Default number of seeds, the fewest with a meaningful spread.
const DEFAULT_SEEDS: u32 = 3;

#[derive(Serialize)]
struct BackendsDocument<'a> {
    schema_version: u32,
    comparisons: &'a [Comparison],
    records: &'a [RunRecord],
    unavailable: &'a [Unavailable],
    requested_backends: Vec<&'a str>,
    requested_adapter: &'a str,
    seeds: &'a [u32],
    cancelled: bool,
    provenance: Provenance,
}

/// Trains workloads on several backends from several seeds and compares the results. Checks all arguments first.
pub(crate) fn compare(arguments: &BenchmarkArgs) -> Result<()> {
    let suite = find_suite(&arguments.training.suite)?;
    let workloads = workloads(arguments, suite)?;
    if arguments.upload_to.is_some() {
        let text = "a comparison uploads nothing; store its records with --output FOLDER, and upload your choice \
                    with native-runner upload FILE --to URL";
        return Err(Failure::Usage(text.to_owned()));
    }
    if arguments.device.opening().asks_for_several() {
        let text = "a comparison of backends or seeds trains on one device each; start one run per number of \
                    --devices, or a study with `devices`, and compare the records with native-runner report";
        return Err(Failure::Usage(text.to_owned()));
    }
    let asked = [("input", arguments.device.input.is_some()), ("layout", arguments.device.layout.is_some())];
    if let Some((what, _)) = asked.into_iter().find(|(_, asked)| *asked) {
        let text = format!(
            "a comparison of backends or seeds does not support --{what}; start one run per value, or a study with \
             `{what}s`, and compare the records with native-runner report"
        );
        return Err(Failure::Usage(text));
    }
    arguments.json.as_ref().map_or(Ok(()), JsonTarget::check)?;
    let clock = Rc::new(MonotonicClock::start());
    let names = arguments.backends();
    let device = &arguments.device;
    let (precisions, choice) = ([device.precision], adapter_choice(&device.adapter));
    let (backends, unavailable) = device::open_several(&names, &precisions, &choice, &device.place, &clock)?;
    let first = arguments.training.seed.map_or_else(getrandom::u32, Ok).map_err(Failure::NoRandomness)?;
    let count = arguments.training.seeds.unwrap_or(DEFAULT_SEEDS);
    let seeds: Vec<u32> = (0..count).map(|number| first.wrapping_add(number)).collect();
    let mut data = LocalData::with_data_of(&arguments.data, &workloads, false)?;
    if let Some(folder) = &arguments.records {
        fs::create_dir_all(folder).map_err(|source| cannot_write(folder, source))?;
    }
    let contest = BackendContest { arguments, suite, workloads: &workloads, backends: &backends, seeds: &seeds };
    contest.introduce()?;

    let provenance = provenance();
    let interrupt = Interrupt::default();
    let findings = contest.run(&mut data, clock.as_ref(), &interrupt)?;
    // The results are complete: Ctrl-C ends the program.
    interrupt.end_at_once();
    if findings.records.is_empty() {
        return Err(data.advised(findings.into_failure()));
    }
    let comparisons: Vec<Comparison> =
        workloads.iter().map(|workload| findings.comparison(workload.name)).filter(|of| !of.rows.is_empty()).collect();
    let document = BackendsDocument {
        schema_version: DOCUMENT_VERSION,
        comparisons: &comparisons,
        records: &findings.records,
        unavailable: &unavailable,
        requested_backends: names,
        requested_adapter: &arguments.device.adapter,
        seeds: &seeds,
        cancelled: findings.cancelled,
        provenance: Provenance { wall_seconds: engine::Clock::now_seconds(clock.as_ref()), ..provenance },
    };
    let screen = JsonTarget::screen_beside(arguments.json.as_ref());
    let shown = comparisons
        .iter()
        .try_for_each(|comparison| show(comparison, &contest.conditions(comparison, &findings), screen))
        .and_then(|()| show_legend(&comparisons, screen))
        .and_then(|()| show_warnings(&findings.records));
    deliver(shown, arguments.json.as_ref(), &to_json(&document)?)?;
    findings.conclude(arguments.json.is_some() || arguments.records.is_some()).map_err(|failure| data.advised(failure))
}

struct BackendContest<'a> {
    arguments: &'a BenchmarkArgs,
    suite: &'static SuiteDefinition,
    workloads: &'a [Workload],
    backends: &'a [Box<dyn Backend>],
    seeds: &'a [u32],
}

impl BackendContest<'_> {
    fn introduce(&self) -> Result<()> {
        let screen = Screen::Error;
        let labelled = |name: &str, text: &str| screen.prose(&screen.label(name, 12), text, 12);
        let title = screen.bold("Gradmark");
        screen.line(&format!("{title} {}, comparison of backends", env!("CARGO_PKG_VERSION")))?;
        for backend in self.backends {
            labelled(&contender(backend.as_ref()).to_string(), &describe(backend.adapter()))?;
        }
        let known = KNOWN_BACKENDS.iter().map(|known| known.name);
        let missing: Vec<&str> = known.filter(|name| BACKENDS.iter().all(|backend| backend.name != *name)).collect();
        if self.arguments.backends().contains(&ALL) && !missing.is_empty() {
            let text = format!("{}; `native-runner backends` lists how to add them", missing.join(", "));
            labelled("not built", &text)?;
        }
        let seeds: Vec<String> = self.seeds.iter().map(u32::to_string).collect();
        let origin = match self.arguments.training.seed {
            Some(_) => "set with --seed".to_owned(),
            None => format!("random; repeat with --seed {}", self.seeds[0]),
        };
        labelled("seeds", &format!("{} ({origin})", seeds.join(", ")))?;
        screen.line("")
    }

    fn run(&self, data: &mut LocalData, clock: &MonotonicClock, interrupt: &Interrupt) -> Result<Findings> {
        let mut progress = RunProgress::new(interrupt.clone());
        let mut findings = Findings::default();
        for (place, workload) in self.workloads.iter().enumerate() {
            let mut schedule = Schedule::new(self.seeds.len(), self.backends.len());
            while let Some(turn) = schedule.present() {
                findings.cancelled |= progress.cancelled();
                if findings.cancelled {
                    return Ok(findings);
                }
                let (backend, seed) = (self.backends[turn.contender].as_ref(), self.seeds[turn.seed]);
                let contender = contender(backend);
                if findings.has_failed(workload.name, &contender) {
                    schedule.give_up();
                    continue;
                }
                let (before, count) = (place * schedule.count(), self.workloads.len() * schedule.count());
                progress.part = Some((before + schedule.number() - 1, count, format!("on {contender}, seed {seed}")));
                let mut meter = MachineMeter::of(backend);
                let mut edges = Edges { data, observer: &mut progress, clock, meter: &mut meter, witness: None };
                match pollster::block_on(engine::run(&self.request(workload, seed, backend), backend, &mut edges)) {
                    Ok(record) => match record.workloads.first().map(|run| &run.outcome) {
                        Some(Outcome::Failed { cause, reason }) => {
                            let failure = Failure::NotTrained { cause: *cause, sentence: reason.clone() };
                            findings.give_up(&self.workloads[place..=place], &contender, failure);
                        }
                        _ => {
                            self.keep(&record, &contender)?;
                            findings.cancelled |= report::was_cancelled(&record);
                            findings.records.push(record);
                        }
                    },
                    Err(Stopped { error, .. }) => {
                        let is_lost = matches!(error, EngineError::DeviceLost { .. } | EngineError::LinkLost);
                        let end = if is_lost { self.workloads.len() } else { place + 1 };
                        findings.give_up(&self.workloads[place..end], &contender, error);
                    }
                }
                schedule.go_on();
            }
        }
        Ok(findings)
    }

    fn request(&self, workload: &Workload, seed: u32, backend: &dyn Backend) -> RunRequest {
        let workloads = vec![workload.name.to_owned()];
        let is_chosen = self.arguments.training.seed.is_some();
        let seed_source = if is_chosen { SeedSource::Chosen } else { SeedSource::Random };
        let mut spec = RunSpec { workloads, seed, seed_source, ..self.arguments.spec(backend.name()) };
        // A backend without a choice of devices gets no adapter.
        if devices(backend.name()) == Devices::Given {
            "any".clone_into(&mut spec.adapter);
        }
        device::request(self.arguments, spec, self.suite, vec![workload.clone()])
    }

    fn keep(&self, record: &RunRecord, contender: &Contender) -> Result<()> {
        let Some(folder) = &self.arguments.records else { return Ok(()) };
        let Some(workload) = record.workloads.first() else { return Ok(()) };
        let Contender { backend, precision } = contender;
        let name = format!("{}-{backend}-{}-{}.json", workload.workload, precision.name(), record.requested.seed);
        deliver(Ok(()), Some(&JsonTarget::File(folder.join(name))), &to_json(record)?)
    }

    fn conditions(&self, comparison: &Comparison, findings: &Findings) -> String {
        let length = match self.arguments.training.length() {
            Some(length) => length.to_string(),
            None => {
                let SuiteDefinition { epochs, training_seconds, .. } = self.suite;
                format!("{} or {training_seconds} s of training", counted(epochs, "epoch"))
            }
        };
        let mut runs = findings.records.iter().flat_map(|record| &record.workloads);
        let run = runs.find(|run| run.workload == comparison.workload);
        let batch = run.map(|run| format!("batches of {}", run.settings.batch_size));
        let seeds = counted(self.seeds.len(), "seed");
        [Some(length), batch, Some(seeds)].into_iter().flatten().collect::<Vec<_>>().join(" · ")
    }
}

fn contender(backend: &dyn Backend) -> Contender {
    Contender { backend: backend.name().to_owned(), precision: backend.precision() }
}

#[derive(Default)]
struct Findings {
    records: Vec<RunRecord>,
    /// Workloads that a backend cannot train. Further seeds are skipped.
    refused: Vec<(&'static str, Refused)>,
    /// Failures, each after the workload and the backend where it occurred.
    failures: Vec<(String, Failure)>,
    cancelled: bool,
}

impl Findings {
    /// Records that `contender` trains none of the workloads, because of the first one's failure.
    fn give_up(&mut self, workloads: &[Workload], contender: &Contender, failure: impl Into<Failure>) {
        let failure = failure.into();
        let refused = Refused { contender: contender.clone(), reason: failure.to_string() };
        self.refused.extend(workloads.iter().map(|workload| (workload.name, refused.clone())));
        self.failures.push((format!("{} on {contender}", workloads[0].name), failure));
    }

    /// Returns true if the backend cannot train the workload, or computes wrong results.
    fn has_failed(&self, workload: &str, contender: &Contender) -> bool {
        let is_wrong = |record: &RunRecord| {
            let mut runs = record.workloads.iter().filter(|run| run.settings.precision == contender.precision);
            record.device.backend == contender.backend
                && runs.any(|run| run.workload == workload && run.outcome == Outcome::Incorrect)
        };
        self.records.iter().any(is_wrong)
            || self.refused.iter().any(|(name, refused)| *name == workload && refused.contender == *contender)
    }

    fn comparison(&self, workload: &str) -> Comparison {
        let refused = self.refused.iter().filter(|(name, _)| *name == workload);
        let refused: Vec<Refused> = refused.map(|(_, refused)| refused.clone()).collect();
        comparison::compare(workload, &self.records, &refused)
    }

    fn into_failure(self) -> Failure {
        let first = self.failures.into_iter().next();
        first.map_or(Failure::Cancelled { kept: false }, |(_, failure)| failure)
    }

    fn conclude(&self, kept: bool) -> Result<()> {
        let wrong = |record: &RunRecord| {
            let sentence = record.workloads.iter().find_map(report::wrong)?;
            Some(format!("{}, seed {}: {sentence}", record.device.backend, record.requested.seed))
        };
        Failure::if_wrong(self.records.iter().filter_map(wrong))?;
        if self.cancelled {
            return Err(Failure::Cancelled { kept });
        }
        let is_answer = |of: &Failure| matches!(of, Failure::NotTrained { cause: FailureCause::DoesNotFit, .. });
        let failed = self.failures.iter().filter(|(_, failure)| !is_answer(failure));
        let failed: Vec<String> = failed.map(|(place, failure)| format!("{place}: {failure}")).collect();
        if failed.is_empty() { Ok(()) } else { Err(Failure::Incomplete(failed.join("; "))) }
    }
}

#[cfg(test)]
mod tests {
    use engine::EngineError;
    use results::Precision;

    use super::*;

    /// Findings after the first workload has failed, and the contender.
    fn given_up(names: &[&str], failure: impl Into<Failure>) -> (Findings, Contender) {
        let workloads: Vec<Workload> = names.iter().map(|name| engine::workload(name).unwrap()).collect();
        let contender = Contender { backend: "wgsl".to_owned(), precision: Precision::F32 };
        let mut findings = Findings::default();
        findings.give_up(&workloads, &contender, failure);
        (findings, contender)
    }

    #[test]
    fn lost_device_skips_later_workloads_and_fails_once() {
        let lost = EngineError::DeviceLost { message: "gone".to_owned() };
        let (findings, wgsl) = given_up(&["caffe-mnist", "keras-mnist-mlp"], lost);
        assert!(findings.refused[1].1.reason.contains("gone"));
        assert!(findings.has_failed("keras-mnist-mlp", &wgsl) && !findings.has_failed("keras-mnist-cnn", &wgsl));
        let failure = findings.conclude(true).unwrap_err();
        assert_eq!((failure.exit_code(), failure.to_string().matches("gone").count()), (1, 1));
        assert_eq!(findings.into_failure().exit_code(), 4);
    }

    #[test]
    fn workload_too_large_fails_only_if_nothing_else_ran() {
        let sentence = "it needs 2 bytes, but this device allows 1".to_owned();
        let failure = Failure::NotTrained { cause: FailureCause::DoesNotFit, sentence };
        let (findings, _) = given_up(&["caffe-mnist"], failure);
        assert!(findings.conclude(true).is_ok());
        assert_eq!(findings.comparison("caffe-mnist").rows.len(), 1);
        assert_eq!(findings.into_failure().exit_code(), 4);
    }
}
