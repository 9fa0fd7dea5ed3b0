//! What records say of steps: of one device what it computes, of several what they tell each other.

use results::scaling::{AllReduce, Compute, Exchanged, Model, ModelledStep, Observed, Transport};
use results::{Outcome, RunRecord, WorkloadRecord};
use serde::Serialize;

use crate::failure::Failure;

/// The most devices that the model is asked for.
const MOST_DEVICES: u32 = 1024;

/// One network of one record that trained to its end.
pub(super) struct Run<'a> {
    record: &'a RunRecord,
    workload: &'a WorkloadRecord,
    batch: u32,
    step_seconds: f64,
    /// Of several devices.
    observed: Option<Observed>,
}

/// A record of several devices beside what the model makes of it.
#[derive(Serialize)]
pub(super) struct Held {
    pub(super) workload: String,
    pub(super) devices: u32,
    pub(super) batch: u32,
    pub(super) measured_seconds: f64,
    pub(super) measured_communication_seconds: f64,
    pub(super) model: ModelledStep,
    /// Whether the link is that of other records than this one.
    pub(super) link_is_of_others: bool,
}

/// What a network would take on more and more devices.
#[derive(Serialize)]
pub(super) struct Network {
    pub(super) workload: String,
    pub(super) batch: u32,
    pub(super) compute: Compute,
    /// How many batch sizes that was measured with.
    pub(super) batch_sizes: usize,
    pub(super) exchanged: Exchanged,
    pub(super) scaled: Vec<Scaled>,
}

/// Of so many devices.
#[derive(Serialize)]
pub(super) struct Scaled {
    pub(super) devices: u32,
    pub(super) all_reduce: AllReduce,
    /// The batch divided; absent where it has fewer samples than there are devices.
    pub(super) strong: Option<ScaledStep>,
    /// As many samples for each device as for one.
    pub(super) weak: ScaledStep,
}

#[derive(Serialize)]
pub(super) struct ScaledStep {
    pub(super) step: ModelledStep,
    /// Throughput over that of one device.
    pub(super) speed_up: f64,
    /// The most that overlapping communication with computing could bring.
    pub(super) overlapped_speed_up: f64,
}

/// Every network that was trained to its end and timed.
pub(super) fn runs<'a>(records: impl Iterator<Item = &'a RunRecord>) -> Vec<Run<'a>> {
    let of_record = |record: &'a RunRecord| record.workloads.iter().filter_map(move |workload| run(record, workload));
    records.flat_map(of_record).collect()
}

fn run<'a>(record: &'a RunRecord, workload: &'a WorkloadRecord) -> Option<Run<'a>> {
    let steps: f64 = workload.windows.iter().map(|window| f64::from(window.steps)).sum();
    let seconds: f64 = workload.windows.iter().map(|window| window.seconds).sum();
    let is_timed = workload.outcome == Outcome::Completed && steps > 0.0 && seconds > 0.0;
    is_timed.then(|| Run {
        record,
        workload,
        batch: workload.settings.batch_size,
        step_seconds: seconds / steps,
        observed: Observed::of(workload),
    })
}

/// The one device that all of them are of, or several of its kind.
///
/// # Errors
/// There are none, or they are of several.
pub(super) fn device(runs: &[Run<'_>]) -> Result<String, Failure> {
    let mut names: Vec<&str> = runs.iter().map(|run| run.record.device.adapter.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    match names[..] {
        [] => Err(Failure::Usage("none of these records trained anything to its end".to_owned())),
        [name] => Ok(name.to_owned()),
        _ => Err(Failure::Usage(format!(
            "these records are of different devices ({}), which scale differently; name those of one kind",
            names.join(", ")
        ))),
    }
}

/// The link between the devices of all records of several.
///
/// # Errors
/// There are no such records.
pub(super) fn link(runs: &[Run<'_>]) -> Result<Transport, Failure> {
    let observed: Vec<Observed> = runs.iter().filter_map(|run| run.observed).collect();
    Transport::of(&observed).ok_or_else(|| {
        let text = "none of these records is of several devices, so nothing says what their link is: add one made with \
                    --devices 2, or say --bandwidth (bytes per second) and --latency (seconds)";
        Failure::Usage(text.to_owned())
    })
}

/// Batch sizes and seconds of a step of one device.
fn alone(runs: &[Run<'_>], workload: &str) -> Vec<(f64, f64)> {
    let of_one = runs.iter().filter(|run| run.observed.is_none() && run.workload.workload == workload);
    of_one.map(|run| (f64::from(run.batch), run.step_seconds)).collect()
}

/// Each record of several devices whose network one device trained as well. Its link is that of the other records, where
/// there are any, so that the model is not held to what it was made from.
pub(super) fn held(runs: &[Run<'_>]) -> Vec<Held> {
    let of_run = |(place, run): (usize, &Run<'_>)| {
        let observed = run.observed?;
        let compute = Compute::of(&alone(runs, &run.workload.workload))?;
        let others: Vec<Observed> = runs
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != place)
            .filter_map(|(_, other)| other.observed)
            .collect();
        let transport = Transport::of(&others).or_else(|| Transport::of(&[observed]))?;
        let model = Model { compute, exchanged: observed.exchanged, transport };
        let step = if run.record.device.adapter.software {
            model.step_on_one_processor(observed.devices, run.batch)
        } else {
            model.step(observed.devices, run.batch, AllReduce::ThroughHost)
        };
        Some(Held {
            workload: run.workload.workload.clone(),
            devices: observed.devices,
            batch: run.batch,
            measured_seconds: run.step_seconds,
            measured_communication_seconds: observed.transfer_seconds + observed.adding_seconds,
            model: step,
            link_is_of_others: !others.is_empty(),
        })
    };
    runs.iter().enumerate().filter_map(of_run).collect()
}

/// Each network that one device trained, with the smallest batch that it was trained with.
pub(super) fn networks(runs: &[Run<'_>], link: &Transport) -> Vec<Network> {
    let mut names: Vec<&str> = runs.iter().map(|run| run.workload.workload.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().filter_map(|name| network(runs, name, link)).collect()
}

fn network(runs: &[Run<'_>], name: &str, link: &Transport) -> Option<Network> {
    let own = || runs.iter().filter(|run| run.workload.workload == name);
    let smallest = own().filter(|run| run.observed.is_none()).min_by_key(|run| run.batch)?;
    let measured = alone(runs, name);
    let mut batch_sizes: Vec<u32> = own().filter(|run| run.observed.is_none()).map(|run| run.batch).collect();
    batch_sizes.sort_unstable();
    batch_sizes.dedup();
    let gradients = 4.0 * smallest.workload.settings.parameters as f64;
    let observed = own().find_map(|run| run.observed).map(|observed| observed.exchanged);
    let model = Model {
        compute: Compute::of(&measured)?,
        exchanged: observed.unwrap_or(Exchanged { exchanges: 1.0, bytes: gradients }),
        transport: *link,
    };
    let devices = std::iter::successors(Some(1_u32), |devices| devices.checked_mul(2));
    let devices = devices.take_while(|devices| *devices <= MOST_DEVICES);
    let scaled = devices.flat_map(|devices| AllReduce::ALL.map(|by| scaled(&model, devices, smallest.batch, by)));
    Some(Network {
        workload: name.to_owned(),
        batch: smallest.batch,
        compute: model.compute,
        batch_sizes: batch_sizes.len(),
        exchanged: model.exchanged,
        scaled: scaled.collect(),
    })
}

fn scaled(model: &Model, devices: u32, batch: u32, all_reduce: AllReduce) -> Scaled {
    let alone = model.step(1, batch, all_reduce).seconds();
    let of_step = |step: ModelledStep, samples: f64| ScaledStep {
        step,
        speed_up: samples * alone / step.seconds(),
        overlapped_speed_up: samples * alone / step.overlapped_seconds(),
    };
    Scaled {
        devices,
        all_reduce,
        strong: (devices <= batch).then(|| of_step(model.step(devices, batch, all_reduce), 1.0)),
        weak: of_step(model.step(devices, devices * batch, all_reduce), f64::from(devices)),
    }
}
