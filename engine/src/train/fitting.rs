//! Prediction of the batch size that fits, before any allocation.

use std::sync::Arc;

use results::{DeviceKind, Warning};

use super::settings::job_settings;
use super::{Edges, RunRequest};
use crate::error::{EngineError, Result};
use crate::trainer::{Backend, TrainingJob};
use crate::workload::Workload;

/// Number of networks in memory at once. The check trains a second network while the first one keeps its memory.
const NETWORKS_AT_ONCE: u64 = 2;

/// Returns the workload with the largest batch that fits: the recipe's, or a smaller power of two with a warning. Only
/// workloads that are never ranked get a smaller batch, and only if no batch size was requested.
pub(super) async fn fitted(
    request: &RunRequest,
    workload: &Workload,
    backend: &dyn Backend,
    edges: &mut Edges<'_>,
) -> Result<(Workload, Option<Warning>)> {
    let definition = workload.data_set_definition();
    if request.spec.batch_size.is_some() || !definition.origin.is_always_generated() {
        return Ok((workload.clone(), None));
    }
    let data = edges.data.load(definition).await?;
    let free_bytes = free_bytes(backend, edges);
    let mut refused = Vec::new();
    for batch_size in sizes(workload.batch_size, backend.devices()) {
        let trial = Workload { batch_size, ..workload.clone() };
        let settings = job_settings(request, &trial)?;
        let job = trial.job(Arc::clone(&data), settings.batches, request.spec.seed);
        match check_fits(backend, free_bytes, &trial, &job) {
            Ok(()) => {
                let smaller = refused.first().map(|&(_, needed_bytes, allowed_bytes)| Warning::SmallerBatch {
                    workload: trial.name.to_owned(),
                    asked: workload.batch_size,
                    used: batch_size,
                    needed_bytes,
                    allowed_bytes,
                });
                return Ok((trial, smaller));
            }
            Err(EngineError::DoesNotFit { what, needed_bytes, allowed_bytes }) => {
                refused.push((what, needed_bytes, allowed_bytes));
            }
            Err(error) => return Err(error),
        }
    }
    let (what, needed_bytes, allowed_bytes) = refused.pop().expect("the recipe's batch was tried");
    Err(EngineError::NoBatchFits { workload: workload.name.to_owned(), what, needed_bytes, allowed_bytes })
}

/// Returns the recipe's batch size, followed by smaller powers of two with at least one sample per device.
fn sizes(recipe: u32, devices: u32) -> impl Iterator<Item = u32> {
    let below = (0..u32::BITS).rev().map(|power| 1 << power).filter(move |size| (devices..recipe).contains(size));
    std::iter::once(recipe).chain(below)
}

/// Returns the machine's free memory, if the device shares it.
pub(super) fn free_bytes(backend: &dyn Backend, edges: &Edges<'_>) -> Option<u64> {
    let adapter = backend.adapter();
    let shares_memory = adapter.software || adapter.kind == DeviceKind::Cpu;
    edges.meter.free_memory_bytes().filter(|_| shares_memory)
}

/// Fails if the job does not fit. The free memory of a GPU is unknown, but its binding limits are checked.
pub(super) fn check_fits(
    backend: &dyn Backend,
    free_bytes: Option<u64>,
    workload: &Workload,
    job: &TrainingJob,
) -> Result<()> {
    let (predicted, batch_size) = (backend.predicted_bytes(job)?, job.batches.batch_size);
    let Some(allowed_bytes) = free_bytes else { return Ok(()) };
    let (needed_bytes, with) = match predicted {
        Some(bytes) => (NETWORKS_AT_ONCE * bytes, "with a second network for its check, "),
        // Without a prediction, only the outputs of the layers are counted.
        None => (workload.bytes_of_layers(batch_size)?, ""),
    };
    if needed_bytes <= allowed_bytes {
        return Ok(());
    }
    let what = format!("{} in batches of {batch_size}, {with}in this machine's free memory,", workload.name);
    Err(EngineError::DoesNotFit { what, needed_bytes, allowed_bytes })
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::data::{DataSet, data_set};
    use crate::train::check::faulty::Faulty;
    use crate::train::tests::{FakeClock, Recorder, SmallData, request};
    use crate::train::{Edges, ResourceMeter};

    const LARGE: &str = "resnet50-synthetic";
    const OF_A_SAMPLE: u64 = 100;

    /// Returns a backend that predicts memory per sample, up to a limit.
    fn binding(of_a_sample: u64, binds_bytes: u64) -> Faulty {
        Faulty::predicting(move |batch_size| {
            let (what, needed_bytes) = ("what it binds".to_owned(), of_a_sample * u64::from(batch_size));
            let error = EngineError::DoesNotFit { what, needed_bytes, allowed_bytes: binds_bytes };
            if needed_bytes <= binds_bytes { Ok(Some(needed_bytes)) } else { Err(error) }
        })
    }

    struct Memory(Option<u64>);

    impl ResourceMeter for Memory {
        fn free_memory_bytes(&self) -> Option<u64> {
            self.0
        }
    }

    fn fit(name: &str, backend: &Faulty, free_bytes: Option<u64>, size: Option<u32>) -> Result<(u32, Option<Warning>)> {
        let mut request = request(&[name]);
        request.spec.batch_size = size;
        let mut edges = Edges {
            data: &mut SmallData,
            observer: &mut Recorder::default(),
            clock: &FakeClock(Rc::default()),
            meter: &mut Memory(free_bytes),
            witness: None,
        };
        let (workload, smaller) = pollster::block_on(fitted(&request, &request.workloads[0], backend, &mut edges))?;
        Ok((workload.batch_size, smaller))
    }

    #[test]
    fn uses_the_largest_fitting_power_of_two_with_a_warning() {
        let smaller = |used, needed_bytes, allowed_bytes| {
            let warning =
                Warning::SmallerBatch { workload: LARGE.to_owned(), asked: 32, used, needed_bytes, allowed_bytes };
            (used, Some(warning))
        };
        let cases = [
            (LARGE, 1 << 20, None, None, (32, None)),
            (LARGE, 1 << 20, Some(1 << 20), None, (32, None)),
            (LARGE, 900, None, None, smaller(8, 3200, 900)),
            // Sixteen samples would fit into the free memory without the second network, for the check.
            (LARGE, 1 << 20, Some(1700), None, smaller(8, 6400, 1700)),
            // Requested and ranked batches stay the same.
            (LARGE, 900, None, Some(32), (32, None)),
            ("keras-mnist-mlp", 900, None, None, (128, None)),
        ];
        for (workload, binds_bytes, free_bytes, named, expected) in cases {
            let fitted = fit(workload, &binding(OF_A_SAMPLE, binds_bytes), free_bytes, named).unwrap();
            assert_eq!(fitted, expected, "{workload}, {binds_bytes}, {free_bytes:?}, {named:?}");
        }
    }

    #[test]
    fn without_a_prediction_the_layers_outputs_count() {
        let backend = Faulty::faultless();
        let workload = crate::workload(LARGE).unwrap();
        let free_bytes = workload.bytes_of_layers(4).unwrap() + 1;
        assert_eq!(fit(LARGE, &backend, Some(free_bytes), None).unwrap().0, 4);
        assert_eq!(fit(LARGE, &backend, None, None).unwrap(), (32, None));
    }

    #[test]
    fn a_refusal_has_the_numbers_of_the_smallest_batch() {
        let error = fit(LARGE, &binding(OF_A_SAMPLE, 90), None, None).unwrap_err();
        let EngineError::NoBatchFits { needed_bytes: 100, allowed_bytes: 90, .. } = error else { panic!("{error}") };
        let said = error.to_string();
        assert!(said.contains(LARGE) && said.contains("100 bytes") && said.contains("90 are available"), "{said}");
    }

    #[test]
    fn a_requested_batch_that_does_not_fit_is_refused() {
        let workload = crate::workload(LARGE).unwrap();
        let data = Arc::new(DataSet::generated(data_set(workload.data_set).unwrap()).unwrap());
        let job = crate::steps::job(&workload, 32, 1, data).unwrap();
        let backend = binding(OF_A_SAMPLE, 1 << 20);
        let fits = |bytes| check_fits(&backend, Some(bytes), &workload, &job);
        let said = fits(6399).unwrap_err().to_string();
        assert!(said.starts_with("resnet50-synthetic in batches of 32, with a second network for its check, in"));
        assert!(said.contains("needs 6400 bytes, but this device allows 6399"), "{said}");
        assert!(fits(6400).is_ok());
    }

    #[test]
    fn batches_are_halved_down_to_one_sample_per_device() {
        assert_eq!(sizes(32, 1).collect::<Vec<_>>(), [32, 16, 8, 4, 2, 1]);
        assert_eq!(sizes(48, 4).collect::<Vec<_>>(), [48, 32, 16, 8, 4]);
    }
}
