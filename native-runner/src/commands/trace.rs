use std::rc::Rc;

use clap::{ArgAction, Args};
use engine::{DataSource, TraceRequest, data_set};

use crate::arguments::{DataArgs, DeviceArgs, OneWorkloadArgs, on_or_off};
use crate::data_folder::LocalData;
use crate::device;
use crate::failure::{Failure, Result};
use crate::json_output::{JsonTarget, deliver, to_json};
use crate::meter::MonotonicClock;
use crate::screen::Screen;

pub(crate) fn trace(arguments: &TraceArgs) -> Result<()> {
    let mut workloads = arguments.workload.find()?;
    let workload = &mut workloads[0];
    if arguments.reduced {
        let Some(reduced) = workload.reduced.take() else {
            return Err(Failure::Usage(format!("{} has no reduced network: remove --reduced", workload.name)));
        };
        workload.model = reduced;
    }
    let workload = &workloads[0];
    arguments.json.check()?;
    let TraceArgs { seed, batch_size, steps, dropout, test_samples, .. } = *arguments;
    let request = TraceRequest { seed, batch_size, steps, dropout, test_samples };
    let definition = data_set(workload.data_set).expect("the engine's tests hold every workload to a known data set");
    let clock = Rc::new(MonotonicClock::start());
    let device = &arguments.device;
    let backend = device::open(&device.backend, &device.opening(), &device.place, clock)?;
    let mut data = LocalData::with_data_of(&arguments.data, &workloads, false)?;
    let trace = pollster::block_on(async {
        let data = data.load(definition).await?;
        engine::trace(workload, request, backend.as_ref(), data).await
    })
    .map_err(|error| data.advised(error))?;
    deliver(Ok(()), Some(&arguments.json), &to_json(&trace)?)?;

    if let Some(step) = trace.losses.iter().position(|loss| !loss.is_finite()) {
        return Err(Failure::WrongResults(format!("{}: the loss is not finite at step {step}", workload.name)));
    }
    if let JsonTarget::File(path) = &arguments.json {
        let (first, last) = (trace.losses.first(), trace.losses.last());
        let losses = first.zip(last).map_or_else(String::new, |(first, last)| format!("; loss {first:.4} → {last:.4}"));
        let text =
            format!("{} steps on {}{losses}; written to {}", trace.request.steps, trace.adapter.name, path.display());
        Screen::Error.prose("", &text, 0)?;
    }
    Ok(())
}

#[derive(Debug, Args)]
pub(crate) struct TraceArgs {
    #[command(flatten)]
    pub(crate) workload: OneWorkloadArgs,
    /// Seed of weights and dropout
    #[arg(long, value_name = "N")]
    pub(crate) seed: u32,
    /// Samples in a batch
    #[arg(long, value_name = "N")]
    pub(crate) batch_size: u32,
    /// Steps to train
    #[arg(long, value_name = "N")]
    pub(crate) steps: u32,
    /// Enable or disable dropout layers
    #[arg(long, value_name = "on|off", default_value = "off", hide_possible_values = true, action = ArgAction::Set, value_parser = on_or_off())]
    pub(crate) dropout: bool,
    /// Train the smaller network that stands in for this one in checks
    #[arg(long)]
    pub(crate) reduced: bool,
    /// Test samples to classify after the last step
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) test_samples: u32,
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// File to write the trace to; `-` is standard output
    #[arg(long, value_name = "FILE", default_value = "-", help_heading = "Data and output")]
    pub(crate) json: JsonTarget,
}
