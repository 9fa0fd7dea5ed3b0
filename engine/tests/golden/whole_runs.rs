//! Runs and checks of whole networks on real data.

use std::num::NonZero;
use std::rc::Rc;
use std::sync::Arc;

use async_trait::async_trait;
use engine::backends::reference::ReferenceBackend;
use engine::{
    AdapterChoice, Backend, DataError, DataSet, DataSetDefinition, DataSource, Edges, EngineError, EvaluationSet,
    Event, NoMeter, Observer, RunRequest, SUITES, StepReport, TestReport, Trainer, TrainingJob, Workload, backends,
    check_workload,
};
use results::{
    Adapter, Client, ClientKind, Compared, Correctness, Departure, Length, Precision, Provenance, RunSpec,
    WorkloadRecord,
};

use crate::skipped::skipped;
use crate::{Clock, data, gpu};

/// Number of steps, a third of an epoch: enough to see learning, and a few seconds on an emulated GPU.
const STEPS: u64 = 150;

struct RealData;

#[async_trait(?Send)]
impl DataSource for RealData {
    async fn load(&mut self, definition: &'static DataSetDefinition) -> Result<Arc<DataSet>, DataError> {
        Ok(data(&definition.name))
    }
}

struct Nobody;

impl Observer<Event> for Nobody {
    fn event(&mut self, _event: &Event) {}
}

/// Returns the perceptron's record after [`STEPS`] steps, and its departures from the standard.
fn trained(backend: &dyn Backend) -> (WorkloadRecord, Vec<Departure>) {
    let client = Client {
        kind: ClientKind::Native,
        name: "test".to_owned(),
        version: "0".to_owned(),
        operating_system: "unknown".to_owned(),
        logical_processors: None,
    };
    let provenance = Provenance {
        engine_version: "0".to_owned(),
        commit: "unknown".to_owned(),
        started_unix_seconds: 0.0,
        wall_seconds: 0.0,
        client,
    };
    let request = RunRequest {
        spec: RunSpec {
            suite: SUITES[0].name.to_owned(),
            backend: backend.name().to_owned(),
            adapter: "any".to_owned(),
            precision: backend.precision(),
            seed: 5,
            length: NonZero::new(STEPS).map(Length::Steps),
            ..RunSpec::default()
        },
        suite: &SUITES[0],
        workloads: vec![engine::workload("keras-mnist-mlp").unwrap()],
        registration: None,
        provenance,
        claimed_name: None,
    };
    let clock = Clock::default();
    let mut edges =
        Edges { data: &mut RealData, observer: &mut Nobody, clock: &clock, meter: &mut NoMeter, witness: None };
    let mut record = pollster::block_on(engine::run(&request, backend, &mut edges)).unwrap();
    (record.workloads.remove(0), record.departures)
}

#[test]
#[ignore = "trains a third of an epoch in each precision"]
fn the_perceptron_learns_digits_in_f16_as_in_f32() {
    let Some(single) = gpu() else { return };
    let half = [AdapterChoice::Any, AdapterChoice::Cpu].map(|choice| {
        pollster::block_on(backends::open_in(Precision::F16, "wgsl", &choice, Rc::new(Clock::default())))
    });
    let without_f16 = half.iter().find_map(|opened| match opened {
        Err(EngineError::NoPrecision { whose, .. }) => Some(whose.clone()),
        _ => None,
    });
    let Some(half) = half.into_iter().find_map(Result::ok) else {
        let whose = without_f16.expect("there is an adapter, and where it refuses f16 it says why");
        // CI's adapter has f16; others may lack it.
        return skipped(whose.contains("llvmpipe"), "the adapter does not compute in f16");
    };
    let ((single, standard), (half, reasons)) = (trained(single.as_ref()), trained(half.as_ref()));
    let [in_f32, in_f16] = [&single, &half].map(|record| record.summary.accuracy.unwrap());
    assert!(in_f32 > 0.9, "{in_f32}");
    assert!((in_f16 - in_f32).abs() < 0.01, "{in_f16} in f16, {in_f32} in f32");
    assert_eq!([single.settings.precision, half.settings.precision], [Precision::F32, Precision::F16]);
    assert_eq!((standard.len(), reasons.len()), (2, 2), "f16 has its own ranking: {reasons:?}");
    assert!(half.correctness.unwrap().largest_difference > 0.0);
}

fn backends() -> impl Iterator<Item = Box<dyn Backend>> {
    let mut all = vec![gpu()];
    if cfg!(feature = "burn-flex") {
        all.push(crate::opened("burn-flex"));
    }
    all.into_iter().flatten()
}

/// Compares losses, logits, gradients, updates, and evaluations before and after.
fn is_computed_as_the_plain_loops_do(name: &str) {
    // The plain loops take a few seconds for batches of four images.
    let workload = Workload { batch_size: 4, ..engine::workload(name).unwrap() };
    let data = data(workload.data_set);
    for backend in backends() {
        let found = pollster::block_on(check_workload(&workload, 3, data.clone(), backend.as_ref())).unwrap();
        let differences = found.differences.iter().map(|of| format!("{:?} {:.1e}", of.compared, of.largest_difference));
        let differences: Vec<String> = differences.collect();
        eprintln!("{name} on {}: {:.1e}, {}", backend.name(), found.largest_difference, differences.join(", "));
        assert_eq!(found.disagreement(), None, "{name} on {}", backend.name());
        assert_eq!(found.batch_size, 4);
    }
}

#[test]
#[ignore = "computes networks of ImageNet's size"]
fn resnet50_is_computed_as_the_plain_loops_do() {
    is_computed_as_the_plain_loops_do("resnet50-synthetic");
}

#[test]
#[ignore = "computes networks of ImageNet's size"]
fn inception_v3_is_computed_as_the_plain_loops_do() {
    is_computed_as_the_plain_loops_do("inception-v3-synthetic");
}

/// Seed of a first batch with a max-pool window that has two equal values in single precision, in a channel that
/// normalization magnifies. In single precision, the plain loops have errors of 0.4 in the gradients.
const SEED: u32 = 2_503_953_253;

fn checked(backend: &dyn Backend) -> Correctness {
    // Batch size of the check. The plain loops would take minutes for a batch of the recipe.
    let workload = Workload { batch_size: 2, ..engine::workload("airbench94").unwrap() };
    pollster::block_on(check_workload(&workload, SEED, data(workload.data_set), backend)).unwrap()
}

#[test]
#[ignore = "trains airbench94 with plain loops"]
fn a_correct_backend_is_compared_again_if_rounding_decides() {
    let found = checked(&ReferenceBackend::<f32>::new());
    assert!(found.passed, "{found:?}");
    assert_eq!(found.redraws, 1);
}

#[test]
#[ignore = "trains airbench94 with plain loops"]
fn a_wrong_back_end_gains_nothing_by_it() {
    let found = checked(&WithoutGradients(ReferenceBackend::new()));
    assert_eq!(found.disagreement().map(|found| found.compared), Some(Compared::Gradient), "{found:?}");
    assert_eq!(found.redraws, 1, "the other samples are well-conditioned");
}

/// Backend that is correct except for its gradients, which it does not compute.
struct WithoutGradients(ReferenceBackend<f32>);

#[async_trait(?Send)]
impl Backend for WithoutGradients {
    fn name(&self) -> &'static str {
        "without gradients"
    }

    fn adapter(&self) -> &Adapter {
        self.0.adapter()
    }

    fn precision(&self) -> Precision {
        self.0.precision()
    }

    async fn build(&self, job: &TrainingJob) -> Result<Box<dyn Trainer>, EngineError> {
        Ok(Box::new(TrainerWithoutGradients(self.0.build(job).await?)))
    }
}

struct TrainerWithoutGradients(Box<dyn Trainer>);

#[async_trait(?Send)]
impl Trainer for TrainerWithoutGradients {
    async fn train_steps(&mut self, steps: u32) -> Result<StepReport, EngineError> {
        self.0.train_steps(steps).await
    }

    async fn evaluate(&mut self, set: EvaluationSet, samples: u32) -> Result<TestReport, EngineError> {
        self.0.evaluate(set, samples).await
    }

    async fn weights(&mut self) -> Result<Vec<Vec<f32>>, EngineError> {
        self.0.weights().await
    }

    async fn gradients(&mut self) -> Result<Vec<Vec<f32>>, EngineError> {
        let gradients = self.0.gradients().await?;
        Ok(gradients.into_iter().map(|gradient| vec![0.0; gradient.len()]).collect())
    }

    async fn logits(&mut self, rows: u32) -> Result<Vec<Vec<f64>>, EngineError> {
        self.0.logits(rows).await
    }

    fn device_memory_bytes(&self) -> u64 {
        self.0.device_memory_bytes()
    }
}
