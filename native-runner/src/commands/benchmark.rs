use std::rc::Rc;

use engine::{Backend, Clock, Edges, Registration, RunRequest, Stopped, SuiteDefinition, Witness};
use results::api::StartRun;
use results::{InputMode, Outcome, RunRecord, RunSpec, SeedSource, Warning};

use crate::arguments::BenchmarkArgs;
use crate::commands::compare::compare;
use crate::commands::upload::{Uploader, keep, refused};
use crate::data_folder::LocalData;
use crate::device::{describe, find_suite, request, workloads};
use crate::failure::Failure;
use crate::json_output::{JsonTarget, deliver, to_json};
use crate::leaderboard::LeaderboardWitness;
use crate::machine::provenance;
use crate::meter::{MachineMeter, MonotonicClock};
use crate::progress::{Interrupt, RunProgress};
use crate::screen::Screen;
use crate::{device, machine, progress, report};

/// Runs a suite, shows its results, and stores and uploads the record. Several backends or seeds are compared. All
/// arguments are checked before any training.
pub(crate) fn benchmark(arguments: &BenchmarkArgs) -> Result<(), Failure> {
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
    let suite = find_suite(&arguments.training.suite)?;
    let workloads = workloads(arguments, suite)?;
    let address = arguments.upload_to.as_ref();
    if let (Some(_), Some(program)) = (address, arguments.device.place.external.named(&arguments.device.backend)) {
        let text = format!(
            "--upload does not accept runs of the external program `{}`, because they cannot be proven",
            program.name
        );
        return Err(Failure::Usage(text));
    }
    if let (Some(_), Some(file)) = (address, arguments.training.files.files.first()) {
        let text =
            format!("--upload does not accept the network of {}, because its run cannot be proven", file.display());
        return Err(Failure::Usage(text));
    }
    let submission = address.map(|address| Uploader::new(address, &arguments.consent)).transpose()?;
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
    let seed = RunSeed::find(arguments.training.seed, suite, submission.as_ref())?;
    introduce(suite, backend.as_ref(), &seed)?;

    let interrupt = Interrupt::default();
    let registration = seed.registration.clone();
    let spec = RunSpec { seed: seed.value, seed_source: seed.source, ..arguments.spec(backend.name()) };
    let request = RunRequest { registration, ..request(arguments, spec, suite, workloads) };
    let on_battery = machine::is_discharging();
    let mut witness = submission
        .as_ref()
        .zip(seed.registration.clone())
        .map(|(submission, registration)| LeaderboardWitness::start(&submission.leaderboard, registration));
    let witness = witness.as_mut().map(|witness| witness as &mut dyn Witness);
    let mut record = match run(&request, backend.as_ref(), &mut data, clock.as_ref(), &interrupt, witness) {
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
    if let Some(failure) = report::wrong_results(&record) {
        return Err(failure);
    }
    // A leaderboard accepts a record if any workload completed.
    let is_result = record.workloads.iter().any(|workload| workload.outcome == Outcome::Completed);
    if let Some(submission) = submission.filter(|_| is_result) {
        upload(&submission, &record, json, arguments, screen)?;
    }
    report::not_trained(&record).map_or(Ok(()), |failure| Err(data.advised(failure)))
}

struct RunSeed {
    value: u32,
    source: SeedSource,
    registration: Option<Registration>,
    origin: String,
}

impl RunSeed {
    /// Returns the leaderboard's seed, unless another was requested; uploads of such a run are unverified.
    fn find(asked: Option<u32>, suite: &SuiteDefinition, submission: Option<&Uploader>) -> Result<Self, Failure> {
        let (value, source, registration, origin) = match (asked, submission) {
            (Some(value), None) => (value, SeedSource::Chosen, None, "set with --seed".to_owned()),
            (Some(value), Some(_)) => {
                let origin = "set with --seed, so the upload will be unverified; omit --seed to be ranked";
                (value, SeedSource::Chosen, None, origin.to_owned())
            }
            (None, Some(submission)) => {
                let started = submission.leaderboard.start(&StartRun {
                    suite: results::Suite { name: suite.name.to_owned(), version: suite.version },
                    engine_version: provenance().engine_version,
                })?;
                let registration = Registration { run_id: started.run_id, nonce: started.nonce };
                let origin = format!("from {}", submission.leaderboard.address());
                (started.seed, SeedSource::Leaderboard, Some(registration), origin)
            }
            (None, None) => {
                let value = getrandom::u32().map_err(Failure::NoRandomness)?;
                (value, SeedSource::Random, None, format!("random; repeat with --seed {value}"))
            }
        };
        Ok(Self { value, source, registration, origin })
    }
}

fn introduce(suite: &SuiteDefinition, backend: &dyn Backend, seed: &RunSeed) -> Result<(), Failure> {
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

fn run(
    request: &RunRequest,
    backend: &dyn Backend,
    data: &mut LocalData,
    clock: &dyn Clock,
    interrupt: &Interrupt,
    witness: Option<&mut dyn Witness>,
) -> Result<RunRecord, Stopped> {
    let mut progress = RunProgress::new(interrupt.clone());
    let mut meter = MachineMeter::of(backend);
    // A separate scope keeps the borrow of the witness short.
    let witness = witness.map(|witness| witness as &mut dyn Witness);
    let mut edges = Edges { data, observer: &mut progress, clock, meter: &mut meter, witness };
    pollster::block_on(engine::run(request, backend, &mut edges))
}

fn save(record: &RunRecord, arguments: &BenchmarkArgs) -> Result<(), Failure> {
    let json = to_json(record)?;
    let target = arguments.json.as_ref();
    deliver(report::show(record, JsonTarget::screen_beside(target)), target, &json)?;
    if target.is_some() {
        return Ok(());
    }
    let file = keep(record, &json)?;
    Screen::Error.line(&format!("The results so far are in {}.", file.display()))
}

fn upload(
    submission: &Uploader,
    record: &RunRecord,
    json: String,
    arguments: &BenchmarkArgs,
    screen: Screen,
) -> Result<(), Failure> {
    if !submission.is_agreed(record, &json)? {
        return Screen::Error.line("Not uploaded.");
    }
    match submission.send(record, json.clone(), screen) {
        Err(Failure::Upload(error)) => {
            let file = match &arguments.json {
                Some(JsonTarget::File(path)) => path.clone(),
                Some(JsonTarget::StandardOutput) | None => keep(record, &json)?,
            };
            Err(refused(error, &file, submission.leaderboard.address()))
        }
        result => result,
    }
}
