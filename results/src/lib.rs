//! The contract between everything that measures and everything that shows measurements.
//!
//! A [`RunRecord`] holds the raw samples of one run and can always be summarised again
//! ([`summary::summarise`]); [`METRICS`] names every figure with its unit and direction;
//! [`Warning`] says what was not ideal and what to do about it; [`comparison`] puts back ends side
//! by side, and [`regression`] runs of before and after a change; [`api`] is the wire format of the leaderboard. Nothing here does I/O or reads a clock. Time is in seconds and memory in bytes.

// What clippy.toml lists is not done here; tests may.
#![cfg_attr(
    not(test),
    warn(clippy::disallowed_methods, clippy::disallowed_types, clippy::print_stderr, clippy::print_stdout)
)]

pub mod api;
pub mod badge;
mod calendar;
mod communication;
pub mod comparison;
mod correctness;
pub mod csv;
mod device;
mod energy;
pub mod environment;
pub mod estimate;
mod input;
pub mod kernels;
mod layout;
pub mod measured;
mod metric;
mod obstacle;
pub mod open_data;
mod outcome;
mod phase;
mod provenance;
mod record;
pub mod regression;
mod resources;
pub mod scaling;
mod segment;
pub mod software;
pub mod statistics;
pub mod summary;
mod text;
mod unnamed;
mod warning;

pub use calendar::Date;
pub use communication::{Communication, ExchangeSeconds};
pub use correctness::{Compared, Correctness, Disagreement, WholeBatch};
pub use device::{Adapter, Device, DeviceKind, Precision};
pub use input::{InputMode, InputPipeline};
pub use layout::Layout;
pub use metric::{Better, METRICS, Metric, Unit, metric, metrics_of};
pub use obstacle::{Obstacle, obstacle};
pub use outcome::{FailureCause, Outcome};
pub use phase::Phase;
pub use provenance::{BROWSERS, Client, ClientKind, Provenance, SYSTEMS, UNKNOWN, VENDORS};
pub use record::{
    ColdStart, CurvePoint, Epoch, Evaluation, PeakSample, RunRecord, SCHEMA_VERSION, Settings, Suite, Summary, Target,
    WeightSample, Window, WorkloadRecord,
};
pub use resources::{EnergySource, ResourceSample, Resources};
pub use segment::{Beacon, Segment, StateBytes, Stretch, losses_sha256, weights_bytes};
pub use text::{NotText, check_name, decode, is_plain, skip_mark};
pub use unnamed::{HiddenDevice, UNNAMED_ADAPTER};
pub use warning::Warning;
