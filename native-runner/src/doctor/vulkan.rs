//! The loader of Vulkan drivers on Linux, and the drivers that it would load.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::json;

use super::{Chapter, Circumstances, Examination, Finding, files};

pub(super) const EXAMINATION: Examination =
    Examination { chapter: Chapter::Graphics, title: "Vulkan's drivers", examine };

const LOADER: &str = "libvulkan.so.1";
/// Variables that say which drivers are loaded; the second is the older name of the first.
const CHOOSING: [&str; 2] = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"];
/// More of what changes which devices there are.
const INFLUENTIAL: [&str; 8] = [
    "VK_ADD_DRIVER_FILES",
    "VK_LOADER_DRIVERS_SELECT",
    "VK_LOADER_DRIVERS_DISABLE",
    "MESA_VK_DEVICE_SELECT",
    "LIBGL_ALWAYS_SOFTWARE",
    "CUDA_VISIBLE_DEVICES",
    "HIP_VISIBLE_DEVICES",
    "NVIDIA_DRIVER_CAPABILITIES",
];
/// Where the loader looks, under the system's root.
const FOLDERS: [&str; 4] =
    ["etc/vulkan/icd.d", "usr/local/etc/vulkan/icd.d", "usr/local/share/vulkan/icd.d", "usr/share/vulkan/icd.d"];

/// What a driver's file says.
#[derive(Deserialize)]
struct Manifest {
    #[serde(rename = "ICD")]
    icd: Icd,
}

#[derive(Deserialize)]
struct Icd {
    library_path: String,
}

fn examine(circumstances: &mut Circumstances<'_>) -> Vec<Finding> {
    if !cfg!(target_os = "linux") {
        return Vec::new();
    }
    let mut findings = vec![loader(circumstances)];
    findings.extend(variables(circumstances));
    findings.push(drivers(circumstances));
    findings
}

fn loader(circumstances: &Circumstances<'_>) -> Finding {
    match files::library(circumstances, LOADER) {
        Some(path) => Finding::fine("vulkan_loader", format!("Vulkan's loader is {}.", path.display()))
            .with_details(json!({ "path": path })),
        // Other systems have other folders, and an adapter that shows itself was found by some loader.
        None if circumstances.listing.adapters.is_empty() => {
            Finding::problem("vulkan_loader", format!("Vulkan's loader, {LOADER}, is not in the usual folders."))
                .with_advice(
                    "Install it (Debian, Ubuntu: `libvulkan1`; Fedora: `vulkan-loader`; Arch: `vulkan-icd-loader`).",
                )
        }
        None => Finding::note("vulkan_loader", format!("{LOADER} is in a folder that this program does not know.")),
    }
}

fn variables(circumstances: &Circumstances<'_>) -> Vec<Finding> {
    let set = |name: &&'static str| circumstances.variable(name).map(|value| (*name, value));
    let chosen = CHOOSING.iter().find_map(set);
    let mut findings = Vec::new();
    if let Some((name, value)) = chosen {
        let missing: Vec<&str> = value.split(':').filter(|path| !Path::new(path).exists()).collect();
        let details = json!({ "variable": name, "value": value, "missing": missing });
        let finding = if missing.is_empty() {
            Finding::note("vulkan_driver_files", format!("{name} lets Vulkan load only {value}."))
                .with_advice(format!("`env -u {name} native-runner doctor` looks without it."))
        } else {
            let sentence = format!("{name} names drivers that are not there: {}.", missing.join(", "));
            Finding::problem("vulkan_driver_files", sentence).with_advice(format!("Mend {name}, or `unset {name}`."))
        };
        findings.push(finding.with_details(details));
    }
    let others: Vec<String> =
        INFLUENTIAL.iter().filter_map(set).map(|(name, value)| format!("{name}={value}")).collect();
    if !others.is_empty() {
        let sentence = format!("Variables that decide which devices there are: {}.", others.join(", "));
        findings.push(Finding::note("variables", sentence).with_details(json!({ "variables": others })));
    }
    findings
}

fn drivers(circumstances: &Circumstances<'_>) -> Finding {
    let own = [
        circumstances.variable("XDG_DATA_HOME").map(PathBuf::from),
        circumstances.variable("HOME").map(|home| Path::new(&home).join(".local/share")),
    ];
    let own = own.into_iter().flatten().map(|folder| folder.join("vulkan/icd.d"));
    let folders = FOLDERS.iter().map(|folder| circumstances.file(folder)).chain(own);
    let manifests = folders.flat_map(files::entries).filter(|path| path.extension().is_some_and(|end| end == "json"));
    let mut found = Vec::new();
    let mut broken = Vec::new();
    for path in manifests {
        match trouble(circumstances, &path) {
            None => found.push(path.display().to_string()),
            Some(trouble) => broken.push(format!("{} ({trouble})", path.display())),
        }
    }
    let details = json!({ "files": found, "broken": broken });
    let finding = if !broken.is_empty() {
        Finding::warning(
            "vulkan_drivers",
            format!("Files of Vulkan drivers that cannot be loaded: {}.", broken.join(", ")),
        )
        .with_advice("Install the driver again, or remove what is left of it.")
    } else if found.is_empty() {
        Finding::problem("vulkan_drivers", "There is no file of a Vulkan driver in the usual folders.")
            .with_advice("Install the GPU's driver, or Mesa's (Debian, Ubuntu: `mesa-vulkan-drivers`).")
    } else {
        Finding::fine("vulkan_drivers", format!("Files of Vulkan drivers: {}.", found.join(", ")))
    };
    finding.with_details(details)
}

/// Why a driver cannot be loaded. A library that is named by its path has to be there; others are found by the system.
fn trouble(circumstances: &Circumstances<'_>, manifest: &Path) -> Option<String> {
    let Some(text) = files::text(manifest) else { return Some("it cannot be read".to_owned()) };
    let library = match serde_json::from_str::<Manifest>(&text) {
        Ok(manifest) => PathBuf::from(manifest.icd.library_path),
        Err(_) => return Some("it is no such file".to_owned()),
    };
    if library.components().count() == 1 {
        return None;
    }
    // A path without a slash at its start is relative to the file.
    let path = match library.strip_prefix("/") {
        Ok(inside) => circumstances.file(inside),
        Err(_) => manifest.parent()?.join(&library),
    };
    (!path.exists()).then(|| format!("{} is not there", library.display()))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs;

    use super::super::Severity;
    use super::super::adapters::{Listing, severities};
    use super::*;
    use crate::cli::DoctorArgs;

    fn nothing(_: &str) -> Option<String> {
        None
    }

    fn driver(root: &Path, name: &str, library: &str) {
        let folder = root.join("usr/share/vulkan/icd.d");
        fs::create_dir_all(&folder).unwrap();
        let text = json!({ "file_format_version": "1.0.0", "ICD": { "library_path": library, "api_version": "1.3" } });
        fs::write(folder.join(name), text.to_string()).unwrap();
    }

    fn found(root: &Path, variable: fn(&str) -> Option<String>) -> Vec<Finding> {
        let arguments = DoctorArgs::of_a_test();
        examine(&mut Circumstances::of_a_test(&arguments, root, Listing::default(), variable))
    }

    #[test]
    fn a_machine_without_vulkan_is_told_what_to_install() {
        let root = tempfile::tempdir().unwrap();
        let expected = [("vulkan_loader", Severity::Problem), ("vulkan_drivers", Severity::Problem)];
        assert_eq!(severities(&found(root.path(), nothing)), expected);
    }

    #[test]
    fn drivers_are_fine_unless_their_library_is_gone() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("usr/lib")).unwrap();
        fs::write(root.path().join("usr/lib/libvulkan.so.1"), "").unwrap();
        driver(root.path(), "lvp.json", "libvulkan_lvp.so");
        let fine = [("vulkan_loader", Severity::Fine), ("vulkan_drivers", Severity::Fine)];
        assert_eq!(severities(&found(root.path(), nothing)), fine);
        driver(root.path(), "gone.json", "/opt/gone/libgone.so");
        let findings = found(root.path(), nothing);
        assert_eq!(findings[1].severity, Severity::Warning);
        assert!(findings[1].sentence.contains("gone.json (/opt/gone/libgone.so is not there)"), "{findings:?}");
        fs::create_dir_all(root.path().join("opt/gone")).unwrap();
        fs::write(root.path().join("opt/gone/libgone.so"), "").unwrap();
        assert_eq!(severities(&found(root.path(), nothing)), fine);
    }

    #[test]
    fn a_variable_that_names_a_missing_driver_is_a_problem() {
        let root = tempfile::tempdir().unwrap();
        let set = |name: &str| (name == "VK_ICD_FILENAMES").then(|| "/no/such/icd.json".to_owned());
        let findings = found(root.path(), set);
        assert_eq!((findings[1].name, findings[1].severity), ("vulkan_driver_files", Severity::Problem));
        assert!(
            findings[1].sentence.contains("VK_ICD_FILENAMES") && findings[1].sentence.contains("/no/such/icd.json")
        );
    }
}
