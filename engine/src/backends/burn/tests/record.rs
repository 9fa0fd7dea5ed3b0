//! What records and warnings say of Burn.

use results::Adapter;

use super::{IMAGE, backends, job_of, logits};
use crate::backends::burn::first_use::FirstUse;
use crate::backends::burn::{TUNED, VERSION, is_untuned_gpu};
use crate::backends::reference::ReferenceBackend;
use crate::model::Model;
use crate::trainer::Backend;

#[test]
fn the_record_names_the_version_that_is_built_in() {
    let manifest = include_str!("../../../../Cargo.toml");
    assert!(manifest.contains(&format!("burn-tensor = {{ version = \"={VERSION}\"")), "{VERSION}");
}

#[test]
fn only_a_gpu_that_burn_was_not_built_to_tune_for_is_warned_of() {
    let adapter = |software| Adapter { software, ..ReferenceBackend::<f32>::new().adapter().clone() };
    assert!(is_untuned_gpu(FirstUse::Compiles, &adapter(false)));
    assert!(!is_untuned_gpu(FirstUse::Compiles, &adapter(true)), "nobody tunes for a software adapter");
    assert!(!is_untuned_gpu(FirstUse::CompilesAndTunes, &adapter(false)));
    assert!(!is_untuned_gpu(FirstUse::Ordinary, &adapter(false)), "the processor compiles nothing");
    for backend in backends() {
        let gpu = backend.name() != "burn-flex" && !backend.adapter().software;
        assert_eq!(backend.warnings().len(), usize::from(gpu && !TUNED), "{}", backend.name());
    }
}

#[test]
fn the_record_says_what_is_fused_and_tuned() {
    // No other feature may turn them on.
    let manifest = include_str!("../../../../Cargo.toml");
    for word in ["fusion", "autotune"] {
        assert!(manifest.contains(&format!("\"burn-tensor?/{word}\"")), "{word}");
        assert_eq!(manifest.matches(&format!("/{word}\"")).count(), 1, "{word}");
    }
    let job = job_of(Model::sequence("small", IMAGE, vec![logits()]));
    for backend in backends() {
        let compiles = backend.name() != "burn-flex";
        let state = if compiles && TUNED { "on" } else { "off" };
        let trainer = pollster::block_on(backend.build(&job)).unwrap();
        for part in ["fusion", "autotune"] {
            assert!(trainer.variants().contains(&format!("burn {part}: {state}")), "{}", backend.name());
        }
        let preparation = trainer.preparation();
        assert_eq!(preparation.compiling_seconds.is_some(), compiles && !TUNED, "{preparation:?}");
        assert_eq!(preparation.tuning_seconds.is_some(), compiles && TUNED, "{preparation:?}");
        assert!(trainer.device_memory_bytes() > 0, "{}", backend.name());
    }
}
