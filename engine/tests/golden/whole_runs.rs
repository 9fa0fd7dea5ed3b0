//! Runs and checks of whole networks on real data.

use std::num::NonZero;
use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use engine::backends::{BURN_FLEX, Opening, WGSL};
use engine::{
    AdapterChoice, Backend, DataError, DataSet, DataSetDefinition, DataSource, Edges, EngineError, Event, NoMeter,
    Observer, RunRequest, SUITES, Workload, check_workload,
};
use results::{Departure, Length, Precision, Provenance, RunSpec, WorkloadRecord};

use crate::real_data::real_data;
use crate::{Stopwatch, open, opened, skipped};

/// Number of steps, a third of an epoch: enough to see learning, and a few seconds on an emulated GPU.
const STEPS: u64 = 150;

struct RealData;

#[async_trait(?Send)]
impl DataSource for RealData {
    async fn load(&mut self, definition: &'static DataSetDefinition) -> Result<Arc<DataSet>, DataError> {
        Ok(real_data(&definition.name))
    }
}

impl Observer<Event> for RealData {
    fn event(&mut self, _event: &Event) {}
}

/// Returns the perceptron's record after [`STEPS`] steps, and its departures from the standard.
fn trained(backend: &dyn Backend) -> (WorkloadRecord, Vec<Departure>) {
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
        provenance: Provenance::default(),
        claimed_name: None,
    };
    let clock = Stopwatch(Instant::now());
    let mut edges =
        Edges { data: &mut RealData, observer: &mut RealData, clock: &clock, meter: &mut NoMeter, witness: None };
    let mut record = pollster::block_on(engine::run(&request, backend, &mut edges)).unwrap();
    (record.workloads.remove(0), record.departures)
}

#[test]
#[ignore = "trains a third of an epoch in each precision"]
fn the_perceptron_learns_digits_in_f16_as_in_f32() {
    let Some(single) = opened(WGSL) else { return };
    let half =
        [AdapterChoice::Any, AdapterChoice::Cpu].map(|choice| open(WGSL, &Opening::new(Precision::F16, &choice)));
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

/// Compares losses, logits, gradients, updates, and evaluations before and after.
fn is_computed_as_the_plain_loops_do(name: &str) {
    // The plain loops take a few seconds for batches of four images.
    let workload = Workload { batch_size: 4, ..engine::workload(name).unwrap() };
    let data = real_data(workload.data_set);
    let burn = cfg!(feature = "burn-flex").then_some(BURN_FLEX);
    for backend in [WGSL].into_iter().chain(burn).filter_map(opened) {
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
