use std::path::PathBuf;

use clap::Args;

use super::place::host_and_port;
use super::{ConsentArgs, DataArgs, JsonTarget, ProgramArgs, positive_seconds, short_text};
use crate::leaderboard::Address;
use crate::study::Filter;
use crate::workload_file::is_file_name;

const STUDY_EXAMPLES: &str = "\
Examples:
  native-runner study                              list the studies that are built in
  native-runner study gtdl-batch-size --dry-run    what would run, with its work and its memory
  native-runner study gtdl-batch-size --dry-run --calibrate
                                                   … and with its time, from two seconds of each
  native-runner study gtdl-batch-size --scale 0.01 a hundredth of it, marked so, on the best GPU
  native-runner study gtdl-baseline --backend burn-flex --only workload=caffe-mnist,torch-mnist
                                                   some of its cells, on the processor
  native-runner study keras-backends --program keras-jax --program pytorch
                                                   with other frameworks beside our own back ends
  native-runner study kernels --scale 0.1          our kernels by themselves, a tenth of the seconds for each
  native-runner study keras-five --print > mine.toml
                                                   a study of one's own begins as a copy …
  native-runner study mine.toml --output mine      … and runs, or goes on, in this folder
  native-runner study --schema > study.schema.json what editors check such a file with

Each cell is a process of its own and leaves a file in the folder (docs/STUDIES.md). Ctrl-C
keeps what is finished; the same command goes on with the rest.

Exit status:
  0 every cell has an answer, and diverging is one   1 some have none, and say why
  2 wrong usage, or something wrong in the file   3 wrong results   5 upload refused
  130 cancelled";

#[derive(Debug, Args)]
#[command(after_help = STUDY_EXAMPLES)]
pub(crate) struct StudyArgs {
    /// Built-in study, or file of one [default: list those that are built in]
    #[arg(value_name = "NAME|FILE.toml")]
    pub(crate) study: Option<String>,
    /// Shorten every cell to this share of its limit (of kernels: of the seconds of an entry), above 0 and at most 1; such
    /// runs are not standard
    #[arg(long, value_name = "X", default_value_t = 1.0, value_parser = scale, help_heading = "Study")]
    pub(crate) scale: f64,
    /// Back ends in place of the study's own, separated by commas; `all` is every one but the plain reference
    #[arg(long = "backend", value_name = "A,B", value_delimiter = ',', help_heading = "Study")]
    pub(crate) backends: Vec<String>,
    /// Adapters in place of the study's own, separated by commas; `native-runner adapters` lists them
    #[arg(
        long = "adapter",
        value_name = "A,B",
        value_delimiter = ',',
        help_heading = "Study",
        value_parser = short_text
    )]
    pub(crate) adapters: Vec<String>,
    /// File of a network of one's own, in place of the study's workloads (docs/WORKLOADS.md). Can be given several times
    #[arg(long = "workload-file", value_name = "FILE", help_heading = "Study", value_parser = network_file)]
    pub(crate) workload_files: Vec<PathBuf>,
    /// Where `native-runner serve-device` serves the device of `burn-remote`; the port is 4400 unless it is said
    #[arg(long, value_name = "HOST[:PORT]", help_heading = "Study", value_parser = host_and_port)]
    pub(crate) remote: Option<String>,
    #[command(flatten)]
    pub(crate) external: ProgramArgs,
    /// Run only some cells now, such as `workload=caffe-mnist`, `batch-size=50,500` or `seed=1`; may be given several times
    #[arg(long, value_name = "AXIS=A,B", help_heading = "Study")]
    pub(crate) only: Vec<Filter>,
    /// Run failed cells once more
    #[arg(long, help_heading = "Study")]
    pub(crate) retry_failed: bool,
    /// Seconds after which a cell is ended, and kept as failed
    #[arg(long, value_name = "X", help_heading = "Study", value_parser = positive_seconds)]
    pub(crate) cell_timeout: Option<f64>,
    /// List the cells with what they are expected to take, and run none
    #[arg(long, help_heading = "Study")]
    pub(crate) dry_run: bool,
    /// Measure each network, back end and batch size for two seconds first, to estimate time and memory
    #[arg(long, help_heading = "Study")]
    pub(crate) calibrate: bool,
    /// Print the study's definition, as a file of one's own may begin
    #[arg(long, help_heading = "Study", conflicts_with_all = ["dry_run", "schema"])]
    pub(crate) print: bool,
    /// Print the JSON Schema of a study's file
    #[arg(long, help_heading = "Study", conflicts_with = "study")]
    pub(crate) schema: bool,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Folder of the study, new or to go on with [default: `studies/NAME-DATE`]
    #[arg(long, value_name = "DIR", help_heading = "Data and output")]
    pub(crate) output: Option<PathBuf>,
    /// Write the estimate or the results as JSON; `-` is standard output, and all else then goes to standard error
    #[arg(long, value_name = "FILE", help_heading = "Data and output")]
    pub(crate) json: Option<JsonTarget>,
    /// Leaderboard to upload every record with figures to, as unverified, after asking once
    #[arg(long = "upload", value_name = "URL", help_heading = "Upload")]
    pub(crate) upload_to: Option<Address>,
    #[command(flatten)]
    pub(crate) consent: ConsentArgs,
}

fn network_file(text: &str) -> Result<PathBuf, String> {
    let wrong = || "it must be the name of a file that ends in .toml or .json".to_owned();
    is_file_name(text).then(|| PathBuf::from(text)).ok_or_else(wrong)
}

fn scale(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(scale) if scale > 0.0 && scale <= 1.0 => Ok(scale),
        _ => Err("it must be a share above 0 and at most 1".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::super::{Cli, Command};

    #[test]
    fn a_scale_shortens_and_never_lengthens() {
        let parsed = |scale: &str| match Cli::try_parse_from(["native-runner", "study", "x", "--scale", scale]) {
            Ok(Cli { command: Some(Command::Study(arguments)), .. }) => Some(arguments.scale),
            _ => None,
        };
        assert_eq!(parsed("0.01"), Some(0.01));
        assert_eq!(parsed("1"), Some(1.0));
        for wrong in ["0", "-1", "1.5", "x", "nan"] {
            assert_eq!(parsed(wrong), None, "{wrong}");
        }
    }
}
