//! The Gradmark page.
//!
//! Whatever can be decided without a browser is in ordinary modules, tested on the host: what a user-agent string means
//! ([`browser`]), what to run, as the query string and the form say it ([`options`]), the back ends ([`backend`]), what
//! the server has for them ([`bundle`], [`supplies`]), what to do without WebGPU ([`advice`]), the state that a run's
//! events add up to ([`live`]), test images with a network's answers ([`examples`]), the runs that a browser keeps
//! ([`own_runs`]), back ends beside each other ([`side_by_side`]), what else can be ([`candidates`]), what the
//! leaderboard shows and how it is asked ([`filters`], [`queries`]), what moderators did ([`moderation`]), the documents
//! ([`documents`]), charts ([`geometry`], [`histogram`], [`scatter`], [`chart_data`]), what was published
//! ([`published`]), and names, numbers and places in words ([`headline`], [`text`], [`standing`]). The rest touches the
//! browser and is built for wasm only: `platform` wraps what the browser offers, `benchmark` drives a run, `page` is what
//! one sees.

pub mod advice;
pub mod backend;
#[cfg(target_arch = "wasm32")]
mod benchmark;
pub mod browser;
pub mod bundle;
pub mod candidates;
pub mod chart_data;
pub mod documents;
pub mod examples;
pub mod failure;
pub mod filters;
pub mod frameworks;
pub mod geometry;
pub mod headline;
pub mod histogram;
pub mod live;
pub mod moderation;
pub mod options;
pub mod own_runs;
#[cfg(target_arch = "wasm32")]
mod page;
#[cfg(target_arch = "wasm32")]
mod platform;
pub mod published;
pub mod queries;
pub mod route;
pub mod scatter;
pub mod side_by_side;
pub mod standing;
pub mod supplies;
pub mod text;
pub mod words;

#[cfg(target_arch = "wasm32")]
pub use page::mount;
