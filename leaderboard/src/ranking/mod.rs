//! A device's place: from the proven runs of one category to metrics, places and scores. Pure functions without a
//! database.
//!
//! Runs are compared only within one [`Category`]. For each device, [`voices`] counts a network once a day, [`figure`]
//! computes the median with its spread, [`outliers`] marks runs for a moderator, and [`places`] orders the devices.
//! [`score`], [`histogram`], [`history`](mod@history) and [`browser_tax`] compute further statistics. [`submitter`]
//! groups runs by submitter without identifying anyone.

pub mod browser_tax;
pub mod figure;
pub mod histogram;
pub mod history;
pub mod outliers;
pub mod places;
pub mod run;
pub mod score;
pub mod submitter;
pub mod voices;

pub use browser_tax::{BrowserTax, browser_taxes};
pub use figure::{Completion, DeviceFigure, Figure};
pub use histogram::{Bin, Histogram};
pub use history::{Group, PastRun, history};
pub use outliers::{THRESHOLD, modified_z_scores, outliers};
pub use places::{Placed, place_behind, places};
pub use run::{Category, ProvenRun};
pub use score::{ReferenceScore, reference_of, references};
pub use submitter::SubmitterSalt;
pub use voices::{Voice, voices};
