//! Number of threads that Burn uses on the processor.

use std::num::NonZero;
use std::rc::Rc;
use std::thread;

use engine::backends::{self, BURN_FLEX, Opening};
use engine::{AdapterChoice, Backend, EngineError};
use results::Precision;

use crate::{Clock, alone};

fn open(processor: Option<&str>, threads: usize) -> Result<Box<dyn Backend>, EngineError> {
    let (threads, processor) = (NonZero::new(threads), processor.map(str::to_owned));
    let opening = Opening { threads, processor, ..Opening::new(Precision::F32, &AdapterChoice::Any) };
    pollster::block_on(backends::open_with(BURN_FLEX, &opening, Rc::new(Clock::default())))
}

#[test]
fn the_pool_keeps_the_requested_number_of_threads() {
    alone("threads::the_pool_keeps_the_requested_number_of_threads", ask_for_threads_again_and_again);
}

fn ask_for_threads_again_and_again() {
    // Differs from rayon's default and from the number of cores.
    let asked = thread::available_parallelism().unwrap().get() + 1;
    assert_eq!(open(None, asked).unwrap().adapter().name, format!("processor (Burn, {asked} threads)"));
    assert_eq!(rayon::current_num_threads(), asked);
    // A name from the caller replaces ours.
    let named = open(Some("AMD EPYC 9B14"), asked).unwrap();
    assert_eq!(named.adapter().name, format!("AMD EPYC 9B14 (Burn, {asked} threads)"));
    let error = open(None, asked + 1).err().unwrap().to_string();
    assert!(error.contains(&format!("{} threads", asked + 1)), "{error}");
    assert_eq!(rayon::current_num_threads(), asked);
}
