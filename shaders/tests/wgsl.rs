//! Every shader on disk is registered, valid for a browser, agrees with the registry, and can be translated to the
//! languages below WebGPU and wgpu.

use std::collections::BTreeSet;
use std::path::Path;

use naga::back::{PipelineConstants, glsl, hlsl, msl, pipeline_constants, spv};
use naga::proc::BoundsCheckPolicies;
use naga::valid::{Capabilities, ModuleInfo, ShaderStages, SubgroupOperationSet, ValidationFlags, Validator};
use naga::{AddressSpace, Module, ShaderStage, StorageAccess, TypeInner};
use shaders::params::{BlockMultipliers, Epilogue, Step, StepResult};
use shaders::{Access, Form, KERNELS, Kernel, Matrices, SMALL_WORKGROUP, Stored};

/// The module of a kernel, which a browser has to accept unless it is for matrix units, which no browser offers yet; and
/// what naga has found out about it.
fn module(kernel: &Kernel, form: Form) -> (Module, ModuleInfo) {
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
fn modules() -> impl Iterator<Item = (&'static Kernel, Form)> {
    KERNELS.iter().flat_map(|kernel| kernel.forms().into_iter().map(move |form| (kernel, form)))
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
fn every_file_has_a_kernel_of_its_name_and_all_names_differ() {
    let names: BTreeSet<String> = KERNELS.iter().map(|kernel| kernel.name.to_owned()).collect();
    assert_eq!(names.len(), KERNELS.len(), "two kernels have one name");
    assert!(names.is_superset(&files("kernels")));
}

#[test]
fn every_shared_part_is_used() {
    let sources: String = modules().map(|(kernel, form)| kernel.source(form)).collect();
    // The texts that the build script wrote, without comments; those with repeated lines, for four and for eight lanes.
    let folder = Path::new(env!("OUT_DIR")).join("shared");
    for name in files("shared") {
        let file = |lanes| std::fs::read_to_string(folder.join(lanes).join(format!("{name}.wgsl")));
        let is_used =
            ["", "4", "8"].into_iter().filter_map(|lanes| file(lanes).ok()).any(|text| sources.contains(&text));
        assert!(is_used, "{name} is not part of any kernel");
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

/// Bytes of workgroup memory that WebGPU grants on every device, and invocations of a workgroup that it grants outside
/// compatibility mode.
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

#[test]
fn every_kernel_but_optional_variants_fits_small_workgroups() {
    let is_optional = |kernel: &Kernel| kernel.multiplies_blocks() || kernel.name.ends_with("_sliced");
    for kernel in KERNELS.iter().filter(|kernel| !is_optional(kernel)) {
        let small = kernel.in_small_workgroups();
        assert!(small.workgroup_size <= SMALL_WORKGROUP, "{}: {}", small.name, small.workgroup_size);
        assert_eq!((small.sources.last(), small.storage), (kernel.sources.last(), kernel.storage));
    }
}

#[test]
fn parameter_blocks_have_the_sizes_of_their_rust_twins() {
    // The build script makes the twins, with the same fields in the same order, so padding is all that can differ.
    let structures = [
        ("Step", size_of::<Step>()),
        ("Epilogue", size_of::<Epilogue>()),
        ("BlockMultipliers", size_of::<BlockMultipliers>()),
        ("StepResult", size_of::<StepResult>()),
    ];
    for (kernel, form) in modules() {
        let (module, _) = module(kernel, form);
        let params = [("Params", kernel.params_bytes)];
        for (name, bytes) in params.into_iter().chain(structures) {
            let part = module.types.iter().find(|(_, part)| part.name.as_deref() == Some(name));
            let size = part.map(|(_, part)| part.inner.size(module.to_ctx()) as usize);
            let is_optional = !["Params", "Step"].contains(&name);
            assert!(size == Some(bytes) || size.is_none() && is_optional, "{}: {name} has {size:?} bytes", kernel.name);
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
                    let naga::ResourceBinding { group, binding } = variable.binding.expect("storage is bound");
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

/// Translates a module, and returns true if the result looks right.
fn translates(language: &str, module: &Module, info: &ModuleInfo) -> Result<bool, String> {
    let mut text = String::new();
    let mark = match language {
        "SPIR-V" => {
            let options = spv::Options { lang_version: (1, 3), ..spv::Options::default() };
            let words = spv::write_vec(module, info, &options, None).map_err(|error| error.to_string())?;
            return Ok(words.first() == Some(&0x0723_0203));
        }
        "MSL" => {
            let options = msl::Options { lang_version: (2, 4), ..msl::Options::default() };
            let translated = msl::write_string(module, info, &options, &msl::PipelineOptions::default());
            text = translated.map_err(|error| error.to_string())?.0;
            "kernel void"
        }
        "HLSL" => {
            let options = hlsl::Options { shader_model: hlsl::ShaderModel::V6_2, ..hlsl::Options::default() };
            let pipeline = hlsl::PipelineOptions::default();
            let mut writer = hlsl::Writer::new(&mut text, &options, &pipeline);
            writer.write(module, info, None).map_err(|error| error.to_string())?;
            "numthreads"
        }
        _ => {
            let options = glsl::Options { version: glsl::Version::Desktop(450), ..glsl::Options::default() };
            let (shader_stage, entry_point) = (ShaderStage::Compute, "main".to_owned());
            let pipeline = glsl::PipelineOptions { shader_stage, entry_point, multiview: None };
            let checks = BoundsCheckPolicies::default();
            let writer = glsl::Writer::new(&mut text, module, info, &options, &pipeline, checks);
            writer.and_then(|mut writer| writer.write()).map_err(|error| error.to_string())?;
            "local_size_x"
        }
    };
    Ok(text.contains(mark))
}

#[test]
fn every_kernel_can_be_translated_to_what_platforms_compile() {
    for (kernel, form) in modules() {
        let (module, info) = module(kernel, form);
        let main = Some((ShaderStage::Compute, "main"));
        let (module, info) =
            pipeline_constants::process_overrides(&module, &info, main, &PipelineConstants::default()).unwrap();
        let matrices = form.matrices.and_then(Matrices::side);
        let mut languages = vec!["SPIR-V"];
        // Metal has matrices of 8 × 8 only, and DX12 none that wgpu knows.
        if matrices.is_none_or(|side| side == 8) {
            languages.push("MSL");
        }
        if matrices.is_none() {
            languages.push("HLSL");
        }
        // OpenGL has neither numbers of 16 bits nor subgroups that all drivers offer; wgpu uses it for nothing of ours.
        if form.stored == Stored::F32 && !kernel.needs_subgroups() {
            languages.push("GLSL");
        }
        for language in languages {
            assert_eq!(translates(language, &module, &info), Ok(true), "{} as {form:?} in {language}", kernel.name);
        }
    }
}

/// Chromium 156 does not set such variables to zero again in the next round of a loop.
#[test]
fn variables_inside_blocks_have_initial_values() {
    for (kernel, form) in modules() {
        let source = kernel.source(form);
        let is_uninitialized = |line: &&str| line.starts_with("        ") && line.trim().starts_with("var ");
        let found = source.lines().filter(is_uninitialized).find(|line| !line.contains('='));
        assert_eq!(found, None, "{}", kernel.name);
    }
}
