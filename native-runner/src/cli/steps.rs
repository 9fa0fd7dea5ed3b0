use std::convert::Infallible;

use clap::Args;
use engine::AdapterChoice;
use results::Precision;

use super::{DataArgs, PlaceArgs, WorkloadFileArgs, positive_seconds, precision, short_text};

const STEPS_EXAMPLES: &str = "\
Examples:
  native-runner steps                              every workload on every back end but the reference
  native-runner steps --adapter cpu --workload keras-mnist-mlp,caffe-mnist --seconds-per-workload 3
                                                   two workloads on a software adapter, shortly
  native-runner steps --backend wgsl,reference --reference-steps 2 --workload keras-mnist-mlp
                                                   beside two steps of the plain reference
  native-runner steps --backend wgsl --precision f32,f16
                                                   what does storing half as much bring?
  native-runner steps --backend wgsl --precision f16,f16-matrix
                                                   and what do matrix units, where the device lists them?
  native-runner steps --workload keras-mnist-cnn --batch-sizes 1..4096
                                                   is there a batch size that is slower for each sample?

The windows of the back ends take turns. First losses are held to the plain reference before anything is
timed; a wrong one has no figure and ends the program with status 3. What does not fit is listed with what
it needs and what is allowed.";

#[derive(Debug, Args)]
#[command(after_help = STEPS_EXAMPLES)]
pub(crate) struct StepsArgs {
    /// Workloads to measure, separated by commas [default: all]
    #[arg(long = "workload", value_name = "A,B", value_delimiter = ',')]
    pub(crate) workloads: Vec<String>,
    #[command(flatten)]
    pub(crate) files: WorkloadFileArgs,
    /// Back ends to measure, separated by commas [default: all but the plain reference, which is slow]
    #[arg(long = "backend", value_name = "A,B", value_delimiter = ',')]
    pub(crate) backends: Vec<String>,
    /// Precisions to measure each back end in, separated by commas
    #[arg(
        long = "precision",
        value_name = "A,B",
        value_delimiter = ',',
        default_value = "f32",
        value_parser = precision
    )]
    pub(crate) precisions: Vec<Precision>,
    /// Steps that the plain reference trains of each workload and batch size, where it is asked for
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) reference_steps: u32,
    /// Adapter to use, as for a run; `native-runner adapters` lists them
    #[arg(long, value_name = "ADAPTER", default_value = "any", value_parser = short_text)]
    pub(crate) adapter: String,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    /// Seconds of warm-up and windows for each workload and batch size, all back ends together; loading, building,
    /// checking and the peak of arithmetic come on top
    #[arg(long, value_name = "X", default_value_t = 10.0, value_parser = positive_seconds)]
    pub(crate) seconds_per_workload: f64,
    /// Batch sizes, separated by commas; `1..4096` is every doubling of 1 up to 4096 [default: each workload's own]
    #[arg(long, value_name = "A,B", value_delimiter = ',', value_parser = batch_sizes)]
    batch_sizes: Vec<BatchSizes>,
    /// Mebibytes that a workload may take on the device; what needs more is refused, and Burn, whose need is known only
    /// once it is built, then [default: as much as the machine has free, on a software adapter]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) budget_mib: Option<u32>,
    /// Seed of weights, shuffles and dropout
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u32,
    /// Time without comparing first losses with the plain reference's
    #[arg(long)]
    pub(crate) unchecked: bool,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Print JSON, with every window
    #[arg(long, help_heading = "Data and output")]
    pub(crate) json: bool,
}

impl StepsArgs {
    pub(crate) fn choice(&self) -> AdapterChoice {
        self.adapter.parse().unwrap_or_else(|never: Infallible| match never {})
    }

    /// Each once, from small to large.
    pub(crate) fn batch_sizes(&self) -> Vec<u32> {
        let mut sizes: Vec<u32> = self.batch_sizes.iter().flat_map(|BatchSizes(sizes)| sizes).copied().collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }
}

/// One size, or several that each double the one before.
#[derive(Clone, Debug, PartialEq, Eq)]
struct BatchSizes(Vec<u32>);

fn batch_sizes(text: &str) -> Result<BatchSizes, String> {
    let size = |text: &str| text.trim().parse().ok().filter(|size: &u32| (1..=1 << 24).contains(size));
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    match (size(first), size(last)) {
        (Some(first), Some(last)) if first <= last => {
            let doubled = std::iter::successors(Some(first), |size| size.checked_mul(2));
            Ok(BatchSizes(doubled.take_while(|size| *size <= last).collect()))
        }
        _ => Err("it must be a number of samples above 0, or two of them with `..` between".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::super::{Cli, Command};

    #[test]
    fn batch_sizes_are_single_or_double_from_one_to_another() {
        let parsed = |sizes: &str| match Cli::try_parse_from(["native-runner", "steps", "--batch-sizes", sizes]) {
            Ok(Cli { command: Some(Command::Steps(arguments)), .. }) => Some(arguments.batch_sizes()),
            _ => None,
        };
        assert_eq!(parsed("1..16"), Some(vec![1, 2, 4, 8, 16]));
        assert_eq!(parsed("100,3..20,6"), Some(vec![3, 6, 12, 100]));
        for wrong in ["0", "4..2", "1..", "x", "-1"] {
            assert_eq!(parsed(wrong), None, "{wrong}");
        }
    }
}
