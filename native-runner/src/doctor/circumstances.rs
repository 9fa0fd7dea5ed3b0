//! Input and results of the doctor's examinations.

use std::path::{Path, PathBuf};

use clap::Args;
use engine::backends::wgsl::Details;
use engine::{AdapterChoice, EngineError};
use indicatif::ProgressBar;
use results::Adapter;
use serde::Serialize;
use serde_json::Value;

use crate::arguments::{DataArgs, positive_seconds, short_text};
use crate::json_output::JsonTarget;
use crate::leaderboard::Address;

pub(crate) struct Circumstances<'a> {
    pub(crate) arguments: &'a DoctorArgs,
    /// Root of the system's files; tests have their own tree.
    pub(crate) root: PathBuf,
    pub(crate) variable: fn(&str) -> Option<String>,
    pub(crate) listing: Listing,
    pub(crate) trials: Vec<Trial>,
    pub(crate) spinner: ProgressBar,
}

impl<'a> Circumstances<'a> {
    #[cfg(test)]
    pub(crate) fn of_a_test(arguments: &'a DoctorArgs, root: &Path) -> Self {
        let (root, variable, listing) = (root.to_owned(), |_: &str| None, Listing::default());
        Self { arguments, root, variable, listing, trials: Vec::new(), spinner: ProgressBar::hidden() }
    }

    /// Returns the path of a system file, given without its leading slash.
    pub(crate) fn file(&self, path: impl AsRef<Path>) -> PathBuf {
        self.root.join(path)
    }

    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        (self.variable)(name)
    }

    /// Finds a library as the loader does, in `LD_LIBRARY_PATH` and the usual folders.
    pub(crate) fn find_library(&self, name: &str) -> Option<PathBuf> {
        let chosen = self.variable("LD_LIBRARY_PATH").unwrap_or_default();
        let chosen = chosen.split(':').filter(|folder| !folder.is_empty()).map(PathBuf::from);
        let multiarch = format!("{}-linux-gnu", std::env::consts::ARCH);
        let usual =
            ["usr/local/lib", "usr/lib", "lib", "usr/lib64", "lib64", "run/opengl-driver/lib", "usr/lib/wsl/lib"];
        let usual = usual.into_iter().flat_map(|folder| {
            let folder = self.file(folder);
            [folder.join(&multiarch), folder]
        });
        chosen.chain(usual).map(|folder| folder.join(name)).find(|path| path.exists())
    }

    pub(crate) fn say(&self, what: &str) {
        self.spinner.set_message(format!("checking {what}"));
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Severity {
    Fine,
    /// Information; nothing has to be done.
    Note,
    /// Runs work, but results may suffer.
    Warning,
    /// Something does not work.
    Problem,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Diagnosis {
    /// Machine-independent identifier.
    pub(crate) name: &'static str,
    pub(crate) severity: Severity,
    pub(crate) sentence: String,
    pub(crate) advice: Option<String>,
    /// Machine-readable form; null if the sentence has everything.
    pub(crate) details: Value,
}

impl Diagnosis {
    pub(crate) fn new(severity: Severity, name: &'static str, sentence: impl Into<String>) -> Self {
        Self { name, severity, sentence: sentence.into(), advice: None, details: Value::Null }
    }

    pub(crate) fn with_advice(self, advice: impl Into<String>) -> Self {
        Self { advice: Some(advice.into()), ..self }
    }

    /// Raises the severity, and adds a sentence and advice, if `condition` is true.
    pub(crate) fn raised_if(self, condition: bool, severity: Severity, sentence: &str, advice: &str) -> Self {
        if !condition {
            return self;
        }
        let separator = if sentence.is_empty() { "" } else { " " };
        let sentence = format!("{}{separator}{sentence}", self.sentence);
        Self { severity, sentence, advice: Some(advice.to_owned()), ..self }
    }

    pub(crate) fn with_details(self, details: Value) -> Self {
        Self { details, ..self }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Listing {
    pub(crate) adapters: Vec<Details>,
    pub(crate) trouble: Option<String>,
}

impl Listing {
    fn choose(&self, choice: &AdapterChoice) -> Result<usize, EngineError> {
        let adapters: Vec<Adapter> = self.adapters.iter().map(|details| details.adapter.clone()).collect();
        choice.choose(&adapters)
    }

    pub(crate) fn used_by_default(&self) -> Option<usize> {
        self.choose(&AdapterChoice::Any).ok()
    }

    pub(crate) fn chosen(&self, asked: Option<&str>) -> Result<Vec<usize>, EngineError> {
        let Some(Ok(choice)) = asked.map(str::parse) else { return Ok((0..self.adapters.len()).collect()) };
        self.choose(&choice).map(|index| vec![index])
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Trial {
    pub(crate) backend: &'static str,
    /// Adapter index; `None` for backends with their own devices.
    pub(crate) adapter: Option<usize>,
    pub(crate) device: String,
    pub(crate) software: bool,
    pub(crate) outcome: TrialOutcome,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TrialOutcome {
    Right,
    Failed,
    Untried,
}

const DOCTOR_EXAMPLES: &str = "\
Examples:
  native-runner doctor                             check everything, and test each backend
  native-runner doctor --quick                     check without computing
  native-runner doctor --adapter 0 --backend wgsl  check a single device
  native-runner doctor --upload https://gradmark.example
                                                   also check the leaderboard and the clock
  native-runner doctor --json report.json          write the report as JSON

The report contains no names of users, hosts or home folders, so you can paste it into a bug report. Each
backend runs in its own process, which may crash. Without --upload, nothing uses the network.

Exit status:
  0 a run would work   7 nothing can be trained with these options, or data is missing
  2 wrong usage, or unknown backend";

#[derive(Debug, Default, Args)]
#[command(after_help = DOCTOR_EXAMPLES)]
pub(crate) struct DoctorArgs {
    /// Adapter to test, as for a run [default: all, and the processor for backends that use it]
    #[arg(long, value_name = "ADAPTER", value_parser = short_text)]
    pub(crate) adapter: Option<String>,
    /// Backends to test, separated by commas [default: all except the plain reference]
    #[arg(long = "backend", value_name = "A,B", value_delimiter = ',')]
    pub(crate) backends: Vec<String>,
    /// Skip the tests of backends and the verification of data sets
    #[arg(long)]
    pub(crate) quick: bool,
    /// Seconds that the test of a backend may take
    #[arg(long, value_name = "X", default_value_t = 120.0, value_parser = positive_seconds)]
    pub(crate) trace_seconds: f64,
    /// Leaderboard to check as well
    #[arg(long = "upload", value_name = "URL")]
    pub(crate) leaderboard: Option<Address>,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Write the report as JSON; `-` is standard output
    #[arg(long, value_name = "FILE", help_heading = "Data and output")]
    pub(crate) json: Option<JsonTarget>,
    /// List the adapters as JSON, for the doctor that started this process
    #[arg(long, hide = true)]
    pub(crate) list_adapters: bool,
}
