//! The Gradmark page.
//!
//! Whatever can be decided without a browser is in ordinary modules, tested on the host: what a user-agent string means
//! ([`browser`]), what to run, as the query string and the form say it ([`options`]), the back ends ([`backend`]), what
//! the server has for them ([`bundle`], [`supplies`]), what to do without WebGPU ([`advice`]), the state that a run's
//! events add up to ([`live`]), the geometry of charts ([`geometry`]), and names and numbers in words ([`text`]). The rest
//! touches the browser and is built for wasm only: `platform` wraps what the browser offers, `benchmark` drives a run,
//! `page` is what one sees.

pub mod advice;
pub mod backend;
#[cfg(target_arch = "wasm32")]
mod benchmark;
pub mod browser;
pub mod bundle;
pub mod geometry;
pub mod live;
pub mod options;
#[cfg(target_arch = "wasm32")]
mod page;
#[cfg(target_arch = "wasm32")]
mod platform;
pub mod route;
pub mod supplies;
pub mod text;

#[cfg(target_arch = "wasm32")]
pub use page::mount;
