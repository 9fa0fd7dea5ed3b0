//! From a job to buffers and recordings, all of it data: what a step launches, and on what.

mod builder;
mod gradients;

use shaders::params::{BLOCK_ELEMENTS, BlockMultipliers, Gather, Optimizer as OptimizerParams, Softmax, StepResult};

use super::layout::{CHANNEL_ALIGNMENT, TensorLayout, tensor_layouts};
use super::recording::{BufferPlan, BufferRange, Recording, STEP_STRIDE_BYTES};
use crate::data::Split;
use crate::error::EngineError;
use crate::model::{Stage, StageKind};
use crate::trainer::TrainingJob;
use crate::training::Optimizer;
use builder::Builder;

/// Steps of which the results fit on the device before they are read.
pub(super) const SLOTS: u32 = 1024;

/// Everything that a device must hold and do for one job.
pub(super) struct Plan {
    pub(super) buffers: Vec<BufferPlan>,
    pub(super) training: Recording,
    pub(super) evaluation: Recording,
    pub(super) tensors: Vec<TensorLayout>,
    pub(super) places: Places,
    /// Stored values of a row of logits.
    pub(super) logits_stride: u32,
}

/// Buffers that the trainer itself reads or writes, as places in the list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Places {
    pub(super) params: usize,
    pub(super) steps: usize,
    pub(super) train_order: usize,
    pub(super) weights: usize,
    pub(super) gradients: usize,
    pub(super) logits: usize,
    pub(super) results: usize,
}

impl Plan {
    /// Bytes of all buffers.
    pub(super) fn bytes(&self) -> u64 {
        self.buffers.iter().map(|b| b.bytes).sum()
    }

    /// Plans `job`.
    ///
    /// # Errors
    /// A layer that these kernels do not have.
    pub(super) fn new(job: &TrainingJob) -> Result<Self, EngineError> {
        let stages = job.model.stages(job.dropout)?;
        let tensors = tensor_layouts(&job.model, &stages)?;
        let mut planner = Planner::new(job, stages, tensors)?;
        planner.gather(&job.data.train, true);
        planner.forward();
        planner.softmax();
        planner.backward();
        planner.optimize();
        let training = planner.builder.take_recording();
        planner.gather(&job.data.test, false);
        planner.forward();
        planner.softmax();
        let evaluation = planner.builder.take_recording();
        Ok(planner.finish(training, evaluation))
    }
}

/// A plan in the making.
struct Planner<'a> {
    job: &'a TrainingJob,
    stages: Vec<Stage>,
    tensors: Vec<TensorLayout>,
    builder: Builder,
    arenas: Arenas,
    steps: usize,
    results: usize,
    labels: BufferRange,
    /// Input of each stage, and the logits last.
    activations: Vec<BufferRange>,
    /// Gradients of `activations`; the data needs none.
    activation_gradients: Vec<Option<BufferRange>>,
    /// Winning taps of pooling stages.
    taps: Vec<Option<BufferRange>>,
    train_order: Option<usize>,
}

/// Buffers that hold all tensors.
struct Arenas {
    elements: u32,
    weights: BufferRange,
    gradients: BufferRange,
    /// Velocity or mean square.
    state: BufferRange,
    /// Multipliers of each block of 256 elements.
    blocks: BufferRange,
}

impl<'a> Planner<'a> {
    fn new(job: &'a TrainingJob, stages: Vec<Stage>, tensors: Vec<TensorLayout>) -> Result<Self, EngineError> {
        let mut builder = Builder::default();
        let rows = job.batches.batch_size;
        let steps = builder.uniform("steps", u64::from(SLOTS * STEP_STRIDE_BYTES));
        let results = builder.zeros("results", u64::from(SLOTS) * size_of::<StepResult>() as u64).buffer;
        let arenas = arenas(job, &tensors, &mut builder)?;
        let labels = builder.floats("batch labels", u64::from(rows));
        let input = stages.first().map_or(0, |s| s.stored_inputs(CHANNEL_ALIGNMENT));
        let mut activations = vec![builder.floats("batch", u64::from(rows) * u64::from(input))];
        let mut activation_gradients = vec![None];
        let mut taps = Vec::new();
        for stage in &stages {
            let elements = u64::from(rows) * u64::from(stage.stored_outputs(CHANNEL_ALIGNMENT));
            activations.push(builder.floats("activation", elements));
            activation_gradients.push(Some(builder.floats("activation gradient", elements)));
            let pools = matches!(stage.kind, StageKind::MaxPool { .. });
            taps.push(pools.then(|| builder.floats("pooling taps", elements)));
        }
        Ok(Self {
            job,
            stages,
            tensors,
            builder,
            arenas,
            steps,
            results,
            labels,
            activations,
            activation_gradients,
            taps,
            train_order: None,
        })
    }

    fn rows(&self) -> u32 {
        self.job.batches.batch_size
    }

    fn gather(&mut self, split: &Split, training: bool) {
        let [images, labels, order] = if training {
            ["training images", "training labels", "training order"]
        } else {
            ["test images", "test labels", "test order"]
        };
        let images = self.builder.bytes(images, &split.images);
        let labels = self.builder.bytes(labels, &split.labels);
        let identity: Vec<u32> = (0..split.samples()).collect();
        let order = self.builder.bytes(order, bytemuck::cast_slice(&identity));
        if training {
            self.train_order = Some(order.buffer);
        }
        let features = self.job.model.input.features();
        let stride = self.stages.first().map_or(0, |s| s.stored_inputs(CHANNEL_ALIGNMENT));
        let params = Gather {
            rows: self.rows(),
            features,
            stride,
            samples: split.samples(),
            divisor: self.job.input_scale.divisor,
            reserved: [0; 3],
        };
        let invocations = u64::from(self.rows()) * u64::from(stride / 4);
        let bindings = [images, labels, order, self.activations[0], self.labels];
        self.builder.dispatch("gather", &params, &bindings, invocations);
    }

    fn forward(&mut self) {
        for index in 0..self.stages.len() {
            let stage = &self.stages[index];
            let (x, y) = (self.activations[index], self.activations[index + 1]);
            match (stage.kind, stage.kernel) {
                (StageKind::MaxPool { side, stride }, _) => {
                    let params = stage.pool_params(self.job.batches.batch_size, side, stride, CHANNEL_ALIGNMENT);
                    let taps = self.taps[index].expect("pooling stages have taps");
                    self.builder.dispatch("max_pool_forward", &params, &[x, y, taps], y.bytes / 16);
                }
                (StageKind::Dense, Some(kernel)) => {
                    let params = stage.dense_params(self.job.batches.batch_size, CHANNEL_ALIGNMENT);
                    let tiles = tiles(params.rows, params.outputs);
                    let bindings = [x, self.weight(kernel), self.weight(kernel + 1), y];
                    self.builder.dispatch("dense_forward", &params, &bindings, tiles);
                }
                (StageKind::Conv2d { side, padding }, Some(kernel)) => {
                    let rows = self.job.batches.batch_size;
                    let params = stage.conv2d_params(rows, side, padding, CHANNEL_ALIGNMENT);
                    let name =
                        if is_narrow(params.input_channels) { "conv2d_forward_narrow" } else { "conv2d_forward" };
                    let tiles = tiles(rows * stage.output.pixels(), params.output_channels);
                    let bindings = [x, self.weight(kernel), self.weight(kernel + 1), y];
                    self.builder.dispatch(name, &params, &bindings, tiles);
                }
                (_, None) => unreachable!("a stage with weights has a kernel"),
            }
        }
    }

    /// Part of the weights' arena that holds a tensor.
    fn weight(&self, tensor: usize) -> BufferRange {
        let layout = &self.tensors[tensor];
        BufferRange {
            buffer: self.arenas.weights.buffer,
            offset_bytes: 4 * u64::from(layout.offset),
            bytes: 4 * u64::from(layout.elements()),
        }
    }

    fn softmax(&mut self) {
        let classes = self.stages.last().map_or(0, |s| s.output.channels);
        let stride = self.stages.last().map_or(0, |s| s.stored_outputs(CHANNEL_ALIGNMENT));
        let params = Softmax { rows: self.rows(), classes, stride, reserved: 0 };
        let logits = *self.activations.last().expect("there is at least the input");
        let gradient = self.activation_gradients.last().copied().flatten().expect("logits have a gradient");
        let results = self.builder.whole(self.results);
        // One workgroup: the sums stay in its memory.
        self.builder.dispatch("softmax_cross_entropy", &params, &[logits, self.labels, gradient, results], 1);
    }

    fn optimize(&mut self) {
        let elements = self.arenas.elements;
        #[expect(clippy::cast_possible_truncation, reason = "kernels compute in float32")]
        let (kernel, decay, epsilon) = match self.job.optimizer {
            Optimizer::RmsProp { rho, epsilon, .. } => ("rmsprop", rho as f32, epsilon as f32),
            Optimizer::Sgd { momentum, .. } => ("sgd", momentum as f32, 0.0),
        };
        let params = OptimizerParams { elements, decay, epsilon, ..OptimizerParams::default() };
        let Arenas { weights, gradients, state, blocks, .. } = self.arenas;
        self.builder.dispatch(kernel, &params, &[blocks, gradients, weights, state], u64::from(elements / 4));
    }

    fn finish(self, training: Recording, evaluation: Recording) -> Plan {
        let logits = self.activations.last().map_or(0, |range| range.buffer);
        let logits_stride = self.stages.last().map_or(0, |s| s.stored_outputs(CHANNEL_ALIGNMENT));
        let (buffers, params) = self.builder.finish();
        Plan {
            buffers,
            training,
            evaluation,
            tensors: self.tensors,
            places: Places {
                params,
                steps: self.steps,
                train_order: self.train_order.expect("training gathers"),
                weights: self.arenas.weights.buffer,
                gradients: self.arenas.gradients.buffer,
                logits,
                results: self.results,
            },
            logits_stride,
        }
    }
}

/// Arenas with the initial weights and each block's multipliers.
fn arenas(job: &TrainingJob, layouts: &[TensorLayout], builder: &mut Builder) -> Result<Arenas, EngineError> {
    let elements = layouts.last().map_or(0, |last| last.offset + last.span());
    let mut weights = vec![0.0; elements as usize];
    let mut blocks = vec![BlockMultipliers::default(); (elements / BLOCK_ELEMENTS) as usize];
    for (spec, layout) in job.model.tensors()?.iter().zip(layouts) {
        layout.store(&spec.initial(job.seed), &mut weights);
        let first = (layout.offset / BLOCK_ELEMENTS) as usize;
        #[expect(clippy::cast_possible_truncation, reason = "kernels compute in float32")]
        blocks[first..first + (layout.span() / BLOCK_ELEMENTS) as usize].fill(BlockMultipliers {
            learning_rate: job.optimizer.rate_multiplier(spec.is_bias()) as f32,
            weight_decay: job.optimizer.weight_decay() as f32,
            frozen_from: u32::MAX,
            reserved: 0,
        });
    }
    Ok(Arenas {
        elements,
        weights: builder.bytes("weights", bytemuck::cast_slice(&weights)),
        gradients: builder.floats("gradients", u64::from(elements)),
        state: builder.floats("optimiser state", u64::from(elements)),
        blocks: builder.bytes("block multipliers", bytemuck::cast_slice(&blocks)),
    })
}

/// Tiles of 8 × 8 that cover a matrix; each is one invocation's work.
pub(super) fn tiles(rows: u32, columns: u32) -> u64 {
    u64::from(rows.div_ceil(8)) * u64::from(columns.div_ceil(8))
}

/// Whether an input has too few channels to be read four at a time.
fn is_narrow(channels: u32) -> bool {
    !channels.is_multiple_of(CHANNEL_ALIGNMENT)
}

#[cfg(test)]
mod tests;
