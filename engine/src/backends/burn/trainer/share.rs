//! Training on one of several devices that share each batch.
//!
//! Batch normalizations use the statistics of all devices. With mean μ and variance v of each channel over the *n* values
//! of all devices, x̂ = (x - μ)/√(v + ε) and y = γx̂ + β (Ioffe and Szegedy, "Batch Normalization", 2015). The gradient g
//! of y gives Σgx̂ for γ, Σg for β, and, for x, γ/√(v + ε)·(g - Σg/n - x̂·Σgx̂/n). The sums are over all devices, which
//! exchange sums of values in the forward pass and of gradients in the backward pass. Each exchange splits the graph: a
//! value that crosses is the end of one graph and a leaf of the next.

use std::cell::RefCell;

use burn_tensor::{Gradients, Tensor};
use shaders::params::Step;

use super::{BurnTrainer, Pending};
use crate::backends::burn::network::{Leaves, Made, Network, add_gradient, add_gradients};
use crate::backends::burn::value::{AxisOrder, LayerValue, map_value, sides};
use crate::model::StageKind;

/// Function from the gradients of a graph to a root of the previous one, if the loss depends on it.
type Crossing = Box<dyn FnOnce(&mut Gradients) -> Option<Tensor<1>>>;

/// Batch normalization between two graphs.
struct Border {
    /// Index of its first tensor.
    tensor: usize,
    /// Leaves of the graph that ends here.
    leaves: Leaves,
    /// Other ends of the graph.
    crossings: Vec<Crossing>,
    /// (channels, values) x, an end of the graph.
    input: Tensor<2>,
    /// (channels, values) x̂.
    normalized: Tensor<2>,
    /// (channels, values) y, a leaf of the next graph.
    output: Tensor<2>,
    /// (channels, 1) γ/√(v + ε).
    scale: Tensor<2>,
    /// Number of values per channel on all devices.
    values: f32,
}

impl BurnTrainer {
    /// Trains a step on a share of the batch `whole`, whose samples are in `batch` if it has any. `exchange` gets their
    /// numbers, and returns the combination of all devices: for each batch normalization (2·channels) means and sums of
    /// squared deviations, then, from the last one on, Σg and Σgx̂, and finally all gradients. A share with samples writes
    /// to `reached` which tensors have a gradient.
    pub(crate) async fn train_share(
        &mut self,
        share: Step,
        batch: Option<(Tensor<1>, Vec<u32>)>,
        whole: &Step,
        reached: &RefCell<Vec<bool>>,
        exchange: impl AsyncFn(Option<Tensor<1>>) -> Tensor<1>,
    ) -> Pending {
        let norms = self.network.batch_norms();
        let mut statistics = Vec::new();
        let (mut gradients, mut outcome) = (None, None);
        if let Some((input, labels)) = batch {
            let mut made = self.network.begin(&share, input);
            let mut borders = Vec::new();
            for &index in &norms {
                let (border, found) = self.normalize(&share, &mut made, index, whole.count, &exchange).await;
                borders.push(border);
                statistics.push(found);
            }
            let mut pass = self.pass(&share);
            let logits = self.network.finish(&mut made, &mut pass);
            let (mut graph, pending) = self.differentiate(logits.clone(), &labels, whole.count, share.count);
            let mut found = vec![None; self.trained.len()];
            add_gradients(pass.leaves, &mut graph, &mut found);
            let mut graph = Some(graph);
            for border in borders.into_iter().rev() {
                graph = self.differentiate_before(border, graph, &mut found, &exchange).await;
            }
            reached.replace(found.iter().map(Option::is_some).collect());
            gradients = Some(Tensor::cat(found.into_iter().flatten().collect(), 0));
            outcome = Some((logits.inner(), pending));
        } else {
            for _ in &norms {
                statistics.push(exchange(None).await);
            }
            for _ in &norms {
                exchange(None).await;
            }
        }
        let gradients = exchange(gradients).await;
        let mut from = 0;
        let gradient = |(tensor, reached): (&Tensor<1>, &bool)| {
            let elements = if *reached { tensor.dims()[0] } else { 0 };
            from += elements;
            reached.then(|| gradients.clone().narrow(0, from - elements, elements))
        };
        let gradients: Vec<_> = self.state.tensors.iter().zip(reached.borrow().iter()).map(gradient).collect();
        let averages = norms.into_iter().zip(statistics);
        let averages = averages.flat_map(|(index, found)| self.moved_averages(index, found, whole.count)).collect();
        self.end_step(whole, averages, &gradients);
        self.gradients = gradients;
        let (logits, pending) = outcome.unzip();
        self.logits = logits;
        pending.unwrap_or_else(|| {
            let nothing = || Tensor::zeros([1], &self.device);
            Pending { loss: nothing(), correct: nothing(), samples: 0 }
        })
    }

    /// Computes the values up to a batch normalization, and begins the next graph with its output. Returns the
    /// statistics of all devices as well.
    async fn normalize(
        &self,
        share: &Step,
        made: &mut Made,
        index: usize,
        samples: u32,
        exchange: impl AsyncFn(Option<Tensor<1>>) -> Tensor<1>,
    ) -> (Border, Tensor<1>) {
        let (network, mut pass) = (&self.network, self.pass(share));
        network.advance(made, &mut pass, index);
        let stage = &network.stages.stages[index];
        let StageKind::BatchNorm { epsilon, .. } = stage.kind else {
            unreachable!("only batch normalizations split a graph");
        };
        let (order, shape) = (network.orders[stage.output], network.stages.output(stage).shape);
        let value = network.read(made, index).swap_remove(0);
        let input = match order {
            AxisOrder::Flat => value.flat().swap_dims(0, 1),
            _ => value.channels_first(shape).swap_dims(0, 1).flatten(1, 3),
        };
        let crossings = network.cross(made);
        let x = input.clone().inner();
        let mean = x.clone().mean_dim(1);
        let deviations = (x.clone() - mean.clone()).square().sum_dim(1);
        let found = Tensor::cat(vec![mean.flatten(0, 1), deviations.flatten(0, 1)], 0);
        let statistics = exchange(Some(found)).await;
        let (mean, variance, values) = network.moments(index, statistics.clone(), samples);
        let [gamma, beta] = [0, 1].map(|place| column(pass.tensors[stage.tensor + place].clone()));
        let inverse = (column(variance) + epsilon).sqrt().recip();
        let normalized = (x - column(mean)) * inverse.clone();
        let output = (normalized.clone() * gamma.clone() + beta).autodiff().require_grad();
        let value = match order {
            AxisOrder::Flat => LayerValue::Flat(output.clone().swap_dims(0, 1)),
            _ => {
                let ([height, width, channels], rows) = (sides(shape), share.count as usize);
                let image = output.clone().reshape([channels, rows, height, width]);
                LayerValue::ChannelsFirst(image.swap_dims(0, 1))
            }
        };
        made.push(Some(network.finish_value(stage, value, &pass)));
        let (tensor, leaves, scale) = (stage.tensor, pass.leaves, gamma * inverse);
        (Border { tensor, leaves, crossings, input, normalized, output, scale, values }, statistics)
    }

    /// Differentiates the graph before a batch normalization, given the gradients of the graph after it. They are `None`
    /// if nothing in a graph is trained.
    async fn differentiate_before(
        &self,
        border: Border,
        after: Option<Gradients>,
        found: &mut [Option<Tensor<1>>],
        exchange: impl AsyncFn(Option<Tensor<1>>) -> Tensor<1>,
    ) -> Option<Gradients> {
        let Border { tensor, leaves, crossings, input, normalized, output, scale, values } = border;
        let (mut roots, mut gradient) = (Vec::new(), None);
        if let Some(mut after) = after {
            roots.extend(crossings.into_iter().filter_map(|root| root(&mut after)));
            gradient = output.grad_remove(&mut after);
        }
        let gradient = gradient.unwrap_or_else(|| normalized.zeros_like());
        let of_beta = gradient.clone().sum_dim(1).flatten::<1>(0, 1);
        let of_gamma = (gradient.clone() * normalized.clone()).sum_dim(1).flatten::<1>(0, 1);
        for (tensor, gradient) in [(tensor, &of_gamma), (tensor + 1, &of_beta)] {
            if self.trained[tensor] {
                add_gradient(found, tensor, gradient.clone());
            }
        }
        let sums = exchange(Some(Tensor::cat(vec![of_beta, of_gamma], 0))).await;
        if input.is_tracked() {
            let channels = sums.dims()[0] / 2;
            let [of_beta, of_gamma] = [0, channels].map(|from| column(sums.clone().narrow(0, from, channels)) / values);
            roots.push((input * (scale * (gradient - of_beta - normalized * of_gamma))).sum());
        }
        let mut before = roots.into_iter().reduce(|a, b| a + b)?.backward();
        add_gradients(leaves, &mut before, found);
        Some(before)
    }

    /// Returns the running averages after a step, with their tensor indices. The variance is unbiased.
    fn moved_averages(&self, index: usize, statistics: Tensor<1>, samples: u32) -> [(usize, Tensor<1>); 2] {
        let stage = &self.network.stages.stages[index];
        let StageKind::BatchNorm { keep, .. } = stage.kind else {
            unreachable!("only batch normalizations keep averages");
        };
        let (mean, variance, values) = self.network.moments(index, statistics, samples);
        let unbiased = variance * (values / (values - 1.0).max(1.0));
        [(stage.tensor + 2, mean), (stage.tensor + 3, unbiased)]
            .map(|(tensor, found)| (tensor, self.state.tensors[tensor].clone() * keep + found * (1.0 - keep)))
    }
}

impl Network {
    /// Returns the stages that are batch normalizations.
    pub(crate) fn batch_norms(&self) -> Vec<usize> {
        let stages = self.stages.stages.iter().enumerate();
        stages.filter(|(_, stage)| matches!(stage.kind, StageKind::BatchNorm { .. })).map(|(index, _)| index).collect()
    }

    /// Returns the number of pixels and channels of a batch normalization.
    pub(crate) fn normalized_sizes(&self, index: usize) -> (u32, usize) {
        let shape = self.stages.output(&self.stages.stages[index]).shape;
        (shape.pixels(), shape.channels as usize)
    }

    /// Returns the channels' means and variances, and the number of values per channel.
    fn moments(&self, index: usize, statistics: Tensor<1>, samples: u32) -> (Tensor<1>, Tensor<1>, f32) {
        let (pixels, channels) = self.normalized_sizes(index);
        let values = (u64::from(samples) * u64::from(pixels)) as f32;
        let mean = statistics.clone().narrow(0, 0, channels);
        (mean, statistics.narrow(0, channels, channels) / values, values)
    }

    /// Ends the graph before the next stage. Values that later stages read become leaves of the next graph.
    fn cross(&self, made: &mut Made) -> Vec<Crossing> {
        let next = made.len() - 1;
        let mut crossings = Vec::new();
        for (value, last_reader) in made.iter_mut().zip(&self.last_readers) {
            let kept = value.take().filter(|_| last_reader.is_some_and(|last| last >= next));
            *value = kept.map(|kept| map_value!(kept, tensor => continued(tensor, &mut crossings)));
        }
        crossings
    }
}

/// Returns the leaf of the next graph that continues a tracked value.
fn continued<const D: usize>(end: Tensor<D>, crossings: &mut Vec<Crossing>) -> Tensor<D> {
    if !end.is_tracked() {
        return end;
    }
    let leaf = end.clone().inner().autodiff().require_grad();
    let next = leaf.clone();
    // The root of a value is the sum of the value times its gradient in the next graph.
    crossings.push(Box::new(move |after| Some((end * leaf.grad_remove(after)?).sum())));
    next
}

fn column(list: Tensor<1>) -> Tensor<2> {
    let elements = list.dims()[0];
    list.reshape([elements, 1])
}
