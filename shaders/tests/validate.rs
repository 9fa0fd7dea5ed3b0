//! Every shader on disk is registered, valid for a browser, and agrees with the registry.

use std::collections::BTreeSet;
use std::path::Path;

use naga::valid::{Capabilities, ShaderStages, SubgroupOperationSet, ValidationFlags, Validator};
use naga::{AddressSpace, Module, StorageAccess, TypeInner};
use shaders::{Access, KERNELS, Kernel, Stored};

fn module(kernel: &Kernel, stored: Stored) -> Module {
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
    validator.validate(&module).unwrap_or_else(|error| panic!("{}: {}", kernel.name, error.emit_to_string(&source)));
    module
}

/// Every kernel with every type of what is stored.
fn modules() -> impl Iterator<Item = (&'static Kernel, Stored)> {
    KERNELS.iter().flat_map(|kernel| Stored::ALL.map(|stored| (kernel, stored)))
}

/// Bytes of the type of a buffer.
fn size(module: &Module, binding: (u32, u32)) -> usize {
    let variable = module.global_variables.iter().find(|(_, v)| bound(v) == Some(binding)).expect("bound").1;
    module.types[variable.ty].inner.size(module.to_ctx()) as usize
}

fn bound(variable: &naga::GlobalVariable) -> Option<(u32, u32)> {
    variable.binding.map(|b| (b.group, b.binding))
}

fn files(folder: &str) -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let names: BTreeSet<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "wgsl"))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    assert!(!names.is_empty(), "no shaders were found");
    names
}

#[test]
fn every_kernel_on_disk_is_registered() {
    let registered: BTreeSet<String> = KERNELS.iter().map(|k| k.name.to_owned()).collect();
    assert_eq!(registered, files("kernels"));
}

#[test]
fn every_shared_part_is_used() {
    let sources: String = modules().map(|(kernel, stored)| kernel.source(stored)).collect();
    for name in files("shared") {
        let text =
            std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("shared").join(format!("{name}.wgsl")))
                .unwrap();
        assert!(sources.contains(&text), "{name} is not part of any kernel");
    }
}

#[test]
fn every_kernel_is_valid_for_a_browser() {
    for (kernel, stored) in modules() {
        let module = module(kernel, stored);
        assert_eq!(module.entry_points.len(), 1, "{}", kernel.name);
        let entry = &module.entry_points[0];
        assert_eq!(entry.name, "main", "{}", kernel.name);
        assert_eq!(entry.workgroup_size, [kernel.workgroup_size, 1, 1], "{}", kernel.name);
    }
}

#[test]
fn parameter_blocks_have_the_size_of_their_rust_twins() {
    for (kernel, stored) in modules() {
        let module = module(kernel, stored);
        assert_eq!(size(&module, (0, 0)), kernel.params_bytes, "{}: parameters", kernel.name);
        assert_eq!(size(&module, (1, 0)), size_of::<shaders::params::Step>(), "{}: step", kernel.name);
    }
}

#[test]
fn storage_buffers_are_those_of_the_registry() {
    for (kernel, stored) in modules() {
        let module = module(kernel, stored);
        let mut storage: Vec<(u32, Access)> = module
            .global_variables
            .iter()
            .filter_map(|(_, variable)| match variable.space {
                AddressSpace::Storage { access } => {
                    let (group, binding) = bound(variable).expect("storage is bound");
                    assert_eq!(group, 0, "{}", kernel.name);
                    assert!(matches!(module.types[variable.ty].inner, TypeInner::Array { .. }), "{}", kernel.name);
                    let write = access.contains(StorageAccess::STORE);
                    Some((binding, if write { Access::ReadWrite } else { Access::Read }))
                }
                _ => None,
            })
            .collect();
        storage.sort_by_key(|&(binding, _)| binding);
        let expected: Vec<(u32, Access)> = (1..).zip(kernel.storage.iter().copied()).collect();
        assert_eq!(storage, expected, "{}", kernel.name);
        assert!(storage.len() <= 8, "{}: more storage buffers than a default device has", kernel.name);
    }
}
