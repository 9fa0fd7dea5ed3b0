use std::path::PathBuf;
use std::rc::Rc;

use engine::{Backend, Clock, Edges, OPEN, Registration, RunRequest, Stopped, SuiteDefinition, Witness, Workload};
use results::api::StartRun;
use results::{InputMode, Outcome, RunRecord, RunSpec, SeedSource, Warning};
use serde_json::Value;

use crate::arguments::BenchmarkArgs;
use crate::commands::compare::compare;
use crate::commands::open_class::{self, OpenEntry};
use crate::commands::upload::Uploader;
use crate::data_folder::LocalData;
use crate::device::{describe, find_suite, request, workloads};
use crate::failure::{Failure, LeaderboardError, Result};
use crate::json_output::{self, JsonTarget, deliver, to_json};
use crate::leaderboard::{Address, LeaderboardWitness};
use crate::machine::provenance;
use crate::meter::{MachineMeter, MonotonicClock};
use crate::progress::{Interrupt, RunProgress};
use crate::screen::Screen;
use crate::text::quoted;
use crate::{device, machine, progress, report};

/// Runs a suite, shows its results, and stores and uploads the record. Several backends or seeds are compared. All
/// arguments are checked before any training.
pub(crate) fn benchmark(arguments: &BenchmarkArgs) -> Result<()> {
    if arguments.cell.ends_with_input {
        progress::end_with_input();
    }
    if arguments.compares() {
        return compare(arguments);
    }
    if arguments.records.is_some() {
        let text = "--output stores the records of several backends or seeds, but this is a single run; store its \
                    record with --json FILE";
        return Err(Failure::Usage(text.to_owned()));
    }
    let (suite, workloads, network) = choose_networks(arguments)?;
    let submission = arguments.upload_to.as_ref().map(|address| uploader(address, arguments)).transpose()?;
    arguments.json.as_ref().map_or(Ok(()), JsonTarget::check)?;
    let device = &arguments.device;
    let clock: Rc<dyn Clock> = Rc::new(MonotonicClock::start());
    let backend = device::open(&device.backend, &device.opening(), &device.place, Rc::clone(&clock))?;
    if arguments.cell.opens_only {
        return Ok(());
    }
    if submission.is_some() {
        Uploader::check(backend.devices(), backend.facts().input)?;
    }
    let mut data = LocalData::with_data_of(&arguments.data, &workloads, false)?;
    let seed = RunSeed::find(arguments.training.seed, suite, submission.as_ref(), network)?;
    introduce(suite, backend.as_ref(), &seed)?;

    let interrupt = Interrupt::default();
    let registration = seed.registration.clone();
    let spec = RunSpec { seed: seed.value, seed_source: seed.source, ..arguments.spec(backend.name()) };
    // In the open class, the definition of the network has the length.
    let spec = if suite.is_open() { RunSpec { suite: suite.name.to_owned(), length: None, ..spec } } else { spec };
    let request = RunRequest { registration, ..request(arguments, spec, suite, workloads) };
    let on_battery = machine::is_discharging();
    let mut witness = submission
        .as_ref()
        .zip(seed.registration.clone())
        .map(|(submission, registration)| LeaderboardWitness::start(&submission.leaderboard, registration));
    let run = {
        let (mut observer, mut meter) = (RunProgress::new(interrupt.clone()), MachineMeter::of(backend.as_ref()));
        let (data, clock) = (&mut data, clock.as_ref());
        let witness = witness.as_mut().map(|witness| witness as &mut dyn Witness);
        let mut edges = Edges { data, observer: &mut observer, clock, meter: &mut meter, witness };
        pollster::block_on(engine::run(&request, backend.as_ref(), &mut edges))
    };
    let mut record = match run {
        Ok(record) => record,
        Err(Stopped { error, so_far }) => {
            so_far.map_or(Ok(()), |record| save(&record, arguments))?;
            return Err(error.into());
        }
    };
    // The record is complete: Ctrl-C at a question ends the program.
    interrupt.end_at_once();
    drop(backend);
    if on_battery || machine::is_discharging() {
        record.warnings.push(Warning::OnBattery);
    }
    if submission.is_some() && seed.registration.is_none() {
        record.warnings.push(Warning::Unregistered { reason: "the seed was given with --seed".to_owned() });
    }
    let json = to_json(&record)?;
    let screen = JsonTarget::screen_beside(arguments.json.as_ref());
    deliver(report::show(&record, screen), arguments.json.as_ref(), &json)?;

    if report::was_cancelled(&record) {
        return Err(Failure::Cancelled { kept: arguments.json.is_some() });
    }
    Failure::if_wrong(record.workloads.iter().filter_map(report::wrong))?;
    // A leaderboard accepts a record if any workload completed.
    let is_result = record.workloads.iter().any(|workload| workload.outcome == Outcome::Completed);
    if let Some(submission) = submission.filter(|_| is_result) {
        upload(&submission, &record, json, arguments, screen)?;
    }
    report::not_trained(&record).map_or(Ok(()), |failure| Err(data.advised(failure)))
}

/// Returns the suite and its networks, and the definition of a network of the open class.
fn choose_networks(arguments: &BenchmarkArgs) -> Result<(&'static SuiteDefinition, Vec<Workload>, Option<Value>)> {
    if let Some(OpenEntry { workload, network }) = open_class::entry(arguments)? {
        return Ok((&OPEN, vec![workload], Some(network)));
    }
    let suite = find_suite(&arguments.training.suite)?;
    Ok((suite, workloads(arguments, suite)?, None))
}

/// Refuses runs that cannot be proven.
fn uploader(address: &Address, arguments: &BenchmarkArgs) -> Result<Uploader> {
    match arguments.device.place.external.named(&arguments.device.backend) {
        None => Uploader::new(address, &arguments.consent),
        Some(program) => Err(Failure::Usage(format!(
            "--upload does not accept runs of the external program `{}`, because they cannot be proven",
            program.name
        ))),
    }
}

struct RunSeed {
    value: u32,
    source: SeedSource,
    registration: Option<Registration>,
    origin: String,
}

impl RunSeed {
    /// Returns the leaderboard's seed, unless another was requested; uploads of such a run are unverified.
    fn find(
        asked: Option<u32>,
        suite: &SuiteDefinition,
        submission: Option<&Uploader>,
        network: Option<Value>,
    ) -> Result<Self> {
        if let Some(value) = asked {
            let unverified = ", so the upload will be unverified; omit --seed to be ranked";
            let origin = format!("set with --seed{}", if submission.is_some() { unverified } else { "" });
            return Ok(Self { value, source: SeedSource::Chosen, registration: None, origin });
        }
        let Some(Uploader { leaderboard, .. }) = submission else {
            let value = getrandom::u32().map_err(Failure::NoRandomness)?;
            let origin = format!("random; repeat with --seed {value}");
            return Ok(Self { value, source: SeedSource::Random, registration: None, origin });
        };
        let suite = results::Suite { name: suite.name.to_owned(), version: suite.version };
        let started = leaderboard.start(&StartRun { suite, engine_version: provenance().engine_version, network })?;
        let registration = Some(Registration { run_id: started.run_id, nonce: started.nonce });
        let (source, origin) = (SeedSource::Leaderboard, format!("from {}", leaderboard.address));
        Ok(Self { value: started.seed, source, registration, origin })
    }
}

fn introduce(suite: &SuiteDefinition, backend: &dyn Backend, seed: &RunSeed) -> Result<()> {
    let screen = Screen::Error;
    let labelled = |name: &str, text: &str| screen.prose(&screen.label(name, 10), text, 10);
    let title = screen.bold("Gradmark");
    screen.line(&format!("{title} {}, {} suite version {}", env!("CARGO_PKG_VERSION"), suite.name, suite.version))?;
    let times = if backend.devices() > 1 { format!("{} × ", backend.devices()) } else { String::new() };
    labelled("device", &format!("{times}{}", describe(backend.adapter())))?;
    let input = match backend.facts().input {
        InputMode::Resident => String::new(),
        streamed => format!(", input {}", streamed.text()),
    };
    labelled("backend", &format!("{}, computing in {}{input}", backend.name(), backend.precision().name()))?;
    labelled("seed", &format!("{} ({})", seed.value, seed.origin))?;
    if seed.registration.is_some() {
        let proof = "sends a hash to the leaderboard about once a second; at the end, trains a few random parts again \
                     and uploads some states, a few megabytes per network";
        labelled("proof", proof)?;
    }
    screen.line("")
}

fn save(record: &RunRecord, arguments: &BenchmarkArgs) -> Result<()> {
    let json = to_json(record)?;
    let target = arguments.json.as_ref();
    deliver(report::show(record, JsonTarget::screen_beside(target)), target, &json)?;
    if target.is_some() {
        return Ok(());
    }
    Screen::Error.line(&format!("The results so far are in {}.", keep(record, &json)?.display()))
}

fn upload(
    submission: &Uploader,
    record: &RunRecord,
    json: String,
    arguments: &BenchmarkArgs,
    screen: Screen,
) -> Result<()> {
    if !submission.is_agreed(record, &json)? {
        return Screen::Error.line("Not uploaded.");
    }
    let sent = submission.send(record, json.clone(), screen);
    let Err(Failure::Upload(error)) = sent else { return sent };
    let file = match &arguments.json {
        Some(JsonTarget::File(path)) => path.clone(),
        Some(JsonTarget::StandardOutput) | None => keep(record, &json)?,
    };
    let is_refused = matches!(error, LeaderboardError::Refused { .. });
    let hint = if is_refused { " (with --unverified if the registration is the problem)" } else { "" };
    let (place, word) = (file.display(), quoted(&file.display().to_string()));
    let address = quoted(&submission.leaderboard.address.to_string());
    let advice = format!("The record is in {place}. To try again{hint}:\n  native-runner upload {word} --to {address}");
    Err(Failure::from(error).with_advice(advice))
}

fn keep(record: &RunRecord, json: &str) -> Result<PathBuf> {
    let id = record.run_id.clone().unwrap_or_else(|| format!("seed-{}", record.requested.seed));
    json_output::keep(&format!("gradmark-{id}"), json)
}
