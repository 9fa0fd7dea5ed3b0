//! Programs that act as a GPU: how one tells them, whether or not the platform says so.

use crate::{Adapter, RunRecord, Warning};

/// Parts of the names of programs that act as GPUs.
const PROGRAMS: [&str; 6] = ["llvmpipe", "lavapipe", "softpipe", "swiftshader", "microsoft basic render", "warp"];
/// Such a program multiplies in the processor's vector units, few numbers at once.
pub const SOFTWARE_FLOPS_PER_PROCESSOR: f64 = 16e9;

/// The program that an adapter is by its name, architecture or driver: `llvmpipe`, `swiftshader`, …
///
/// WebGPU calls Mesa's llvmpipe `mesa`, `software`, and Microsoft's WARP `microsoft`, `warp`.
pub fn program_of(adapter: &Adapter) -> Option<&'static str> {
    let texts = [&adapter.name, &adapter.architecture, &adapter.driver].map(|text| text.to_lowercase());
    let named = PROGRAMS.into_iter().find(|program| texts.iter().any(|text| has_word(text, program)));
    let of_mesa = adapter.vendor.eq_ignore_ascii_case("mesa") && adapter.architecture.eq_ignore_ascii_case("software");
    named.or(of_mesa.then_some("llvmpipe"))
}

/// Whether `text` has `word` with no letter beside it: `warp` is a program, `Warpspeed` may be a GPU.
fn has_word(text: &str, word: &str) -> bool {
    let letter = |c: char| c.is_alphabetic();
    text.match_indices(word).any(|(start, _)| {
        let end = start + word.len();
        // `Microsoft Basic Render Driver`, but also `Microsoft Basic Renderer`.
        let ends = word.contains(' ') || !text[end..].starts_with(letter);
        !text[..start].ends_with(letter) && ends
    })
}

/// The warning for a browser that hides what its adapter is, where its speed is that of a program on the processor.
///
/// Nothing where the platform names the adapter or says itself that it is software, and where no peak was measured.
pub fn perhaps_software(record: &RunRecord) -> Option<Warning> {
    let adapter = &record.device.adapter;
    let masked = adapter.api == "WebGPU" && adapter.vendor.is_empty() && adapter.architecture.is_empty();
    let processors = record.provenance.client.logical_processors?;
    let samples = record.workloads.iter().flat_map(|workload| &workload.peaks);
    let flops_per_second = samples.map(|sample| sample.flops_per_second).max_by(f64::total_cmp)?;
    let slow = flops_per_second < SOFTWARE_FLOPS_PER_PROCESSOR * f64::from(processors);
    (masked && !adapter.software && slow).then_some(Warning::PerhapsSoftware { flops_per_second, processors })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DeviceKind;

    fn adapter(name: &str, vendor: &str, architecture: &str) -> Adapter {
        Adapter {
            name: name.to_owned(),
            vendor: vendor.to_owned(),
            architecture: architecture.to_owned(),
            kind: DeviceKind::Unknown,
            api: "WebGPU".to_owned(),
            driver: String::new(),
            software: false,
        }
    }

    #[test]
    fn programs_are_known_by_any_of_their_names() {
        for (name, vendor, architecture, program) in [
            ("llvmpipe (LLVM 19.1.7, 256 bits)", "Mesa", "", "llvmpipe"),
            ("Google SwiftShader", "", "", "swiftshader"),
            ("google swiftshader", "google", "swiftshader", "swiftshader"),
            ("SwiftShader Device (Subzero)", "", "", "swiftshader"),
            ("Microsoft Basic Render Driver", "Microsoft", "", "microsoft basic render"),
            ("", "microsoft", "warp", "warp"),
            ("mesa software", "mesa", "software", "llvmpipe"),
            ("softpipe", "", "", "softpipe"),
        ] {
            assert_eq!(
                program_of(&adapter(name, vendor, architecture)),
                Some(program),
                "{name} {vendor} {architecture}"
            );
        }
    }

    #[test]
    fn hardware_is_no_program() {
        for (name, vendor, architecture) in [
            ("NVIDIA GeForce RTX 4090", "NVIDIA", ""),
            ("", "", ""),
            ("Warpspeed 9000", "example", ""),
            ("AMD Radeon RX 7900 XTX (RADV NAVI31)", "AMD", ""),
        ] {
            assert_eq!(program_of(&adapter(name, vendor, architecture)), None, "{name}");
        }
    }
}
