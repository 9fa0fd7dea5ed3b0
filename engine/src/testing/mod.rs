//! Test networks, and reports of missing hardware.

pub(crate) mod models;
mod real_data;
mod skipped;

use std::sync::Arc;

use results::{Adapter, DeviceKind};

use crate::clock::Clock;
pub(crate) use real_data::real_data;
pub(crate) use skipped::skipped;

use crate::data::{DataSet, Split, data_set};
use crate::model::{Layer, Model};
use crate::training::{BatchPlan, Batching, SampleOrder};
use crate::workload::Workload;

/// Returns all workloads, reduced where possible.
pub(crate) fn workloads() -> impl Iterator<Item = Workload> {
    crate::WORKLOADS.iter().map(|make| make().reduced())
}

/// Returns the model with an eighth of the channels, for faster training. Logits and fixed kernels are unchanged. So are
/// language models, whose reduced form is narrow enough.
pub(crate) fn narrow(mut model: Model) -> Model {
    if model.nodes.iter().any(|node| matches!(node.layer, Layer::Attention { causal: true, .. })) {
        return model;
    }
    let last = model.nodes.len() - 1;
    for (place, node) in model.nodes.iter_mut().enumerate() {
        match &mut node.layer {
            layer if place == last || layer.has_fixed_kernel() => {}
            Layer::Conv2d { filters: width, .. }
            | Layer::Dense { units: width, .. }
            | Layer::Lstm { units: width, .. }
            | Layer::Gru { units: width, .. }
            | Layer::SimpleRnn { units: width, .. }
            | Layer::Embedding { units: width, .. } => *width = (*width / 8).max(4),
            _ => {}
        }
    }
    model
}

/// Returns a model of the last layer only, for tests that count steps. It needs few kernel launches.
pub(crate) fn shallow(model: &Model) -> Model {
    let logits = model.nodes.last().expect("a network has a last layer").layer.clone();
    Model::sequence(model.name, model.input, vec![logits])
}

/// Returns true for llvmpipe, the adapter of CI, which has f16 and, with AVX, subgroups of eight lanes.
pub(crate) fn has_everything(adapter: &Adapter) -> bool {
    adapter.api == "Vulkan" && adapter.name.contains("llvmpipe")
}

pub(crate) fn adapter(name: &str, kind: DeviceKind, api: &str) -> Adapter {
    let (name, api, driver) = (name.to_owned(), api.to_owned(), "1".to_owned());
    Adapter { name, kind, api, driver, software: kind == DeviceKind::Cpu, ..Adapter::default() }
}

/// Characters of a text for each sample. No network's window is longer.
const WINDOW: u32 = 256;

/// Returns a data set with these numbers of samples. `byte` gives their bytes by place, and labels count up to 9. A text
/// has room for as many windows.
pub(crate) fn samples(set: &str, [train, test]: [u32; 2], byte: impl Fn(u32) -> u8) -> Arc<DataSet> {
    let definition = data_set(set).expect("a known data set");
    let split = |samples: u32| {
        if definition.is_text() {
            return Split::text((0..samples * WINDOW + 1).map(&byte));
        }
        Split {
            images: (0..samples * definition.train.features()).map(&byte).collect(),
            labels: (0..10).cycle().take(samples as usize).collect(),
        }
    };
    Arc::new(DataSet::new(definition, split(train), split(test), false))
}

/// Byte of a sample that differs from its neighbors.
pub(crate) fn remainder_byte(place: u32) -> u8 {
    u8::try_from(place % 251).expect("a small remainder")
}

pub(crate) struct Standstill;

impl Clock for Standstill {
    fn now_seconds(&self) -> f64 {
        0.0
    }
}

/// Plans batches of a file's first samples, in file order.
pub(crate) fn file_batches(samples: u32, batch_size: u32) -> BatchPlan {
    BatchPlan { first: 0, samples, batch_size, order: SampleOrder::File, batching: Batching::ShortLast }
}
