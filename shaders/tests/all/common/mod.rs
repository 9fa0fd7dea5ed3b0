//! Kernels as modules of naga, the compiler of wgpu and Firefox.

use naga::Module;
use naga::valid::{Capabilities, ModuleInfo, ShaderStages, SubgroupOperationSet, ValidationFlags, Validator};
use shaders::{Form, KERNELS, Kernel, Matrices, Stored};

/// The module of a kernel, which a browser has to accept unless it is for matrix units, which no browser offers yet; and
/// what naga has found out about it.
pub(crate) fn module(kernel: &Kernel, form: Form) -> (Module, ModuleInfo) {
    let source = kernel.source(form);
    // Default capabilities are what every browser accepts.
    let mut capabilities = Capabilities::default();
    if form.stored == Stored::F16 {
        capabilities |= Capabilities::SHADER_FLOAT16;
    }
    if form.matrices.and_then(Matrices::side).is_some() {
        capabilities |= Capabilities::COOPERATIVE_MATRIX;
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

/// Every kernel in every form.
pub(crate) fn modules() -> impl Iterator<Item = (&'static Kernel, Form)> {
    KERNELS.iter().flat_map(|kernel| kernel.forms().into_iter().map(move |form| (kernel, form)))
}
