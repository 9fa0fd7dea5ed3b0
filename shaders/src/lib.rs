//! WGSL kernels, a plain Rust twin of each, and the registry that connects them.
//!
//! The twin of `kernels/NAME.wgsl` is the function [`reference`]`::NAME`. The crate uses no devices and no I/O.

// Only tests may use what clippy.toml disallows.
#![cfg_attr(
    not(test),
    warn(clippy::disallowed_methods, clippy::disallowed_types, clippy::print_stderr, clippy::print_stdout)
)]

/// Expands to the text of a WGSL file after the build script has removed its comments.
macro_rules! wgsl {
    ($folder:literal, $name:expr) => {
        include_str!(concat!(env!("OUT_DIR"), "/", $folder, "/", $name, ".wgsl"))
    };
}

mod kernel;
pub mod params;
mod real;
pub mod reference;

pub use kernel::{Access, Form, KERNELS, Kernel, Matrices, SMALL_WORKGROUP, Stored, kernel};
pub use real::Real;
