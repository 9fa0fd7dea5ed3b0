//! Tensors that nobody trains.

use super::flex;
use crate::backends::wgsl::workload_tests::job;
use crate::train::check::against_reference;
use crate::train::check::tests::whitened;

/// Burn computes no gradients of what nobody trains: of a whitening kernel, and of a scale that is fixed.
#[test]
fn a_network_with_fixed_tensors_passes_the_check() {
    let Some(backend) = flex() else { return };
    let workload = whitened();
    let job = job(&workload);
    let checked = pollster::block_on(against_reference(&workload, &job, backend.as_ref())).unwrap();
    assert_eq!(checked.disagreement(), None);
}
