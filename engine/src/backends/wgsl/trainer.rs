use std::rc::Rc;

use async_trait::async_trait;
use half::f16;
use results::{InputMode, InputPipeline, StateBytes, weights_bytes};
use shaders::Stored;
use shaders::params::Step;

use super::contents::Contents;
use super::device::GpuDevice;
use super::device::buffer::Buffers;
use super::device::executor::{Commands, Executor};
use super::layout::arena_of;
use super::pace::Pace;
use super::plan::{Plan, RESULT_SLOTS, Streamed, TrainingSetup};
use super::recording::{BufferRange, JobPart, Recording};
use super::tuning::Choices;
use crate::clock::Clock;
use crate::data::Split;
use crate::error::{EngineError, Result};
use crate::trainer::{EvaluationSet, StepReport, TestReport, Trainer, TrainerFacts, TrainingJob};
use crate::training::{Order, Segments};

pub(super) struct WgslTrainer {
    pub(super) device: Rc<GpuDevice>,
    clock: Rc<dyn Clock>,
    job: Rc<TrainingJob>,
    pub(super) buffers: Buffers,
    shuffle: Executor,
    mirror: Executor,
    training: Executor,
    streaming: Option<Streaming>,
    evaluation: Executor,
    held_out: Executor,
    pub(super) plan: Plan,
    facts: TrainerFacts,
    latency_seconds: f64,
    training_pace: Pace,
    evaluation_pace: Pace,
    step: u64,
    /// Mark of the last submitted step.
    mark: u32,
}

/// Number of operations in the first submission, before the pace is known. Any device completes them quickly.
const FIRST_OPERATIONS: u64 = 1 << 24;

/// Recording of a submission.
#[derive(Clone, Copy)]
enum StepKind {
    Training,
    Evaluation(EvaluationSet),
}

impl WgslTrainer {
    /// Plans, chooses kernels for the products of the plan, and plans again with them.
    pub(super) async fn new(
        device: Rc<GpuDevice>,
        clock: Rc<dyn Clock>,
        choices: &mut Choices,
        job: &TrainingJob,
        setup: TrainingSetup,
    ) -> Result<Self> {
        let largest_binding = device.largest_binding_bytes();
        let latency = device.latency_seconds(clock.as_ref()).await?;
        let mut plan = Plan::new(job, setup, largest_binding, choices)?;
        let planned = clock.now_seconds();
        let timed = choices.tune(&device, clock.as_ref(), &plan.products()).await?;
        let tuned = clock.now_seconds();
        if timed > 0 {
            plan = Plan::new(job, setup, largest_binding, choices)?;
        }
        #[cfg(test)]
        if let Some(omission) = device.omission.get() {
            plan.omit(omission);
        }
        for recording in plan.recordings() {
            device.pipelines.compile(&device, recording).await?;
        }
        let compiled = clock.now_seconds();
        let mut variants: Vec<String> = plan.products().iter().map(|product| choices.describe(product)).collect();
        variants.sort();
        variants.dedup();
        if device.submits_while_waiting.get() {
            variants.push("waiting: with empty submissions".to_owned());
        }
        let facts = TrainerFacts {
            compiling_seconds: Some(compiled - tuned),
            tuning_seconds: (timed > 0).then_some(tuned - planned),
            device_memory_bytes: plan.bytes(),
            variants,
            ..TrainerFacts::default()
        };
        let contents = Contents { job, tensors: &plan.tensors };
        let buffers = Buffers::new(&device, &plan.buffers, &plan.staging_bytes(), Some(&contents)).await?;
        let executor = async |recording: &Recording| Executor::new(&device, &buffers, recording).await;
        Ok(Self {
            shuffle: executor(&plan.shuffle).await?,
            mirror: executor(&plan.mirror).await?,
            held_out: executor(&plan.held_out).await?,
            training: executor(&plan.training).await?,
            streaming: plan.streamed.map(|place| Streaming::new(setup.input, place)),
            evaluation: executor(&plan.evaluation).await?,
            facts,
            plan,
            buffers,
            device,
            clock,
            job: Rc::new(job.clone()),
            latency_seconds: latency,
            training_pace: Pace::new(FIRST_OPERATIONS, u64::MAX, latency),
            evaluation_pace: Pace::new(FIRST_OPERATIONS, u64::MAX, latency),
            step: 0,
            mark: 0,
        })
    }

    pub(super) async fn read(&self, range: BufferRange, stored: Stored) -> Result<Vec<f32>> {
        Ok(numbers(stored, &self.buffers.read(&self.device, range).await?))
    }

    fn tensors(&self, arena: &[f32]) -> Vec<Vec<f32>> {
        self.plan.tensors.iter().map(|layout| layout.load(arena)).collect()
    }

    /// Reads the weights with their padding, as one list.
    pub(super) async fn weights_arena(&mut self) -> Result<Vec<Vec<f32>>> {
        Ok(vec![self.read(self.plan.arenas.weights, Stored::F32).await?])
    }

    /// Returns the arenas of the optimizer's memories, followed by averages of the weights if the job has any.
    fn memories(&self) -> impl Iterator<Item = BufferRange> {
        self.plan.arenas.memories.iter().chain(&self.plan.arenas.shadow).copied()
    }

    /// Checks that products read the trained weights, rounded: a single step is too small for a loss to show otherwise.
    async fn check_rounded(&self, weights: &[f32]) -> Result<()> {
        let Some(rounded) = self.plan.arenas.rounded_weights else { return Ok(()) };
        let stored = self.device.form.stored;
        let rounded = self.read(rounded, stored).await?;
        let differs = |(weight, rounded): (&f32, &f32)| !stored.is_rounding(*weight, *rounded);
        match weights.iter().zip(&rounded).filter(|pair| differs(*pair)).count() {
            0 => Ok(()),
            count => {
                Err(EngineError::WorkDropped { missing: format!("{count} weights are not those that products read") })
            }
        }
    }

    /// Rounds restored weights to the precision in which products read them. They must be rounded as before: by the host
    /// before the first step, and by the device afterwards, which may round differently.
    async fn round_again(&self) -> Result<()> {
        let Some(rounded) = self.plan.arenas.rounded_weights else { return Ok(()) };
        let mut commands = Commands::new(&self.device);
        if self.step == 0 {
            let contents = Contents { job: &self.job, tensors: &self.plan.tensors };
            self.buffers.write(&self.device, rounded.buffer, 0, &contents.bytes(JobPart::RoundedWeights)?);
        } else {
            self.write_table(0, &[Step::default()]);
            // The last launch of a step rounds the weights.
            let launches = self.training.launches();
            commands.add(&self.training, 0, launches - 1..launches);
        }
        self.device.submit(commands.finish()).await
    }
}

#[async_trait(?Send)]
impl Trainer for WgslTrainer {
    async fn train_steps(&mut self, steps: u32) -> Result<StepReport> {
        let mut report = StepReport::default();
        let mut left = steps;
        while left > 0 {
            let first = self.step;
            let job = Rc::clone(&self.job);
            let step = |slot| job.step(first + u64::from(slot), slot);
            let count = left.min(RESULT_SLOTS);
            for (slot, result) in (0..).zip(self.run(StepKind::Training, count, &step).await?) {
                report.losses.push(f64::from(result.loss));
                report.correct += u64::from(result.correct);
                report.samples += u64::from(step(slot).count);
            }
            self.step += u64::from(count);
            left -= count;
        }
        report.input = self.streaming.as_mut().map(Streaming::take_spent);
        Ok(report)
    }

    async fn evaluate(&mut self, set: EvaluationSet, samples: u32) -> Result<TestReport> {
        let (rows, seed, linear) = (self.plan.evaluation_rows, self.job.seed, self.job.linear(self.step));
        let answers = u64::from(samples) * u64::from(self.job.model.positions()?);
        let mut report = TestReport { answers, ..TestReport::default() };
        let mut first = 0;
        while first < samples {
            let step = |slot| {
                let offset = first + slot * rows;
                Step { offset, count: rows.min(samples - offset), slot, seed, linear, ..Step::default() }
            };
            let count = (samples - first).div_ceil(rows).min(RESULT_SLOTS);
            for (slot, result) in (0..).zip(self.run(StepKind::Evaluation(set), count, &step).await?) {
                report.loss += f64::from(result.loss) * f64::from(step(slot).count) / f64::from(samples);
                report.correct += u64::from(result.correct);
            }
            first = samples.min(first + count * rows);
        }
        Ok(report)
    }

    async fn weights(&mut self) -> Result<Vec<Vec<f32>>> {
        let weights = self.read(self.plan.arenas.weights, Stored::F32).await?;
        self.check_rounded(&weights).await?;
        Ok(self.tensors(&weights))
    }

    async fn gradients(&mut self) -> Result<Vec<Vec<f32>>> {
        let mut gradients = self.read(self.plan.arenas.gradients, Stored::F32).await?;
        gradients.iter_mut().for_each(|gradient| *gradient /= self.plan.gradient_scale);
        Ok(self.tensors(&gradients))
    }

    fn begin_segment(&mut self, seed: u32) {
        Rc::make_mut(&mut self.job).segments.begin(self.step, seed);
    }

    async fn state(&mut self) -> Result<StateBytes> {
        let weights = weights_bytes(&self.tensors(&self.read(self.plan.arenas.weights, Stored::F32).await?));
        let mut memory = Vec::new();
        for arena in self.memories() {
            memory.append(&mut weights_bytes(&self.tensors(&self.read(arena, Stored::F32).await?)));
        }
        Ok(StateBytes { weights, memory })
    }

    async fn restore(&mut self, state: &StateBytes, step: u64, segments: &Segments) -> Result<()> {
        let lists = self.job.tensors_of_state(state)?;
        let arenas = [self.plan.arenas.weights].into_iter().chain(self.memories());
        for (arena, tensors) in arenas.zip(&lists) {
            let contents = arena_of(&self.plan.tensors, tensors);
            self.buffers.write(&self.device, arena.buffer, 0, bytemuck::cast_slice(&contents));
        }
        let job = Rc::make_mut(&mut self.job);
        job.segments = segments.clone();
        if let Some(order) = self.plan.order {
            self.buffers.write(&self.device, order.buffer, 0, bytemuck::cast_slice(&job.order_before(step)));
        }
        self.step = step;
        self.round_again().await
    }

    async fn logits(&mut self, answers: u32) -> Result<Vec<Vec<f64>>> {
        let (stride, stored) = (self.plan.logits_stride, self.device.form.stored);
        let bytes = stored.bytes() * u64::from(answers * stride);
        let logits = self.read(BufferRange { bytes, ..self.plan.logits }, stored).await?;
        let classes = self.job.model.classes()? as usize;
        let rows = logits.chunks_exact(stride as usize);
        Ok(rows.map(|row| row[..classes].iter().map(|&logit| f64::from(logit)).collect()).collect())
    }

    fn latency_seconds(&self) -> f64 {
        self.latency_seconds
    }

    fn facts(&self) -> TrainerFacts {
        self.facts.clone()
    }
}

/// Batches of the next steps, gathered on the host in the device's layout, and their cost. They contain the same
/// samples, in the same order, that the device would select.
///
/// WebGPU executes writes and submissions in order: a write overwrites batches after the steps that read them. So one
/// buffer for batches on the device is enough. Gathering and handing over can overlap with computing, but not the copy
/// into the device's memory, which comes between two submissions.
struct Streaming {
    mode: InputMode,
    place: Streamed,
    order: Order,
    images: Vec<u8>,
    labels: Vec<u16>,
    numbers: Vec<u32>,
    /// Cost since the last report.
    spent: InputPipeline,
}

impl Streaming {
    fn new(mode: InputMode, place: Streamed) -> Self {
        let samples = (place.steps * place.rows) as usize;
        Self {
            mode,
            place,
            order: Order::default(),
            images: Vec::with_capacity(samples * place.sample_bytes),
            labels: Vec::with_capacity(samples),
            numbers: Vec::with_capacity(samples),
            spent: InputPipeline::new(mode),
        }
    }

    /// Returns and resets the cost.
    fn take_spent(&mut self) -> InputPipeline {
        std::mem::replace(&mut self.spent, InputPipeline::new(self.mode))
    }

    fn clear(&mut self) {
        self.images.clear();
        self.labels.clear();
        self.numbers.clear();
    }

    /// Appends the batch of a step to those gathered since the last [`Self::clear`].
    fn gather(&mut self, job: &TrainingJob, step: u64) {
        let sample_bytes = self.place.sample_bytes;
        let batch = job.batches.step(step);
        self.order.advance(job, step);
        let order = &self.order.samples;
        let Split { images, labels, .. } = &job.data.train;
        let features = images.len() / labels.len().max(1);
        let rows = self.labels.len() + self.place.rows as usize;
        for row in 0..batch.count {
            let number = order[(batch.offset + row) as usize % order.len()];
            let sample = number as usize;
            self.images.extend_from_slice(&images[sample * features..][..features]);
            // Samples are padded to whole words on the device.
            self.images.resize(self.images.len() + sample_bytes - features, 0);
            self.labels.push(labels[sample]);
            self.numbers.push(number);
        }
        self.images.resize(rows * sample_bytes, 0);
        self.labels.resize(rows, 0);
        self.numbers.resize(rows, 0);
    }
}

pub(super) fn numbers(stored: Stored, bytes: &[u8]) -> Vec<f32> {
    match stored {
        Stored::F32 => bytemuck::pod_collect_to_vec(bytes),
        Stored::F16 => bytes.chunks_exact(2).map(|pair| f16::from_le_bytes([pair[0], pair[1]]).to_f32()).collect(),
    }
}

mod submissions;
#[cfg(test)]
mod tests;
