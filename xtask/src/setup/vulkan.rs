//! Which Vulkan driver the tests run on.

use std::fs;
use std::path::{Path, PathBuf};

/// Where the Vulkan loader looks for the descriptions of drivers (ICDs), below the root of the file system.
const DRIVER_FOLDERS: [&str; 3] = ["etc/vulkan/icd.d", "usr/local/share/vulkan/icd.d", "usr/share/vulkan/icd.d"];

/// The names under which kernels show a GPU: DRM render nodes are looked for separately.
const GPU_DEVICES: [&str; 3] = ["dev/nvidiactl", "dev/dxg", "dev/kgsl-3d0"];

/// The decision about `VK_DRIVER_FILES`, with its reason.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Driver {
    /// The variable is left as it is.
    AsItIs(&'static str),
    /// The loader is pointed at llvmpipe alone.
    Software(PathBuf),
}

/// Decides for the machine whose file system begins at `root`. `chosen` is whether the person has chosen a driver
/// already (`VK_DRIVER_FILES` or `VK_ICD_FILENAMES` is set).
///
/// With a GPU, or a hint of one, nothing is touched: the loader then lists the GPU's driver and llvmpipe side by side.
/// Only where no kernel driver shows a GPU is the loader narrowed to llvmpipe, which keeps it from trying, and
/// complaining about, the hardware drivers that come in the same package.
pub(crate) fn choose(root: &Path, chosen: bool) -> Driver {
    if !cfg!(target_os = "linux") {
        return Driver::AsItIs("this system brings its own graphics drivers");
    }
    if chosen {
        return Driver::AsItIs("a driver is chosen in the environment");
    }
    if shows_gpu(root) {
        return Driver::AsItIs("this machine shows a GPU");
    }
    match lavapipe(root) {
        Some(icd) => Driver::Software(icd),
        None => Driver::AsItIs("there is no llvmpipe"),
    }
}

/// Whether the kernel of this machine shows a GPU, or a hint of one.
pub(crate) fn shows_gpu(root: &Path) -> bool {
    let render_node = fs::read_dir(root.join("dev/dri"))
        .is_ok_and(|entries| entries.flatten().any(|entry| entry.file_name().to_string_lossy().starts_with("renderD")));
    render_node || GPU_DEVICES.iter().any(|device| root.join(device).exists())
}

/// The description of Mesa's llvmpipe for this processor.
pub(crate) fn lavapipe(root: &Path) -> Option<PathBuf> {
    let mut found: Vec<PathBuf> = DRIVER_FOLDERS
        .iter()
        .filter_map(|folder| fs::read_dir(root.join(folder)).ok())
        .flat_map(|entries| entries.flatten().map(|entry| entry.path()))
        .filter(|path| is_lavapipe(path))
        .collect();
    found.sort();
    found.into_iter().next()
}

/// `lvp_icd.json`, or `lvp_icd.ARCHITECTURE.json` of this processor's architecture.
fn is_lavapipe(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name == "lvp_icd.json" || name == format!("lvp_icd.{}.json", std::env::consts::ARCH)
}

/// Whether the Vulkan loader is installed in one of the usual folders of libraries.
pub(super) fn has_loader(root: &Path) -> bool {
    let flat = ["usr/lib", "usr/lib64", "usr/local/lib"].map(|folder| root.join(folder));
    let multiarch = root.join(format!("usr/lib/{}-linux-gnu", std::env::consts::ARCH));
    flat.iter().chain([&multiarch]).any(|folder| folder.join("libvulkan.so.1").exists())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    fn machine(files: &[&str]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for file in files {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        root
    }

    fn native() -> String {
        format!("usr/share/vulkan/icd.d/lvp_icd.{}.json", std::env::consts::ARCH)
    }

    #[test]
    fn a_machine_without_a_gpu_is_pointed_at_llvmpipe_of_its_own_architecture() {
        let icd = native();
        let root =
            machine(&[&icd, "usr/share/vulkan/icd.d/lvp_icd.i686.json", "usr/share/vulkan/icd.d/radeon_icd.json"]);
        assert_eq!(choose(root.path(), false), Driver::Software(root.path().join(icd)));
    }

    #[test]
    fn a_gpu_or_a_choice_in_the_environment_is_left_alone() {
        for device in ["dev/dri/renderD128", "dev/nvidiactl", "dev/dxg"] {
            let root = machine(&[&native(), device]);
            assert_eq!(choose(root.path(), false), Driver::AsItIs("this machine shows a GPU"), "{device}");
        }
        let root = machine(&[&native()]);
        assert!(matches!(choose(root.path(), true), Driver::AsItIs(why) if why.contains("environment")));
    }

    #[test]
    fn a_display_without_a_render_node_is_no_gpu() {
        let root = machine(&[&native(), "dev/dri/card0"]);
        assert!(matches!(choose(root.path(), false), Driver::Software(_)));
    }
}
