//! Only three files of the engine know wgpu.

use super::rust::{code, lines_with};
use super::{Check, Tree, Violation};
use anyhow::Result;
use std::path::Path;

const KNOWING: [&str; 3] = [
    "engine/src/backends/wgsl/device.rs",
    "engine/src/backends/wgsl/buffer.rs",
    "engine/src/backends/wgsl/executor.rs",
];

pub(super) static CHECK: Check = Check {
    name: "wgpu in three files",
    promise: "Only the WGSL back end's device, buffer and executor files name wgpu, so that recordings stay data that \
              tests can read without a GPU.",
    find,
};

fn find(tree: &Tree) -> Result<Vec<Violation>> {
    let mut violations = Vec::new();
    for folder in tree.crates()? {
        for file in tree.files(&folder, &["rs"])? {
            if KNOWING.iter().any(|known| file == Path::new(known)) {
                continue;
            }
            let code = code(&tree.read(&file)?);
            let mut lines: Vec<usize> =
                ["wgpu::", "use wgpu", "extern crate wgpu"].iter().flat_map(|words| lines_with(&code, words)).collect();
            lines.sort_unstable();
            lines.dedup();
            violations.extend(lines.into_iter().map(|line| Violation::at(&file, line, "names wgpu")));
        }
    }
    Ok(violations)
}

#[cfg(test)]
mod tests {
    use super::super::testing::found;
    use super::CHECK;

    #[test]
    fn a_kernel_planner_that_names_wgpu_is_found_and_the_executor_is_not() {
        let files = [
            ("Cargo.toml", "[workspace]\nmembers = [\"engine\", \"app\"]\n"),
            ("engine/src/backends/wgsl/executor.rs", "use wgpu::Queue;\n"),
            ("engine/src/backends/wgsl/recording.rs", "// wgpu:: would be wrong\nuse wgpu::{Buffer};\n"),
            ("engine/src/backends/burn.rs", "let device = Device::wgpu(0); let name = \"wgpu::x\";\n"),
            ("app/src/main.rs", "fn main() { let _: Option<wgpu::Adapter> = None; }\n"),
        ];
        assert_eq!(
            found(&CHECK, &files),
            ["engine/src/backends/wgsl/recording.rs:2: names wgpu", "app/src/main.rs:1: names wgpu"]
        );
    }
}
