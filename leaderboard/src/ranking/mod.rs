//! Places of devices: from the proven runs of one [`Category`] to metrics, places and scores, without a database. For
//! each device, a network counts once a day, [`figure_of`] is the median with its spread, [`outliers`] marks runs for a
//! moderator, and [`places`](mod@places) orders the devices. [`submitter`] groups runs without identifying anyone.

mod figure;
mod histogram;
mod outliers;
mod places;
mod submitter;

pub(crate) use figure::{ProvenRun, figure_of, has_place};
pub(crate) use histogram::Histogram;
pub(crate) use outliers::outliers;
pub(crate) use places::{Placed, place_behind, places};
/// Runs of different categories are never compared: browsers and the command line, for example, or f16 and f32.
pub(crate) use results::api::HistoryCategory as Category;
pub(crate) use submitter::SubmitterSalt;
