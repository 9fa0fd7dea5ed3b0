use clap::Args;
use engine::backends::wgsl::microbenchmarks::{self, Cost, Launch, Profile};
use engine::{DataSource, data_set, steps};
use results::Provenance;
use serde::Serialize;

use crate::arguments::{AdapterArgs, DataArgs, OneWorkloadArgs, adapter_choice, positive_seconds};
use crate::data_folder::LocalData;
use crate::failure::Result;
use crate::figures::figure;
use crate::json_output::{JsonTarget, deliver, to_json};
use crate::machine::provenance;
use crate::meter::{MonotonicClock, ProcessorClock};
use crate::screen::{Screen, TableRows, TextTable};

#[derive(Serialize)]
struct ProfileDocument<'a> {
    workload: &'a str,
    #[serde(flatten)]
    profile: &'a Profile,
    noise: bool,
    requested_adapter: &'a str,
    provenance: Provenance,
}

pub(crate) fn profile(arguments: &ProfileArgs) -> Result<()> {
    let workloads = arguments.workload.find()?;
    let workload = &workloads[0];
    let clock = MonotonicClock::start();
    let processor = ProcessorClock::new();
    let provenance = provenance();
    let mut data = LocalData::with_data_of(&arguments.data, &workloads, arguments.noise)?;
    let profile = pollster::block_on(async {
        let definition = data_set(workload.data_set).expect("a test holds every workload to a known data set");
        let data = data.load(definition).await?;
        let job = steps::job(workload, arguments.batch_size.unwrap_or(workload.batch_size), 1, data)?;
        let choice = adapter_choice(&arguments.adapter.adapter);
        let processor = processor.as_ref().map(|clock| clock as &dyn engine::Clock);
        microbenchmarks::profile(&choice, &clock, processor, &job, arguments.seconds_per_launch).await
    })
    .map_err(|error| data.advised(error))?;
    let provenance = Provenance { wall_seconds: engine::Clock::now_seconds(&clock), ..provenance };
    let (noise, requested_adapter) = (arguments.noise, &arguments.adapter.adapter);
    let json =
        to_json(&ProfileDocument { workload: workload.name, profile: &profile, noise, requested_adapter, provenance })?;
    if arguments.json {
        return deliver(Ok(()), Some(&JsonTarget::StandardOutput), &json);
    }
    let of_noise = if arguments.noise { " of noise" } else { "" };
    let title = format!("{} in batches of {}{of_noise} on {}", workload.name, profile.batch_size, profile.adapter.name);
    let shown = Screen::Output.line(&Screen::Output.bold(title)).and_then(|()| Screen::Output.table(&table(&profile)));
    deliver(shown, None, &json)
}

fn table(profile: &Profile) -> TextTable {
    let launches = || profile.launches.iter();
    let sum = Cost {
        seconds: launches().map(|launch| launch.cost.seconds).sum(),
        processor_seconds: launches().map(|launch| launch.cost.processor_seconds).sum(),
    };
    let flops = launches().map(|launch| launch.flops).sum();
    let totals = [("sum of all launches", &sum, flops, None), ("whole step", &profile.step, flops, None)];
    let rows: Vec<(&str, &Cost, u64, Option<&Launch>)> =
        launches().map(|of| (of.kernel, &of.cost, of.flops, Some(of))).chain(totals).collect();
    let time = |seconds| figure("step_seconds_p50", seconds);
    TableRows::new(&rows, |(title, ..)| (*title).to_owned()).columns(&[
        ("time", &|(_, cost, ..)| Some(time(cost.seconds))),
        ("share", &|(_, cost, ..)| Some(format!("{:.1} %", 100.0 * cost.seconds / sum.seconds))),
        ("processor", &|(_, cost, ..)| cost.processor_seconds.map(time)),
        ("arithmetic", &|(_, cost, flops, _)| Some(rate(*flops, cost.seconds, "FLOP"))),
        ("memory, maximum", &|(_, cost, _, of)| {
            Some(of.map_or_else(String::new, |of| rate(of.bytes, cost.seconds, "B")))
        }),
        ("workgroups", &|(.., of)| Some(of.map_or_else(String::new, |of| of.workgroups.to_string()))),
        ("product", &|(.., of)| Some(of.map_or_else(String::new, |of| of.size.clone()))),
    ])
}

/// Formats an amount per second; empty for zero.
fn rate(amount: u64, seconds: f64, unit: &str) -> String {
    if amount == 0 {
        return String::new();
    }
    figure("flops_per_second", amount as f64 / seconds).replace("FLOP", unit)
}

const PROFILE_EXAMPLES: &str = "\
Examples:
  native-runner profile --workload keras-mnist-mlp
  native-runner profile --workload keras-mnist-cnn --batch-size 1024 --adapter cpu
  native-runner profile --workload resnet20-cifar10 --seconds-per-launch 1 --json

Each launch of a training step is repeated separately, so its inputs may already be in caches: the sum of the
launches may be less than the step. Investigate launches that take long for their bytes and operations.";

#[derive(Debug, Args)]
#[command(after_help = PROFILE_EXAMPLES)]
pub(crate) struct ProfileArgs {
    #[command(flatten)]
    pub(crate) workload: OneWorkloadArgs,
    /// Samples in a batch [default: the workload's]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) batch_size: Option<u32>,
    #[command(flatten)]
    pub(crate) adapter: AdapterArgs,
    /// Seconds to repeat each launch; the whole step is repeated four times as long
    #[arg(long, value_name = "X", default_value_t = 0.2, value_parser = positive_seconds)]
    seconds_per_launch: f64,
    /// Train on noise in the shape of the data set, which then needs no files
    #[arg(long, help_heading = "Data and output")]
    noise: bool,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Print JSON
    #[arg(long, help_heading = "Data and output")]
    pub(crate) json: bool,
}
