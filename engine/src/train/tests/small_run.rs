//! Runs small enough for plain loops, on a back end that breaks down when told.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use async_trait::async_trait;
use results::{RunRecord, Warning};

use super::pretend::{FakeClock, Recorder};
use crate::backends::reference::ReferenceBackend;
use crate::data::{DataError, DataSet, DataSetDefinition, DataSource, Split};
use crate::error::EngineError;
use crate::testing::narrow;
use crate::train::{Edges, Limit, NoMeter, RunRequest, Stopped};
use crate::trainer::{Backend, Trainer, TrainingJob};

/// Trains with plain loops, and fails with one workload.
pub(crate) struct BreaksDown {
    reference: ReferenceBackend<f32>,
    /// The workload.
    name: &'static str,
    error: fn() -> EngineError,
    /// Whether anything can be trained afterwards.
    recovers: bool,
}

impl BreaksDown {
    pub(crate) fn with(name: &'static str, error: fn() -> EngineError) -> Self {
        Self { reference: ReferenceBackend::new(), name, error, recovers: true }
    }

    pub(crate) fn for_good(self) -> Self {
        Self { recovers: false, ..self }
    }
}

pub(crate) fn device_lost() -> EngineError {
    EngineError::DeviceLost { message: "a test pulled the plug".to_owned() }
}

#[async_trait(?Send)]
impl Backend for BreaksDown {
    fn name(&self) -> &'static str {
        "breaks-down"
    }

    fn adapter(&self) -> &results::Adapter {
        self.reference.adapter()
    }

    fn precision(&self) -> results::Precision {
        self.reference.precision()
    }

    fn warnings(&self) -> Vec<Warning> {
        vec![Warning::Untuned { backend: self.name().to_owned() }]
    }

    async fn build(&self, job: &TrainingJob) -> Result<Box<dyn Trainer>, EngineError> {
        if job.model.name == self.name {
            return Err((self.error)());
        }
        self.reference.build(job).await
    }

    async fn recover(&self) -> Result<(), EngineError> {
        if self.recovers { Ok(()) } else { Err(device_lost()) }
    }
}

/// Serves sets small enough for plain loops.
pub(crate) struct SmallData;

#[async_trait(?Send)]
impl DataSource for SmallData {
    async fn load(&mut self, definition: &'static DataSetDefinition) -> Result<Arc<DataSet>, DataError> {
        let split = |samples: u32| Split {
            images: (0..=250u8).cycle().take((samples * definition.train.features()) as usize).collect(),
            labels: (0..10).cycle().take(samples as usize).collect(),
        };
        // The header promises as many samples as the real set has.
        Ok(Arc::new(DataSet::new(definition, split(definition.train.samples), split(100), false)))
    }
}

pub(crate) fn request(workloads: &[&str]) -> RunRequest {
    RunRequest {
        suite: crate::suite("quick").unwrap(),
        workloads: workloads.iter().map(|name| crate::workload(name).unwrap()).collect(),
        seed: 1,
        batch_size: Some(2),
        learning_rate: None,
        limit: Some(Limit::Steps(2)),
        target_accuracy: None,
        registration: None,
        provenance: results::Provenance {
            engine_version: "0".to_owned(),
            commit: "unknown".to_owned(),
            started_unix_seconds: 0.0,
            wall_seconds: 0.0,
            client: results::Client {
                kind: results::ClientKind::Native,
                name: "a test".to_owned(),
                version: "0".to_owned(),
                operating_system: "unknown".to_owned(),
                logical_processors: None,
            },
        },
        requested_adapter: "any".to_owned(),
        requested_backend: "breaks-down".to_owned(),
        claimed_name: None,
    }
}

/// Returns [`request`] for [`narrow`] networks.
pub(crate) fn narrow_request(workloads: &[&str]) -> RunRequest {
    let mut request = request(workloads);
    for workload in &mut request.workloads {
        workload.model = narrow(workload.model.clone());
    }
    request
}

pub(crate) fn run(request: &RunRequest, backend: &dyn Backend) -> Result<RunRecord, Stopped> {
    run_with(&mut SmallData, request, backend)
}

pub(crate) fn run_with(
    data: &mut dyn DataSource,
    request: &RunRequest,
    backend: &dyn Backend,
) -> Result<RunRecord, Stopped> {
    run_before(&mut Recorder::default(), data, request, backend)
}

pub(crate) fn run_before(
    observer: &mut Recorder,
    data: &mut dyn DataSource,
    request: &RunRequest,
    backend: &dyn Backend,
) -> Result<RunRecord, Stopped> {
    let mut edges =
        Edges { data, observer, clock: &FakeClock(Rc::new(Cell::new(0.0))), meter: &mut NoMeter, witness: None };
    pollster::block_on(crate::train::run(request, backend, &mut edges))
}
