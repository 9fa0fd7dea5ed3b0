//! Kernels as modules of naga, the compiler of wgpu and Firefox.

use naga::Module;
use naga::valid::{Capabilities, ModuleInfo, ShaderStages, SubgroupOperationSet, ValidationFlags, Validator};
use shaders::{KERNELS, Kernel, Stored};

/// The module of a kernel, which a browser has to accept, and what naga has found out about it.
pub(crate) fn module(kernel: &Kernel, stored: Stored) -> (Module, ModuleInfo) {
    let source = kernel.source(stored);
    // Default capabilities are what every browser accepts.
    let mut capabilities = Capabilities::default();
    if stored == Stored::F16 {
        capabilities |= Capabilities::SHADER_FLOAT16;
    }
    let module = naga::front::wgsl::parse_str(&source)
        .unwrap_or_else(|error| panic!("{}: {}", kernel.name, error.emit_to_string(&source)));
    let mut validator = Validator::new(ValidationFlags::all(), capabilities);
    if kernel.needs_subgroups() {
        validator = Validator::new(ValidationFlags::all(), capabilities | Capabilities::SUBGROUP);
        validator.subgroup_stages(ShaderStages::COMPUTE).subgroup_operations(SubgroupOperationSet::all());
    }
    let valid = validator.validate(&module);
    let info = valid.unwrap_or_else(|error| panic!("{}: {}", kernel.name, error.emit_to_string(&source)));
    (module, info)
}

/// Every kernel with every type of what is stored.
pub(crate) fn modules() -> impl Iterator<Item = (&'static Kernel, Stored)> {
    KERNELS.iter().flat_map(|kernel| Stored::ALL.map(|stored| (kernel, stored)))
}
