//! Cost of each launch of a training step, measured by repeating it alone.

use async_recursion::async_recursion;
use results::{Adapter, Precision};
use serde::Serialize;

use super::super::contents::Contents;
use super::super::device::GpuDevice;
use super::super::device::buffer::Buffers;
use super::super::device::executor::Executor;
use super::super::plan::{Plan, TrainingSetup};
use super::super::products::Product;
use super::super::recording::{Dispatch, Recording, STEPS, step_rows};
use super::super::tuning::Choices;
use crate::backends::adapter::AdapterChoice;
use crate::clock::Clock;
use crate::error::Result;
use crate::measure::{Window, WindowLength};
use crate::trainer::TrainingJob;

const SCHEMA_VERSION: u32 = 1;
/// Number of windows per launch. The best counts.
const WINDOWS: u32 = 5;
const MAX_REPETITIONS: u32 = 256;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Profile {
    pub schema_version: u32,
    pub adapter: Adapter,
    pub batch_size: u32,
    /// Cost of a whole step, with its launches in sequence.
    pub step: Cost,
    pub launches: Vec<Launch>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Launch {
    pub kernel: &'static str,
    /// Rows × columns × depth of a product; empty for others.
    pub size: String,
    /// Multiplications and additions of a product; 0 for others.
    pub flops: u64,
    /// Size of the bound buffers in bytes. The launch may access only part of them.
    pub bytes: u64,
    pub workgroups: u64,
    /// Cost when repeated alone, possibly with operands in caches.
    pub cost: Cost,
}

/// Best of several windows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cost {
    pub seconds: f64,
    /// CPU time of the whole program. With a software renderer, this is the computing time, unaffected by other
    /// programs.
    pub processor_seconds: Option<f64>,
}

/// Times the launches of a step of `job`, for `launch_seconds` each. `processor` reads the program's CPU time.
///
/// # Errors
/// No matching adapter, and a device that refuses a request, runs out of memory or is lost.
#[async_recursion(?Send)]
pub async fn profile(
    choice: &AdapterChoice,
    clock: &dyn Clock,
    processor: Option<&dyn Clock>,
    job: &TrainingJob,
    launch_seconds: f64,
) -> Result<Profile> {
    let device = GpuDevice::open(choice, Precision::F32, None, &[]).await?;
    let mut choices = Choices::new(device.abilities);
    let largest_binding = device.largest_binding_bytes();
    let products = Plan::new(job, TrainingSetup::STANDARD, largest_binding, &choices)?.products();
    choices.tune(&device, clock, &products).await?;
    let plan = Plan::new(job, TrainingSetup::STANDARD, largest_binding, &choices)?;
    let contents = Contents { job, tensors: &plan.tensors };
    let buffers = Buffers::new(&device, &plan.buffers, &[], Some(&contents)).await?;
    // The first steps of an epoch.
    buffers.write(&device, STEPS, 0, &step_rows((0..MAX_REPETITIONS).map(|slot| job.step(0, slot))));
    let profiler = Profiler { device: &device, clock, processor, buffers: &buffers };
    if !plan.shuffle.dispatches.is_empty() {
        // The shuffle runs once per epoch, so it is not part of a step.
        profiler.window(&Executor::new(&device, &buffers, &plan.shuffle).await?, 1).await?;
    }
    // Running whole steps first also fills the inputs of the individual launches.
    let step = profiler.cost(&plan.training, 4.0 * launch_seconds).await?;
    let mut launches = Vec::with_capacity(plan.training.dispatches.len());
    for dispatch in &plan.training.dispatches {
        let recording = Recording { dispatches: vec![dispatch.clone()], exchanges: Vec::new() };
        let cost = profiler.cost(&recording, launch_seconds).await?;
        launches.push(describe(dispatch, cost));
    }
    let (adapter, batch_size) = (device.adapter.clone(), job.batches.batch_size);
    Ok(Profile { schema_version: SCHEMA_VERSION, adapter, batch_size, step, launches })
}

fn describe(dispatch: &Dispatch, cost: Cost) -> Launch {
    let size = |product: &Product| {
        let extents = product.extents();
        let parts = if extents.parts > 1 { format!(" in {} parts", extents.parts) } else { String::new() };
        format!("{} × {} × {}{parts}", extents.rows, extents.columns, extents.depth)
    };
    Launch {
        kernel: dispatch.kernel.name,
        size: dispatch.product.as_ref().map(size).unwrap_or_default(),
        flops: dispatch.product.as_ref().map_or(0, Product::flops),
        bytes: dispatch.bindings.iter().map(|range| range.bytes).sum(),
        workgroups: dispatch.workgroups.iter().map(|&count| u64::from(count)).product(),
        cost,
    }
}

struct Profiler<'a> {
    device: &'a GpuDevice,
    clock: &'a dyn Clock,
    processor: Option<&'a dyn Clock>,
    buffers: &'a Buffers,
}

impl Profiler<'_> {
    /// Measures the cost of one repetition of `recording`, after a warm-up window.
    async fn cost(&self, recording: &Recording, seconds: f64) -> Result<Cost> {
        let executor = Executor::new(self.device, self.buffers, recording).await?;
        let window_seconds = seconds / f64::from(WINDOWS + 1);
        self.window(&executor, 1).await?;
        let mut length = WindowLength::default();
        let mut best = loop {
            let repetitions = length.repetitions(window_seconds).min(MAX_REPETITIONS);
            let cost = self.window(&executor, repetitions).await?;
            let window = Window::new(repetitions, cost.seconds * f64::from(repetitions));
            length.note(&window);
            if window.seconds >= window_seconds / 2.0 || repetitions == MAX_REPETITIONS {
                break cost;
            }
        };
        let repetitions = length.repetitions(window_seconds).min(MAX_REPETITIONS);
        for _ in 1..WINDOWS {
            let cost = self.window(&executor, repetitions).await?;
            best.seconds = best.seconds.min(cost.seconds);
            best.processor_seconds = best.processor_seconds.zip(cost.processor_seconds).map(|(a, b)| a.min(b));
        }
        Ok(best)
    }

    async fn window(&self, executor: &Executor, repetitions: u32) -> Result<Cost> {
        let now = || (self.clock.now_seconds(), self.processor.map(Clock::now_seconds));
        let commands = executor.encode(self.device, 0..repetitions);
        let (start, processor_start) = now();
        self.device.submit(commands).await?;
        let (end, processor_end) = now();
        let each = |seconds: f64| seconds / f64::from(repetitions);
        let processor = processor_end.zip(processor_start).map(|(end, start)| each(end - start));
        Ok(Cost { seconds: each(end - start), processor_seconds: processor })
    }
}
