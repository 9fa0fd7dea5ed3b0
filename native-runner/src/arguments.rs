//! Groups of options that several commands have, and parsers of their values.

use std::num::NonZero;
use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use engine::backends::Opening;
use engine::{AdapterChoice, Workload};
use results::{Feature, InputMode, Layout, Length, Positive, Precision, RunSpec};

use crate::failure::{Failure, Result};
use crate::json_output::JsonTarget;
use crate::leaderboard::Address;
use crate::program::NamedProgram;
use crate::tuning::KeptFile;
use crate::workload_file::is_file_name;
use crate::{machine, workload_file};

/// Name for every backend of this program except the plain reference, which is slow.
pub(crate) const ALL: &str = "all";

/// Selection of the devices.
#[derive(Debug, Args)]
pub(crate) struct DeviceArgs {
    /// Adapter to use: `any` (the best that is not software), `discrete`, `integrated`, `cpu`, an index, or part of a
    /// name; `native-runner adapters` lists them. `wgsl` also accepts `all`, or indices such as `0,1`, which share each
    /// batch
    #[arg(long, value_name = "ADAPTER", default_value = "any", help_heading = "Device", value_parser = short_text)]
    pub(crate) adapter: String,
    /// Backend to compute with; `native-runner backends` lists them. A run compares several, separated by commas, or
    /// `all` (all except the plain reference)
    #[arg(long, value_name = "NAME", default_value = engine::BACKENDS[0].name, help_heading = "Device")]
    pub(crate) backend: String,
    /// Number format of stored and multiplied values: `f32`; `f16` if the device supports it (sums stay f32; never
    /// ranked); `f16-matrix`, the same with products on the device's matrix units, if it lists cooperative matrices
    /// (never ranked); or `f64` on the reference
    #[arg(long, value_name = "NAME", default_value = "f32", help_heading = "Device", value_parser = precision)]
    pub(crate) precision: Precision,
    /// Number of devices that share each batch with `wgsl`, with the same result as one device: adapters of one kind,
    /// or logical devices of a software adapter. `burn-remote` uses one device per address of --remote. Never ranked
    /// [default: the devices of --adapter]
    #[arg(long, value_name = "N", help_heading = "Device", value_parser = devices())]
    pub(crate) devices: Option<NonZero<u32>>,
    /// Transfer of samples with `wgsl`: `resident` stores the data set on the device, which is the standard;
    /// `prefetch` uploads the next batches while the device computes; `stream` makes the device wait for each batch.
    /// Runs with `prefetch` or `stream` are never ranked
    #[arg(long, value_name = "MODE", help_heading = "Device")]
    pub(crate) input: Option<InputMode>,
    /// Image layout of an external program that supports both: `nhwc` (channels last) or `nchw` (channels first)
    #[arg(long, value_name = "ORDER", help_heading = "Device")]
    pub(crate) layout: Option<Layout>,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

impl DeviceArgs {
    pub(crate) fn opening(&self) -> Opening {
        let Self { devices, input, layout, .. } = *self;
        Opening { devices, input, layout, ..self.place.opening(self.precision, &adapter_choice(&self.adapter)) }
    }
}

pub(crate) fn adapter_choice(typed: &str) -> AdapterChoice {
    let Ok(choice) = typed.parse();
    choice
}

/// Adapter of a command that measures without backends of other kinds.
#[derive(Debug, Args)]
pub(crate) struct AdapterArgs {
    /// Adapter to use, as for a run; `native-runner adapters` lists them
    #[arg(long, value_name = "ADAPTER", default_value = "any", value_parser = short_text)]
    pub(crate) adapter: String,
}

// The heading also covers options that follow in the same command without another.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Data and output")]
pub(crate) struct DataArgs {
    /// Folder of the data sets; without it, runs fetch missing sets [default: the workspace's `data`, or the cache]
    #[arg(long = "data", value_name = "DIR", env = "GRADMARK_DATA", hide_env_values = true)]
    pub(crate) folder: Option<PathBuf>,
    /// Folder `en` of the published bAbI archive [default: generate similar stories]
    #[arg(long = "babi", value_name = "FOLDER", env = "GRADMARK_BABI", hide_env_values = true)]
    pub(crate) babi: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct BenchmarkArgs {
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    /// Name to show for this device if the platform does not report one
    #[arg(long = "name", value_name = "NAME", help_heading = "Device", value_parser = short_text)]
    pub(crate) claimed_name: Option<String>,
    #[command(flatten)]
    pub(crate) training: TrainingArgs,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Write the record as JSON; `-` is standard output, and everything else then goes to standard error
    #[arg(long, value_name = "FILE", help_heading = "Data and output")]
    pub(crate) json: Option<JsonTarget>,
    /// Folder for the records of a comparison, one file each, ready for `upload`
    #[arg(long = "output", value_name = "FOLDER", help_heading = "Data and output")]
    pub(crate) records: Option<PathBuf>,
    /// Leaderboard to register the run with and upload it to, after asking
    #[arg(long = "upload", value_name = "URL", help_heading = "Upload")]
    pub(crate) upload_to: Option<Address>,
    #[command(flatten)]
    pub(crate) consent: ConsentArgs,
    #[command(flatten)]
    pub(crate) cell: CellArgs,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Upload")]
pub(crate) struct ConsentArgs {
    /// Upload without asking
    #[arg(long)]
    pub(crate) yes: bool,
    /// Seconds to wait for each answer of the leaderboard
    #[arg(long, value_name = "X", default_value_t = 60.0, value_parser = positive_seconds)]
    pub(crate) upload_timeout: f64,
}

// Options of the processes that a study starts.
#[derive(Debug, Args)]
pub(crate) struct CellArgs {
    /// End when standard input ends: a study's cells do not outlive the study
    #[arg(long, hide = true)]
    pub(crate) ends_with_input: bool,
    /// End once the backend is open: a study looks for what keeps its cells from running
    #[arg(long, hide = true)]
    pub(crate) opens_only: bool,
}

impl BenchmarkArgs {
    /// Returns the requested run on the backend named `backend`; the seed is set later.
    pub(crate) fn spec(&self, backend: &str) -> RunSpec {
        let Self { device, training, .. } = self;
        let DeviceArgs { precision, devices, input, layout, .. } = *device;
        let PlaceArgs { overlap, threads, .. } = device.place;
        let (adapter, without) = (device.adapter.clone(), device.place.without.clone());
        let of_device =
            RunSpec { adapter, precision, devices, input, layout, without, overlap, threads, ..RunSpec::default() };
        let TrainingArgs { batch_size, learning_rate, target_accuracy, .. } = *training;
        let (suite, backend, length) = (training.suite.clone(), backend.to_owned(), training.length());
        let workloads = training.workloads.iter().map(|name| name.trim().to_owned()).collect();
        RunSpec { suite, workloads, backend, length, batch_size, learning_rate, target_accuracy, ..of_device }
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
    /// Workloads to train, separated by commas [default: the suite's]
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
    /// Number of seeds to compare, starting with `--seed` [default: 3 with several backends]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) seeds: Option<u32>,
    /// Samples in a batch [default: the workload's]
    #[arg(long, value_name = "N")]
    pub(crate) batch_size: Option<u32>,
    /// Learning rate [default: the workload's]
    #[arg(long, value_name = "X")]
    pub(crate) learning_rate: Option<f64>,
    /// Number of passes over the training set
    #[arg(long, value_name = "N", group = "limit", value_parser = at_least_one::<NonZero<u32>>)]
    epochs: Option<NonZero<u32>>,
    /// Number of steps to train; measures nothing beyond them
    #[arg(long, value_name = "N", group = "limit", value_parser = at_least_one::<NonZero<u64>>)]
    steps: Option<NonZero<u64>>,
    /// Seconds to train; measures nothing beyond them
    #[arg(long, value_name = "X", group = "limit")]
    seconds: Option<Positive>,
    /// Test accuracy, 0 to 1, to measure the time to [default: the workload's]
    #[arg(long, value_name = "X")]
    pub(crate) target_accuracy: Option<f64>,
}

impl TrainingArgs {
    pub(crate) fn length(&self) -> Option<Length> {
        (self.epochs.map(Length::Epochs)).or(self.steps.map(Length::Steps)).or(self.seconds.map(Length::Seconds))
    }
}

pub(crate) const PORT: u16 = 4400;

/// Options of a device, each for one backend only.
#[derive(Debug, Args)]
#[command(next_help_heading = "Device")]
pub(crate) struct PlaceArgs {
    /// Number of threads for `burn-flex` [default: one per core]
    #[arg(long, value_name = "N", value_parser = threads())]
    threads: Option<NonZero<usize>>,
    /// Address of `native-runner serve-device` for `burn-remote`; the default port is 4400. Devices at several
    /// addresses, separated by commas, share each batch, with the same result as one device
    #[arg(long, value_name = "HOST[:PORT]", value_delimiter = ',', value_parser = host_and_port)]
    pub(crate) remote: Vec<String>,
    /// Seconds without an answer after which a remote device counts as lost
    #[arg(long, value_name = "X", default_value_t = 30.0, value_parser = positive_seconds, requires = "remote")]
    pub(crate) remote_timeout: f64,
    /// Device features that `wgsl` does not use, separated by commas: `subgroups`, `f16`, `timestamps`, or `core` for
    /// WebGPU's compatibility mode. Shows the effect of each feature; never ranked
    #[arg(long, value_name = "A,B", value_delimiter = ',', value_parser = feature)]
    without: Vec<Feature>,
    /// Exchange finished gradients while several devices of `wgsl` compute the others: `on` or `off` [default: on, but
    /// off on a software adapter, whose cores would have to do both]
    #[arg(long, value_name = "SWITCH", value_parser = on_or_off())]
    overlap: Option<bool>,
    #[command(flatten)]
    pub(crate) external: ProgramArgs,
    /// Tune the kernels again instead of using the stored choices for this device
    #[arg(long)]
    retune: bool,
}

impl PlaceArgs {
    pub(crate) fn opening(&self, precision: Precision, adapter: &AdapterChoice) -> Opening {
        let (remote, without) = (self.remote.clone(), self.without.clone());
        let (threads, overlap, processor) = (self.threads, self.overlap, machine::name());
        let keeper = KeptFile::of_the_user(self.retune);
        Opening { threads, remote, without, overlap, processor, keeper, ..Opening::new(precision, adapter) }
    }
}

pub(crate) fn at_least_one<N: FromStr>(text: &str) -> Result<N, &'static str> {
    text.parse().map_err(|_| "it must be a whole number of at least 1")
}

/// Limit above the number of devices in any machine.
fn devices() -> impl clap::builder::TypedValueParser<Value = NonZero<u32>> {
    clap::value_parser!(u32).range(1..=64).try_map(NonZero::try_from)
}

/// Limit on threads; more are a typing error on any machine.
pub(crate) fn threads() -> impl clap::builder::TypedValueParser<Value = NonZero<usize>> {
    clap::value_parser!(u16).range(1..=1024).try_map(|count| NonZero::try_from(usize::from(count)))
}

pub(crate) fn on_or_off() -> impl clap::builder::TypedValueParser<Value = bool> {
    PossibleValuesParser::new(["on", "off"]).map(|word| word == "on")
}

/// Parses a value by its name.
pub(crate) fn named<T: Copy>(text: &str, all: &[T], name: fn(T) -> &'static str) -> Result<T, String> {
    let found = all.iter().copied().find(|value| name(*value) == text.trim());
    let known = || all.iter().map(|value| name(*value)).collect::<Vec<_>>().join(", ");
    found.ok_or_else(|| format!("it must be one of {}", known()))
}

fn feature(text: &str) -> Result<Feature, String> {
    named(text, &Feature::ALL, Feature::name)
}

/// Parses `HOST`, `HOST:PORT`, or an IPv6 address in brackets.
pub(crate) fn host_and_port(text: &str) -> Result<String, String> {
    let text = text.trim();
    let wrong = || format!("it must be a host and an optional port (default {PORT}), as in `gpu.example:{PORT}`");
    if text.is_empty() || text.chars().any(|letter| "/?#@,".contains(letter) || letter <= ' ' || letter.is_control()) {
        return Err(wrong());
    }
    let end_of_host = text.find(']').map_or(0, |bracket| bracket + 1);
    let (host, port) = match text[end_of_host..].rfind(':') {
        Some(colon) => (&text[..end_of_host + colon], text[end_of_host + colon + 1..].parse().map_err(|_| wrong())?),
        None => (text, PORT),
    };
    if host.is_empty() || port == 0 || (host.contains(':') && !(host.starts_with('[') && host.ends_with(']'))) {
        return Err(wrong());
    }
    Ok(format!("{host}:{port}"))
}

/// Parses a device name. An empty one would be part of every name.
pub(crate) fn short_text(text: &str) -> Result<String, String> {
    results::check_name(text.trim(), 100)?;
    Ok(text.trim().to_owned())
}

pub(crate) fn precision(text: &str) -> Result<Precision, String> {
    named(text, &Precision::ALL, Precision::name)
}

/// Parses a finite number that `is_allowed` accepts.
pub(crate) fn number(text: &str, is_allowed: fn(f64) -> bool, wrong: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && is_allowed(*number));
    number.ok_or_else(|| wrong.to_owned())
}

pub(crate) fn positive_seconds(text: &str) -> Result<f64, String> {
    let wrong = "it must be a number of seconds above 0 and at most a day";
    number(text, |seconds| seconds > 0.0 && seconds <= 86_400.0, wrong)
}

/// Returns the workloads with these names, each once.
pub(crate) fn find_workloads<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Vec<Workload>> {
    let mut found: Vec<Workload> = Vec::new();
    for name in names {
        if is_file_name(name) {
            let advice = "use --workload-file to train a network from a file";
            return Err(Failure::Usage(format!("there is no workload named `{name}`; {advice}")));
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
    /// Add the external program COMMAND as a backend named NAME, which trains the same networks from the same weights
    /// on the same batches (docs/EXTERNAL.md). `pytorch`, `keras-jax` and `keras-tensorflow` are bundled: they need no
    /// COMMAND, only a Python with these packages. Repeatable; never ranked
    #[arg(long = "program", value_name = "NAME[=COMMAND]", help_heading = "Device")]
    pub(crate) programs: Vec<NamedProgram>,
    /// Seconds without an answer after which an external program is ended [default: 900]
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
    /// TOML or JSON file of a network to train: layers, optimizer, schedule, data set (docs/WORKLOADS.md). Repeatable;
    /// with `--upload`, one language model, which competes in the open class by its loss
    #[arg(long = "workload-file", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
}

impl WorkloadFileArgs {
    /// Returns the workloads with these names, then the workloads of the files, each once.
    pub(crate) fn and_named<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Result<Vec<Workload>> {
        let mut found = find_workloads(names)?;
        let first = |(number, file): &(usize, &PathBuf)| !self.files[..*number].contains(file);
        for (_, file) in self.files.iter().enumerate().filter(first) {
            let workload = workload_file::load(file)?;
            let Workload { name, .. } = workload;
            if found.iter().any(|other| other.name == name) {
                return Err(Failure::Usage(format!("{}: another file has a network named `{name}`", file.display())));
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
    /// File of the network to train, instead of a built-in one (docs/WORKLOADS.md)
    #[arg(long = "workload-file", value_name = "FILE")]
    file: Option<PathBuf>,
}

impl OneWorkloadArgs {
    pub(crate) fn find(&self) -> Result<Vec<Workload>> {
        match &self.file {
            Some(file) => Ok(vec![workload_file::load(file)?]),
            None => find_workloads(self.name.as_deref().map(str::trim)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
