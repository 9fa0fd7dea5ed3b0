//! Predicts the scaling to many devices from measurements of a few, with the model of `docs/SCALING.md`.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::Args;
use results::scaling::{AllReduce, Compute, Exchanged, ModelledStep, Observed, ScalingModel, Transport};
use results::{Outcome, Positive, RunRecord, WorkloadRecord};
use serde::Serialize;
use view::text::counted;

use crate::arguments::number;
use crate::commands::report;
use crate::failure::{Failure, Result};
use crate::json_output::{JsonTarget, to_json};
use crate::screen::{Screen, TableColumn, TableRows, TextTable};

const DOCUMENT_VERSION: u32 = 1;

#[derive(Default, Serialize)]
struct ScalingDocument {
    schema_version: u32,
    device: Option<String>,
    link: Option<Transport>,
    held: Vec<MeasuredStep>,
    networks: Vec<ScaledNetwork>,
    published: Vec<PublishedScaling>,
}

pub(crate) fn scaling(arguments: &ScalingArgs) -> Result<()> {
    arguments.json.as_ref().map_or(Ok(()), JsonTarget::check)?;
    let latency_seconds = arguments.latency;
    let typed = arguments.bandwidth.map(Positive::get);
    let typed =
        typed.map(|bytes_per_second| Transport { latency_seconds, bytes_per_second, added_bytes_per_second: None });
    let document = if arguments.paths.is_empty() {
        if typed.is_some() {
            let text = "--bandwidth needs records; the link of the published steps is fitted to them";
            return Err(Failure::Usage(text.to_owned()));
        }
        ScalingDocument { published: published_scaling(), ..ScalingDocument::default() }
    } else {
        let input = report::input(&arguments.paths, None)?;
        let runs = timed_runs(input.entries.iter().filter_map(|entry| entry.record.as_ref()));
        let device = device(&runs)?;
        let link = typed.map_or_else(|| link(&runs), Ok)?;
        let names = BTreeSet::from_iter(runs.iter().map(|run| run.workload.workload.as_str()));
        let networks = names.into_iter().filter_map(|name| network(&runs, name, &link)).collect();
        let held = compare_with_model(&runs);
        ScalingDocument { device: Some(device), link: Some(link), held, networks, ..ScalingDocument::default() }
    };
    let document = ScalingDocument { schema_version: DOCUMENT_VERSION, ..document };
    show(&document, typed.is_some(), JsonTarget::screen_beside(arguments.json.as_ref()))?;
    arguments.json.as_ref().map_or(Ok(()), |target| target.write(&to_json(&document)?))
}

const SCALING_EXAMPLES: &str = "\
Examples:
  native-runner scaling studies/gtdl-devices-2026-11-24
                                                   predict 1,024 devices from one, two and four
  native-runner scaling one.json --bandwidth 12e9 --latency 20e-6
                                                   predict from one device and a given link
  native-runner scaling                            predict 8 GPUs from published steps on 1, 2 and 4

docs/SCALING.md describes the model and its sources. This command measures nothing.";

#[derive(Debug, Args)]
#[command(after_help = SCALING_EXAMPLES)]
pub(crate) struct ScalingArgs {
    /// Folder of a study, folder of records, or file from `--json`, all of one kind of device [default: the published
    /// steps]
    #[arg(value_name = "DIR|FILE")]
    paths: Vec<PathBuf>,
    /// Bandwidth of the link in bytes per second [default: fitted to the records of several devices]
    #[arg(long, value_name = "X")]
    bandwidth: Option<Positive>,
    /// Latency of a message in seconds
    #[arg(long, value_name = "X", default_value_t = 0.0, requires = "bandwidth", value_parser = not_negative)]
    latency: f64,
    /// Write the results as JSON; `-` is standard output, and everything else then goes to standard error
    #[arg(long, value_name = "FILE")]
    json: Option<JsonTarget>,
}

fn not_negative(text: &str) -> Result<f64, String> {
    number(text, |value| value >= 0.0, "it must be a number, at least 0")
}

/// Title, workload here, iterations, and seconds of the whole training by number of GPUs.
type PublishedSeries = (&'static str, Option<&'static str>, f64, [(u32, f64); 3]);

/// GTDLBench, Table VIII: Tesla M60, Server-2; the same number of samples per GPU.
const TABLE: [PublishedSeries; 3] = [
    (
        "TensorFlow, Inception-v3 on ImageNet, 32 samples for each GPU",
        None,
        100_000.0,
        [(1, 111_781.2), (2, 118_972.3), (4, 131_796.7)],
    ),
    ("Caffe, MNIST, 64 samples for each GPU", Some("caffe-mnist"), 10_000.0, [(1, 135.96), (2, 146.67), (4, 155.8)]),
    (
        "Caffe, CIFAR-10, 100 samples for each GPU",
        Some("caffe-cifar10"),
        5_000.0,
        [(1, 184.19), (2, 188.74), (4, 192.73)],
    ),
];
/// Parameters of Inception-v3, according to the paper.
const INCEPTION_PARAMETERS: u64 = 25_000_000;
/// Number of devices without a published result.
const PREDICTED_DEVICES: u32 = 8;

#[derive(Serialize)]
struct PublishedScaling {
    what: &'static str,
    gradient_bytes: f64,
    all_reduce: AllReduce,
    /// Bandwidth with the best fit of the model.
    bytes_per_second: f64,
    steps: Vec<PublishedStep>,
}

#[derive(Serialize)]
struct PublishedStep {
    devices: u32,
    published_seconds: Option<f64>,
    model_seconds: f64,
    /// Throughput relative to the same number of single GPUs.
    model_efficiency: f64,
}

fn published_scaling() -> Vec<PublishedScaling> {
    let pairs = TABLE.into_iter().flat_map(|series| AllReduce::ALL.map(|all_reduce| (series, all_reduce)));
    let scaled = pairs.filter_map(|((what, workload, iterations, seconds), all_reduce)| {
        let parameters = |name| engine::workload(name)?.model.parameters().ok();
        let gradient_bytes = 4.0 * workload.map_or(Some(INCEPTION_PARAMETERS), parameters)? as f64;
        let steps = seconds.map(|(devices, seconds)| (devices, seconds / iterations));
        let transport = Transport::of_steps(&steps, gradient_bytes, all_reduce)?;
        let (_, alone) = steps[0];
        let step = |(devices, published_seconds): (u32, Option<f64>)| {
            let model_seconds = alone + all_reduce.seconds(devices, gradient_bytes, &transport);
            PublishedStep { devices, published_seconds, model_seconds, model_efficiency: alone / model_seconds }
        };
        let published = steps.map(|(devices, seconds)| (devices, Some(seconds))).into_iter();
        let steps = published.chain([(PREDICTED_DEVICES, None)]).map(step).collect();
        Some(PublishedScaling { what, gradient_bytes, all_reduce, bytes_per_second: transport.bytes_per_second, steps })
    });
    scaled.collect()
}

const MAX_DEVICES: u32 = 1024;

struct TimedRun<'a> {
    record: &'a RunRecord,
    workload: &'a WorkloadRecord,
    batch: u32,
    step_seconds: f64,
    observed: Option<Observed>,
}

#[derive(Serialize)]
struct MeasuredStep {
    workload: String,
    devices: u32,
    batch: u32,
    measured_seconds: f64,
    measured_communication_seconds: f64,
    model: ModelledStep,
    /// True if the link was fitted to other records.
    link_is_of_others: bool,
}

#[derive(Serialize)]
struct ScaledNetwork {
    workload: String,
    batch: u32,
    compute: Compute,
    batch_sizes: usize,
    exchanged: Exchanged,
    scaled: Vec<Scaled>,
}

#[derive(Serialize)]
struct Scaled {
    devices: u32,
    all_reduce: AllReduce,
    /// Batch divided among the devices; absent if it has fewer samples than devices.
    strong: Option<ScaledStep>,
    /// Same number of samples per device as on one.
    weak: ScaledStep,
}

#[derive(Serialize)]
struct ScaledStep {
    step: ModelledStep,
    speed_up: f64,
    /// Upper bound on the speed-up with communication overlapped.
    overlapped_speed_up: f64,
}

fn timed_runs<'a>(records: impl Iterator<Item = &'a RunRecord>) -> Vec<TimedRun<'a>> {
    let workloads = records.flat_map(|record| record.workloads.iter().map(move |workload| (record, workload)));
    let timed = workloads.filter_map(|(record, workload)| {
        let steps: f64 = workload.windows.iter().map(|window| f64::from(window.steps)).sum();
        let seconds: f64 = workload.windows.iter().map(|window| window.seconds).sum();
        let is_timed = workload.outcome == Outcome::Completed && steps > 0.0 && seconds > 0.0;
        let (batch, observed) = (workload.settings.batch_size, Observed::of(workload));
        is_timed.then(|| TimedRun { record, workload, batch, step_seconds: seconds / steps, observed })
    });
    timed.collect()
}

fn device(runs: &[TimedRun<'_>]) -> Result<String> {
    let names = BTreeSet::from_iter(runs.iter().map(|run| run.record.device.adapter.name.as_str()));
    match Vec::from_iter(names)[..] {
        [] => Err(Failure::Usage("none of these records has a completed workload".to_owned())),
        [name] => Ok(name.to_owned()),
        ref names => Err(Failure::Usage(format!(
            "these records are from different devices ({}), which scale differently; name records of one kind",
            names.join(", ")
        ))),
    }
}

fn link(runs: &[TimedRun<'_>]) -> Result<Transport> {
    let observed: Vec<Observed> = runs.iter().filter_map(|run| run.observed).collect();
    Transport::of(&observed).ok_or_else(|| {
        let text = "none of these records is from several devices, so their link is unknown; add one made with \
                    --devices 2, or set --bandwidth (bytes per second) and --latency (seconds)";
        Failure::Usage(text.to_owned())
    })
}

fn alone(runs: &[TimedRun<'_>], workload: &str) -> Vec<(f64, f64)> {
    let of_one = runs.iter().filter(|run| run.observed.is_none() && run.workload.workload == workload);
    of_one.map(|run| (f64::from(run.batch), run.step_seconds)).collect()
}

/// Compares records of several devices with the model. The link is fitted to the other records, if any, so that the
/// model is not tested on its own data.
fn compare_with_model(runs: &[TimedRun<'_>]) -> Vec<MeasuredStep> {
    let of_run = |(place, run): (usize, &TimedRun<'_>)| {
        let observed = run.observed?;
        let compute = Compute::of(&alone(runs, &run.workload.workload))?;
        let others = runs.iter().enumerate().filter(|(other, _)| *other != place);
        let others: Vec<Observed> = others.filter_map(|(_, other)| other.observed).collect();
        let transport = Transport::of(&others).or_else(|| Transport::of(&[observed]))?;
        let model = ScalingModel { compute, exchanged: observed.exchanged, transport };
        let step = if run.record.device.adapter.software {
            model.step_on_one_processor(observed.devices, run.batch)
        } else {
            model.step(observed.devices, run.batch, AllReduce::ThroughHost)
        };
        Some(MeasuredStep {
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

fn network(runs: &[TimedRun<'_>], name: &str, link: &Transport) -> Option<ScaledNetwork> {
    let own = || runs.iter().filter(|run| run.workload.workload == name);
    let of_one = || own().filter(|run| run.observed.is_none());
    let smallest = of_one().min_by_key(|run| run.batch)?;
    let batch_sizes = of_one().map(|run| run.batch).collect::<BTreeSet<_>>().len();
    let gradients = 4.0 * smallest.workload.settings.parameters as f64;
    let observed = own().find_map(|run| run.observed).map(|observed| observed.exchanged);
    let exchanged = observed.unwrap_or(Exchanged { exchanges: 1.0, bytes: gradients });
    let compute = Compute::of(&alone(runs, name))?;
    let model = ScalingModel { compute, exchanged, transport: *link };
    let devices = std::iter::successors(Some(1_u32), |devices| devices.checked_mul(2));
    let devices = devices.take_while(|devices| *devices <= MAX_DEVICES);
    let scaled = devices.flat_map(|devices| AllReduce::ALL.map(|by| scaled(&model, devices, smallest.batch, by)));
    let (workload, batch, scaled) = (name.to_owned(), smallest.batch, scaled.collect());
    Some(ScaledNetwork { workload, batch, compute, batch_sizes, exchanged, scaled })
}

fn scaled(model: &ScalingModel, devices: u32, batch: u32, all_reduce: AllReduce) -> Scaled {
    let alone = model.step(1, batch, all_reduce).seconds();
    let of_step = |step: ModelledStep, samples: f64| ScaledStep {
        step,
        speed_up: samples * alone / step.seconds(),
        overlapped_speed_up: samples * alone / step.overlapped_seconds(),
    };
    let strong = (devices <= batch).then(|| of_step(model.step(devices, batch, all_reduce), 1.0));
    let weak = of_step(model.step(devices, devices * batch, all_reduce), f64::from(devices));
    Scaled { devices, all_reduce, strong, weak }
}

fn show(document: &ScalingDocument, is_typed: bool, screen: Screen) -> Result<()> {
    if let (Some(device), Some(link)) = (&document.device, &document.link) {
        screen.prose(&screen.label("device", 8), device, 8)?;
        let origin = if is_typed { "as given" } else { "fitted to the records of several devices" };
        let adding = link.added_bytes_per_second.map(|rate| format!(", adding {}", bandwidth(rate)));
        let (latency, adding) = (link.latency_seconds * 1e6, adding.unwrap_or_default());
        let text = format!("{latency:.1} µs and {}{adding}, {origin}", bandwidth(link.bytes_per_second));
        screen.prose(&screen.label("link", 8), &text, 8)?;
    }
    if !document.held.is_empty() {
        screen.heading("Measured steps and the model")?;
        screen.table(&table_of_measured(&document.held))?;
        let others = document.held.iter().all(|held| held.link_is_of_others);
        let whose =
            if others { "the other records" } else { "the only record of several devices, which it therefore fits" };
        screen.prose("", &format!("The computation is from one device; the link is from {whose}."), 0)?;
    }
    for network in &document.networks {
        screen.heading(&format!("{}, batches of {}", network.workload, network.batch))?;
        screen.prose("", &about(network), 0)?;
        screen.table(&table_of_scaled(network))?;
    }
    for rows in document.published.chunks(AllReduce::ALL.len()) {
        screen.heading(&format!("{}: GTDLBench, Table VIII", rows[0].what))?;
        screen.table(&table_of_published(rows))?;
        let links = rows.iter().map(|row| {
            format!("{} at {} explains the steps best", row.all_reduce.name(), bandwidth(row.bytes_per_second))
        });
        let megabytes = rows[0].gradient_bytes / 1e6;
        screen.prose("", &format!("Gradients of {megabytes:.1} MB; {}.", links.collect::<Vec<_>>().join(", ")), 0)?;
    }
    Ok(())
}

fn bandwidth(bytes_per_second: f64) -> String {
    format!("{:.2} GB/s", bytes_per_second / 1e9)
}

fn milliseconds(seconds: f64) -> String {
    format!("{:.3} ms", seconds * 1e3)
}

fn about(network: &ScaledNetwork) -> String {
    let ScaledNetwork { compute, exchanged, batch_sizes, .. } = network;
    let fixed = match batch_sizes {
        1 => " (one batch size, so the fixed part is unknown)",
        sizes => &format!(" ({sizes} batch sizes)"),
    };
    let [start, each] = [compute.fixed_seconds, compute.seconds_per_sample].map(milliseconds);
    let (megabytes, messages) = (exchanged.bytes / 1e6, exchanged.exchanges);
    let plural = if messages > 1.0 { "s" } else { "" };
    format!(
        "A step of n samples takes {start} + n · {each}{fixed}, and exchanges {megabytes:.2} MB in {messages:.0} \
         message{plural}. Speed-ups are ratios of throughput to one device; brackets show the maximum with overlapping."
    )
}

fn table_of_measured(all: &[MeasuredStep]) -> TextTable {
    TableRows::new(all, |of| format!("{}, {} devices, batch {}", of.workload, of.devices, of.batch)).columns(&[
        ("step\nmeasured", &|of| Some(milliseconds(of.measured_seconds))),
        ("step\nmodel", &|of| Some(milliseconds(of.model.seconds()))),
        ("model over\nmeasured", &|of| Some(format!("{:.2}", of.model.seconds() / of.measured_seconds))),
        ("communication\nmeasured", &|of| Some(milliseconds(of.measured_communication_seconds))),
        ("communication\nmodel", &|of| Some(milliseconds(of.model.communication_seconds))),
    ])
}

fn table_of_scaled(network: &ScaledNetwork) -> TextTable {
    let of = |by: AllReduce| network.scaled.iter().filter(move |scaled| scaled.all_reduce == by);
    let speed = |step: &ScaledStep| {
        format!("{} {:.2} ({:.2})", milliseconds(step.step.seconds()), step.speed_up, step.overlapped_speed_up)
    };
    let columns = AllReduce::ALL.into_iter().flat_map(|by| {
        let strong = of(by).map(|scaled| scaled.strong.as_ref().map(speed));
        let weak = of(by).map(|scaled| Some(speed(&scaled.weak)));
        [
            TableColumn::new(&format!("batch divided,\n{}", by.name()), strong),
            TableColumn::new(&format!("same samples each,\n{}", by.name()), weak),
        ]
    });
    let titles = of(AllReduce::Ring).map(|scaled| counted(scaled.devices, "device")).collect();
    TextTable { titles, columns: columns.collect() }
}

fn table_of_published(rows: &[PublishedScaling]) -> TextTable {
    let mut table = TableRows::new(&rows[0].steps, |step| counted(step.devices, "device"))
        .columns(&[("step\npublished", &|step| step.published_seconds.map(milliseconds))]);
    table.columns.extend(rows.iter().map(|row| {
        let cell = |step: &PublishedStep| {
            Some(format!("{} ({:.0} %)", milliseconds(step.model_seconds), 100.0 * step.model_efficiency))
        };
        TableColumn::new(&format!("model (efficiency),\n{}", row.all_reduce.name()), row.steps.iter().map(cell))
    }));
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_rows_are_extended_to_eight_devices() {
        let all = published_scaling();
        assert_eq!(all.len(), TABLE.len() * AllReduce::ALL.len());
        for row in &all {
            let last = row.steps.last().unwrap();
            assert_eq!((last.devices, last.published_seconds), (PREDICTED_DEVICES, None), "{}", row.what);
            // A fit matches the published time on one device, and comes close on two and four.
            for step in &row.steps[..3] {
                let off = step.model_seconds / step.published_seconds.unwrap() - 1.0;
                assert!(off.abs() < 0.08, "{} on {}: off by {off}", row.what, step.devices);
            }
            let is_between = last.model_efficiency > 0.5 && last.model_efficiency < row.steps[2].model_efficiency;
            assert!(is_between, "{}", row.what);
        }
    }
}
