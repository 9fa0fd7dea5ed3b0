//! Choice of the Vulkan driver for tests and measurements on a machine without a GPU.

use std::fs;
use std::path::{Path, PathBuf};

/// Folders in which the Vulkan loader looks for the descriptions of drivers (ICDs).
const DRIVER_FOLDERS: [&str; 3] = ["etc/vulkan/icd.d", "usr/local/share/vulkan/icd.d", "usr/share/vulkan/icd.d"];
/// Files under which the kernel shows a GPU, besides DRM's render nodes.
const GPU_DEVICES: [&str; 3] = ["dev/nvidiactl", "dev/dxg", "dev/kgsl-3d0"];

/// Returns the description of Mesa's llvmpipe if it is the only choice: on Linux, if the kernel shows no GPU and the
/// environment chooses no driver. With its path in `VK_DRIVER_FILES`, the loader does not try the hardware drivers of the
/// same package, which print errors.
pub(crate) fn software_driver() -> Option<PathBuf> {
    let is_chosen = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"].iter().any(|name| std::env::var_os(name).is_some());
    let root = Path::new("/");
    (cfg!(target_os = "linux") && !is_chosen && !shows_gpu(root)).then(|| llvmpipe(root)).flatten()
}

/// Returns whether the kernel of the machine with this root folder shows a GPU.
pub(crate) fn shows_gpu(root: &Path) -> bool {
    let mut nodes = fs::read_dir(root.join("dev/dri")).into_iter().flatten().flatten();
    nodes.any(|node| node.file_name().to_string_lossy().starts_with("renderD"))
        || GPU_DEVICES.iter().any(|device| root.join(device).exists())
}

/// Returns whether llvmpipe and the Vulkan loader are installed.
pub(super) fn has_llvmpipe() -> bool {
    let multiarch = format!("/usr/lib/{}-linux-gnu", std::env::consts::ARCH);
    let folders = ["/usr/lib", "/usr/lib64", "/usr/local/lib", &multiarch];
    let has_loader = folders.iter().any(|folder| Path::new(folder).join("libvulkan.so.1").exists());
    has_loader && llvmpipe(Path::new("/")).is_some()
}

/// Finds the description of llvmpipe for this processor's architecture.
fn llvmpipe(root: &Path) -> Option<PathBuf> {
    let names = ["lvp_icd.json".to_owned(), format!("lvp_icd.{}.json", std::env::consts::ARCH)];
    let places = DRIVER_FOLDERS.iter().flat_map(|folder| names.iter().map(move |name| root.join(folder).join(name)));
    places.into_iter().find(|path| path.exists())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::tree;

    #[test]
    fn finds_llvmpipe_of_this_architecture() {
        let foreign = "usr/share/vulkan/icd.d/lvp_icd.m68k.json";
        let native = format!("usr/share/vulkan/icd.d/lvp_icd.{}.json", std::env::consts::ARCH);
        let root = tree(&[(foreign, ""), (&native, "")]);
        assert_eq!(llvmpipe(root.path()), Some(root.path().join(native)));
        assert_eq!(llvmpipe(tree(&[(foreign, "")]).path()), None);
    }

    #[test]
    fn a_display_without_a_render_node_is_no_gpu() {
        let devices = ["dev/dri/renderD128", "dev/nvidiactl", "dev/dxg", "dev/dri/card0"];
        assert_eq!(devices.map(|device| shows_gpu(tree(&[(device, "")]).path())), [true, true, true, false]);
    }
}
