//! Detection of software adapters, which emulate a GPU on the processor.

use crate::{Adapter, RunRecord, Warning};

/// Words that identify software adapters.
const SOFTWARE_ADAPTERS: [&str; 6] =
    ["llvmpipe", "lavapipe", "softpipe", "swiftshader", "microsoft basic render", "warp"];
/// Maximum FLOP/s of a software adapter per logical processor, which is at most one core. With 256-bit vectors,
/// llvmpipe reaches 123 GFLOP/s on one core of an EPYC at 3.7 GHz.
const SOFTWARE_FLOPS_PER_PROCESSOR: f64 = 128e9;
/// Number of processors to assume if the browser hides it.
const ASSUMED_PROCESSORS: u32 = 16;
/// Hardware vendors in WebGPU. The vendors `google`, `microsoft` and `mesa` are SwiftShader, WARP and llvmpipe.
const HARDWARE_VENDORS: [&str; 9] =
    ["amd", "apple", "arm", "broadcom", "img-tec", "intel", "nvidia", "qualcomm", "samsung"];
/// Systems whose browsers have no software adapter other than Chromium's, which can be recognized by name. They are
/// listed because a phone's GPU may be slower than a software adapter on a larger machine.
const SYSTEMS_WITHOUT_SOFTWARE: [&str; 3] = ["Android", "iOS", "macOS"];

/// Returns the software adapter that the name, architecture or driver of an adapter reveals, such as `llvmpipe`. WebGPU
/// reports Mesa's llvmpipe as `mesa`, `software`, and Microsoft's WARP as `microsoft`, `warp`.
pub fn program_of(adapter: &Adapter) -> Option<&'static str> {
    let texts = [&adapter.name, &adapter.architecture, &adapter.driver].map(|text| text.to_lowercase());
    let named = SOFTWARE_ADAPTERS.into_iter().find(|program| texts.iter().any(|text| has_word(text, program)));
    let from_mesa =
        adapter.vendor.eq_ignore_ascii_case("mesa") && adapter.architecture.eq_ignore_ascii_case("software");
    named.or(from_mesa.then_some("llvmpipe"))
}

/// Returns the display name of a software adapter that a browser identifies only by its architecture.
pub fn program_of_architecture(architecture: &str) -> Option<&'static str> {
    match architecture {
        "swiftshader" => Some("SwiftShader"),
        "warp" => Some("Microsoft WARP"),
        _ => None,
    }
}

/// Returns true if `text` contains `word` without adjacent letters: `Warpspeed` may be a GPU.
fn has_word(text: &str, word: &str) -> bool {
    let letter = |c: char| c.is_alphabetic();
    text.match_indices(word).any(|(start, _)| {
        let end = start + word.len();
        // `Microsoft Basic Render Driver`, but also `Microsoft Basic Renderer`.
        let ends = word.contains(' ') || !text[end..].starts_with(letter);
        !text[..start].ends_with(letter) && ends
    })
}

/// Returns true if a browser hides its adapter and a software adapter could reach its speed. Returns false for adapters
/// that are known to be software.
pub fn may_be_a_program(record: &RunRecord) -> bool {
    let adapter = &record.device.adapter;
    let client = &record.provenance.client;
    let is_hidden =
        adapter.api == "WebGPU" && !HARDWARE_VENDORS.iter().any(|vendor| adapter.vendor.eq_ignore_ascii_case(vendor));
    let most = SOFTWARE_FLOPS_PER_PROCESSOR * f64::from(client.logical_processors.unwrap_or(ASSUMED_PROCESSORS));
    let is_known = adapter.software || program_of(adapter).is_some();
    is_hidden
        && !is_known
        && !SYSTEMS_WITHOUT_SOFTWARE.contains(&client.operating_system.as_str())
        && max_measured_flops(record).is_none_or(|flops| flops < most)
}

/// Returns the highest FLOP/s of the adapter, in training as well, because some backends do not measure the peak.
fn max_measured_flops(record: &RunRecord) -> Option<f64> {
    let peaks = record.workloads.iter().flat_map(|workload| &workload.peaks).map(|peak| peak.flops_per_second);
    let trained = record.workloads.iter().filter_map(|workload| workload.summary.flops_per_second);
    peaks.chain(trained).max_by(f64::total_cmp)
}

/// Returns the warning for a hidden adapter that may be software; `None` if nothing was measured.
pub fn perhaps_software(record: &RunRecord) -> Option<Warning> {
    let processors = record.provenance.client.logical_processors?;
    let flops_per_second = max_measured_flops(record)?;
    may_be_a_program(record).then_some(Warning::PerhapsSoftware { flops_per_second, processors })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn software_adapters_are_recognized_by_name() {
        for (name, vendor, architecture, program) in [
            ("llvmpipe (LLVM 19.1.7, 256 bits)", "Mesa", "", Some("llvmpipe")),
            ("Google SwiftShader", "", "", Some("swiftshader")),
            ("google swiftshader", "google", "swiftshader", Some("swiftshader")),
            ("SwiftShader Device (Subzero)", "", "", Some("swiftshader")),
            ("Microsoft Basic Render Driver", "Microsoft", "", Some("microsoft basic render")),
            ("", "microsoft", "warp", Some("warp")),
            ("mesa software", "mesa", "software", Some("llvmpipe")),
            ("softpipe", "", "", Some("softpipe")),
            ("NVIDIA GeForce RTX 4090", "NVIDIA", "", None),
            ("", "", "", None),
            ("Warpspeed 9000", "example", "", None),
            ("AMD Radeon RX 7900 XTX (RADV NAVI31)", "AMD", "", None),
        ] {
            let text = str::to_owned;
            let (name, vendor, architecture) = (text(name), text(vendor), text(architecture));
            let adapter = Adapter { name, vendor, architecture, ..Adapter::default() };
            assert_eq!(program_of(&adapter), program, "{adapter:?}");
        }
    }
}
