//! Golden traces, and other tests that need whole networks.

#[path = "../../src/testing/real_data.rs"]
mod real_data;
#[path = "../../src/testing/skipped.rs"]
mod skipped;
mod traces;
mod whole_runs;

use std::rc::Rc;
use std::time::Instant;

use engine::backends::{self, Opening};
use engine::{AdapterChoice, Backend, DataSet, EngineError, data_set};
use results::Precision;
use skipped::skipped;

struct Stopwatch(Instant);

impl engine::Clock for Stopwatch {
    fn now_seconds(&self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }
}

/// Calls `compute` with each number in a process that runs only `test`, the calling test, because a program creates its
/// thread pool only once. Panics if a process fails, or if `test` is not the path of a test.
#[cfg(feature = "burn-flex")]
fn alone(test: &str, numbers: &[usize], compute: impl FnOnce(usize)) {
    const NUMBER: &str = "GRADMARK_TEST_ALONE";

    if let Ok(number) = std::env::var(NUMBER) {
        return compute(number.parse().unwrap());
    }
    for number in numbers.iter().map(usize::to_string) {
        let mut program = std::process::Command::new(std::env::current_exe().unwrap());
        program.args(["--exact", test, "--include-ignored", "--nocapture"]).env(NUMBER, &number);
        let output = program.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        eprintln!("{said}");
        assert!(output.status.success(), "{test} failed in a separate process with {number}:\n{said}");
        assert!(said.contains("1 passed"), "no test has the name {test}");
    }
}

fn open(name: &str, opening: &Opening) -> Result<Box<dyn Backend>, EngineError> {
    pollster::block_on(backends::open_with(name, opening, Rc::new(Stopwatch(Instant::now()))))
}

/// Opens a backend on the best adapter, or on a software one. Skips the test if neither opens.
fn opened(name: &str) -> Option<Box<dyn Backend>> {
    let open = |choice| open(name, &Opening::new(Precision::F32, &choice));
    let opened = open(AdapterChoice::Any).or_else(|_| open(AdapterChoice::Cpu));
    opened.map_err(|error| skipped(true, format!("{name}: {error}"))).ok()
}

#[cfg(feature = "burn-flex")]
fn open_burn(processor: Option<&str>, threads: usize) -> Result<Box<dyn Backend>, EngineError> {
    let (threads, processor) = (std::num::NonZero::new(threads), processor.map(str::to_owned));
    open(backends::BURN_FLEX, &Opening { threads, processor, ..Opening::new(Precision::F32, &AdapterChoice::Any) })
}

#[cfg(feature = "burn-flex")]
#[test]
fn the_pool_keeps_the_requested_number_of_threads() {
    // Differs from rayon's default and from the number of cores.
    let unusual = std::thread::available_parallelism().unwrap().get() + 1;
    alone("the_pool_keeps_the_requested_number_of_threads", &[unusual], |asked| {
        assert_eq!(open_burn(None, asked).unwrap().adapter().name, format!("processor (Burn, {asked} threads)"));
        assert_eq!(rayon::current_num_threads(), asked);
        // A name from the caller replaces ours.
        let named = open_burn(Some("AMD EPYC 9B14"), asked).unwrap();
        assert_eq!(named.adapter().name, format!("AMD EPYC 9B14 (Burn, {asked} threads)"));
        let error = open_burn(None, asked + 1).err().unwrap().to_string();
        assert!(error.contains(&format!("{} threads", asked + 1)), "{error}");
        assert_eq!(rayon::current_num_threads(), asked);
    });
}
