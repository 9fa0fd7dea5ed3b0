//! Number of threads that Burn uses on the processor.

use std::num::NonZero;

use engine::backends::{BURN_FLEX, Opening};
use engine::{AdapterChoice, Backend, EngineError};
use results::Precision;

use crate::alone;

pub(crate) fn open(processor: Option<&str>, threads: usize) -> Result<Box<dyn Backend>, EngineError> {
    let (threads, processor) = (NonZero::new(threads), processor.map(str::to_owned));
    crate::open(BURN_FLEX, &Opening { threads, processor, ..Opening::new(Precision::F32, &AdapterChoice::Any) })
}

#[test]
fn the_pool_keeps_the_requested_number_of_threads() {
    // Differs from rayon's default and from the number of cores.
    let unusual = std::thread::available_parallelism().unwrap().get() + 1;
    alone("threads::the_pool_keeps_the_requested_number_of_threads", &[unusual], |asked| {
        assert_eq!(open(None, asked).unwrap().adapter().name, format!("processor (Burn, {asked} threads)"));
        assert_eq!(rayon::current_num_threads(), asked);
        // A name from the caller replaces ours.
        let named = open(Some("AMD EPYC 9B14"), asked).unwrap();
        assert_eq!(named.adapter().name, format!("AMD EPYC 9B14 (Burn, {asked} threads)"));
        let error = open(None, asked + 1).err().unwrap().to_string();
        assert!(error.contains(&format!("{} threads", asked + 1)), "{error}");
        assert_eq!(rayon::current_num_threads(), asked);
    });
}
