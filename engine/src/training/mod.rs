//! How a network is trained, apart from the network: batches and optimisers, as data.

mod batches;
mod optimizer;

pub use batches::{BatchPlan, Batching, SampleOrder, Step};
pub use optimizer::{Optimizer, Schedule};
