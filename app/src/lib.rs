//! The Gradmark page.
//!
//! Everything that does not need a browser is in ordinary modules, which are tested on the host. The rest is built for
//! wasm only: `platform` wraps browser APIs, `benchmark` and `trained` drive a run, and `page` has the views.

pub mod backend;
#[cfg(target_arch = "wasm32")]
mod benchmark;
pub mod browser;
pub mod candidates;
pub mod charts;
pub mod digit;
pub mod documents;
pub mod filters;
pub mod forecast;
pub mod json;
pub mod live;
pub mod options;
pub mod own_runs;
#[cfg(target_arch = "wasm32")]
mod page;
#[cfg(target_arch = "wasm32")]
mod platform;
pub mod published;
pub mod route;
pub mod side_by_side;
pub mod standing;
pub mod supplies;
pub mod text;
#[cfg(target_arch = "wasm32")]
mod trained;
pub mod words;

#[cfg(target_arch = "wasm32")]
pub use page::mount;

/// Explains that the page only runs in a browser.
#[cfg(not(target_arch = "wasm32"))]
pub fn mount() {
    eprintln!("The page runs in a browser: `cargo xtask run` builds and serves it.");
    std::process::exit(2);
}
