//! Identification of a record's device. Pure functions over a record and a table, without a database.
//!
//! Browsers mask the GPU's name, people misremember theirs, and names can be forged. So what was *reported* by the
//! platform, *claimed* by the person and *inferred* here stays apart ([`identity`]), names are compared by what a reader
//! sees and not by their bytes ([`name`]), and what cannot be true together is said in a sentence ([`contradiction`]).

pub mod class;
pub mod contradiction;
pub mod identity;
pub mod lookup;
pub mod name;
#[cfg(test)]
pub(crate) mod testing;

pub use class::{DeviceClass, class_of, is_software};
pub use contradiction::contradiction;
pub use identity::{DeviceGroup, Identity};
pub use lookup::{Found, KnownDevice, Vendor, known_devices, look_up};
