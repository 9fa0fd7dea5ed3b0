//! No shader lies around unregistered.

use super::rust::code_outside_tests;
use super::{Check, Tree, Violation};
use anyhow::Result;

pub(super) static CHECK: Check = Check {
    name: "registered shaders",
    promise: "Every WGSL file is included by the registry of the crate `shaders`, because tests reach kernels through \
              the registry and would pass over a file that it does not know.",
    find,
};

fn find(tree: &Tree) -> Result<Vec<Violation>> {
    let shaders = tree.files("shaders", &["wgsl"])?;
    if shaders.is_empty() {
        return Ok(vec![Violation::of("shaders", "holds no WGSL file: tell this check where the kernels went")]);
    }
    let mut sources = String::new();
    for file in tree.files("shaders/src", &["rs"])? {
        let source = tree.read(&file)?;
        // Names of files are texts, so the source itself is searched; but only where it is not for tests alone.
        let code = code_outside_tests(&source);
        let lines = source.lines().zip(code.lines());
        sources.extend(lines.filter(|(_, code)| !code.trim().is_empty()).map(|(line, _)| format!("{line}\n")));
    }
    let unregistered = shaders.into_iter().filter(|file| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        !sources.contains(&format!("/{name}\""))
            && !sources.contains(&format!("\"{name}\""))
            && !sources.contains(&format!("\"{stem}\""))
    });
    Ok(unregistered.map(|file| Violation::of(file, "is not registered in shaders/src")).collect())
}

#[cfg(test)]
mod tests {
    use super::super::testing::found;
    use super::CHECK;

    #[test]
    fn a_kernel_that_nothing_includes_is_found() {
        let files = [
            ("shaders/kernels/softmax.wgsl", ""),
            ("shaders/kernels/forgotten.wgsl", ""),
            (
                "shaders/src/registry.rs",
                "const A: &str = include_str!(\"../kernels/softmax.wgsl\");\n// \"forgotten.wgsl\"\n",
            ),
        ];
        assert_eq!(found(&CHECK, &files), ["shaders/kernels/forgotten.wgsl: is not registered in shaders/src"]);
    }

    #[test]
    fn no_kernel_at_all_is_not_taken_for_all_registered() {
        assert_eq!(found(&CHECK, &[("shaders/src/lib.rs", "")]).len(), 1);
    }
}
