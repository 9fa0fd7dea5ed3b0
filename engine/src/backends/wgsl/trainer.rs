use std::collections::VecDeque;
use std::rc::Rc;

use async_trait::async_trait;
use half::f16;
use shaders::Stored;
use shaders::params::{Step, StepResult};

use super::buffer::Buffers;
use super::device::Device;
use super::executor::Executor;
use super::layout::{TensorLayout, arena_elements};
use super::pace::Pace;
use super::plan::{Contents, Places, Plan, SLOTS};
use super::recording::STEP_STRIDE_BYTES;
use super::tuning::Choices;
use crate::clock::Clock;
use crate::error::EngineError;
use crate::trainer::{EvaluationSet, Preparation, StepReport, TestReport, Trainer, TrainingJob};
use crate::training::SampleOrder;

pub(super) struct WgslTrainer {
    device: Rc<Device>,
    clock: Rc<dyn Clock>,
    job: TrainingJob,
    buffers: Buffers,
    training: Executor,
    evaluation: Executor,
    held_out: Option<Executor>,
    tensors: Vec<TensorLayout>,
    places: Places,
    logits_stride: u32,
    gradient_scale: f32,
    evaluation_rows: u32,
    bytes: u64,
    variants: Vec<String>,
    preparation: Preparation,
    training_pace: Pace,
    evaluation_pace: Pace,
    /// Epoch whose order is on the device.
    epoch: Option<u32>,
    step: u64,
    /// That of the step that was submitted last.
    mark: u32,
}

/// Which recording a submission runs.
#[derive(Clone, Copy)]
enum Work {
    Training,
    Evaluation(EvaluationSet),
}

impl WgslTrainer {
    /// Plans, chooses kernels for the products of the plan, and plans again with them.
    pub(super) async fn new(
        device: Rc<Device>,
        clock: Rc<dyn Clock>,
        choices: &mut Choices,
        job: &TrainingJob,
    ) -> Result<Self, EngineError> {
        let largest_binding = device.largest_binding_bytes();
        let latency = device.latency_seconds(clock.as_ref()).await?;
        let mut plan = Plan::new(job, largest_binding, choices)?;
        let planned = clock.now_seconds();
        let timed = choices.tune(&device, clock.as_ref(), &plan.products).await?;
        let tuned = clock.now_seconds();
        if timed > 0 {
            plan = Plan::new(job, largest_binding, choices)?;
        }
        for recording in plan.recordings() {
            device.pipelines().compile(&device, recording).await?;
        }
        let preparation = Preparation {
            compiling_seconds: Some(clock.now_seconds() - tuned),
            tuning_seconds: (timed > 0).then_some(tuned - planned),
            unsettled_after_steps: None,
        };
        let mut variants: Vec<String> = plan.products.iter().map(|product| choices.describe(product)).collect();
        variants.sort();
        variants.dedup();
        let contents = Contents { job, tensors: &plan.tensors, stored: choices.stored() };
        let buffers = Buffers::of_job(&device, &plan.buffers, plan.staging_bytes(), &contents).await?;
        let Places { params, steps, .. } = plan.places;
        let held_out = match &plan.held_out {
            Some(recording) => Some(Executor::new(&device, &buffers, recording, params, steps).await?),
            None => None,
        };
        let executor = |recording| Executor::new(&device, &buffers, recording, params, steps);
        Ok(Self {
            training: executor(&plan.training).await?,
            evaluation: executor(&plan.evaluation).await?,
            held_out,
            variants,
            bytes: plan.bytes(),
            tensors: plan.tensors,
            places: plan.places,
            logits_stride: plan.logits_stride,
            gradient_scale: plan.gradient_scale,
            evaluation_rows: plan.evaluation_rows,
            buffers,
            device,
            clock,
            job: job.clone(),
            preparation,
            training_pace: Pace::new(SLOTS, latency),
            evaluation_pace: Pace::new(SLOTS, latency),
            epoch: None,
            step: 0,
            mark: 0,
        })
    }

    /// Bytes that the trainer of this job will allocate. Nothing is allocated to find out.
    ///
    /// # Errors
    /// What [`WgslTrainer::new`] refuses before it allocates.
    pub(super) fn predicted_bytes(device: &Device, choices: &Choices, job: &TrainingJob) -> Result<u64, EngineError> {
        Ok(Plan::new(job, device.largest_binding_bytes(), choices)?.bytes())
    }

    /// How long it took to time kernels for this trainer, if that was necessary.
    pub(super) fn tuning_seconds(&self) -> Option<f64> {
        self.preparation.tuning_seconds
    }

    /// Runs `steps` steps, at most as many as there are slots, and returns what they left behind.
    ///
    /// Several submissions are under way at a time, so that the device never waits for the host.
    async fn run(&mut self, work: Work, steps: &mut [Step]) -> Result<Vec<StepResult>, EngineError> {
        for step in &mut *steps {
            // What was never written is 0.
            self.mark = self.mark.checked_add(1).unwrap_or(1);
            step.mark = self.mark;
        }
        let mut done = 0;
        let mut under_way = VecDeque::new();
        let mut last = self.clock.now_seconds();
        while done < steps.len() || !under_way.is_empty() {
            while done < steps.len() && under_way.len() < self.pace(work).in_flight() {
                let end = steps.len().min(done + self.pace(work).steps() as usize);
                under_way.push_back((end - done, self.submit(work, steps, done, end)));
                done = end;
            }
            if let Some((count, finished)) = under_way.pop_front() {
                last = self.finish(work, count, finished, last).await?;
            }
        }
        let bytes = (steps.len() * size_of::<StepResult>()) as u64;
        let results = self.buffers.read(&self.device, self.places.results, bytes).await?;
        let results: Vec<StepResult> = bytemuck::pod_collect_to_vec(&results);
        match results.iter().zip(&*steps).position(|(result, step)| result.mark != step.mark) {
            None => Ok(results),
            Some(place) => Err(EngineError::WorkDropped { missing: missing(work, &steps[place]) }),
        }
    }

    fn pace(&mut self, work: Work) -> &mut Pace {
        match work {
            Work::Training => &mut self.training_pace,
            Work::Evaluation(_) => &mut self.evaluation_pace,
        }
    }

    /// Waits for a submission and learns from its time; returns the time.
    async fn finish(
        &mut self,
        work: Work,
        steps: usize,
        finished: impl Future<Output = Result<(), EngineError>>,
        last: f64,
    ) -> Result<f64, EngineError> {
        finished.await?;
        let now = self.clock.now_seconds();
        let steps = u32::try_from(steps).unwrap_or(u32::MAX);
        self.pace(work).note(steps, now - last);
        Ok(now)
    }

    /// Submits steps `from..to` of the list, whose slots are their places in it.
    fn submit(
        &self,
        work: Work,
        steps: &[Step],
        from: usize,
        to: usize,
    ) -> impl Future<Output = Result<(), EngineError>> + use<> {
        let stride = STEP_STRIDE_BYTES as usize;
        let mut table = vec![0; (to - from) * stride];
        for (row, step) in table.chunks_exact_mut(stride).zip(&steps[from..to]) {
            row[..size_of::<Step>()].copy_from_slice(bytemuck::bytes_of(step));
        }
        self.buffers.write(&self.device, self.places.steps, (from * stride) as u64, &table);
        let slot = |place: usize| u32::try_from(place).unwrap_or(u32::MAX);
        let executor = match work {
            Work::Training => &self.training,
            Work::Evaluation(EvaluationSet::Test) => &self.evaluation,
            Work::Evaluation(EvaluationSet::HeldOut) => {
                self.held_out.as_ref().expect("held-out samples are evaluated for jobs with early stopping")
            }
        };
        self.device.submit(executor.encode(&self.device, slot(from)..slot(to)))
    }

    /// The next training steps, at most `most`, that lie in one epoch; its order goes to the device.
    fn next_steps(&mut self, most: u32) -> Vec<Step> {
        let epoch = self.job.batches.step(self.step).epoch;
        let fixed = self.job.batches.order == SampleOrder::File;
        if self.epoch != Some(epoch) && !(fixed && self.epoch.is_some()) {
            let order = self.job.batches.order(epoch);
            self.buffers.write(&self.device, self.places.train_order, 0, bytemuck::cast_slice(&order));
        }
        self.epoch = Some(epoch);
        (0..most.min(SLOTS))
            .map_while(|slot| {
                let number = self.step + u64::from(slot);
                let plan = self.job.batches.step(number);
                (fixed || plan.epoch == epoch).then(|| self.job.step(number, slot))
            })
            .collect()
    }

    async fn read_tensors(&self, arena: usize) -> Result<Vec<Vec<f32>>, EngineError> {
        let elements = arena_elements(&self.tensors);
        let bytes = self.buffers.read(&self.device, arena, 4 * u64::from(elements)).await?;
        let arena: Vec<f32> = bytemuck::pod_collect_to_vec(&bytes);
        Ok(self.tensors.iter().map(|layout| layout.load(&arena)).collect())
    }
}

#[async_trait(?Send)]
impl Trainer for WgslTrainer {
    async fn train_steps(&mut self, steps: u32) -> Result<StepReport, EngineError> {
        let mut report = StepReport::default();
        let mut left = steps;
        while left > 0 {
            let mut steps = self.next_steps(left);
            let results = self.run(Work::Training, &mut steps).await?;
            for (step, result) in steps.iter().zip(results) {
                report.losses.push(f64::from(result.loss));
                report.correct += u64::from(result.correct);
                report.samples += u64::from(step.count);
            }
            let done = u32::try_from(steps.len()).unwrap_or(u32::MAX);
            self.step += u64::from(done);
            left -= done;
        }
        Ok(report)
    }

    async fn evaluate(&mut self, set: EvaluationSet, samples: u32) -> Result<TestReport, EngineError> {
        let batch = self.evaluation_rows;
        let mut report = TestReport { samples: u64::from(samples), ..TestReport::default() };
        let mut offset = 0;
        while offset < samples {
            let mut steps: Vec<Step> = (0..SLOTS)
                .map_while(|slot| {
                    let offset = offset + slot.checked_mul(batch)?;
                    let count = batch.min(samples.checked_sub(offset)?);
                    (count > 0).then(|| Step { offset, count, slot, seed: self.job.seed, ..Step::default() })
                })
                .collect();
            let results = self.run(Work::Evaluation(set), &mut steps).await?;
            for (step, result) in steps.iter().zip(results) {
                report.loss += f64::from(result.loss) * f64::from(step.count) / f64::from(samples);
                report.correct += u64::from(result.correct);
                offset += step.count;
            }
        }
        Ok(report)
    }

    async fn weights(&mut self) -> Result<Vec<Vec<f32>>, EngineError> {
        self.read_tensors(self.places.weights).await
    }

    async fn gradients(&mut self) -> Result<Vec<Vec<f32>>, EngineError> {
        let mut gradients = self.read_tensors(self.places.gradients).await?;
        gradients.iter_mut().flatten().for_each(|gradient| *gradient /= self.gradient_scale);
        Ok(gradients)
    }

    async fn logits(&mut self, rows: u32) -> Result<Vec<Vec<f64>>, EngineError> {
        let stride = self.logits_stride;
        let stored = self.device.stored();
        let bytes = stored.bytes() * u64::from(rows) * u64::from(stride);
        let logits = numbers(stored, &self.buffers.read(&self.device, self.places.logits, bytes).await?);
        let classes = self.job.model.classes()? as usize;
        let rows = logits.chunks_exact(stride as usize);
        Ok(rows.map(|row| row[..classes].iter().map(|&logit| f64::from(logit)).collect()).collect())
    }

    fn preparation(&self) -> Preparation {
        self.preparation
    }

    fn device_memory_bytes(&self) -> u64 {
        self.bytes
    }

    fn variants(&self) -> Vec<String> {
        self.variants.clone()
    }
}

/// What a device did not leave behind.
fn missing(work: Work, step: &Step) -> String {
    match work {
        Work::Training => format!("the loss of step {} was not written", step.step),
        Work::Evaluation(_) => format!("the results of samples {} and on were not written", step.offset),
    }
}

/// The numbers that were stored as these bytes.
pub(super) fn numbers(stored: Stored, bytes: &[u8]) -> Vec<f32> {
    match stored {
        Stored::F32 => bytemuck::pod_collect_to_vec(bytes),
        Stored::F16 => bytes.chunks_exact(2).map(|pair| f16::from_le_bytes([pair[0], pair[1]]).to_f32()).collect(),
    }
}

#[cfg(test)]
mod tests;
