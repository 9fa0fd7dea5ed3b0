//! What tests say about a machine that lacks something.

mod skipped;

use results::Adapter;
pub(crate) use skipped::skipped;

/// Whether everything that a kernel may use must be there: CI runs on llvmpipe, which has f16 and, on a processor with
/// AVX, subgroups of eight lanes. Other adapters have what they have; SwiftShader has neither.
pub(crate) fn has_everything(adapter: &Adapter) -> bool {
    adapter.api == "Vulkan" && adapter.name.contains("llvmpipe")
}
