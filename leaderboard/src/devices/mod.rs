//! Identification of a record's device. Pure functions over a record and a table, without a database.
//!
//! Browsers mask the GPU's name, people misremember theirs, and names can be forged. So names *reported* by the
//! platform, *claimed* by the person and *inferred* here stay separate ([`identity`]), names are compared by their
//! appearance and not by their bytes ([`name`]), and contradictions are described in a sentence ([`contradiction`]).

pub mod class;
pub mod contradiction;
pub mod form;
pub mod identity;
pub mod lookup;
pub mod name;
pub mod reported;
#[cfg(test)]
pub(crate) mod testing;

pub use class::{DeviceClass, class_of, is_software};
pub use contradiction::contradiction;
pub use form::form_of;
pub use identity::DeviceIdentity;
pub use lookup::{KnownDevice, Vendor, known_devices, look_up};
