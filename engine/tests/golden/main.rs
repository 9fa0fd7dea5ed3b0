//! Golden traces, and other tests that need whole networks.

#[path = "../../src/testing/skipped.rs"]
mod skipped;
#[cfg(feature = "burn-flex")]
mod threads;
mod traces;
mod whole_runs;

use std::env;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use engine::backends;
use engine::{AdapterChoice, Backend, DataSet, data_set};
use skipped::skipped;

struct Clock(Instant);

impl Default for Clock {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl engine::Clock for Clock {
    fn now_seconds(&self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }
}

/// Returns a data set from `GRADMARK_DATA` or the workspace's data folder.
fn data(set: &str) -> Arc<DataSet> {
    let folder = env::var_os("GRADMARK_DATA")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../data"), PathBuf::from);
    let definition = data_set(set).unwrap();
    if let Some(generated) = DataSet::generated(definition) {
        // The traces use the same generated stories.
        return Arc::new(generated);
    }
    let read = |name: &str| {
        std::fs::read(folder.join(name))
            .unwrap_or_else(|error| panic!("{}: {error}; `cargo xtask data` fetches it", folder.join(name).display()))
    };
    let [train, test] = definition.file_names().expect("what is not generated has files").map(read);
    Arc::new(DataSet::from_files(definition, train, test).unwrap())
}

/// Calls `compute` in a process that runs only `test`, the calling test, because a program creates its thread pool only
/// once. Panics if that process fails, or if `test` is not the path of a test.
#[cfg(feature = "burn-flex")]
fn alone(test: &str, compute: impl FnOnce()) {
    const ALONE: &str = "GRADMARK_TEST_ALONE";

    if env::var(ALONE).as_deref() == Ok(test) {
        return compute();
    }
    let mut program = std::process::Command::new(env::current_exe().unwrap());
    let output = program.args(["--exact", test, "--include-ignored", "--nocapture"]).env(ALONE, test).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    eprintln!("{said}");
    assert!(output.status.success(), "{test} failed in a separate process:\n{said}");
    assert!(said.contains("1 passed"), "no test has the name {test}");
}

/// Opens the `wgsl` backend on the best adapter, or on a software one. Skips the test if neither opens.
fn gpu() -> Option<Box<dyn Backend>> {
    opened("wgsl")
}

fn opened(name: &str) -> Option<Box<dyn Backend>> {
    let open = |choice| pollster::block_on(backends::open(name, &choice, Rc::new(Clock::default())));
    let opened = open(AdapterChoice::Any).or_else(|_| open(AdapterChoice::Cpu));
    if let Err(error) = &opened {
        skipped(true, format!("{name}: {error}"));
    }
    opened.ok()
}
