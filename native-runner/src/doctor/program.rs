use engine::backends::KNOWN_BACKENDS;
use engine::{BACKENDS, BackendDefinition};
use serde_json::json;

use super::{Chapter, Circumstances, Examination, Finding};
use crate::provenance::operating_system;

pub(super) const EXAMINATION: Examination = Examination { chapter: Chapter::Program, title: "this program", examine };

fn examine(_: &mut Circumstances<'_>) -> Vec<Finding> {
    let missing: Vec<&BackendDefinition> =
        KNOWN_BACKENDS.iter().filter(|known| BACKENDS.iter().all(|built| built.name != known.name)).collect();
    let mut findings = vec![version(cfg!(debug_assertions)), built()];
    findings.extend(not_built(&missing));
    let untuned = BACKENDS.iter().any(|built| built.name == "burn-wgpu") && !cfg!(feature = "burn-tuned");
    findings.extend(untuned.then(|| {
        Finding::note("burn_untuned", "burn-wgpu is built without Burn's fusion and autotune, which it has by default.")
            .with_advice(
                "On a real GPU build with `--features burn-wgpu,burn-tuned`; software adapters are refused then.",
            )
    }));
    findings
}

fn version(unoptimised: bool) -> Finding {
    let (version, commit) = (env!("CARGO_PKG_VERSION"), env!("GRADMARK_COMMIT"));
    let (system, architecture) = (operating_system(), std::env::consts::ARCH);
    let details = json!({
        "version": version, "commit": commit, "operating_system": system, "architecture": architecture,
        "optimised": !unoptimised,
    });
    let sentence = format!("native-runner {version}, commit {commit}, for {system} on {architecture}.");
    let finding = if unoptimised {
        Finding::warning(
            "version",
            format!(
                "{sentence} It was built without optimisation, so that the processor's part of every figure is slow."
            ),
        )
        .with_advice("Build with `cargo build --release`.")
    } else {
        Finding::fine("version", sentence)
    };
    finding.with_details(details)
}

fn built() -> Finding {
    let names: Vec<&str> = BACKENDS.iter().map(|backend| backend.name).collect();
    Finding::fine("backends", format!("Its back ends: {}.", names.join(", "))).with_details(json!({ "built": names }))
}

fn not_built(missing: &[&BackendDefinition]) -> Option<Finding> {
    let names: Vec<&str> = missing.iter().map(|backend| backend.name).collect();
    let features: Vec<&str> = missing.iter().filter_map(|backend| backend.feature()).collect();
    let example = features.first()?;
    let advice = format!(
        "Each is a cargo feature of its name: `cargo run --release -p native-runner --features {example} -- …` in a \
         checkout. `native-runner backends` says what each is."
    );
    let finding = Finding::note("backends_not_built", format!("Not in this program: {}.", names.join(", ")));
    Some(finding.with_advice(advice).with_details(json!({ "not_built": names, "cargo_features": features })))
}

#[cfg(test)]
mod tests {
    use super::super::Severity;
    use super::*;

    #[test]
    fn back_ends_that_are_missing_come_with_the_feature_that_adds_them() {
        let missing: Vec<&BackendDefinition> =
            KNOWN_BACKENDS.iter().filter(|known| known.name.starts_with("burn-c")).collect();
        let found = not_built(&missing).unwrap();
        assert_eq!(found.severity, Severity::Note);
        assert!(found.advice.is_some_and(|advice| advice.contains("--features burn-cuda ")));
        assert_eq!(not_built(&[]), None);
    }

    #[test]
    fn a_program_that_was_not_optimised_is_warned_of() {
        assert_eq!(version(true).severity, Severity::Warning);
        assert_eq!((version(false).severity, version(false).advice), (Severity::Fine, None));
    }
}
