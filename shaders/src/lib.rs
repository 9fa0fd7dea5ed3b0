//! WGSL kernels as files, a plain Rust twin of each, and the registry that ties them together.
//!
//! `kernels/NAME.wgsl` ↔ [`reference`]`::NAME`. Everything here is data and arithmetic: no device, no I/O.

mod kernel;
pub mod params;
mod real;
pub mod reference;

pub use kernel::{Access, KERNELS, Kernel, Stored, kernel};
pub use real::Real;
