//! What may be typed. Meaning is given to it in `commands`.

mod compare_records;
#[cfg(feature = "wgsl")]
mod doctor;
mod export;
mod installation;
#[cfg(feature = "wgsl")]
mod kernels;
mod place;
#[cfg(feature = "wgsl")]
mod profile;
mod program;
mod report;
mod scaling;
#[cfg(feature = "burn-remote")]
mod serve_device;
mod steps;
mod study;
mod upload;
mod values;
mod workload_file;

use std::convert::Infallible;
use std::num::NonZero;
use std::path::PathBuf;

use clap::{ArgAction, Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use engine::backends::Opening;
use engine::{AdapterChoice, Limit};
use results::{InputMode, Layout, Precision};

pub(crate) use crate::json_output::JsonTarget;
use crate::leaderboard::Address;
pub(crate) use compare_records::CompareRecordsArgs;
#[cfg(feature = "wgsl")]
pub(crate) use doctor::{DoctorArgs, DoctorPart};
pub(crate) use export::{ExportArgs, RecordFormat};
pub(crate) use installation::{CompletionsArgs, FetchDataArgs, Installation, ManualArgs};
#[cfg(feature = "wgsl")]
pub(crate) use kernels::KernelsArgs;
pub(crate) use place::PlaceArgs;
use place::devices;
#[cfg(feature = "wgsl")]
pub(crate) use profile::ProfileArgs;
pub(crate) use program::ProgramArgs;
pub(crate) use report::ReportArgs;
pub(crate) use scaling::ScalingArgs;
#[cfg(feature = "burn-remote")]
pub(crate) use serve_device::ServeDeviceArgs;
pub(crate) use steps::StepsArgs;
pub(crate) use study::StudyArgs;
pub(crate) use upload::{ConsentArgs, UploadArgs};
pub(crate) use values::find_workloads;
use values::{accept_negative_numbers, positive_seconds, precision, short_text};
pub(crate) use workload_file::{OneWorkloadArgs, WorkloadFileArgs, WorkloadsArgs};

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

// No argument has a long help of its own, so `-h` and `--help` print the same compact page.
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
        self.adapter.parse().unwrap_or_else(|never: Infallible| match never {})
    }

    pub(crate) fn opening(&self) -> Opening {
        let Self { devices, input, layout, .. } = *self;
        Opening { devices, input, layout, ..self.place.opening(self.precision, &self.choice()) }
    }
}

/// Where the data sets are.
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
    /// The names of the back ends, as they were typed.
    pub(crate) fn backends(&self) -> Vec<&str> {
        self.device.backend.split(',').map(str::trim).collect()
    }

    /// Whether there is more than one run to make of each workload.
    pub(crate) fn compares(&self) -> bool {
        let backends = self.backends();
        self.training.seeds.is_some() || backends.len() > 1 || backends.contains(&ALL)
    }
}

/// What to train and how; whatever departs from the suite is shown but not ranked.
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
    epochs: Option<u32>,
    /// Train so many steps and measure nothing beyond them
    #[arg(long, value_name = "N", group = "limit")]
    steps: Option<u64>,
    /// Train for so many seconds and measure nothing beyond them
    #[arg(long, value_name = "X", group = "limit")]
    seconds: Option<f64>,
    /// Test accuracy, 0 to 1, to time [default: the workload's]
    #[arg(long, value_name = "X")]
    pub(crate) target_accuracy: Option<f64>,
}

impl TrainingArgs {
    pub(crate) fn limit(&self) -> Option<Limit> {
        (self.epochs.map(Limit::Epochs)).or(self.steps.map(Limit::Steps)).or(self.seconds.map(Limit::Seconds))
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
    #[arg(long, value_name = "on|off", default_value = "off", hide_possible_values = true)]
    pub(crate) dropout: Switch,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Where to write the trace; `-` is standard output
    #[arg(long, value_name = "FILE", default_value = "-", help_heading = "Data and output")]
    pub(crate) json: JsonTarget,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Switch {
    On,
    Off,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_of_the_command_line_holds_together() {
        accept_negative_numbers(Cli::command()).debug_assert();
    }

    #[test]
    fn only_one_limit_may_be_given() {
        let error = Cli::try_parse_from(["native-runner", "--epochs", "2", "--steps", "5"]).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        let parsed = Cli::try_parse_from(["native-runner", "--seconds", "2.5"]).unwrap();
        assert_eq!(parsed.benchmark.training.limit(), Some(Limit::Seconds(2.5)));
    }

    #[test]
    fn several_back_ends_or_seeds_are_compared() {
        let compares = |arguments: &[&str]| {
            let words = ["native-runner"].iter().chain(arguments);
            Cli::try_parse_from(words).unwrap().benchmark.compares()
        };
        assert!(!compares(&[]) && !compares(&["--backend", "reference"]) && !compares(&["--seed", "3"]));
        assert!(compares(&["--backend", "all"]) && compares(&["--backend", "wgsl, reference"]));
        assert!(compares(&["--seeds", "2"]));
    }
}
