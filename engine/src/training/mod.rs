//! How a network is trained, apart from the network: batches, loss and optimisers, as data.

mod average;
mod batches;
mod early_stopping;
mod input;
mod loss;
mod optimizer;
mod order;
mod schedule;
mod segments;
mod state;

pub use average::WeightAverage;
pub use batches::{BatchPlan, BatchRange, Batching, SampleOrder};
pub use early_stopping::EarlyStopping;
pub(crate) use early_stopping::Patience;
pub use input::{Augmentation, Edge, Flip, InputRecipe, Normalization, Shift, TestView};
pub use loss::Loss;
pub use optimizer::{Optimizer, Rule};
pub(crate) use order::Order;
pub use schedule::Schedule;
pub use segments::{Segments, segment_seed};
