//! A run in f16 on real digits, beside one in f32.

use std::rc::Rc;
use std::sync::Arc;

use crate::common::{Clock, data, gpu, skipped};
use async_trait::async_trait;
use engine::{
    AdapterChoice, Backend, DataError, DataSet, DataSetDefinition, DataSource, Edges, EngineError, Event, Limit,
    NoMeter, Observer, RunRequest, SUITES, backends,
};
use results::{Client, ClientKind, Precision, Provenance, WorkloadRecord};

/// A third of an epoch: as much as shows whether it learns, and a few seconds on an emulated GPU.
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

/// The perceptron's record after [`STEPS`] steps, and what makes the run non-standard.
fn trained(backend: &dyn Backend) -> (WorkloadRecord, Vec<String>) {
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
        suite: &SUITES[0],
        workloads: vec![engine::workload("keras-mnist-mlp").unwrap()],
        seed: 5,
        batch_size: None,
        learning_rate: None,
        limit: Some(Limit::Steps(STEPS)),
        target_accuracy: None,
        registration: None,
        provenance,
        requested_adapter: "any".to_owned(),
        requested_backend: backend.name().to_owned(),
        claimed_name: None,
    };
    let clock = Clock::default();
    let mut edges =
        Edges { data: &mut RealData, observer: &mut Nobody, clock: &clock, meter: &mut NoMeter, witness: None };
    let mut record = pollster::block_on(engine::run(&request, backend, &mut edges)).unwrap();
    (record.workloads.remove(0), record.non_standard)
}

#[test]
#[ignore = "trains a third of an epoch in each precision"]
fn the_perceptron_learns_digits_in_f16_as_well_as_in_f32_and_the_record_says_which() {
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
        // CI's adapter has f16; others have what they have.
        return skipped(whose.contains("llvmpipe"), "the adapter does not compute in f16");
    };
    let ((single, standard), (half, reasons)) = (trained(single.as_ref()), trained(half.as_ref()));
    let [in_f32, in_f16] = [&single, &half].map(|record| record.summary.accuracy.unwrap());
    assert!(in_f32 > 0.9, "{in_f32}");
    assert!((in_f16 - in_f32).abs() < 0.01, "{in_f16} in f16, {in_f32} in f32");
    assert_eq!([single.settings.precision, half.settings.precision], [Precision::F32, Precision::F16]);
    assert_eq!((standard.len(), reasons.len()), (2, 2), "f16 has a ranking of its own: {reasons:?}");
    assert!(half.correctness.unwrap().largest_difference > 0.0);
}
