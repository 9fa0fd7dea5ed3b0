//! Programs that act as a GPU: how one tells them, whether or not the platform says so.

use crate::{Adapter, RunRecord, Warning};

/// Parts of the names of programs that act as GPUs.
const PROGRAMS: [&str; 6] = ["llvmpipe", "lavapipe", "softpipe", "swiftshader", "microsoft basic render", "warp"];
/// Such a program multiplies in the processor's vector units. llvmpipe, with 256 bits at once, reaches 123 GFLOP/s on one
/// core of an EPYC at 3.7 GHz; a logical processor is a core, or less.
pub const SOFTWARE_FLOPS_PER_PROCESSOR: f64 = 128e9;
/// Where a browser hides these as well, there may be so many.
const LIKELY_PROCESSORS: u32 = 16;
/// The makers of hardware in WebGPU's words. Programs have other words: `google` is SwiftShader, `microsoft` WARP, and
/// `mesa` llvmpipe.
const MAKERS: [&str; 9] = ["amd", "apple", "arm", "broadcom", "img-tec", "intel", "nvidia", "qualcomm", "samsung"];
/// Systems on which no browser has an adapter that is a program, but for Chromium's, which it names. A phone's GPU may be
/// slower than what a program does on a larger machine.
const WITHOUT_PROGRAMS: [&str; 3] = ["Android", "iOS", "macOS"];

/// The program that an adapter is by its name, architecture or driver: `llvmpipe`, `swiftshader`, …
///
/// WebGPU calls Mesa's llvmpipe `mesa`, `software`, and Microsoft's WARP `microsoft`, `warp`.
pub fn program_of(adapter: &Adapter) -> Option<&'static str> {
    let texts = [&adapter.name, &adapter.architecture, &adapter.driver].map(|text| text.to_lowercase());
    let named = PROGRAMS.into_iter().find(|program| texts.iter().any(|text| has_word(text, program)));
    let of_mesa = adapter.vendor.eq_ignore_ascii_case("mesa") && adapter.architecture.eq_ignore_ascii_case("software");
    named.or(of_mesa.then_some("llvmpipe"))
}

/// What a program is called that a browser names by its architecture alone.
pub fn program_of_architecture(architecture: &str) -> Option<&'static str> {
    match architecture {
        "swiftshader" => Some("SwiftShader"),
        "warp" => Some("Microsoft WARP"),
        _ => None,
    }
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

/// Whether a browser hides what its adapter is, and its speed does not tell it from a program on the processor either:
/// then nobody knows. Where the client says that it is software, or its name says so, there is nothing to guess.
pub fn may_be_a_program(record: &RunRecord) -> bool {
    let adapter = &record.device.adapter;
    let client = &record.provenance.client;
    let is_hidden = adapter.api == "WebGPU" && !MAKERS.iter().any(|maker| adapter.vendor.eq_ignore_ascii_case(maker));
    let is_known = adapter.software || program_of(adapter).is_some();
    is_hidden
        && !is_known
        && !WITHOUT_PROGRAMS.contains(&client.operating_system.as_str())
        && fastest(record).is_none_or(|flops| flops < fastest_program(client.logical_processors))
}

/// Operations per second that a program may do on so many processors.
fn fastest_program(processors: Option<u32>) -> f64 {
    SOFTWARE_FLOPS_PER_PROCESSOR * f64::from(processors.unwrap_or(LIKELY_PROCESSORS))
}

/// What the adapter was seen to do, in operations per second: its measured peak, or training where that is faster, because
/// some back ends measure no peak.
fn fastest(record: &RunRecord) -> Option<f64> {
    let peaks = record.workloads.iter().flat_map(|workload| &workload.peaks).map(|peak| peak.flops_per_second);
    let trained = record.workloads.iter().filter_map(|workload| workload.summary.flops_per_second);
    peaks.chain(trained).max_by(f64::total_cmp)
}

/// The warning for a browser that hides what its adapter is, where it may be a program; nothing where nothing was measured.
pub fn perhaps_software(record: &RunRecord) -> Option<Warning> {
    let processors = record.provenance.client.logical_processors?;
    let flops_per_second = fastest(record)?;
    may_be_a_program(record).then_some(Warning::PerhapsSoftware { flops_per_second, processors })
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
