use std::path::PathBuf;

use clap::Args;

use super::JsonTarget;

const SCALING_EXAMPLES: &str = "\
Examples:
  native-runner scaling studies/gtdl-devices-2026-11-24
                                                   from one, two and four devices to 1,024
  native-runner scaling one.json --bandwidth 12e9 --latency 20e-6
                                                   from a run on one device, over a link that is typed
  native-runner scaling                            what the published steps on 1, 2 and 4 GPUs say of 8

The model and its sources are in docs/SCALING.md. Nothing is measured: records are.";

#[derive(Debug, Args)]
#[command(after_help = SCALING_EXAMPLES)]
pub(crate) struct ScalingArgs {
    /// Folder of a study, folder of records, or file that `--json` wrote, all of one kind of device [default: the published
    /// steps]
    #[arg(value_name = "DIR|FILE")]
    pub(crate) paths: Vec<PathBuf>,
    /// Bytes that the link moves in a second [default: as the records of several devices say]
    #[arg(long, value_name = "X", value_parser = positive)]
    pub(crate) bandwidth: Option<f64>,
    /// Seconds that a message takes, however short
    #[arg(long, value_name = "X", default_value_t = 0.0, requires = "bandwidth", value_parser = not_negative)]
    pub(crate) latency: f64,
    /// Write everything as JSON; `-` is standard output, and all else then goes to standard error
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<JsonTarget>,
}

fn positive(text: &str) -> Result<f64, String> {
    not_negative(text).ok().filter(|value| *value > 0.0).ok_or_else(|| "it must be a number above 0".to_owned())
}

fn not_negative(text: &str) -> Result<f64, String> {
    let value = text.parse().ok().filter(|value: &f64| value.is_finite() && *value >= 0.0);
    value.ok_or_else(|| "it must be a number, at least 0".to_owned())
}
