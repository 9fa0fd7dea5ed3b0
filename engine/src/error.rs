use results::FailureCause;

use crate::data::DataError;
use crate::model::ModelError;

pub(crate) type Result<T, E = EngineError> = std::result::Result<T, E>;

/// Error of the engine. Each message states the problem and, if possible, a remedy.
#[derive(Clone, Debug, thiserror::Error)]
pub enum EngineError {
    #[error("there is no workload named `{name}`; available: {}", known.join(", "))]
    UnknownWorkload { name: String, known: Vec<String> },
    #[error("there is no suite named `{name}`; available: {}", known.join(", "))]
    UnknownSuite { name: String, known: Vec<String> },
    #[error(
        "there is no backend named `{name}`; available: {}; add an external program with --program",
        known.join(", ")
    )]
    UnknownBackend { name: String, known: Vec<String> },
    #[error("this program was built without `{name}`; build it with `--features {name}`")]
    BackendNotBuilt { name: &'static str },
    #[error("no adapter fits `{asked}`; {}", found_list(found))]
    NoAdapter { asked: String, found: Vec<String> },
    #[error(
        "the backend `{backend}` numbers its devices differently, so --adapter {index} is ambiguous: {reason}; \
         select part of the device's name, or run `{backend}` alone"
    )]
    IndexOfOthers { backend: &'static str, index: usize, reason: String },
    #[error("{whose} does not support {precision}: {reason}; use {instead}")]
    NoPrecision { whose: String, precision: &'static str, reason: String, instead: &'static str },
    #[error("{setting} works only with the backend `{suited}`, not with {}", given.join(", "))]
    Unsuited { setting: &'static str, suited: &'static str, given: Vec<String> },
    #[error("the backend `{backend}` needs --remote HOST[:PORT], the address of `native-runner serve-device`")]
    NoHost { backend: &'static str },
    #[error("no device is served at {address}: {reason}; start `native-runner serve-device` there")]
    Unreachable { address: String, reason: String },
    #[error("{what} must be {allowed}, but is {value}")]
    InvalidSetting { what: &'static str, allowed: String, value: String },
    #[error("this backend does not train reproducibly to the bit, so its runs cannot be proven")]
    NotRepeatable,
    #[error(transparent)]
    Data(#[from] DataError),
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error("the device refused the work: {message}")]
    DeviceRefused { message: String },
    #[error("the device ran out of memory: {message}; try a smaller batch size")]
    OutOfMemory { message: String },
    /// Predicted from sizes before allocation.
    #[error("{what} needs {needed_bytes} bytes, but this device allows {allowed_bytes}; use a smaller batch size")]
    DoesNotFit { what: String, needed_bytes: u64, allowed_bytes: u64 },
    /// Like [`Self::DoesNotFit`], for the smallest possible batch.
    #[error(
        "{workload} does not fit with any batch size: {what} needs {needed_bytes} bytes, but {allowed_bytes} are \
         available; use a device with more memory"
    )]
    NoBatchFits { workload: String, what: String, needed_bytes: u64, allowed_bytes: u64 },
    #[error(
        "the device was lost: {}; the driver may have reset it, so try again or use a smaller batch size",
        message.trim_end_matches('.')
    )]
    DeviceLost { message: String },
    #[error(
        "the device has not answered for {seconds} seconds since {when}: its driver or the browser's GPU process \
         hangs; restart the browser and try a smaller batch size"
    )]
    NoAnswer { when: &'static str, seconds: u32 },
    /// Invalidates all measurements on the device.
    #[error(
        "the device reported its work as done, but {missing}: its driver drops or repeats work; a newer driver or \
         browser may help"
    )]
    WorkDropped { missing: String },
    #[error(
        "the link to the remote device broke: `native-runner serve-device` has ended, or reports an error, or the \
         network is down"
    )]
    LinkLost,
    #[error("the program `{program}` failed: {message}")]
    ProgramFailed { program: String, message: String },
    #[error("the program `{program}` cannot train this network: {message}")]
    ProgramLacks { program: String, message: String },
    #[error(
        "{asked} devices were requested, but this machine has {found} like {name}; `native-runner adapters` lists them"
    )]
    TooFewDevices { asked: usize, found: usize, name: String },
    #[error(
        "devices that share batches must be alike, because rounding would make their weights diverge, but these \
         differ: {one}, {other}; select equal devices, as in {instead}"
    )]
    UnlikeDevices { one: String, other: String, instead: &'static str },
    #[error("the backend `{backend}` trains on a single device: {reason}; `--backend wgsl` trains on several")]
    OneDevice { backend: String, reason: &'static str },
    #[error("the backend `{backend}` does not support the {what}: {reason}")]
    Unsupported { backend: String, what: String, reason: &'static str },
    #[error("device {number} of {devices} ({name}): {error}")]
    OfDevice { number: usize, devices: usize, name: String, error: Box<Self> },
    #[error("Burn panicked, because of a bug in Burn, the driver or Gradmark: {message}")]
    Panicked { message: String },
}

impl EngineError {
    pub fn invalid(what: &'static str, allowed: impl Into<String>, value: impl ToString) -> Self {
        Self::InvalidSetting { what, allowed: allowed.into(), value: value.to_string() }
    }

    pub fn refused(message: impl ToString) -> Self {
        Self::DeviceRefused { message: message.to_string() }
    }

    /// Returns the cause if the next workload may succeed. `None` ends the run, because device or request are unusable.
    pub fn failure_of_workload(&self) -> Option<FailureCause> {
        match self {
            Self::OfDevice { error, .. } => error.failure_of_workload(),
            Self::DoesNotFit { .. } | Self::NoBatchFits { .. } => Some(FailureCause::DoesNotFit),
            Self::OutOfMemory { .. } => Some(FailureCause::OutOfMemory),
            Self::DeviceRefused { .. } => Some(FailureCause::DeviceRefused),
            Self::Data(_) => Some(FailureCause::Data),
            Self::Model(_) | Self::ProgramLacks { .. } => Some(FailureCause::Unsupported),
            // Includes panics, which may have corrupted shared state.
            _ => None,
        }
    }

    /// Returns the message for a record, without folder names because records may be published.
    pub(crate) fn for_a_record(&self) -> String {
        match self {
            Self::Data(error) => error.without_folders().to_string(),
            other => other.to_string(),
        }
    }
}

fn found_list(found: &[String]) -> String {
    if found.is_empty() {
        "this machine has none (is a GPU driver with Vulkan, Metal or DX12 installed?)".to_owned()
    } else {
        format!("this machine has: {}", found.join("; "))
    }
}
