//! Every shader can be translated to what the platforms below WebGPU and wgpu compile: SPIR-V for Vulkan, MSL for Metal,
//! HLSL for DX12, and GLSL for where there is nothing newer.

use crate::common::{module, modules};
use naga::ShaderStage;
use naga::back::{PipelineConstants, glsl, hlsl, msl, pipeline_constants, spv};
use naga::proc::BoundsCheckPolicies;
use shaders::{Matrices, Stored};

/// What a translation came to: some text, or the reason why there is none.
type Translated = Result<(), String>;

fn to_spirv(module: &naga::Module, info: &naga::valid::ModuleInfo) -> Translated {
    let options = spv::Options { lang_version: (1, 3), ..spv::Options::default() };
    let words = spv::write_vec(module, info, &options, None).map_err(|error| error.to_string())?;
    if words.first() == Some(&0x0723_0203) { Ok(()) } else { Err("it does not begin as SPIR-V does".to_owned()) }
}

fn to_msl(module: &naga::Module, info: &naga::valid::ModuleInfo) -> Translated {
    let options = msl::Options { lang_version: (2, 4), ..msl::Options::default() };
    let translated = msl::write_string(module, info, &options, &msl::PipelineOptions::default());
    let (text, _) = translated.map_err(|error| error.to_string())?;
    if text.contains("kernel void") { Ok(()) } else { Err("it has no kernel".to_owned()) }
}

fn to_hlsl(module: &naga::Module, info: &naga::valid::ModuleInfo) -> Translated {
    let options = hlsl::Options { shader_model: hlsl::ShaderModel::V6_2, ..hlsl::Options::default() };
    let mut text = String::new();
    let pipeline = hlsl::PipelineOptions::default();
    let mut writer = hlsl::Writer::new(&mut text, &options, &pipeline);
    writer.write(module, info, None).map_err(|error| error.to_string())?;
    if text.contains("numthreads") { Ok(()) } else { Err("it has no workgroups".to_owned()) }
}

fn to_glsl(module: &naga::Module, info: &naga::valid::ModuleInfo) -> Translated {
    let options = glsl::Options { version: glsl::Version::Desktop(450), ..glsl::Options::default() };
    let pipeline =
        glsl::PipelineOptions { shader_stage: ShaderStage::Compute, entry_point: "main".to_owned(), multiview: None };
    let mut text = String::new();
    let writer = glsl::Writer::new(&mut text, module, info, &options, &pipeline, BoundsCheckPolicies::default());
    writer.and_then(|mut writer| writer.write()).map_err(|error| error.to_string())?;
    if text.contains("local_size_x") { Ok(()) } else { Err("it has no workgroups".to_owned()) }
}

#[test]
fn every_kernel_can_be_translated_to_what_platforms_compile() {
    for (kernel, form) in modules() {
        let (module, info) = module(kernel, form);
        let main = Some((ShaderStage::Compute, "main"));
        let (module, info) =
            pipeline_constants::process_overrides(&module, &info, main, &PipelineConstants::default()).unwrap();
        let matrices = form.matrices.and_then(Matrices::side);
        let mut translations = vec![("SPIR-V", to_spirv(&module, &info))];
        // Metal has matrices of 8 × 8 only, and DX12 none that wgpu knows.
        if matrices.is_none_or(|side| side == 8) {
            translations.push(("MSL", to_msl(&module, &info)));
        }
        if matrices.is_none() {
            translations.push(("HLSL", to_hlsl(&module, &info)));
        }
        // OpenGL has neither numbers of 16 bits nor subgroups that all drivers offer; wgpu uses it for nothing of ours.
        if form.stored == Stored::F32 && !kernel.needs_subgroups() {
            translations.push(("GLSL", to_glsl(&module, &info)));
        }
        for (language, translated) in translations {
            if let Err(reason) = translated {
                panic!("{} as {form:?} cannot be translated to {language}: {reason}", kernel.name);
            }
        }
    }
}
