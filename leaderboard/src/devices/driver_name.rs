//! What drivers put around the name of a GPU.
//!
//! | reported | the GPU |
//! |---|---|
//! | `ANGLE (NVIDIA, NVIDIA GeForce RTX 4090 (0x00002684) Direct3D11 vs_5_0 ps_5_0, D3D11)` | `nvidia geforce rtx 4090` |
//! | `ANGLE (Apple, ANGLE Metal Renderer: Apple M1 Pro, Unspecified Version)` | `apple m1 pro` |
//! | `NVIDIA GeForce RTX 4090/PCIe/SSE2` | `nvidia geforce rtx 4090` |
//! | `AMD Radeon RX 7900 XTX (RADV NAVI31)` | `amd radeon rx 7900 xtx` |
//! | `Intel(R) UHD Graphics 620 (KBL GT2)` | `intel uhd graphics 620` |

/// Where a driver's own words begin, after which nothing belongs to the GPU's name.
const BEGINNINGS: [&str; 6] = ["/pcie", "/sse2", " direct3d", ") on vulkan", " opengl engine", " vs_"];

/// The part of `name`, in lower case, that names the GPU.
pub(super) fn core(name: &str) -> String {
    let inner = angle(name).unwrap_or(name);
    let end = BEGINNINGS.iter().filter_map(|beginning| inner.find(beginning)).min().unwrap_or(inner.len());
    without_brackets(&inner[..end])
}

/// The second part of `angle (vendor, gpu, version)`, and of that what follows `vulkan 1.3.277 (…` and `… renderer:`.
fn angle(name: &str) -> Option<&str> {
    let inner = name.strip_prefix("angle (")?;
    let parts: Vec<&str> = inner.split(", ").collect();
    // Old versions say no more than the GPU.
    let gpu = parts.get(1).copied().unwrap_or(parts[0]).trim_end_matches(')');
    let gpu = gpu.split_once("renderer: ").map_or(gpu, |(_, gpu)| gpu);
    Some(if gpu.starts_with("vulkan ") { gpu.split_once(" (").map_or(gpu, |(_, gpu)| gpu) } else { gpu })
}

/// `text` without what stands in brackets: trademarks, PCI numbers, code names and versions. A bracket that nobody
/// closes reaches to the end.
fn without_brackets(text: &str) -> String {
    let mut depth = 0_u32;
    let mut kept = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '(' => {
                depth += 1;
                kept.push(' ');
            }
            ')' => depth = depth.saturating_sub(1),
            _ if depth == 0 => kept.push(letter),
            _ => {}
        }
    }
    kept.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gpu_is_found_in_what_drivers_say() {
        for (reported, gpu) in [
            (
                "angle (nvidia, nvidia geforce rtx 4090 (0x00002684) direct3d11 vs_5_0 ps_5_0, d3d11)",
                "nvidia geforce rtx 4090",
            ),
            ("angle (apple, angle metal renderer: apple m1 pro, unspecified version)", "apple m1 pro"),
            ("angle (intel, mesa intel(r) uhd graphics 620 (kbl gt2), opengl 4.6)", "mesa intel uhd graphics 620"),
            ("angle (amd, amd radeon rx 6700 xt (radeonsi, navi22, llvm 15.0.7), opengl 4.6)", "amd radeon rx 6700 xt"),
            (
                "angle (nvidia, vulkan 1.3.277 (nvidia nvidia geforce rtx 3060 (0x00002503)), nvidia)",
                "nvidia nvidia geforce rtx 3060",
            ),
            ("angle (samsung xclipse 920) on vulkan 1.1.179", "samsung xclipse 920"),
            ("nvidia geforce rtx 4090/pcie/sse2", "nvidia geforce rtx 4090"),
            ("adreno (tm) 650", "adreno 650"),
            ("amd radeon rx 7900 xtx (radv navi31)", "amd radeon rx 7900 xtx"),
            ("geforce rtx 4090 (unclosed", "geforce rtx 4090"),
            ("", ""),
        ] {
            assert_eq!(core(reported), gpu, "{reported}");
        }
    }
}
