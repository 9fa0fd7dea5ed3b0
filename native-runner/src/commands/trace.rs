use std::rc::Rc;

use engine::{DataSource, TraceRequest, data_set};

use crate::cli::TraceArgs;
use crate::data_folder::LocalData;
use crate::device;
use crate::failure::Failure;
use crate::json_output::{JsonTarget, deliver, to_json};
use crate::meter::MonotonicClock;
use crate::screen::Screen;

/// Trains on the first samples in file order and writes the values of golden traces.
pub(crate) fn trace(arguments: &TraceArgs) -> Result<(), Failure> {
    let workloads = arguments.workload.find()?;
    let workload = &workloads[0];
    arguments.json.check()?;
    let request = TraceRequest {
        seed: arguments.seed,
        batch_size: arguments.batch_size,
        steps: arguments.steps,
        dropout: arguments.dropout,
        test_samples: arguments.test_samples,
    };
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
