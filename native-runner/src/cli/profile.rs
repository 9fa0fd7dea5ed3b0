use std::convert::Infallible;

use clap::Args;
use engine::AdapterChoice;

use super::{DataArgs, OneWorkloadArgs, positive_seconds, short_text};

const PROFILE_EXAMPLES: &str = "\
Examples:
  native-runner profile --workload keras-mnist-mlp
  native-runner profile --workload keras-mnist-cnn --batch-size 1024 --adapter cpu
  native-runner profile --workload resnet20-cifar10 --seconds-per-launch 1 --json

Every launch of a training step is repeated by itself, so that what it reads may lie in caches already: the sum
of the launches may be less than the step. A launch that takes long for its bytes and operations is worth a look.";

#[derive(Debug, Args)]
#[command(after_help = PROFILE_EXAMPLES)]
pub(crate) struct ProfileArgs {
    #[command(flatten)]
    pub(crate) workload: OneWorkloadArgs,
    /// Samples in a batch [default: the workload's]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) batch_size: Option<u32>,
    /// Adapter to use, as for a run; `native-runner adapters` lists them
    #[arg(long, value_name = "ADAPTER", default_value = "any", value_parser = short_text)]
    pub(crate) adapter: String,
    /// Seconds that each launch is repeated for, and the whole step four times as long
    #[arg(long, value_name = "X", default_value_t = 0.2, value_parser = positive_seconds)]
    pub(crate) seconds_per_launch: f64,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Print JSON
    #[arg(long, help_heading = "Data and output")]
    pub(crate) json: bool,
}

impl ProfileArgs {
    pub(crate) fn choice(&self) -> AdapterChoice {
        self.adapter.parse().unwrap_or_else(|never: Infallible| match never {})
    }
}
