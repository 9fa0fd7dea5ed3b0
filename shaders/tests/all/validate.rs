//! Every shader on disk is registered, valid for a browser, and agrees with the registry.

use std::collections::BTreeSet;
use std::path::Path;

use crate::common::{module, modules};
use naga::{AddressSpace, Module, StorageAccess, TypeInner};
use shaders::params::{Block, BlockMultipliers, Epilogue, Field, Step};
use shaders::{Access, KERNELS};

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
    let registered: BTreeSet<String> = KERNELS.iter().map(|k| k.file.to_owned()).collect();
    assert_eq!(registered, files("kernels"));
    let names: BTreeSet<&str> = KERNELS.iter().map(|k| k.name).collect();
    assert_eq!(names.len(), KERNELS.len(), "two kernels have one name");
    // A file has a kernel of its name; whatever else is made from it comes besides.
    assert!(KERNELS.iter().all(|k| names.contains(k.file)));
}

#[test]
fn every_shared_part_is_used() {
    let sources: String = modules().map(|(kernel, form)| kernel.source(form)).collect();
    // The texts that the build script wrote, without comments.
    let folder = Path::new(env!("OUT_DIR")).join("shared");
    for name in files("shared") {
        let text = std::fs::read_to_string(folder.join(format!("{name}.wgsl"))).unwrap();
        assert!(sources.contains(&text), "{name} is not part of any kernel");
    }
}

#[test]
fn every_kernel_is_valid_for_a_browser() {
    for (kernel, form) in modules() {
        let (module, _) = module(kernel, form);
        assert_eq!(module.entry_points.len(), 1, "{}", kernel.name);
        let entry = &module.entry_points[0];
        assert_eq!(entry.name, "main", "{}", kernel.name);
        assert_eq!(entry.workgroup_size, [kernel.workgroup_size, 1, 1], "{}", kernel.name);
    }
}

/// Bytes of workgroup memory, and invocations of a workgroup, that WebGPU grants on every device.
const WORKGROUP_BYTES: u32 = 16_384;
/// Bytes of workgroup memory that a large matrix tile may have: it is used only where a device has them.
const MATRIX_TILE_BYTES: u32 = 32_768;
const WORKGROUP_INVOCATIONS: u32 = 256;

#[test]
fn workgroups_ask_for_no_more_than_every_device_has() {
    for (kernel, form) in modules() {
        let (module, _) = module(kernel, form);
        let shared = module.global_variables.iter().filter(|(_, variable)| variable.space == AddressSpace::WorkGroup);
        // Each begins at a multiple of 16 bytes.
        let sizes = shared.map(|(_, variable)| module.types[variable.ty].inner.size(module.to_ctx()));
        let bytes: u32 = sizes.map(|size| size.next_multiple_of(16)).sum();
        let allowed = if kernel.name.ends_with("_matrix_large") { MATRIX_TILE_BYTES } else { WORKGROUP_BYTES };
        assert!(bytes <= allowed, "{}: {bytes} bytes of workgroup memory", kernel.name);
        assert!(kernel.workgroup_size <= WORKGROUP_INVOCATIONS, "{}: {}", kernel.name, kernel.workgroup_size);
    }
}

/// Name, offset and size of each field of a structure that is not reserved, and the size of the whole.
fn fields(module: &Module, structure: &TypeInner) -> (Vec<(String, usize, usize)>, usize) {
    let TypeInner::Struct { members, span } = structure else { panic!("{structure:?} is no structure") };
    let field = |member: &naga::StructMember| {
        let bytes = module.types[member.ty].inner.size(module.to_ctx()) as usize;
        (member.name.clone().expect("fields have names"), member.offset as usize, bytes)
    };
    (members.iter().map(field).filter(|(name, ..)| !is_reserved(name)).collect(), *span as usize)
}

fn expected(fields: &[Field]) -> (Vec<(String, usize, usize)>, usize) {
    let field = |field: &Field| (field.name.to_owned(), field.offset, field.bytes);
    let end = fields.last().map_or(0, |last| last.offset + last.bytes);
    (fields.iter().map(field).filter(|(name, ..)| !is_reserved(name)).collect(), end)
}

/// What only fills the place up to the next multiple of 16 bytes: one array here, single numbers there.
fn is_reserved(name: &str) -> bool {
    name.starts_with("reserved")
}

#[test]
fn parameter_blocks_have_the_fields_of_their_rust_twins() {
    for (kernel, form) in modules() {
        let (module, _) = module(kernel, form);
        let bound_to = |binding| {
            let variable = module.global_variables.iter().find(|(_, v)| bound(v) == Some(binding)).expect("bound").1;
            &module.types[variable.ty].inner
        };
        assert_eq!(fields(&module, bound_to((0, 0))), expected(kernel.params), "{}: parameters", kernel.name);
        assert_eq!(fields(&module, bound_to((1, 0))), expected(Step::FIELDS), "{}: step", kernel.name);
        for (name, block) in [("Epilogue", Epilogue::FIELDS), ("BlockMultipliers", BlockMultipliers::FIELDS)] {
            if let Some((_, part)) = module.types.iter().find(|(_, part)| part.name.as_deref() == Some(name)) {
                assert_eq!(fields(&module, &part.inner), expected(block), "{}: {name}", kernel.name);
            }
        }
    }
}

#[test]
fn storage_buffers_are_those_of_the_registry() {
    for (kernel, form) in modules() {
        let (module, _) = module(kernel, form);
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
