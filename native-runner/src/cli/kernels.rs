use std::convert::Infallible;

use clap::Args;
use engine::AdapterChoice;
use results::kernels::Suite;

use super::{JsonTarget, positive_seconds, short_text};

const KERNELS_EXAMPLES: &str = "\
Examples:
  native-runner kernels                            everything, on the best GPU
  native-runner kernels --suite gemm,conv,rnn      products only, in percent of the measured peak
  native-runner kernels --suite memory,launch --adapter cpu --json
                                                   bandwidth and launches of a software adapter, as JSON
  native-runner kernels --budget-seconds 20        larger sizes too

Every product is compared with plain sums before it is timed; a wrong one has no figure and ends the
program with status 3. Sizes that do not fit are listed with what they need.";

#[derive(Debug, Args)]
#[command(after_help = KERNELS_EXAMPLES)]
pub(crate) struct KernelsArgs {
    /// What to measure, separated by commas [default: everything]; products measure the peak of arithmetic as well
    #[arg(long = "suite", value_name = "A,B", value_delimiter = ',', value_parser = suite)]
    suites: Vec<Suite>,
    /// Adapter to use, as for a run; `native-runner adapters` lists them
    #[arg(long, value_name = "ADAPTER", default_value = "any", value_parser = short_text)]
    pub(crate) adapter: String,
    /// Seconds that one entry may take for its few repetitions; what would take longer is skipped
    #[arg(long, value_name = "X", default_value_t = 2.0, value_parser = positive_seconds)]
    pub(crate) budget_seconds: f64,
    /// Mebibytes that one entry may use on the device; what needs more is skipped
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) budget_mib: u32,
    /// Write JSON with every sample; without a FILE or with `-` to standard output, in place of the tables
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub(crate) json: Option<JsonTarget>,
    /// End when standard input does: a study has started this
    #[arg(long, hide = true)]
    pub(crate) ends_with_input: bool,
    /// End once the adapter is open: a study looks for what keeps its cells from running
    #[arg(long, hide = true)]
    pub(crate) opens_only: bool,
}

impl KernelsArgs {
    pub(crate) fn choice(&self) -> AdapterChoice {
        self.adapter.parse().unwrap_or_else(|never: Infallible| match never {})
    }

    /// Each once, in the order in which they run.
    pub(crate) fn suites(&self) -> Vec<Suite> {
        Suite::ALL.into_iter().filter(|suite| self.suites.is_empty() || self.suites.contains(suite)).collect()
    }
}

fn suite(text: &str) -> Result<Suite, String> {
    let names = Suite::ALL.map(Suite::name);
    let found = Suite::ALL.into_iter().find(|suite| suite.name() == text.trim());
    found.ok_or_else(|| format!("there are: {}", names.join(", ")))
}
