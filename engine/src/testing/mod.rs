//! What tests train, and what they say about a machine that lacks something.

mod skipped;

use results::Adapter;
pub(crate) use skipped::skipped;

use crate::workload::Workload;

/// Every workload; those that are too large for the plain loops with their reduced networks.
pub(crate) fn workloads() -> impl Iterator<Item = Workload> {
    crate::WORKLOADS.iter().map(|make| make().reduced())
}

/// Whether everything that a kernel may use must be there: CI runs on llvmpipe, which has f16 and, on a processor with
/// AVX, subgroups of eight lanes. Other adapters have what they have; SwiftShader has neither.
pub(crate) fn has_everything(adapter: &Adapter) -> bool {
    adapter.api == "Vulkan" && adapter.name.contains("llvmpipe")
}
