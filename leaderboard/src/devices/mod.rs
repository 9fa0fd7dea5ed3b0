//! Which device a record is of, as far as anybody can say. Pure functions over a record and a table; no data base.
//!
//! Browsers mask the GPU's name, people remember theirs wrongly, and names can be forged. So what was *reported* by the
//! platform, *claimed* by the person and *inferred* here stays apart ([`identity`]), names are compared by what a reader
//! sees and not by their bytes ([`name`]), and what cannot be true together is said in a sentence ([`contradiction`]).

pub mod class;
pub mod contradiction;
mod driver_name;
pub mod identity;
pub mod inference;
pub mod lookup;
mod misfit;
pub mod name;
pub mod table;
pub mod vendor;

#[cfg(test)]
pub(crate) mod testing;

pub use class::{DeviceClass, class_of, is_software};
pub use contradiction::contradiction;
pub use identity::{DeviceGroup, Identity};
pub use lookup::{Found, look_up};
pub use table::{KnownDevice, known_devices};
pub use vendor::Vendor;
