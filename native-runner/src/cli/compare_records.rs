use std::path::PathBuf;

use clap::Args;

use crate::export::{self, FORMATS, Format};
use crate::json_output::JsonTarget;

const EXAMPLES: &str = "\
Examples:
  native-runner compare before.json after.json     two records, of which the first is the baseline
  native-runner compare --baseline base head --fail-if-slower 5%
                                                   two folders of records, each a side
  native-runner compare head/*.json --baseline base/*.json --fail-if-slower 5%
                                                   the same of files
  native-runner compare new.json --baseline kept   the newest commit that has kept records like it
  native-runner compare new.json --baseline kept --baseline-commit 2694632 --fail-if-missing
                                                   that commit, and all that it has must be there
  native-runner compare --baseline base head --format markdown > comment.md
                                                   for a comment under a pull request

Exit status:
  0 no regression   1 a file cannot be read or written   2 wrong usage, damaged records, or
    nothing to compare
  6 a regression: slower than --fail-if-slower allows, with the whole 95 % interval; or a workload
    that the baseline trained and the candidate could not, or lacks with --fail-if-missing

Three to five runs a side, taken in turns, tell most. docs/REGRESSIONS.md has a ready workflow.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CompareRecordsArgs {
    /// Records to compare: files that `--json` or `--output` wrote, folders of them, or `-` for standard input. With
    /// `--baseline` all of them are one side, the candidate; without, each is a side, compared with the first
    #[arg(value_name = "RECORDS")]
    pub(crate) candidates: Vec<PathBuf>,
    /// Records to compare with, all of them one side. Of a folder those of the candidate's suite and device are taken,
    /// and the newest commit's; `--` ends the list
    #[arg(long, value_name = "RECORDS", num_args = 1.., help_heading = "Baseline")]
    pub(crate) baseline: Vec<PathBuf>,
    /// Take this commit's records of the baseline's folders instead of the newest
    #[arg(long, value_name = "COMMIT", requires = "baseline", help_heading = "Baseline", value_parser = commit)]
    pub(crate) baseline_commit: Option<String>,
    /// Fail where a throughput is certainly lower than this much less than the baseline's
    #[arg(long, value_name = "PERCENT", help_heading = "What fails", value_parser = percent)]
    pub(crate) fail_if_slower: Option<f64>,
    /// Fail where the candidate lacks something that the baseline has
    #[arg(long, help_heading = "What fails")]
    pub(crate) fail_if_missing: bool,
    /// Decide although devices or versions of suites differ, and take such records of the baseline's folders as well
    #[arg(long, help_heading = "What fails")]
    pub(crate) allow_mismatch: bool,
    /// Form of the output
    #[arg(long, value_name = "FORMAT", default_value = FORMATS[0].name(), help_heading = "Output", value_parser = export::parser())]
    pub(crate) format: &'static dyn Format,
    /// Write the comparison as JSON; `-` is standard output, and all else then goes to standard error
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) json: Option<JsonTarget>,
}

/// A share, typed as `5%`. A bare number could be meant as either.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim().strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    match number {
        Some(percent) if (0.0..100.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err("it must be a percentage from 0% and below 100%, such as 5%".to_owned()),
    }
}

/// As much of a commit's name as git would take.
fn commit(text: &str) -> Result<String, String> {
    let text = text.trim().to_lowercase();
    let is_name = (4..=64).contains(&text.len()) && text.chars().all(|letter| letter.is_ascii_hexdigit());
    if is_name { Ok(text) } else { Err("it must be at least four hexadecimal digits of a commit".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tolerance_is_a_percentage_and_nothing_that_could_be_a_share() {
        assert_eq!((percent("5%"), percent("2.5 %"), percent("0%")), (Ok(0.05), Ok(0.025), Ok(0.0)));
        for text in ["5", "0.05", "100%", "-1%", "%", "NaN%"] {
            assert!(percent(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_commit_is_hexadecimal_and_long_enough_to_name_one() {
        assert_eq!(commit("2694632A"), Ok("2694632a".to_owned()));
        assert!(commit("269").is_err() && commit("main").is_err());
    }
}
