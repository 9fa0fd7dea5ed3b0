//! One pass through the stages of a model with Burn's tensor operations.

mod layers;

use burn_tensor::{Device, Gradients, Tensor, activation};
use shaders::params::{Epilogue, Step, activation as activations};
use shaders::reference::pcg4d::uniform;

use super::functions::Functions;
use super::value::{Arrangement, AxisOrder, LayerValue, list, map_value, sides};
use crate::backends::list::by_burn;
use crate::error::Result;
use crate::model::{Shape, SlidingWindow, Stage, StageKind, Stages};
use crate::trainer::TrainingJob;
use layers::Planned;

pub(super) struct Network {
    pub(super) stages: Stages,
    /// Layout of each value.
    pub(super) orders: Vec<AxisOrder>,
    /// Last stage that reads each value.
    pub(super) last_readers: Vec<Option<usize>>,
    /// Layout of each tensor of the model.
    pub(super) arrangements: Vec<Arrangement>,
    functions: Functions,
}

/// Settings of a pass, and what it records.
pub(super) struct Tape<'a> {
    pub(super) device: &'a Device,
    pub(super) step: &'a Step,
    pub(super) tensors: &'a [Tensor<1>],
    /// Flags of the tensors trained by this pass; empty outside of training.
    pub(super) trained: &'a [bool],
    pub(super) leaves: Leaves,
    /// Running averages updated by the pass, with their tensor indices.
    pub(super) statistics: Vec<(usize, Tensor<1>)>,
}

/// Trained tensors that are leaves of a graph, with their indices. Stages that share a tensor have one leaf each.
pub(super) type Leaves = Vec<(usize, Tensor<1>)>;

/// Values that a pass has computed, without those that no later stage reads.
pub(super) type Made = Vec<Option<LayerValue>>;

impl Network {
    pub(super) fn new(job: &TrainingJob, functions: Functions) -> Result<Self> {
        if let Some(error) = by_burn(&job.model) {
            return Err(error.into());
        }
        let (specs, stages) = (job.model.tensors()?, job.model.stages(job.dropout)?);
        let mut arrangements: Vec<_> = specs.iter().map(|spec| Arrangement::plain(spec.elements())).collect();
        let mut orders = vec![order_of_data(&stages)];
        for stage in &stages.stages {
            let (read, output) = (orders[stage.inputs[0]], stages.output(stage).shape);
            let order = order_of(stage.kind, read, output);
            orders.push(order);
            // Convolution kernels store filters first, and dense weights follow their input.
            match stage.kind {
                StageKind::Conv2d { .. } | StageKind::Dense { per_pixel: true, .. }
                    if order == AxisOrder::ChannelsFirst =>
                {
                    let shape = specs[stage.tensor].shape.iter().map(|&side| side as usize);
                    arrangements[stage.tensor] = Arrangement::new(shape.collect(), &[3, 2, 0, 1]);
                }
                StageKind::Dense { per_pixel: false, .. } if read == AxisOrder::ChannelsFirst => {
                    let [height, width, channels] = sides(stages.input(stage).shape);
                    let shape = vec![height, width, channels, output.channels as usize];
                    arrangements[stage.tensor] = Arrangement::new(shape, &[2, 0, 1, 3]);
                }
                _ => {}
            }
        }
        let last_reader = |value| stages.stages.iter().rposition(|stage| stage.inputs.contains(&value));
        let last_readers = (0..orders.len()).map(last_reader).collect();
        Ok(Self { stages, orders, last_readers, arrangements, functions })
    }

    pub(super) fn forward(&self, pass: &mut Tape<'_>, batch: Tensor<1>) -> Tensor<2> {
        let mut made = self.begin(pass.step, batch);
        self.finish(&mut made, pass)
    }

    pub(super) fn begin(&self, step: &Step, batch: Tensor<1>) -> Made {
        let shape = self.stages.values[0].shape;
        let batch = batch.reshape([step.count as usize, shape.features() as usize]);
        vec![Some(LayerValue::Flat(batch).ordered(self.orders[0], shape))]
    }

    /// Computes the stages before the one with this index.
    pub(super) fn advance(&self, made: &mut Made, pass: &mut Tape<'_>, until: usize) {
        for index in made.len() - 1..until {
            let inputs = self.read(made, index);
            made.push(Some(self.compute(&self.stages.stages[index], inputs, pass)));
        }
    }

    /// Takes the inputs of a stage, dropping values that no later stage reads.
    pub(super) fn read(&self, made: &mut Made, index: usize) -> Vec<LayerValue> {
        let inputs = &self.stages.stages[index].inputs;
        let read = |&value: &usize| {
            let is_last = self.last_readers[value] == Some(index) && inputs.len() == 1;
            let value = if is_last { made[value].take() } else { made[value].clone() };
            value.expect("a value is kept until its last reader")
        };
        inputs.iter().map(read).collect()
    }

    /// Computes the remaining stages and returns (answers, classes).
    pub(super) fn finish(&self, made: &mut Made, pass: &mut Tape<'_>) -> Tensor<2> {
        self.advance(made, pass, self.stages.stages.len());
        match made.pop().flatten().expect("there is at least the data") {
            LayerValue::Flat(logits) => logits,
            image => image.channels_last(self.stages.values[self.orders.len() - 1].shape).flatten(0, 1),
        }
    }

    fn compute(&self, stage: &Stage, inputs: Vec<LayerValue>, pass: &mut Tape<'_>) -> LayerValue {
        let shapes: Vec<Shape> = stage.inputs.iter().map(|&value| self.stages.values[value].shape).collect();
        let planned = Planned {
            input: shapes[0],
            output: self.stages.output(stage).shape,
            order: self.orders[stage.output],
            tensor: stage.tensor,
            functions: self.functions,
        };
        let mut inputs = inputs.into_iter();
        let input = inputs.next().expect("every stage reads something");
        let mut second = || inputs.next().expect("this stage reads two values");
        let value = match stage.kind {
            StageKind::Conv2d { window, bias } => planned.convolution(input, window, bias, pass),
            StageKind::Dense { bias, per_pixel: true } => {
                let window = SlidingWindow { sides: [1; 2], stride: 1, padding: [0; 2] };
                planned.convolution(input, window, bias, pass)
            }
            StageKind::Dense { bias, per_pixel: false } => planned.dense(input, bias, pass),
            StageKind::Pool { kind, window } => planned.pool(input, kind, window),
            StageKind::LocalResponseNorm { radius, bias, alpha, beta } => {
                planned.local_response(input, radius, [bias, alpha, beta])
            }
            StageKind::Recurrent(cell) => planned.recurrent(input, cell, pass),
            StageKind::Embedding(words) => planned.embedding(input, words, pass),
            StageKind::SentenceSum { words } => planned.sentence_sum(input, words, pass),
            StageKind::WordScores => planned.word_scores(input, pass),
            StageKind::PixelProducts => {
                let second = second().channels_last(shapes[1]);
                LayerValue::ChannelsLast(input.channels_last(shapes[0]).matmul(second.swap_dims(1, 2)))
            }
            StageKind::Softmax { linear_start } => {
                let x = input.channels_last(shapes[0]);
                let is_linear = linear_start && pass.step.linear == 1;
                LayerValue::ChannelsLast(if is_linear { x } else { activation::softmax(x, 2) })
            }
            StageKind::Transpose => LayerValue::ChannelsLast(input.channels_last(shapes[0]).swap_dims(1, 2)),
            StageKind::Concatenate => {
                let both = vec![input.channels_last(shapes[0]), second().channels_last(shapes[1])];
                LayerValue::ChannelsLast(Tensor::cat(both, 2))
            }
            StageKind::Add => add(input, second().ordered(planned.order, shapes[1])),
            StageKind::BatchNorm { epsilon, keep, .. } => planned.batch_norm(input, epsilon, keep, pass),
            StageKind::LayerNorm { epsilon, bias } => planned.layer_norm(input, epsilon, bias, pass),
            StageKind::PositionEmbedding => planned.position(input, pass),
            StageKind::Attention { heads, causal } => planned.attention(input, heads as usize, causal, pass),
            StageKind::Gelu => input,
        };
        self.finish_value(stage, value, pass)
    }

    /// Applies the activation of a stage, and dropout.
    pub(super) fn finish_value(&self, stage: &Stage, value: LayerValue, pass: &Tape<'_>) -> LayerValue {
        let Epilogue { activation, dropout_stream, dropout_rate, features, .. } = self.stages.output(stage).epilogue;
        let activation = match stage.kind {
            StageKind::BatchNorm { activation, .. } => activation.number(),
            StageKind::Gelu => activations::GELU,
            _ => activation,
        };
        let value = map_value!(value, tensor => self.functions.activate(tensor, activation));
        let step = pass.step;
        if dropout_stream == 0 || step.training == 0 {
            return value;
        }
        // Draw the mask on the host, with the random numbers shared by all backends. Indices cover the whole batch, and
        // this device may have only a share.
        let (first, survivor) = (step.first_row.wrapping_mul(features), 1.0 / (1.0 - dropout_rate));
        let factor = |index: u32| {
            let number = uniform(first.wrapping_add(index), dropout_stream, step.step, step.seed);
            if number >= dropout_rate { survivor } else { 0.0 }
        };
        let factors = (0..step.count * features).map(factor).collect();
        let (order, shape) = (self.orders[stage.output], self.stages.output(stage).shape);
        let factors = list(order.arrangement(step.count as usize, shape).store(factors), pass.device);
        map_value!(value, tensor => {
            let dims = tensor.dims();
            tensor * factors.reshape(dims)
        })
    }
}

impl Tape<'_> {
    /// Returns a tensor of the model, in training as a leaf of the graph if it is trained.
    fn vector(&mut self, tensor: usize) -> Tensor<1> {
        let value = self.tensors[tensor].clone();
        if self.trained.get(tensor) != Some(&true) {
            return value;
        }
        let leaf = value.autodiff().require_grad();
        self.leaves.push((tensor, leaf.clone()));
        leaf
    }

    fn shaped<const D: usize>(&mut self, tensor: usize, sides: [usize; D]) -> Tensor<D> {
        self.vector(tensor).reshape(sides)
    }
}

/// Adds values of the same layout. The second may have a single pixel.
fn add(first: LayerValue, second: LayerValue) -> LayerValue {
    match (first, second) {
        (LayerValue::ChannelsFirst(a), LayerValue::ChannelsFirst(b)) => LayerValue::ChannelsFirst(a + b),
        (LayerValue::ChannelsLast(a), LayerValue::ChannelsLast(b)) => LayerValue::ChannelsLast(a + b),
        (LayerValue::Flat(a), LayerValue::Flat(b)) => LayerValue::Flat(a + b),
        _ => unreachable!("the second value was brought into the order of the first"),
    }
}

/// Returns the layout of a stage's output, given the layout of its first input.
fn order_of(kind: StageKind, read: AxisOrder, output: Shape) -> AxisOrder {
    match kind {
        StageKind::Dense { per_pixel: true, .. } if read == AxisOrder::ChannelsLast => AxisOrder::ChannelsLast,
        StageKind::Conv2d { .. }
        | StageKind::Dense { per_pixel: true, .. }
        | StageKind::Pool { .. }
        | StageKind::LocalResponseNorm { .. } => AxisOrder::ChannelsFirst,
        StageKind::BatchNorm { .. } if output.pixels() > 1 || read == AxisOrder::ChannelsFirst => {
            AxisOrder::ChannelsFirst
        }
        StageKind::Dense { .. } | StageKind::BatchNorm { .. } => AxisOrder::Flat,
        StageKind::WordScores if output.pixels() == 1 => AxisOrder::Flat,
        StageKind::Add | StageKind::Gelu => read,
        _ => AxisOrder::ChannelsLast,
    }
}

/// Returns the layout expected by the stages that read the data.
fn order_of_data(stages: &Stages) -> AxisOrder {
    let read_by = |wanted: fn(StageKind) -> bool| {
        stages.stages.iter().any(|stage| stage.inputs.contains(&0) && wanted(stage.kind))
    };
    if read_by(|kind| matches!(kind, StageKind::Dense { per_pixel: false, .. } | StageKind::Embedding(_))) {
        AxisOrder::Flat
    } else if read_by(|kind| matches!(kind, StageKind::Recurrent(_))) {
        AxisOrder::ChannelsLast
    } else {
        AxisOrder::ChannelsFirst
    }
}

/// Adds the gradients of a graph's leaves to the gradients of the tensors.
pub(super) fn add_gradients(leaves: Leaves, gradients: &mut Gradients, found: &mut [Option<Tensor<1>>]) {
    for (tensor, leaf) in leaves {
        if let Some(gradient) = leaf.grad_remove(gradients) {
            add_gradient(found, tensor, gradient);
        }
    }
}

pub(super) fn add_gradient(found: &mut [Option<Tensor<1>>], tensor: usize, gradient: Tensor<1>) {
    found[tensor] = Some(match found[tensor].take() {
        Some(others) => others + gradient,
        None => gradient,
    });
}
