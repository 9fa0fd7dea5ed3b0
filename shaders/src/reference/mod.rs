//! The plain twins: slow, obviously right, in single or double precision.
//!
//! Each has the name, the parameters and the layouts of its kernel, and is the judge of it.

mod attention;
mod dot;
mod elementwise;
mod epilogue;
mod gather;
mod images;
mod memories;
mod normalizers;
mod order;
pub mod pcg4d;
mod peak;
mod pool;
mod products;
mod recurrent;
mod training;

pub use attention::*;
pub use dot::dot;
pub use elementwise::*;
pub use epilogue::{apply_epilogue, store_gradient};
pub use gather::*;
pub use images::*;
pub use memories::*;
pub use normalizers::*;
pub use order::*;
pub use peak::*;
pub use pool::*;
pub use products::*;
pub use recurrent::*;
pub use training::*;
