//! Batch normalization with the statistics of all samples of a batch shared by several devices.
//!
//! With mean μ and variance v of each channel over the *n* values of all devices, x̂ = (x - μ)/√(v + ε) and y = γx̂ + β
//! (Ioffe and Szegedy, "Batch Normalization", 2015). The gradient g of y gives Σgx̂ for γ, Σg for β, and, for x,
//! γ/√(v + ε)·(g - Σg/n - x̂·Σgx̂/n). The sums are over all devices, which exchange sums of values in the forward pass
//! and of gradients in the backward pass. Each exchange splits the graph: a value that crosses is the end of one graph
//! and a leaf of the next.

use burn_tensor::{Gradients, Tensor};

use super::{Made, Network, Planned, ReadLeaves, Tape, add_gradient};
use crate::backends::burn::value::{AxisOrder, LayerValue, map_value};
use crate::model::Layer;

/// Batch normalization that has read its input, at the end of a graph.
pub(crate) struct Arrived {
    leaves: ReadLeaves,
    crossings: Crossings,
    input: LayerValue,
    /// (channels, values), detached from the graph.
    x: Tensor<2>,
}

/// Batch normalization that has normalized its input.
pub(crate) struct Normalized {
    leaves: ReadLeaves,
    crossings: Crossings,
    layer: usize,
    input: LayerValue,
    /// (channels, values) x̂.
    normalized: Tensor<2>,
    /// (channels, 1) γ/√(v + ε).
    scale: Tensor<2>,
    /// Number of values per channel on all devices.
    values: f32,
    /// y, a leaf of the next graph.
    output: LayerValue,
}

/// Batch normalization in the backward pass.
pub(crate) struct Returned {
    normalized: Normalized,
    /// (channels, values) g.
    gradient: Tensor<2>,
    /// Roots of the graph, except the normalization's.
    roots: Vec<Tensor<1>>,
}

impl Network {
    pub(crate) fn batch_norms(&self) -> Vec<usize> {
        let is_batch_norm = |layer: &Planned| matches!(layer.node.layer, Layer::BatchNorm { .. });
        self.layers.iter().enumerate().filter(|(_, layer)| is_batch_norm(layer)).map(|(index, _)| index).collect()
    }

    /// Returns the number of pixels and channels of a batch normalization.
    pub(crate) fn normalized_sizes(&self, layer: usize) -> (u32, usize) {
        let shape = self.layers[layer].output;
        (shape.pixels(), shape.channels as usize)
    }

    /// Computes the layers up to a batch normalization and reads its input, which ends the graph. Returns (2·channels)
    /// means and sums of squared deviations.
    pub(crate) fn arrive(&self, made: &mut Made, mut pass: Tape<'_>, layer: usize) -> (Arrived, Tensor<1>) {
        self.advance(made, &mut pass, layer);
        let index = made.values.len();
        let layer = &self.layers[index];
        let value = self.read(made, index).swap_remove(0);
        let input = match layer.order {
            AxisOrder::Flat => LayerValue::Flat(value.flat()),
            _ => LayerValue::ChannelsFirst(value.channels_first(layer.input)),
        };
        let x = by_channel(input.clone());
        let mean = x.clone().mean_dim(1);
        let deviations = (x.clone() - mean.clone()).square().sum_dim(1);
        let statistics = Tensor::cat(vec![mean.flatten(0, 1), deviations.flatten(0, 1)], 0);
        (Arrived { leaves: pass.leaves.read, crossings: self.cross(made), input, x }, statistics)
    }

    /// Normalizes by the statistics of the `samples` samples of all devices, and begins the next graph.
    pub(crate) fn normalize(
        &self,
        arrived: Arrived,
        made: &mut Made,
        pass: &Tape<'_>,
        statistics: Tensor<1>,
        samples: u32,
    ) -> Normalized {
        let index = made.values.len();
        let layer = &self.layers[index];
        let Layer::BatchNorm { epsilon, activation, .. } = layer.node.layer else {
            unreachable!("only a batch normalisation arrives here")
        };
        let Arrived { leaves, crossings, input, x } = arrived;
        let (mean, variance, values) = self.moments(index, statistics, samples);
        let [gamma, beta] = [0, 1].map(|place| column(pass.leaves.plain(layer.tensor + place)));
        let inverse = (column(variance) + epsilon).sqrt().recip();
        let normalized = (x - column(mean)) * inverse.clone();
        let output = like(&input, normalized.clone() * gamma.clone() + beta).leaf();
        made.values.push(Some(output.clone().activated(activation, layer.functions)));
        Normalized { leaves, crossings, layer: index, input, normalized, scale: gamma * inverse, values, output }
    }

    /// Returns the running averages after a step, with their tensor indices. The variance is unbiased.
    pub(crate) fn moved_averages(
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

    /// Returns the channels' means and variances, and the number of values per channel.
    fn moments(&self, layer: usize, statistics: Tensor<1>, samples: u32) -> (Tensor<1>, Tensor<1>, f32) {
        let (pixels, channels) = self.normalized_sizes(layer);
        let values = (u64::from(samples) * u64::from(pixels)) as f32;
        let mean = statistics.clone().narrow(0, 0, channels);
        (mean, statistics.narrow(0, channels, channels) / values, values)
    }

    /// Reads the gradients of the next graph. Returns this device's (2·channels) Σg and Σgx̂, which are also its part
    /// of the gradients of β and γ.
    pub(crate) fn come_back(
        &self,
        mut normalized: Normalized,
        gradients: &mut Option<Gradients>,
        trained: &[bool],
        found: &mut [Option<Tensor<1>>],
    ) -> (Returned, Tensor<1>) {
        let crossings = std::mem::take(&mut normalized.crossings);
        let (mut roots, mut gradient) = (Vec::new(), None);
        if let Some(gradients) = gradients {
            // The root of a value is the sum of the value times its gradient in the next graph. The loss may not depend
            // on it.
            let root = |(end, leaf): (LayerValue, LayerValue)| Some(end.dot(leaf.gradient(gradients)?));
            roots.extend(crossings.into_iter().filter_map(root));
            gradient = normalized.output.clone().gradient(gradients).map(by_channel);
        }
        let gradient = gradient.unwrap_or_else(|| normalized.normalized.zeros_like());
        let of_beta = gradient.clone().sum_dim(1).flatten::<1>(0, 1);
        let of_gamma = (gradient.clone() * normalized.normalized.clone()).sum_dim(1).flatten::<1>(0, 1);
        let tensor = self.layers[normalized.layer].tensor;
        for (place, gradient) in [&of_gamma, &of_beta].into_iter().enumerate() {
            if trained[tensor + place] {
                add_gradient(found, tensor + place, gradient.clone());
            }
        }
        (Returned { normalized, gradient, roots }, Tensor::cat(vec![of_beta, of_gamma], 0))
    }

    /// Ends the graph. Values that later layers read become leaves of the next graph.
    fn cross(&self, made: &mut Made) -> Crossings {
        let next = made.values.len();
        let mut crossings = Vec::new();
        for (value, layer) in made.values.iter_mut().zip(&self.layers) {
            if layer.last_reader < next || layer.last_reader == usize::MAX {
                *value = None;
            }
            let Some(end) = value.take_if(|value| value.is_tracked()) else { continue };
            let leaf = end.clone().leaf();
            *value = Some(leaf.clone());
            crossings.push((end, leaf));
        }
        crossings
    }
}

impl Returned {
    /// Returns the leaves and the root of the previous graph, given the sums of all devices. The root is `None` if
    /// nothing before it is trained.
    pub(crate) fn root(self, sums: Tensor<1>) -> (ReadLeaves, Option<Tensor<1>>) {
        let Self { normalized: Normalized { leaves, input, normalized, scale, values, .. }, gradient, roots } = self;
        let own = input.is_tracked().then(|| {
            let channels = sums.dims()[0] / 2;
            let [of_beta, of_gamma] = [0, channels].map(|from| column(sums.clone().narrow(0, from, channels)) / values);
            let gradient = like(&input, scale * (gradient - of_beta - normalized * of_gamma));
            input.dot(gradient)
        });
        (leaves, roots.into_iter().chain(own).reduce(|a, b| a + b))
    }
}

/// Returns (channels, values), detached from the graph.
fn by_channel(value: LayerValue) -> Tensor<2> {
    match value {
        LayerValue::Flat(tensor) => tensor.inner().swap_dims(0, 1),
        LayerValue::ChannelsFirst(tensor) => tensor.inner().swap_dims(0, 1).flatten(1, 3),
        LayerValue::ChannelsLast(_) => unreachable!("a batch normalisation reads channels first"),
    }
}

/// Returns (channels, values) in the layout of `other`.
fn like(other: &LayerValue, values: Tensor<2>) -> LayerValue {
    match other {
        LayerValue::Flat(_) => LayerValue::Flat(values.swap_dims(0, 1)),
        LayerValue::ChannelsFirst(tensor) => {
            let [rows, channels, height, width] = tensor.dims();
            LayerValue::ChannelsFirst(values.reshape([channels, rows, height, width]).swap_dims(0, 1))
        }
        LayerValue::ChannelsLast(_) => unreachable!("a batch normalisation makes channels first"),
    }
}

fn column(list: Tensor<1>) -> Tensor<2> {
    let elements = list.dims()[0];
    list.reshape([elements, 1])
}

/// Ends of a graph, each with the leaf of the next graph that continues it.
type Crossings = Vec<(LayerValue, LayerValue)>;

impl LayerValue {
    fn is_tracked(&self) -> bool {
        match self {
            Self::ChannelsFirst(tensor) => tensor.is_tracked(),
            Self::ChannelsLast(tensor) => tensor.is_tracked(),
            Self::Flat(tensor) => tensor.is_tracked(),
        }
    }

    fn leaf(self) -> Self {
        map_value!(self, tensor => tensor.inner().autodiff().require_grad())
    }

    fn gradient(self, gradients: &mut Gradients) -> Option<Self> {
        match self {
            Self::ChannelsFirst(tensor) => tensor.grad_remove(gradients).map(Self::ChannelsFirst),
            Self::ChannelsLast(tensor) => tensor.grad_remove(gradients).map(Self::ChannelsLast),
            Self::Flat(tensor) => tensor.grad_remove(gradients).map(Self::Flat),
        }
    }

    fn dot(self, others: Self) -> Tensor<1> {
        match (self, others) {
            (Self::ChannelsFirst(a), Self::ChannelsFirst(b)) => (a * b).sum(),
            (Self::ChannelsLast(a), Self::ChannelsLast(b)) => (a * b).sum(),
            (Self::Flat(a), Self::Flat(b)) => (a * b).sum(),
            _ => unreachable!("a gradient lies as its value does"),
        }
    }
}
