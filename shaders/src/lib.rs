//! WGSL kernels as files, a plain Rust twin of each, and the registry that ties them together.
//!
//! `kernels/NAME.wgsl` ↔ [`reference`]`::NAME`, a function. Everything here is data and arithmetic: no device, no I/O.

// The crate avoids everything that clippy.toml lists; tests may use it.
#![cfg_attr(
    not(test),
    warn(clippy::disallowed_methods, clippy::disallowed_types, clippy::print_stderr, clippy::print_stdout)
)]

/// The text of a WGSL file without comments, as the build script writes it.
macro_rules! wgsl {
    ($folder:literal, $name:expr) => {
        include_str!(concat!(env!("OUT_DIR"), "/", $folder, "/", $name, ".wgsl"))
    };
}

mod kernel;
pub mod params;
mod real;
pub mod reference;

pub use kernel::{Access, Form, KERNELS, Kernel, Matrices, Stored, kernel};
pub use real::Real;
