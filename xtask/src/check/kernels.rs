//! No shader lies around unregistered.

use super::{Check, code, files, read};
use anyhow::Result;
use std::path::Path;

pub(super) const CHECK: Check = Check {
    name: "registered shaders",
    promise: "Every WGSL file is included by the registry of the crate `shaders`, because tests reach kernels through \
              the registry and would pass over a file that it does not know.",
    find,
};

fn find(top: &Path) -> Result<Vec<String>> {
    let shaders = files(top, "shaders", &["wgsl"])?;
    if shaders.is_empty() {
        return Ok(vec!["shaders: holds no WGSL file: tell this check where the kernels went".to_owned()]);
    }
    let mut sources = String::new();
    for file in files(top, "shaders/src", &["rs"])? {
        let source = read(top, file)?;
        // Tests stand at the end of a file, and what only they name is not registered.
        sources.extend(code(&source).map(|(_, line)| line).take_while(|line| !line.starts_with("mod tests")));
    }
    let is_registered = |file: &Path| {
        let [name, stem] = [file.file_name(), file.file_stem()].map(|of| of.unwrap_or_default().to_string_lossy());
        [format!("/{name}\""), format!("\"{name}\""), format!("\"{stem}\"")].iter().any(|text| sources.contains(text))
    };
    let unregistered = shaders.iter().filter(|file| !is_registered(file));
    Ok(unregistered.map(|file| format!("{}: is not registered in shaders/src", file.display())).collect())
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
                "const A: &str = include_str!(\"../kernels/softmax.wgsl\");\n// \"forgotten.wgsl\"\n\
                 #[cfg(test)]\nmod tests { const B: &str = \"forgotten\"; }\n",
            ),
        ];
        assert_eq!(found(&CHECK, &files), ["shaders/kernels/forgotten.wgsl: is not registered in shaders/src"]);
    }

    #[test]
    fn no_kernel_at_all_is_not_taken_for_all_registered() {
        assert_eq!(found(&CHECK, &[("shaders/src/lib.rs", "")]).len(), 1);
    }
}
