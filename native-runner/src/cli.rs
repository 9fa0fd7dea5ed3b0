//! Definition of the command line; `commands` has the options of single subcommands.

use std::num::NonZero;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{ArgAction, Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use engine::backends::Opening;
use engine::{AdapterChoice, Workload};
use results::{Feature, InputMode, Layout, Length, Positive, Precision, RunSpec};

use crate::commands::compare_records::CompareRecordsArgs;
use crate::commands::export_records::ExportArgs;
use crate::commands::installation::Installation;
#[cfg(feature = "wgsl")]
use crate::commands::kernels::KernelsArgs;
#[cfg(feature = "wgsl")]
use crate::commands::profile::ProfileArgs;
use crate::commands::report::ReportArgs;
use crate::commands::scaling::ScalingArgs;
#[cfg(feature = "burn-remote")]
use crate::commands::serve_device::ServeDeviceArgs;
use crate::commands::steps::StepsArgs;
use crate::commands::study::StudyArgs;
use crate::commands::upload::{ConsentArgs, UploadArgs};
use crate::device::KeptFile;
#[cfg(feature = "wgsl")]
use crate::doctor::DoctorArgs;
use crate::failure::Failure;
use crate::json_output::JsonTarget;
use crate::leaderboard::Address;
use crate::program::NamedProgram;
use crate::workload_file::is_file_name;
use crate::{machine, workload_file};

const EXAMPLES: &str = "\
Examples:
  native-runner                                    run the quick suite on the best GPU
  native-runner --adapter integrated               … on the integrated one
  native-runner --adapter cpu --workload keras-mnist-mlp --epochs 2
                                                   … on a software adapter, one workload, two epochs
  native-runner --workload-file my_network.toml    a network of your own, from a file
  native-runner --json result.json                 keep the record
  native-runner --backend all --workload keras-mnist-mlp --epochs 2
                                                   every back end that runs here side by side, from three seeds
  native-runner --backend wgsl,burn-flex --seeds 5 --output runs --json -
                                                   two of them from five seeds, each record in a file to upload
  native-runner --adapter all                      all GPUs of this machine together, each with a share of every batch
  native-runner --backend burn-remote --remote gpu1.example,gpu2.example
                                                   the devices that two machines serve, in the same way
  native-runner --upload https://gradmark.example  put the result on a leaderboard, after asking
  native-runner adapters                           list the devices of this machine
  native-runner study gtdl-batch-size --scale 0.01 a published study, a hundredth as long
  native-runner compare --baseline base head --fail-if-slower 5%
                                                   is the second folder of records slower than the first?
  native-runner doctor                             what is installed, what is wrong, and what to do about it
  native-runner trace --workload keras-mnist-mlp --backend wgsl --seed 4 --batch-size 16 --steps 20
                                                   show that a device computes the right thing

Exit status:
  0 done   1 something unexpected; also where a workload or one of several back ends could not be trained
    and the others' figures are there
  2 wrong usage, or no such adapter, back end or workload
  3 diverged or wrong results   4 device lost, out of memory, or too small for a workload (the others'
    figures are there)   5 upload refused   6 a regression (compare)   7 `doctor`: a run would not work
  130 cancelled";

/// Stands for every back end of this program but the plain reference, which is slow.
pub(crate) const ALL: &str = "all";

const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("GRADMARK_COMMIT"), ")");

// No argument has a long help, so `-h` and `--help` print the same compact page.
const ABOUT: &str = "\
Gradmark: how fast does this device learn?

Trains real networks on real data with this machine's GPU and reports samples per second,
accuracy and time to accuracy. Without a subcommand it runs a suite of workloads.";

#[derive(Debug, Parser)]
#[command(name = "native-runner", version = VERSION, about = ABOUT, after_help = EXAMPLES)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    /// Log on standard error what is done; `-vv` and `-vvv` more of it, with what libraries say
    #[arg(short, long, global = true, action = ArgAction::Count, help_heading = "Logs")]
    pub(crate) verbose: u8,
    #[command(flatten)]
    pub(crate) benchmark: BenchmarkArgs,
}

impl Cli {
    /// Reads the command line, or ends the program with what is wrong with it.
    pub(crate) fn read() -> Self {
        let matches = accept_negative_numbers(Self::command()).get_matches();
        Self::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the adapters of this machine
    Adapters(ListArgs),
    /// List the workloads and what they train
    Workloads(WorkloadsArgs),
    /// List the back ends of this program
    Backends(ListArgs),
    /// List the data sets and where they come from
    DataSets(DataSetsArgs),
    /// Say what is installed, whether it computes rightly, and what to do about what is wrong
    #[cfg(feature = "wgsl")]
    Doctor(DoctorArgs),
    /// Measure what the device can do at best, and how near to it the kernels come
    #[cfg(feature = "wgsl")]
    Kernels(KernelsArgs),
    /// Measure steps per second of workloads on several back ends side by side, without tests or a score
    Steps(StepsArgs),
    /// Run a study: a matrix of runs, each in a process of its own, in a folder that can be gone on with
    Study(Box<StudyArgs>),
    /// Measure where the time of a training step goes, launch by launch
    #[cfg(feature = "wgsl")]
    Profile(ProfileArgs),
    /// Train a few steps on the first samples and write losses, norms and logits, to compare with a golden trace
    Trace(TraceArgs),
    /// Write what a study or any records say as one HTML file: findings, plots, published figures
    Report(ReportArgs),
    /// Write a study's or any records as one table: CSV, JSON Lines, Parquet or Markdown
    Export(ExportArgs),
    /// Compute from records of few devices how steps would scale to 1,024
    Scaling(ScalingArgs),
    /// Compare kept records with a baseline: slower, faster or tied, and an exit status for continuous integration
    Compare(CompareRecordsArgs),
    /// Upload a record that was kept in a file
    Upload(UploadArgs),
    /// Serve a device of this machine, for `--backend burn-remote` elsewhere to train on
    #[cfg(feature = "burn-remote")]
    ServeDevice(ServeDeviceArgs),
    #[command(flatten)]
    Installation(Installation),
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DataSetsArgs {
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Where to compute.
#[derive(Debug, Args)]
pub(crate) struct DeviceArgs {
    /// Adapter to use: `any` (the best that is not software), `discrete`, `integrated`, `cpu`, an index, or part of a
    /// name; `native-runner adapters` lists them. With `wgsl` also `all`, or indices such as `0,1`: they share each batch
    #[arg(long, value_name = "ADAPTER", default_value = "any", help_heading = "Device", value_parser = short_text)]
    pub(crate) adapter: String,
    /// Back end to compute with; `native-runner backends` lists them. A run takes several, separated by commas, or `all`
    /// but the plain reference, and compares them
    #[arg(long, value_name = "NAME", default_value = engine::BACKENDS[0].name, help_heading = "Device")]
    pub(crate) backend: String,
    /// What is stored and multiplied: `f32`; `f16` where the device has it (sums stay f32; shown, never ranked);
    /// `f16-matrix`, the same with products on the device's matrix units, where it lists cooperative matrices (never
    /// ranked either); or `f64` on the reference
    #[arg(long, value_name = "NAME", default_value = "f32", help_heading = "Device", value_parser = precision)]
    pub(crate) precision: Precision,
    /// Devices that share each batch with `wgsl`, as one with the whole batch would train: so many adapters of one kind, or
    /// logical devices of a software adapter. `burn-remote` trains on as many as --remote has addresses. Such a run is never
    /// ranked [default: those that --adapter names]
    #[arg(long, value_name = "N", help_heading = "Device", value_parser = devices())]
    pub(crate) devices: Option<NonZero<u32>>,
    /// How the samples of a batch come to the device with `wgsl`: `resident`, where the data set lies there, which is the
    /// standard; `prefetch`, where the host brings the next batches while the device computes; or `stream`, where the
    /// device waits for each. What is streamed is never ranked
    #[arg(long, value_name = "MODE", help_heading = "Device")]
    pub(crate) input: Option<InputMode>,
    /// How images lie in an external program that has a choice: `nhwc` (channels last), or `nchw` (channels first)
    #[arg(long, value_name = "ORDER", help_heading = "Device")]
    pub(crate) layout: Option<Layout>,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

impl DeviceArgs {
    pub(crate) fn choice(&self) -> AdapterChoice {
        let Ok(choice) = self.adapter.parse();
        choice
    }

    pub(crate) fn opening(&self) -> Opening {
        let Self { devices, input, layout, .. } = *self;
        Opening { devices, input, layout, ..self.place.opening(self.precision, &self.choice()) }
    }
}

/// Adapter of a command that measures without back ends of other kinds.
#[derive(Debug, Args)]
pub(crate) struct AdapterArgs {
    /// Adapter to use, as for a run; `native-runner adapters` lists them
    #[arg(long, value_name = "ADAPTER", default_value = "any", value_parser = short_text)]
    pub(crate) adapter: String,
}

impl AdapterArgs {
    pub(crate) fn choice(&self) -> AdapterChoice {
        let Ok(choice) = self.adapter.parse();
        choice
    }
}

#[derive(Debug, Args)]
pub(crate) struct DataArgs {
    /// Folder of the data sets; without it, what is missing is fetched [default: the workspace's `data`, or the cache]
    #[arg(
        long = "data",
        value_name = "DIR",
        help_heading = "Data and output",
        env = "GRADMARK_DATA",
        hide_env_values = true
    )]
    pub(crate) folder: Option<PathBuf>,
    /// Folder `en` of the published bAbI archive [default: stories of the same kind are generated]
    #[arg(
        long = "babi",
        value_name = "FOLDER",
        help_heading = "Data and output",
        env = "GRADMARK_BABI",
        hide_env_values = true
    )]
    pub(crate) babi: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct BenchmarkArgs {
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    /// Name to show for this device, where the platform does not tell it
    #[arg(long = "name", value_name = "NAME", help_heading = "Device", value_parser = short_text)]
    pub(crate) claimed_name: Option<String>,
    #[command(flatten)]
    pub(crate) training: TrainingArgs,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Write the record as JSON; `-` is standard output, and all else then goes to standard error
    #[arg(long, value_name = "FILE", help_heading = "Data and output")]
    pub(crate) json: Option<JsonTarget>,
    /// Folder to write every record of a comparison to, a file each, as `upload` takes it
    #[arg(long = "output", value_name = "FOLDER", help_heading = "Data and output")]
    pub(crate) records: Option<PathBuf>,
    /// Leaderboard to register the run with and to upload it to, after asking
    #[arg(long = "upload", value_name = "URL", help_heading = "Upload")]
    pub(crate) upload_to: Option<Address>,
    #[command(flatten)]
    pub(crate) consent: ConsentArgs,
    /// End when standard input ends: a study's cells do not outlive the study
    #[arg(long, hide = true)]
    pub(crate) ends_with_input: bool,
    /// End once the back end is open: a study looks for what keeps its cells from running
    #[arg(long, hide = true)]
    pub(crate) opens_only: bool,
}

impl BenchmarkArgs {
    /// Returns the requested run on the backend named `backend`; the seed is set later.
    pub(crate) fn spec(&self, backend: &str) -> RunSpec {
        let Self { device, training, .. } = self;
        RunSpec {
            suite: training.suite.clone(),
            workloads: training.workloads.iter().map(|name| name.trim().to_owned()).collect(),
            backend: backend.to_owned(),
            adapter: device.adapter.clone(),
            precision: device.precision,
            length: training.length(),
            batch_size: training.batch_size,
            learning_rate: training.learning_rate,
            target_accuracy: training.target_accuracy,
            without: device.place.without.clone(),
            devices: device.devices,
            overlap: device.place.overlap,
            threads: device.place.threads,
            input: device.input,
            layout: device.layout,
            ..RunSpec::default()
        }
    }

    pub(crate) fn backends(&self) -> Vec<&str> {
        self.device.backend.split(',').map(str::trim).collect()
    }

    pub(crate) fn compares(&self) -> bool {
        let backends = self.backends();
        self.training.seeds.is_some() || backends.len() > 1 || backends.contains(&ALL)
    }
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Training")]
pub(crate) struct TrainingArgs {
    /// Workloads to train, separated by commas [default: those of the suite]
    #[arg(long = "workload", value_name = "A,B", value_delimiter = ',')]
    pub(crate) workloads: Vec<String>,
    #[command(flatten)]
    pub(crate) files: WorkloadFileArgs,
    /// Suite to run
    #[arg(long, value_name = "NAME", default_value = engine::SUITES[0].name)]
    pub(crate) suite: String,
    /// Seed of weights, shuffles and dropout [default: the leaderboard's, or a random one]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u32>,
    /// Compare runs from so many seeds, `--seed` and those after it [default: 3 with several back ends]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) seeds: Option<u32>,
    /// Samples in a batch [default: the workload's]
    #[arg(long, value_name = "N")]
    pub(crate) batch_size: Option<u32>,
    /// Learning rate [default: the workload's]
    #[arg(long, value_name = "X")]
    pub(crate) learning_rate: Option<f64>,
    /// Train so many passes over the training set
    #[arg(long, value_name = "N", group = "limit")]
    epochs: Option<NonZero<u32>>,
    /// Train so many steps and measure nothing beyond them
    #[arg(long, value_name = "N", group = "limit")]
    steps: Option<NonZero<u64>>,
    /// Train for so many seconds and measure nothing beyond them
    #[arg(long, value_name = "X", group = "limit")]
    seconds: Option<Positive>,
    /// Test accuracy, 0 to 1, to time [default: the workload's]
    #[arg(long, value_name = "X")]
    pub(crate) target_accuracy: Option<f64>,
}

impl TrainingArgs {
    pub(crate) fn length(&self) -> Option<Length> {
        (self.epochs.map(Length::Epochs)).or(self.steps.map(Length::Steps)).or(self.seconds.map(Length::Seconds))
    }
}

#[derive(Debug, Args)]
pub(crate) struct TraceArgs {
    #[command(flatten)]
    pub(crate) workload: OneWorkloadArgs,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    /// Seed of weights and dropout
    #[arg(long, value_name = "N")]
    pub(crate) seed: u32,
    /// Samples in a batch
    #[arg(long, value_name = "N")]
    pub(crate) batch_size: u32,
    /// Steps to train
    #[arg(long, value_name = "N")]
    pub(crate) steps: u32,
    /// Whether dropout layers drop
    #[arg(long, value_name = "on|off", default_value = "off", hide_possible_values = true, action = ArgAction::Set, value_parser = on_or_off())]
    pub(crate) dropout: bool,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Where to write the trace; `-` is standard output
    #[arg(long, value_name = "FILE", default_value = "-", help_heading = "Data and output")]
    pub(crate) json: JsonTarget,
}

pub(crate) const PORT: u16 = 4400;

/// Options of a device, each for one back end only.
#[derive(Debug, Args)]
pub(crate) struct PlaceArgs {
    /// Threads that `burn-flex` computes with on the processor [default: one for each core]
    #[arg(long, value_name = "N", help_heading = "Device", value_parser = threads())]
    threads: Option<NonZero<usize>>,
    /// Where `native-runner serve-device` serves the device of `burn-remote`; the port is 4400 unless it is said. Devices at
    /// several addresses, separated by commas, share each batch, as one with the whole batch would train
    #[arg(
        long,
        value_name = "HOST[:PORT]",
        value_delimiter = ',',
        help_heading = "Device",
        value_parser = host_and_port
    )]
    pub(crate) remote: Vec<String>,
    /// Seconds without a sign of life after which a remote device is given up
    #[arg(
        long,
        value_name = "X",
        help_heading = "Device",
        default_value_t = 30.0,
        value_parser = positive_seconds,
        requires = "remote"
    )]
    pub(crate) remote_timeout: f64,
    /// Features of the device that `wgsl` does without, separated by commas: `subgroups`, `f16`, `timestamps`. Such a run
    /// shows what they bring, and is never ranked
    #[arg(long, value_name = "A,B", value_delimiter = ',', help_heading = "Device", value_parser = feature)]
    without: Vec<Feature>,
    /// Whether several devices of `wgsl` exchange the gradients that are there while they compute the others: `on` or `off`
    /// [default: on, but off on a software adapter, whose cores would have to do both]
    #[arg(long, value_name = "SWITCH", help_heading = "Device", value_parser = on_or_off())]
    overlap: Option<bool>,
    #[command(flatten)]
    pub(crate) external: ProgramArgs,
    /// Time the kernels again, instead of taking those that were the fastest on this device before
    #[arg(long, help_heading = "Device")]
    retune: bool,
}

impl PlaceArgs {
    pub(crate) fn opening(&self, precision: Precision, adapter: &AdapterChoice) -> Opening {
        Opening {
            threads: self.threads,
            remote: self.remote.clone(),
            without: self.without.clone(),
            overlap: self.overlap,
            processor: machine::name(),
            keeper: KeptFile::of_the_user(self.retune),
            ..Opening::new(precision, adapter)
        }
    }
}

/// No machine has more devices.
fn devices() -> impl clap::builder::TypedValueParser<Value = NonZero<u32>> {
    clap::value_parser!(u32).range(1..=64).try_map(NonZero::try_from)
}

/// More threads are a typing error on any machine.
pub(crate) fn threads() -> impl clap::builder::TypedValueParser<Value = NonZero<usize>> {
    clap::value_parser!(u16).range(1..=1024).try_map(|count| NonZero::try_from(usize::from(count)))
}

fn on_or_off() -> impl clap::builder::TypedValueParser<Value = bool> {
    PossibleValuesParser::new(["on", "off"]).map(|word| word == "on")
}

fn feature(text: &str) -> Result<Feature, String> {
    let known = || format!("it must be one of {}", Feature::ALL.map(Feature::name).join(", "));
    Feature::named(text.trim()).ok_or_else(known)
}

/// Parses `HOST`, `HOST:PORT`, or an address of version 6 in brackets.
pub(crate) fn host_and_port(text: &str) -> Result<String, String> {
    let text = text.trim();
    let wrong = || format!("it must be a host and, unless it is {PORT}, a port, as in `gpu.example:{PORT}`");
    if text.is_empty() || text.chars().any(|letter| "/?#@,".contains(letter) || letter <= ' ' || letter.is_control()) {
        return Err(wrong());
    }
    let end_of_host = text.find(']').map_or(0, |bracket| bracket + 1);
    let (host, port) = match text[end_of_host..].rfind(':') {
        Some(colon) => (&text[..end_of_host + colon], text[end_of_host + colon + 1..].parse().map_err(|_| wrong())?),
        None => (text, PORT),
    };
    let is_bracketed = host.starts_with('[') && host.ends_with(']');
    if host.is_empty() || port == 0 || (host.contains(':') && !is_bracketed) {
        return Err(wrong());
    }
    Ok(format!("{host}:{port}"))
}

/// Makes a negative number a wrong value instead of an unknown option.
fn accept_negative_numbers(command: clap::Command) -> clap::Command {
    command
        .mut_args(|argument| {
            let takes_values = argument.get_action().takes_values();
            argument.allow_negative_numbers(takes_values)
        })
        .mut_subcommands(accept_negative_numbers)
}

/// Parses a name of a device. An empty one would be a part of every name.
pub(crate) fn short_text(text: &str) -> Result<String, String> {
    results::check_name(text.trim(), 100)?;
    Ok(text.trim().to_owned())
}

pub(crate) fn precision(text: &str) -> Result<Precision, String> {
    let known = || format!("it must be one of {}", Precision::ALL.map(Precision::name).join(", "));
    Precision::named(text.trim()).ok_or_else(known)
}

pub(crate) fn positive_seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if seconds > 0.0 && seconds <= 86_400.0 => Ok(seconds),
        _ => Err("it must be a number of seconds above 0 and at most a day".to_owned()),
    }
}

/// Returns the workloads with these names, each once.
pub(crate) fn find_workloads<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Vec<Workload>, Failure> {
    let mut found: Vec<Workload> = Vec::new();
    for name in names {
        if is_file_name(name) {
            let text = format!(
                "there is no workload named `{name}`; --workload-file trains the network that a file describes"
            );
            return Err(Failure::Usage(text));
        }
        let workload = engine::workload(name).ok_or_else(|| engine::EngineError::UnknownWorkload {
            name: name.to_owned(),
            known: engine::WORKLOADS.iter().map(|make| make().name.to_owned()).collect(),
        })?;
        if found.iter().all(|other| other.name != workload.name) {
            found.push(workload);
        }
    }
    Ok(found)
}

#[derive(Debug, Args)]
pub(crate) struct ProgramArgs {
    /// An external program as one more back end, called NAME: it is started with COMMAND and trains the same networks from
    /// the same weights on the same batches (docs/EXTERNAL.md). `pytorch`, `keras-jax` and `keras-tensorflow` come with
    /// this program and need no COMMAND, only a Python that has them. Can be given several times; never ranked
    #[arg(long = "program", value_name = "NAME[=COMMAND]", help_heading = "Device")]
    pub(crate) programs: Vec<NamedProgram>,
    /// Seconds without an answer after which an external program is given up [default: 900]
    #[arg(long = "program-timeout", value_name = "X", help_heading = "Device", value_parser = positive_seconds)]
    pub(crate) timeout: Option<f64>,
}

impl ProgramArgs {
    pub(crate) fn named(&self, name: &str) -> Option<&NamedProgram> {
        self.programs.iter().find(|program| program.name == name)
    }
}

#[derive(Debug, Args)]
pub(crate) struct WorkloadFileArgs {
    /// Train the network that a TOML or JSON file describes: layers, optimiser, schedule, data set (docs/WORKLOADS.md).
    /// Can be given several times; never ranked
    #[arg(long = "workload-file", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
}

impl WorkloadFileArgs {
    /// Returns the workloads with these names, and then the workloads of the files, each once.
    pub(crate) fn and_named<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Result<Vec<Workload>, Failure> {
        let mut found = find_workloads(names)?;
        for (number, file) in self.files.iter().enumerate() {
            if self.files[..number].contains(file) {
                continue;
            }
            let workload = workload_file::load(file)?;
            if found.iter().any(|other| other.name == workload.name) {
                let text = format!("{}: another file describes a network called `{}`", file.display(), workload.name);
                return Err(Failure::Usage(text));
            }
            found.push(workload);
        }
        Ok(found)
    }
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct OneWorkloadArgs {
    /// Workload to train; `native-runner workloads` lists them
    #[arg(long = "workload", value_name = "NAME")]
    name: Option<String>,
    /// File that describes the network to train, instead (docs/WORKLOADS.md)
    #[arg(long = "workload-file", value_name = "FILE")]
    file: Option<PathBuf>,
}

impl OneWorkloadArgs {
    pub(crate) fn find(&self) -> Result<Vec<Workload>, Failure> {
        match &self.file {
            Some(file) => Ok(vec![workload_file::load(file)?]),
            None => find_workloads(self.name.as_deref().map(str::trim)),
        }
    }
}

const WORKLOADS_EXAMPLES: &str = "\
Examples:
  native-runner workloads                          those that are built in
  native-runner workloads --workload-file my_network.toml
                                                   is there a mistake in the file, and how large is its network?
  native-runner workloads --schema > workload.schema.json
                                                   what editors check such a file with";

#[derive(Debug, Args)]
#[command(after_help = WORKLOADS_EXAMPLES)]
pub(crate) struct WorkloadsArgs {
    /// Show the network that a TOML or JSON file describes, instead (docs/WORKLOADS.md). Can be given several times
    #[arg(long = "workload-file", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Print the JSON Schema of such a file
    #[arg(long, conflicts_with_all = ["files", "json"])]
    pub(crate) schema: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_of_the_command_line_holds_together() {
        accept_negative_numbers(Cli::command()).debug_assert();
    }

    #[test]
    fn remote_device_is_a_host_with_an_optional_port() {
        let cases = [
            ("gpu", "gpu:4400"),
            ("gpu.example:80", "gpu.example:80"),
            ("127.0.0.1:1", "127.0.0.1:1"),
            ("[::1]", "[::1]:4400"),
            ("[::1]:9", "[::1]:9"),
        ];
        for (typed, expected) in cases {
            assert_eq!(host_and_port(typed).as_deref(), Ok(expected), "{typed}");
        }
        for wrong in ["", ":80", "gpu:", "gpu:x", "gpu:0", "gpu:70000", "ws://gpu", "::1", "a b", "me@gpu", "[::1]x"] {
            assert!(host_and_port(wrong).is_err(), "{wrong}");
        }
    }
}
