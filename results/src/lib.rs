//! Data format shared by the code that measures and the code that shows measurements.
//!
//! A [`RunRecord`] holds the raw samples of one run and can always be summarized again ([`summary::summarise`]).
//! [`METRICS`] lists every metric with its unit. A [`Warning`] says what was not ideal and what to do
//! about it. [`api`] is the wire format of the leaderboard. Nothing here does I/O or reads a clock. Time is in seconds
//! and memory in bytes.

// The lints of clippy.toml apply outside tests.
#![cfg_attr(
    not(test),
    warn(clippy::disallowed_methods, clippy::disallowed_types, clippy::print_stderr, clippy::print_stdout)
)]

/// Defines the names of an enum's variants in records, URLs and command lines. With a name for the enum itself, also
/// implements `FromStr`, whose error lists the valid names.
#[macro_export]
macro_rules! names {
    ($type:ident { $($variant:ident = $name:literal),+ }) => {
        impl $type {
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// Returns the name used in records, URLs and command lines.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name),+
                }
            }

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
mod contender;
mod correctness;
pub mod csv;
mod device;
pub mod environment;
pub mod estimate;
pub mod kernels;
pub mod measured;
mod metric;
#[cfg(test)]
mod normal;
pub mod open_data;
mod record;
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
pub use contender::*;
pub use correctness::*;
pub use device::*;
pub use metric::*;
pub use record::*;
pub use resources::*;
pub use segment::*;
pub use spec::*;
pub use summary::{RankingObstacle, obstacle};
pub use text::*;
pub use transfer::*;
pub use warning::Warning;

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
        check!(DeviceKind, ClientKind, Precision, InputMode, Layout, kernels::KernelSuite);
        assert_eq!(api::RunSort::named("cheapest"), None);
        let error = "streamed".parse::<InputMode>().unwrap_err();
        assert_eq!(error, "there is no input mode `streamed`; there are: resident, prefetch, stream");
    }
}
