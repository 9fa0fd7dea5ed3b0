//! How a network is trained, apart from the network: batches, loss and optimisers, as data.

mod average;
mod batches;
mod input;
mod loss;
mod optimizer;
mod schedule;

pub use average::WeightAverage;
pub use batches::{BatchPlan, Batching, SampleOrder, Step};
pub use input::{Augmentation, Edge, Flip, InputRecipe, Normalization, Shift};
pub use loss::Loss;
pub use optimizer::{Optimizer, Rule};
pub use schedule::Schedule;
