use std::io;

use engine::{BACKENDS, EngineError, KNOWN_BACKENDS};
use results::FailureCause;

use crate::text::closest;

pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

/// Reason for a nonzero exit status.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("{0}")]
    Usage(String),
    #[error(transparent)]
    Engine(EngineError),
    #[error("{what}: {source}")]
    File { what: String, source: io::Error },
    /// Data sets that could not be fetched, or measurements that failed while the others have results.
    #[error("{0}")]
    Incomplete(String),
    #[error("standard output: {0}")]
    Output(io::Error),
    /// A failure with advice, or with the location of the results.
    #[error("{failure}\n{advice}")]
    Advised { failure: Box<Self>, advice: String },
    #[error("the operating system provides no random numbers ({0}); set a seed with --seed")]
    NoRandomness(getrandom::Error),
    /// Training diverged, or the backend disagreed with the reference.
    #[error("{0}")]
    WrongResults(String),
    #[error(transparent)]
    Upload(#[from] LeaderboardError),
    /// A workload could not be trained; the results of the others are shown and kept.
    #[error("{sentence}")]
    NotTrained { cause: FailureCause, sentence: String },
    /// A candidate is slower than allowed, or cannot train what its baseline could.
    #[error("{0}")]
    Regression(String),
    /// The doctor found that a run would not work.
    #[error("{0}")]
    NothingTrains(String),
    #[error("cancelled; the results so far are above{}", if *kept { " and in the JSON" } else { "" })]
    Cancelled { kept: bool },
    /// A cancelled task that can be resumed.
    #[error("cancelled {reached}")]
    Stopped { reached: String },
}

impl Failure {
    pub(crate) fn with_advice(self, advice: String) -> Self {
        Self::Advised { failure: Box::new(self), advice }
    }

    /// Fails if there are any wrong results.
    pub(crate) fn if_wrong(results: impl IntoIterator<Item = String>) -> Result<()> {
        let sentences = Vec::from_iter(results).join("; ");
        if sentences.is_empty() { Ok(()) } else { Err(Self::WrongResults(sentences)) }
    }

    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::Engine(error) => engine_exit_code(error),
            Self::Advised { failure, .. } => failure.exit_code(),
            Self::NotTrained { cause: FailureCause::DoesNotFit | FailureCause::OutOfMemory, .. } => 4,
            Self::WrongResults(_) => 3,
            Self::Upload(_) => 5,
            Self::Regression(_) => 6,
            Self::NothingTrains(_) => 7,
            Self::Cancelled { .. } | Self::Stopped { .. } => 130,
            _ => 1,
        }
    }

    /// Returns true for problems with devices and drivers, which the doctor examines.
    pub(crate) fn is_for_the_doctor(&self) -> bool {
        match self {
            // Problems of a remote device are visible only there.
            Self::Engine(EngineError::OfDevice { error, .. }) => !matches!(**error, EngineError::LinkLost),
            Self::Engine(error) => matches!(
                error,
                EngineError::NoAdapter { .. }
                    | EngineError::DeviceRefused { .. }
                    | EngineError::DeviceLost { .. }
                    | EngineError::NoAnswer { .. }
                    | EngineError::WorkDropped { .. }
                    | EngineError::Panicked { .. }
            ),
            Self::NotTrained { cause: FailureCause::DeviceRefused, .. } => true,
            Self::Advised { failure, .. } => failure.is_for_the_doctor(),
            _ => false,
        }
    }

    pub(crate) fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        match suggestion(&error) {
            Some(advice) => Self::Engine(error).with_advice(advice),
            None => Self::Engine(error),
        }
    }
}

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum LeaderboardError {
    #[error(
        "the leaderboard at {leaderboard} cannot be reached ({reason}); is it running, and is the address correct?"
    )]
    Unreachable { leaderboard: String, reason: String },
    #[error(
        "the leaderboard at {leaderboard} did not answer within {seconds} s; try again later, or increase \
         --upload-timeout"
    )]
    TimedOut { leaderboard: String, seconds: f64 },
    #[error("{leaderboard} redirects to {to}; use the leaderboard's own address")]
    Redirected { leaderboard: String, to: String },
    #[error("the leaderboard refused: {message} ({details})")]
    Refused { message: String, details: String, status: u16 },
    #[error("the leaderboard at {leaderboard} failed with status {status}; this is not your fault, so try again later")]
    Broken { leaderboard: String, status: u16 },
    #[error(
        "the leaderboard at {leaderboard} does not serve {file}; fetch it from another leaderboard, or make it with \
         `cargo xtask data` in a checkout of Gradmark"
    )]
    NoData { leaderboard: String, file: String },
    #[error("{leaderboard} refused the record because it is too large")]
    TooLarge { leaderboard: String },
    #[error("{leaderboard} does not answer like a Gradmark leaderboard: it sent {found}; is the address correct?")]
    NotALeaderboard { leaderboard: String, found: String },
}

impl LeaderboardError {
    /// Returns true if the same call may succeed later.
    pub(crate) fn may_pass(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::TimedOut { .. } | Self::Broken { .. } => true,
            Self::Refused { status, .. } => *status >= 500 || *status == 408,
            _ => false,
        }
    }
}

fn suggestion(error: &EngineError) -> Option<String> {
    let name = match error {
        EngineError::UnknownWorkload { name, known } | EngineError::UnknownSuite { name, known } => {
            closest(name, known.iter().map(String::as_str))?
        }
        EngineError::UnknownBackend { name, .. } => closest(name, KNOWN_BACKENDS.iter().map(|backend| backend.name))?,
        _ => return None,
    };
    let is_missing = matches!(error, EngineError::UnknownBackend { .. }) && BACKENDS.iter().all(|of| of.name != name);
    let missing = format!(" It is not in this program; build it with `--features {name}`.");
    Some(format!("Did you mean `{name}`?{}", if is_missing { missing.as_str() } else { "" }))
}

fn engine_exit_code(error: &EngineError) -> u8 {
    match error {
        EngineError::OfDevice { error, .. } => engine_exit_code(error),
        EngineError::UnknownWorkload { .. }
        | EngineError::UnknownSuite { .. }
        | EngineError::UnknownBackend { .. }
        | EngineError::BackendNotBuilt { .. }
        | EngineError::NoAdapter { .. }
        | EngineError::TooFewDevices { .. }
        | EngineError::UnlikeDevices { .. }
        | EngineError::OneDevice { .. }
        | EngineError::Unsupported { .. }
        | EngineError::IndexOfOthers { .. }
        | EngineError::NoPrecision { .. }
        | EngineError::Unsuited { .. }
        | EngineError::NoHost { .. }
        | EngineError::Unreachable { .. }
        | EngineError::InvalidSetting { .. } => 2,
        EngineError::OutOfMemory { .. }
        | EngineError::DoesNotFit { .. }
        | EngineError::NoBatchFits { .. }
        | EngineError::DeviceLost { .. }
        | EngineError::NoAnswer { .. }
        | EngineError::LinkLost => 4,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_device_problems_mention_the_doctor() {
        let no_adapter = EngineError::NoAdapter { asked: "any".to_owned(), found: Vec::new() };
        assert!(Failure::from(no_adapter).is_for_the_doctor());
        let unknown = EngineError::UnknownWorkload { name: "x".to_owned(), known: Vec::new() };
        assert!(!Failure::from(unknown).is_for_the_doctor());
        // The doctor has just run.
        let nothing = Failure::NothingTrains("no".to_owned());
        assert_eq!((nothing.is_for_the_doctor(), nothing.exit_code()), (false, 7));
    }
}
