//! Training in segments.

use super::{flex, jobs_of_every_rule};
use crate::backends::reference::ReferenceBackend;
use crate::backends::segment_tests::{NORMALIZED, OF_EVERY_KIND, assert_close, repeated};
use crate::backends::wgsl::workload_tests::narrow_job;

#[test]
fn segments_train_again_to_the_last_bit_and_as_the_reference() {
    let Some(backend) = flex() else { return };
    let narrow = |name| narrow_job(&crate::workload(name).unwrap());
    for job in OF_EVERY_KIND.map(narrow).into_iter().chain(jobs_of_every_rule()) {
        let found = repeated(backend.as_ref(), &job);
        assert_close(&job, &found, &repeated(&ReferenceBackend::<f32>::new(), &job));
    }
    for name in NORMALIZED {
        repeated(backend.as_ref(), &narrow(name));
    }
}
