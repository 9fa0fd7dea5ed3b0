//! Which batch fits: predicted before anything is allocated.

use std::sync::Arc;

use results::{Adapter, DeviceKind, Warning};

use super::settings::job_settings;
use super::{Edges, RunRequest};
use crate::data::data_set;
use crate::error::EngineError;
use crate::trainer::{Backend, TrainingJob};
use crate::workload::{Training, Workload};

/// The network that is timed keeps its place while the check trains a second one on a batch as large.
const NETWORKS_AT_ONCE: u64 = 2;

/// A workload with the batch that it is trained with.
pub(super) struct Fitted {
    pub(super) workload: Workload,
    /// Said where that is not the recipe's.
    pub(super) smaller: Option<Warning>,
}

/// The workload with the largest batch that fits: the recipe's, or the largest power of two below it. Only a workload that is
/// never ranked gets a smaller one, and only where nobody asked for a batch size.
///
/// # Errors
/// No batch fits: what the smallest one needs. Whatever the back end lacks, and data that cannot be had.
pub(super) async fn fitted(
    request: &RunRequest,
    workload: &Workload,
    backend: &dyn Backend,
    edges: &mut Edges<'_>,
) -> Result<Fitted, EngineError> {
    let definition = data_set(workload.data_set).expect("a test holds every workload to a known data set");
    if request.batch_size.is_some() || !definition.origin.is_always_generated() {
        return Ok(Fitted { workload: workload.clone(), smaller: None });
    }
    let data = edges.data.load(definition).await?;
    let room = Room::of(backend, edges);
    let mut refused: Vec<Refused> = Vec::new();
    for batch_size in sizes(workload.batch_size, backend.devices()) {
        let trial = Workload { batch_size, ..workload.clone() };
        let settings = job_settings(request, &trial, definition.train.samples)?;
        let job = trial.job(Training {
            data: Arc::clone(&data),
            batches: settings.batches,
            planned_steps: settings.planned_steps,
            seed: request.seed,
            dropout: true,
        });
        match room.holds(&trial, &job) {
            Ok(()) => {
                let smaller = refused.first().map(|recipes| recipes.instead_of(workload.batch_size, &trial));
                return Ok(Fitted { workload: trial, smaller });
            }
            Err(EngineError::DoesNotFit { what, needed_bytes, allowed_bytes }) => {
                refused.push(Refused { what, needed_bytes, allowed_bytes });
            }
            Err(error) => return Err(error),
        }
    }
    let Refused { what, needed_bytes, allowed_bytes } = refused.pop().expect("the recipe's batch was tried");
    Err(EngineError::NoBatchFits { workload: workload.name.to_owned(), what, needed_bytes, allowed_bytes })
}

/// A batch that does not fit.
struct Refused {
    what: String,
    needed_bytes: u64,
    allowed_bytes: u64,
}

impl Refused {
    /// What is said of the smaller batch of `trained`, where this one of `asked` samples does not fit.
    fn instead_of(&self, asked: u32, trained: &Workload) -> Warning {
        Warning::SmallerBatch {
            workload: trained.name.to_owned(),
            asked,
            used: trained.batch_size,
            needed_bytes: self.needed_bytes,
            allowed_bytes: self.allowed_bytes,
        }
    }
}

/// The recipe's batch size, and the powers of two below it down to one sample for each device.
fn sizes(recipe: u32, devices: u32) -> impl Iterator<Item = u32> {
    let below = (0..u32::BITS).rev().map(|power| 1 << power).filter(move |size| (devices..recipe).contains(size));
    std::iter::once(recipe).chain(below)
}

/// Where a workload is to be trained, and what is free there.
pub(super) struct Room<'a> {
    backend: &'a dyn Backend,
    /// Of the machine's memory, where the device has none of its own.
    free_bytes: Option<u64>,
}

impl<'a> Room<'a> {
    pub(super) fn of(backend: &'a dyn Backend, edges: &Edges<'_>) -> Self {
        let shares_memory = is_processor(backend.adapter());
        Self { backend, free_bytes: edges.meter.free_memory_bytes().filter(|_| shares_memory) }
    }

    /// Refuses a job that does not fit. Of a GPU's memory nobody tells, but what it binds at once is known.
    ///
    /// # Errors
    /// What does not fit, with both numbers, and whatever the back end lacks.
    pub(super) fn holds(&self, workload: &Workload, job: &TrainingJob) -> Result<(), EngineError> {
        let predicted = self.backend.predicted_bytes(job)?;
        let Some(allowed_bytes) = self.free_bytes else { return Ok(()) };
        let batch_size = job.batches.batch_size;
        let (needed_bytes, with) = match predicted {
            Some(bytes) => (NETWORKS_AT_ONCE * bytes, "with a second network for its check, "),
            // A back end that cannot tell keeps at least what its layers make.
            None => (workload.bytes_of_layers(batch_size)?, ""),
        };
        if needed_bytes <= allowed_bytes {
            return Ok(());
        }
        let what = format!("{} in batches of {batch_size}, {with}in this machine's free memory,", workload.name);
        Err(EngineError::DoesNotFit { what, needed_bytes, allowed_bytes })
    }
}

/// Whether the device computes on the machine's processor, and keeps everything in its memory.
fn is_processor(adapter: &Adapter) -> bool {
    adapter.software || adapter.kind == DeviceKind::Cpu
}

#[cfg(test)]
mod tests;
