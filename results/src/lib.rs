//! Data format shared by the code that measures and the code that shows measurements.
//!
//! A [`RunRecord`] holds the raw samples of one run and can always be summarized again ([`summary::summarise`]).
//! [`METRICS`] lists every metric with its unit. A [`Warning`] says what was not ideal and what to do
//! about it. [`comparison`] compares backends, and [`regression`] compares runs before and after a change. [`api`] is
//! the wire format of the leaderboard. Nothing here does I/O or reads a clock. Time is in seconds and memory in bytes.

// The lints of clippy.toml apply outside tests.
#![cfg_attr(
    not(test),
    warn(clippy::disallowed_methods, clippy::disallowed_types, clippy::print_stderr, clippy::print_stdout)
)]

/// Defines the names of an enum's variants in records, URLs and command lines.
///
/// With a name for the enum itself, also implements `FromStr`, whose error lists the valid names.
#[macro_export]
macro_rules! names {
    ($type:ident { $($variant:ident = $name:literal),+ }) => {
        impl $type {
            /// Every variant.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// Returns the name used in records, URLs and command lines.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name),+
                }
            }

            /// Returns the variant with this name.
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|variant| variant.name() == name)
            }
        }
    };
    ($type:ident, $what:literal, $variants:tt) => {
        $crate::names!($type $variants);

        impl std::str::FromStr for $type {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                let known = || Self::ALL.map(Self::name).join(", ");
                Self::named(text).ok_or_else(|| format!("there is no {} `{text}`; there are: {}", $what, known()))
            }
        }
    };
}

pub mod api;
pub mod badge;
mod calendar;
pub mod comparison;
mod correctness;
pub mod csv;
mod device;
pub mod environment;
pub mod estimate;
pub mod kernels;
pub mod measured;
mod metric;
pub mod open_data;
mod record;
pub mod regression;
mod resources;
pub mod scaling;
mod segment;
pub mod software;
mod spec;
pub mod statistics;
pub mod summary;
mod text;
mod transfer;
mod warning;

pub use calendar::Date;
pub use correctness::{Compared, Correctness, Disagreement, WholeBatch};
pub use device::{
    Adapter, BROWSERS, Client, ClientKind, Device, DeviceKind, HIDDEN_SOFTWARE, HiddenDevice, IN_COMPATIBILITY_MODE,
    Precision, Provenance, SYSTEMS, UNKNOWN, UNNAMED_ADAPTER, VENDORS,
};
pub use metric::{METRICS, Metric, Unit, metric, metrics_of, score_digits};
pub use record::{
    ColdStart, CurvePoint, Epoch, Evaluation, FailureCause, Outcome, PeakSample, Phase, RunRecord, SCHEMA_VERSION,
    Settings, Suite, Summary, Target, WeightSample, Window, WorkloadRecord,
};
pub use resources::{EnergySource, ResourceSample, Resources};
pub use segment::{Beacon, Segment, StateBytes, Stretch, losses_sha256, weights_bytes};
pub use spec::{Departure, Feature, Length, Positive, RunSpec, SeedSource};
pub use summary::{Obstacle, obstacle};
pub use text::{NotText, check_name, decode, is_plain, skip_mark};
pub use transfer::{Communication, ExchangeSeconds, InputMode, InputPipeline, Layout};
pub use warning::Warning;

/// Generator of roughly normal numbers with standard deviation 1, the same in every test.
///
/// Each is the sum of twelve numbers from a linear congruential generator (Knuth's constants).
#[cfg(test)]
struct Normal(u64);

#[cfg(test)]
impl Normal {
    fn next(&mut self) -> f64 {
        let mut uniform = || {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 40) as f64 / f64::from(1 << 24)
        };
        (0..12).map(|_| uniform()).sum::<f64>() - 6.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variant_names_match_their_json() {
        macro_rules! check {
            ($($type:ty),+) => {
                $(for variant in <$type>::ALL {
                    assert_eq!(serde_json::to_value(variant).unwrap(), variant.name());
                    assert_eq!(<$type>::named(variant.name()), Some(variant));
                })+
            };
        }
        check!(api::Tier, api::RunSort, api::Deed, api::RankedClass, api::DeviceSource, open_data::ExportFormat);
        check!(DeviceKind, ClientKind, Precision, InputMode, Layout, kernels::Suite, regression::AccuracyVerdict);
        assert_eq!(api::RunSort::named("cheapest"), None);
        let error = "streamed".parse::<InputMode>().unwrap_err();
        assert_eq!(error, "there is no input mode `streamed`; there are: resident, prefetch, stream");
    }
}
