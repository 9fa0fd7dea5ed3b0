//! A device's place: from the proven runs of one category to figures, places and scores. Pure functions; no data base.
//!
//! Runs are compared only inside one [`Category`]. Of each device's runs, [`voices`] lets a network count once a day,
//! [`figure`] makes the median with its spread, [`outliers`] marks what a person should look at, and [`places`] orders
//! the devices. [`score`], [`histogram`], [`history`](mod@history) and [`browser_tax`] answer the questions that remain; [`submitter`] tells who
//! counts as one without knowing anybody.

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
