use clap::Args;

use super::positive_seconds;
use crate::program::NamedProgram;

/// Programs of other frameworks, wherever back ends are named.
#[derive(Debug, Args)]
pub(crate) struct ProgramArgs {
    /// An external program as one more back end, called NAME: it is started with COMMAND and trains the same networks from
    /// the same weights on the same batches (docs/EXTERNAL.md). `pytorch`, `keras-jax` and `keras-tensorflow` come with
    /// this program and need no COMMAND, only a Python that has them. Can be given several times; never ranked
    #[arg(long = "program", value_name = "NAME[=COMMAND]", help_heading = "Device")]
    programs: Vec<NamedProgram>,
    /// Seconds without an answer after which an external program is given up [default: 900]
    #[arg(
        long = "program-timeout",
        value_name = "X",
        help_heading = "Device",
        value_parser = positive_seconds
    )]
    timeout: Option<f64>,
}

impl ProgramArgs {
    /// The program of this name.
    pub(crate) fn named(&self, name: &str) -> Option<&NamedProgram> {
        self.all().iter().find(|program| program.name == name)
    }

    pub(crate) fn all(&self) -> &[NamedProgram] {
        &self.programs
    }

    /// Seconds without an answer, as far as somebody said how many.
    pub(crate) fn chosen_timeout(&self) -> Option<f64> {
        self.timeout
    }

    pub(crate) fn timeout_seconds(&self) -> f64 {
        const LONG_ENOUGH_TO_COMPILE: f64 = 900.0;
        self.timeout.unwrap_or(LONG_ENOUGH_TO_COMPILE)
    }
}
