//! Batch normalisation of a batch that several devices share: every sample is normalised by the statistics of all.
//!
//! With mean μ and variance v of each channel over the *n* values that all devices have, x̂ = (x - μ)/√(v + ε) and
//! y = γx̂ + β (Ioffe and Szegedy, "Batch Normalization", 2015). Of the gradient g of y follow those of γ, Σgx̂, and β, Σg,
//! and that of x, γ/√(v + ε)·(g - Σg/n - x̂·Σgx̂/n). The sums are over all devices, so that each tells the others its own: of
//! the values in the forward pass, of the gradients in the backward pass. In between lie graphs of their own
//! (`crossing.rs`).

use burn_tensor::{Gradients, Tensor};

use super::{Made, Network, Pass, Planned, add_gradient};
use crate::backends::burn::value::{Order, Value};
use crate::model::Layer;

/// A batch normalisation on one device, which knows its input.
pub(in super::super) struct Arrived {
    input: Value,
    /// (channels, values): the same outside of any graph.
    x: Tensor<2>,
}

/// The same, which has normalised it.
pub(in super::super) struct Normalized {
    layer: usize,
    input: Value,
    /// (channels, values) x̂.
    normalized: Tensor<2>,
    /// (channels, 1) γ/√(v + ε).
    scale: Tensor<2>,
    /// Values of a channel on all devices.
    values: f32,
    /// y, from which the next graph begins.
    output: Value,
}

/// What a backward pass has come to at a batch normalisation.
pub(in super::super) struct Returned {
    normalized: Normalized,
    /// (channels, values) g.
    gradient: Tensor<2>,
}

impl Network {
    /// Numbers of the layers that normalise over the batch.
    pub(in super::super) fn batch_norms(&self) -> Vec<usize> {
        let is_batch_norm = |layer: &Planned| matches!(layer.node.layer, Layer::BatchNorm { .. });
        self.layers.iter().enumerate().filter(|(_, layer)| is_batch_norm(layer)).map(|(index, _)| index).collect()
    }

    /// Values of a channel in each sample, and channels, of the batch normalisation with this number.
    pub(in super::super) fn normalized_sizes(&self, layer: usize) -> (u32, usize) {
        let shape = self.layers[layer].output;
        (shape.pixels(), shape.channels as usize)
    }

    /// Takes the input of the batch normalisation that comes next, and its statistics: (2·channels) means and sums of squared
    /// deviations.
    pub(in super::super) fn arrive(&self, made: &mut Made) -> (Arrived, Tensor<1>) {
        let index = made.values.len();
        let layer = &self.layers[index];
        let value = self.read(made, index).swap_remove(0);
        let input = match layer.order {
            Order::Flat => Value::Flat(value.flat()),
            _ => Value::ChannelsFirst(value.channels_first(layer.input)),
        };
        let x = by_channel(input.clone());
        let mean = x.clone().mean_dim(1);
        let deviations = (x.clone() - mean.clone()).square().sum_dim(1);
        (Arrived { input, x }, Tensor::cat(vec![mean.flatten(0, 1), deviations.flatten(0, 1)], 0))
    }

    /// Normalises by the statistics of all devices, which have `samples` together, and goes on from there in another graph.
    pub(in super::super) fn normalize(
        &self,
        arrived: Arrived,
        made: &mut Made,
        pass: &Pass<'_>,
        statistics: Tensor<1>,
        samples: u32,
    ) -> Normalized {
        let index = made.values.len();
        let layer = &self.layers[index];
        let Layer::BatchNorm { epsilon, activation, .. } = layer.node.layer else {
            unreachable!("only a batch normalisation arrives here")
        };
        let Arrived { input, x } = arrived;
        let (mean, variance, values) = self.moments(index, statistics, samples);
        let [gamma, beta] = [0, 1].map(|place| column(pass.leaves.plain(layer.tensor + place)));
        let inverse = (column(variance) + epsilon).sqrt().recip();
        let normalized = (x - column(mean)) * inverse.clone();
        let output = like(&input, normalized.clone() * gamma.clone() + beta).leaf();
        made.values.push(Some(output.clone().activated(activation, layer.functions)));
        Normalized { layer: index, input, normalized, scale: gamma * inverse, values, output }
    }

    /// The running averages of the batch normalisation with this number, moved by the statistics of all devices, with the
    /// places of their tensors. As everywhere the variance is the unbiased one.
    pub(in super::super) fn moved_averages(
        &self,
        layer: usize,
        tensors: &[Tensor<1>],
        statistics: Tensor<1>,
        samples: u32,
    ) -> [(usize, Tensor<1>); 2] {
        let planned = &self.layers[layer];
        let Layer::BatchNorm { keep, .. } = planned.node.layer else {
            unreachable!("only a batch normalisation keeps averages")
        };
        let (mean, variance, values) = self.moments(layer, statistics, samples);
        let unbiased = variance * (values / (values - 1.0).max(1.0));
        let moved = |place: usize, found: Tensor<1>| {
            let tensor = planned.tensor + place;
            (tensor, tensors[tensor].clone() * keep + found * (1.0 - keep))
        };
        [moved(2, mean), moved(3, unbiased)]
    }

    /// Means and variances of the channels, and over how many values.
    fn moments(&self, layer: usize, statistics: Tensor<1>, samples: u32) -> (Tensor<1>, Tensor<1>, f32) {
        let (pixels, channels) = self.normalized_sizes(layer);
        let values = (u64::from(samples) * u64::from(pixels)) as f32;
        let mean = statistics.clone().narrow(0, 0, channels);
        (mean, statistics.narrow(0, channels, channels) / values, values)
    }

    /// Comes back to a batch normalisation with the gradients of what follows: (2·channels) Σg and Σgx̂ of this device. They
    /// are also its part of the gradients of β and γ, which join those of other tensors. Without gradients nothing that
    /// follows is trained.
    pub(in super::super) fn come_back(
        &self,
        normalized: Normalized,
        gradients: Option<&mut Gradients>,
        trained: &[bool],
        found: &mut [Option<Tensor<1>>],
    ) -> (Returned, Tensor<1>) {
        let gradient = gradients.and_then(|gradients| normalized.output.clone().gradient(gradients)).map(by_channel);
        let gradient = gradient.unwrap_or_else(|| normalized.normalized.zeros_like());
        let of_beta = gradient.clone().sum_dim(1).flatten::<1>(0, 1);
        let of_gamma = (gradient.clone() * normalized.normalized.clone()).sum_dim(1).flatten::<1>(0, 1);
        let tensor = self.layers[normalized.layer].tensor;
        for (place, gradient) in [&of_gamma, &of_beta].into_iter().enumerate() {
            if trained[tensor + place] {
                add_gradient(found, tensor + place, gradient.clone());
            }
        }
        (Returned { normalized, gradient }, Tensor::cat(vec![of_beta, of_gamma], 0))
    }
}

impl Returned {
    /// What the graph before the batch normalisation has to differentiate, now that the sums of all devices are known.
    /// Nothing where nothing before it is trained.
    pub(in super::super) fn root(self, sums: Tensor<1>) -> Option<Tensor<1>> {
        let Self { normalized: Normalized { input, normalized, scale, values, .. }, gradient } = self;
        if !input.is_tracked() {
            return None;
        }
        let channels = sums.dims()[0] / 2;
        let [of_beta, of_gamma] = [0, channels].map(|from| column(sums.clone().narrow(0, from, channels)) / values);
        let gradient = scale * (gradient - of_beta - normalized * of_gamma);
        let gradient = like(&input, gradient);
        Some(input.dot(gradient))
    }
}

/// (channels, values) of a value of a batch, outside of any graph.
fn by_channel(value: Value) -> Tensor<2> {
    match value {
        Value::Flat(tensor) => tensor.inner().swap_dims(0, 1),
        Value::ChannelsFirst(tensor) => tensor.inner().swap_dims(0, 1).flatten(1, 3),
        Value::ChannelsLast(_) => unreachable!("a batch normalisation reads channels first"),
    }
}

/// A value of (channels, values) that lies as another one does.
fn like(other: &Value, values: Tensor<2>) -> Value {
    match other {
        Value::Flat(_) => Value::Flat(values.swap_dims(0, 1)),
        Value::ChannelsFirst(tensor) => {
            let [rows, channels, height, width] = tensor.dims();
            Value::ChannelsFirst(values.reshape([channels, rows, height, width]).swap_dims(0, 1))
        }
        Value::ChannelsLast(_) => unreachable!("a batch normalisation makes channels first"),
    }
}

/// (elements, 1)
fn column(list: Tensor<1>) -> Tensor<2> {
    let elements = list.dims()[0];
    list.reshape([elements, 1])
}

/// A value that crosses from one graph into the next.
pub(in super::super) struct Crossing {
    /// In the graph that made it.
    end: Value,
    /// In the one that reads it.
    leaf: Value,
}

impl Network {
    /// Ends the graph: what it made and layers from the next one on will read begins another.
    pub(in super::super) fn cross(&self, made: &mut Made) -> Vec<Crossing> {
        let next = made.values.len();
        let mut crossings = Vec::new();
        for (value, layer) in made.values.iter_mut().zip(&self.layers) {
            if layer.last_reader < next || layer.last_reader == usize::MAX {
                *value = None;
            }
            let Some(end) = value.take_if(|value| value.is_tracked()) else { continue };
            let leaf = end.clone().leaf();
            *value = Some(leaf.clone());
            crossings.push(Crossing { end, leaf });
        }
        crossings
    }
}

impl Crossing {
    /// What the graph that made the value has to differentiate, so that its gradients are those of the loss: the value times
    /// its gradient in the graph that reads it, as a sum. Nothing where the loss does not depend on it.
    pub(in super::super) fn root(self, gradients: &mut Gradients) -> Option<Tensor<1>> {
        self.leaf.gradient(gradients).map(|gradient| self.end.dot(gradient))
    }
}

impl Value {
    /// Whether it follows from anything that is trained.
    pub(super) fn is_tracked(&self) -> bool {
        match self {
            Self::ChannelsFirst(tensor) => tensor.is_tracked(),
            Self::ChannelsLast(tensor) => tensor.is_tracked(),
            Self::Flat(tensor) => tensor.is_tracked(),
        }
    }

    /// The same numbers, from which a graph begins.
    pub(in super::super) fn leaf(self) -> Self {
        fn leaf<const D: usize>(tensor: Tensor<D>) -> Tensor<D> {
            tensor.inner().autodiff().require_grad()
        }
        match self {
            Self::ChannelsFirst(tensor) => Self::ChannelsFirst(leaf(tensor)),
            Self::ChannelsLast(tensor) => Self::ChannelsLast(leaf(tensor)),
            Self::Flat(tensor) => Self::Flat(leaf(tensor)),
        }
    }

    /// Of a leaf: what the graph found.
    pub(in super::super) fn gradient(self, gradients: &mut Gradients) -> Option<Self> {
        match self {
            Self::ChannelsFirst(tensor) => tensor.grad_remove(gradients).map(Self::ChannelsFirst),
            Self::ChannelsLast(tensor) => tensor.grad_remove(gradients).map(Self::ChannelsLast),
            Self::Flat(tensor) => tensor.grad_remove(gradients).map(Self::Flat),
        }
    }

    /// The sum of all products with numbers that lie in the same order.
    pub(in super::super) fn dot(self, others: Self) -> Tensor<1> {
        match (self, others) {
            (Self::ChannelsFirst(a), Self::ChannelsFirst(b)) => (a * b).sum(),
            (Self::ChannelsLast(a), Self::ChannelsLast(b)) => (a * b).sum(),
            (Self::Flat(a), Self::Flat(b)) => (a * b).sum(),
            _ => unreachable!("a gradient lies as its value does"),
        }
    }
}
