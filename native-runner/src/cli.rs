//! Definition of the command line.

use clap::{ArgAction, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::arguments::BenchmarkArgs;
use crate::commands::compare_records::CompareRecordsArgs;
use crate::commands::export_records::ExportArgs;
use crate::commands::installation::{CompletionsArgs, FetchDataArgs, ManualArgs};
use crate::commands::kernels::KernelsArgs;
use crate::commands::list::{DataSetsArgs, ListArgs, WorkloadsArgs};
use crate::commands::profile::ProfileArgs;
use crate::commands::report::ReportArgs;
use crate::commands::scaling::ScalingArgs;
#[cfg(feature = "burn-remote")]
use crate::commands::serve_device::ServeDeviceArgs;
use crate::commands::steps::StepsArgs;
use crate::commands::study::StudyArgs;
use crate::commands::trace::TraceArgs;
use crate::commands::upload::UploadArgs;
use crate::doctor::DoctorArgs;

const EXAMPLES: &str = "\
Examples:
  native-runner                                    run the quick suite on the best GPU
  native-runner --adapter integrated               … on the integrated one
  native-runner --adapter cpu --workload keras-mnist-mlp --epochs 2
                                                   … on a software adapter, one workload, two epochs
  native-runner --workload-file my_network.toml    your own network, from a file
  native-runner --json result.json                 store the record
  native-runner --backend all --workload keras-mnist-mlp --epochs 2
                                                   compare all backends of this machine, three seeds each
  native-runner --backend wgsl,burn-flex --seeds 5 --output runs --json -
                                                   compare two backends, five seeds each; store each record
  native-runner --adapter all                      share each batch among all GPUs of this machine
  native-runner --backend burn-remote --remote gpu1.example,gpu2.example
                                                   share each batch among the devices of two other machines
  native-runner --upload https://gradmark.example  upload the result to a leaderboard, after asking
  native-runner --upload https://gradmark.example --workload-file my_network.toml
                                                   a language model of your own, in the open class
  native-runner adapters                           list the devices of this machine
  native-runner study gtdl-batch-size --scale 0.01 run a published study at 1 % of its length
  native-runner compare --baseline base head --fail-if-slower 5%
                                                   check whether the second folder of records is slower
  native-runner doctor                             check this installation and suggest fixes
  native-runner trace --workload keras-mnist-mlp --backend wgsl --seed 4 --batch-size 16 --steps 20
                                                   check that a device computes correctly

Exit status:
  0 success   1 unexpected error, or a workload or one of several backends could not be trained (the
    other results are shown)
  2 wrong usage, or unknown adapter, backend or workload
  3 diverged or wrong results   4 device lost, out of memory, or too small for a workload (the other
    results are shown)   5 upload refused   6 regression (compare)   7 a run would not work (doctor)
  130 cancelled";

const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("GRADMARK_COMMIT"), ")");

// No argument has a long help, so `-h` and `--help` print the same compact page.
const ABOUT: &str = "\
Gradmark: how fast does this device learn?

Trains real networks on real data with this machine's GPU and reports samples per second,
accuracy and time to target. Without a subcommand it runs a suite of workloads.";

#[derive(Debug, Parser)]
#[command(name = "native-runner", version = VERSION, about = ABOUT, after_help = EXAMPLES)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    /// Log events to standard error; `-vv` and `-vvv` log more, including events of libraries
    #[arg(short, long, global = true, action = ArgAction::Count, help_heading = "Logs")]
    pub(crate) verbose: u8,
    #[command(flatten)]
    pub(crate) benchmark: BenchmarkArgs,
}

impl Cli {
    /// Parses the command line, or ends the program with the error.
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
    /// List the backends of this program
    Backends(ListArgs),
    /// List the data sets and where they come from
    DataSets(DataSetsArgs),
    /// Check the installation and whether each backend computes correctly, and suggest fixes
    Doctor(DoctorArgs),
    /// Measure the device's peak rates, and how close the kernels come to them
    Kernels(KernelsArgs),
    /// Measure steps per second of workloads on several backends, without evaluation or a score
    Steps(StepsArgs),
    /// Run a study: a matrix of runs, each in its own process, in a folder that can be resumed
    Study(Box<StudyArgs>),
    /// Profile a training step launch by launch
    Profile(ProfileArgs),
    /// Train a few steps on the first samples; write losses, norms and logits to compare with a golden trace
    Trace(TraceArgs),
    /// Write an HTML report of a study or of records: findings, plots, published results
    Report(ReportArgs),
    /// Export the records of a study or of files as one table: CSV, JSON Lines, Parquet or Markdown
    Export(ExportArgs),
    /// Predict from records of a few devices how steps scale to 1,024 devices
    Scaling(ScalingArgs),
    /// Compare stored records with a baseline; the exit status reports regressions to continuous integration
    Compare(CompareRecordsArgs),
    /// Upload a record from a file
    Upload(UploadArgs),
    /// Serve a device of this machine to `--backend burn-remote` on other machines
    #[cfg(feature = "burn-remote")]
    ServeDevice(ServeDeviceArgs),
    /// Fetch data sets and verify them
    FetchData(FetchDataArgs),
    /// Print shell completions
    Completions(CompletionsArgs),
    /// Print the manual page
    Manual(ManualArgs),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_of_the_command_line_holds_together() {
        accept_negative_numbers(Cli::command()).debug_assert();
    }
}
