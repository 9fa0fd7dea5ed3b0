//! The libraries that Burn's back ends of single makers load.

use engine::BACKENDS;
use serde_json::json;

use super::{Chapter, Circumstances, Examination, Finding, files};

pub(super) const EXAMINATION: Examination = Examination { chapter: Chapter::Graphics, title: "CUDA and ROCm", examine };

/// What a back end needs of its platform: each thing under any of its names.
struct Platform {
    backend: &'static str,
    name: &'static str,
    finding: &'static str,
    libraries: &'static [&'static [&'static str]],
    advice: &'static str,
}

const PLATFORMS: [Platform; 2] = [
    Platform {
        backend: "burn-cuda",
        name: "CUDA",
        finding: "cuda_libraries",
        libraries: &[
            &["libcuda.so.1", "libcuda.so"],
            &["libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"],
        ],
        advice: "libcuda comes with NVIDIA's driver, libnvrtc with the CUDA toolkit; LD_LIBRARY_PATH may name its folder, \
                 such as /usr/local/cuda/lib64.",
    },
    Platform {
        backend: "burn-rocm",
        name: "ROCm",
        finding: "rocm_libraries",
        libraries: &[
            &["libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6"],
            &["libhiprtc.so", "libhiprtc.so.7", "libhiprtc.so.6"],
        ],
        advice: "They come with AMD's ROCm; LD_LIBRARY_PATH may name their folder, such as /opt/rocm/lib.",
    },
];

fn examine(circumstances: &mut Circumstances<'_>) -> Vec<Finding> {
    if !cfg!(target_os = "linux") {
        return Vec::new();
    }
    let is_built = |platform: &&Platform| BACKENDS.iter().any(|backend| backend.name == platform.backend);
    PLATFORMS.iter().filter(is_built).map(|platform| judge(platform, circumstances)).collect()
}

fn judge(platform: &Platform, circumstances: &Circumstances<'_>) -> Finding {
    let mut found = Vec::new();
    let mut missing = Vec::new();
    for names in platform.libraries {
        match names.iter().find_map(|name| files::library(circumstances, name)) {
            Some(path) => found.push(path.display().to_string()),
            None => missing.push(names[0]),
        }
    }
    let details = json!({ "found": found, "missing": missing });
    let finding = if missing.is_empty() {
        Finding::fine(platform.finding, format!("Libraries of {}: {}.", platform.name, found.join(", ")))
    } else {
        // Other folders may be in the loader's list: the trace of the back end says whether they are.
        let missing = missing.join(", ");
        Finding::warning(platform.finding, format!("{missing} of {} is not in the usual folders.", platform.name))
            .with_advice(platform.advice)
    };
    finding.with_details(details)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::Severity;
    use super::super::adapters::Listing;
    use super::*;
    use crate::cli::DoctorArgs;

    #[test]
    fn libraries_are_found_under_any_of_their_names() {
        let root = tempfile::tempdir().unwrap();
        let arguments = DoctorArgs::of_a_test();
        let circumstances = Circumstances::of_a_test(&arguments, root.path(), Listing::default(), |_| None);
        let found = judge(&PLATFORMS[0], &circumstances);
        assert_eq!(found.severity, Severity::Warning);
        assert!(found.sentence.starts_with("libcuda.so.1, libnvrtc.so of CUDA"), "{}", found.sentence);
        fs::create_dir_all(root.path().join("usr/lib64")).unwrap();
        for name in ["libcuda.so", "libnvrtc.so.12"] {
            fs::write(root.path().join("usr/lib64").join(name), "").unwrap();
        }
        assert_eq!(judge(&PLATFORMS[0], &circumstances).severity, Severity::Fine);
    }
}
