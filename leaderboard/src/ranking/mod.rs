//! Places of devices: from the proven runs of one [`Category`] to metrics, places and scores, without a database. For
//! each device, a network counts once a day, [`Figure`] is the median with its spread, [`outliers`] marks runs for a
//! moderator, and [`places`](mod@places) orders the devices. [`submitter`] groups runs without identifying anyone.

mod figure;
mod histogram;
mod outliers;
mod places;
mod submitter;

pub(crate) use figure::{Category, Figure, ProvenRun};
pub(crate) use histogram::{Bin, Histogram};
pub(crate) use outliers::outliers;
pub(crate) use places::{Placed, place_behind, places};
pub(crate) use submitter::SubmitterSalt;
